/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/inspection.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "interpreter/inspection_internal.h"
#include "process/native_names.h"

/* Files of programs that have ended must not keep disks and mounts busy. */
#define IDLE_NS UINT64_C(10000000000)
#define TIDY_NS UINT64_C(1000000000)

static inspection_handler *const handlers[INSPECT_KINDS] = {
	[INSPECT_INTERPRETERS] = handle_interpreters, [INSPECT_MAPPED_FILE] = handle_mapped_file,
	[INSPECT_PREPARE] = handle_prepare,           [INSPECT_FORGET] = handle_forget,
	[INSPECT_NATIVE_PLACE] = handle_native_place, [INSPECT_PROTOTYPES] = handle_prototypes,
	[INSPECT_PROTOTYPE] = handle_prototype,       [INSPECT_C_FUNCTIONS] = handle_c_functions,
	[INSPECT_DEFINITION] = handle_definition,     [INSPECT_COMMAND] = handle_command,
	[INSPECT_CALIBRATE] = handle_calibrate,
};

static void drop_native_names(void *value)
{
	native_names__free(*(struct native_names **)value);
}

static void end(void *state)
{
	struct inspection *inspection = state;

	generations__free(inspection->native_names);
	elf_files__free(inspection->elf_files);
	lua_files__free(inspection->lua_files);
	page_cache__free(inspection->pages);
	sources__free(inspection->sources);
	free(inspection);
}

static void *begin(void)
{
	struct inspection *inspection = calloc(1, sizeof(*inspection));

	if (!inspection)
		return NULL;
	inspection->lua_files = lua_files__new();
	inspection->elf_files = elf_files__new();
	inspection->pages = page_cache__new();
	inspection->sources = sources__new();
	inspection->native_names = generations__new(sizeof(uint64_t), sizeof(struct native_names *),
						    drop_native_names);
	if (inspection->lua_files && inspection->elf_files && inspection->native_names &&
	    inspection->pages && inspection->sources)
		return inspection;
	end(inspection);
	return NULL;
}

static void tidy(struct inspection *inspection)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns - inspection->tidied_ns < TIDY_NS)
		return;
	inspection->tidied_ns = now_ns;
	elf_files__close_idle(inspection->elf_files, IDLE_NS);
}

static void serve(void *state, struct message *request, struct message *answer)
{
	struct inspection *inspection = state;
	uint64_t kind = message__take_number(request, INSPECT_KINDS - 1);
	pid_t pid = (pid_t)message__take_number(request, INT32_MAX);
	int error = request->error;

	quarantine__leave();
	if (!error)
		error = handlers[kind](inspection, pid, request, answer);
	if (!error)
		error = answer->error;
	quarantine__leave();
	if (error) {
		message__clear(answer);
		answer->error = error;
	}
	tidy(inspection);
}

const struct worker_job inspection_job = {begin, serve, end};
