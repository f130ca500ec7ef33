/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For inspect*.c only: the worker's side of inspection.h, its state and the handlers of requests.
 */
#ifndef LS_INSPECTION_INTERNAL_H
#define LS_INSPECTION_INTERNAL_H

#include <sys/types.h>

#include "base/generations.h"
#include "interpreter/inspection.h"
#include "interpreter/lua_files.h"
#include "memory/page_cache.h"
#include "process/elf_files.h"
#include "process/quarantine.h"
#include "source/sources.h"
#include "worker/message.h"
#include "worker/worker.h"

enum inspection_kind {
	INSPECT_INTERPRETERS,
	INSPECT_MAPPED_FILE,
	INSPECT_PREPARE,
	INSPECT_FORGET,
	INSPECT_NATIVE_PLACE,
	INSPECT_PROTOTYPES,
	INSPECT_PROTOTYPE,
	INSPECT_C_FUNCTIONS,
	INSPECT_DEFINITION,
	INSPECT_COMMAND,
	INSPECT_CALIBRATE,
	INSPECT_KINDS,
};

struct inspection {
	struct lua_files *lua_files;
	struct elf_files *elf_files;
	struct generations *native_names; /* struct native_names * by pid */
	struct page_cache *pages;
	struct sources *sources;
	uint64_t tidied_ns;
};

/* Handles one kind of request: appends to `answer`. 0, or -errno: the answer is dropped. */
typedef int inspection_handler(struct inspection *inspection, pid_t pid, struct message *request,
			       struct message *answer);

/* In inspect_*.c. */
inspection_handler handle_interpreters;
inspection_handler handle_mapped_file;
inspection_handler handle_prepare;
inspection_handler handle_forget;
inspection_handler handle_native_place;
inspection_handler handle_prototypes;
inspection_handler handle_prototype;
inspection_handler handle_c_functions;
inspection_handler handle_definition;
inspection_handler handle_command;
inspection_handler handle_calibrate;

/* What a request about a prototype reads, and under which layout. */
struct reading {
	struct target_memory memory;
	const struct memory_ops *ops;
	_Alignas(8) uint8_t offsets[LAYOUT_OFFSETS_MAX];
};

/* Appends the layout to a request; takes it out again in the worker. */
void reading__put(struct message *request, const struct layout *layout);
void reading__take(struct message *request, pid_t pid, struct reading *reading);

#endif
