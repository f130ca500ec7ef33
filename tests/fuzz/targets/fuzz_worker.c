/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both sides of the worker: what a worker that a target has taken over may answer, and whatever
 * it may be asked. An input is a choice; then the answer, or the kind of a request, and the body of
 * it, where memory is what is left of the input.
 */
#include <errno.h>

#include "interpreter/inspection_internal.h"
#include "memory_of_input.h"
#include "puc/layout_puc.h"

#define PID      42
#define BODY_MAX 512

static struct input next_answer;

/* In place of user/worker/worker.c: each answer is what is left of the input. */
int worker__start(const struct worker_job *job, struct worker **worker)
{
	static char something;

	(void)job;
	*worker = (struct worker *)&something;
	return 0;
}

void worker__free(struct worker *worker)
{
	(void)worker;
}

void worker__set_waiter(struct worker *worker, const struct worker_waiter *waiter)
{
	(void)worker;
	(void)waiter;
}

void worker__set_deadline(struct worker *worker, uint64_t until_ns)
{
	(void)worker;
	(void)until_ns;
}

bool worker__is_busy(const struct worker *worker)
{
	(void)worker;
	return false;
}

bool worker__works_on(const struct worker *worker, const struct message *request)
{
	(void)worker;
	(void)request;
	return false;
}

int worker__finish(struct worker *worker, struct message *answer, uint64_t *spent_ns)
{
	(void)worker;
	(void)answer;
	*spent_ns = 0;
	return 0;
}

uint64_t worker__cpu_ns(const struct worker *worker)
{
	(void)worker;
	return 0;
}

int worker__call(struct worker *worker, const struct message *request, struct message *answer,
		 uint64_t *spent_ns)
{
	(void)worker;
	(void)request;
	*spent_ns = 0;
	message__clear(answer);
	message__put(answer, next_answer.bytes, next_answer.left);
	return 0;
}

static void take_interpreters(struct inspector *inspector)
{
	struct interpreters found;
	int error = inspector__interpreters(inspector, PID, &found);

	require(found.profiled <= found.count && found.count <= INTERPRETERS_MAX);
	for (size_t i = 0; i < found.count; i++) {
		const struct interpreter *interpreter = &found.items[i];

		require(!error && interpreter->path && interpreter->file.family);
		require(interpreter->gc.map_count <= GC_CODE_MAX);
		require(!(interpreter->file.layouts & ~family__layouts(interpreter->file.family)));
		require(strlen(interpreter->file.release) < sizeof(interpreter->file.release));
	}
	interpreters__free(&found);
}

static void take_names(struct inspector *inspector, const struct layout *layout)
{
	struct prototype_inquiry inquiries[] = {{.key = {1, 2}},
						{.key = {1, 2}, .subject = INQUIRY_CALL, .pc = 3},
						{.key = {1, 2}, .subject = INQUIRY_NESTED}};
	struct c_function_names *functions = c_function_names__new();
	struct native_place place;

	require(functions);
	for (int i = 0; i < 3; i++) {
		const struct call_site *site = &inquiries[i].site;

		inspector__prototypes(inspector, PID, layout, &inquiries[i], 1);
		for (uint32_t pc = 0; pc < 64; pc++)
			line_table__line(inquiries[i].lines, pc * pc * pc);
		line_table__free(inquiries[i].lines);
		for (size_t at = 0; at < inquiries[i].nested.count; at++)
			require(memchr(inquiries[i].nested.items[at].name, 0,
				       DEFINITION_NAME_SIZE));
		free(inquiries[i].nested.items);
		require(site->kind <= CALL_SITE_HOOK && strlen(site->name) < sizeof(site->name));
	}
	for (int i = 0; i < 2; i++)
		inspector__c_functions(inspector, PID, layout, 4, functions);
	c_function_names__get(functions, input__take(&next_answer, 8));
	c_function_names__free(functions);
	inspector__native_place(inspector, PID, 5, &place);
	require(strlen(place.name) < sizeof(place.name));
	require(strlen(place.symbol) < sizeof(place.symbol));
}

static void answer(struct input input)
{
	struct inspector *inspector;
	const struct mapped_file_place place = {1, 2, 3, 4};
	struct layout layout;
	const struct family *unsupported;
	struct command_line line;
	bool holds_lua;

	next_answer = input;
	require(layout__get(LS_FAMILY_PUC, 0, &layout));
	require(inspector__start(&inspection_job, &inspector) == 0);
	take_interpreters(inspector);
	inspector__holds_lua(inspector, PID, &place, &holds_lua, &unsupported);
	require(!unsupported || !holds_lua);
	inspector__command_line(inspector, PID, &line);
	require(strlen(line.text) < sizeof(line.text));
	take_names(inspector, &layout);
	inspector__free(inspector);
}

/* None that opens files: those are of this machine. */
static void ask(struct input input)
{
	struct message request = {}, made = {};
	void *inspection = inspection_job.begin();
	uint8_t body[BODY_MAX];
	uint64_t kind =
		INSPECT_PROTOTYPES + input__take(&input, 1) % (INSPECT_KINDS - INSPECT_PROTOTYPES);
	size_t size = input__take(&input, 2) % sizeof(body);

	require(inspection);
	input__take_bytes(&input, body, size);
	memory_of_input__set(&input, true);
	message__put_number(&request, kind);
	message__put_number(&request, PID);
	message__put_number(&request, LS_FAMILY_PUC);
	message__put(&request, body, size);
	inspection_job.serve(inspection, &request, &made);
	require(made.error || made.size <= MESSAGE_BYTES_MAX);
	message__free(&request);
	message__free(&made);
	inspection_job.end(inspection);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = {bytes, size};

	if (input__take(&input, 1) & 1)
		ask(input);
	else
		answer(input);
	return 0;
}
