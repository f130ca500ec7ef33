/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/write_dump.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "dump/system_call.h"
#include "walk_error.h"

#define SHOWN_SIZE 1024 /* of a name or a source */

#define X(code, class, counter, sentence) [LS_WALK_##code] = sentence,
static const char *const reasons[] = {LS_WALK_ERRORS(X)};
#undef X

static void show_frame(const struct dump_frame *frame, FILE *stream)
{
	char name[SHOWN_SIZE], source[SHOWN_SIZE];

	if (frame->name)
		log__printable(frame->name, name, sizeof(name));
	else
		snprintf(name, sizeof(name), "<anonymous:%" PRIu32 ">", frame->line_defined);
	if (!frame->source) {
		fprintf(stream, "    %s\n", name);
		return;
	}
	log__printable(frame->source, source, sizeof(source));
	if (frame->line)
		fprintf(stream, "    %s (%s:%s%" PRIu32 ")\n", name, source,
			frame->is_rough ? "~" : "", frame->line);
	else
		fprintf(stream, "    %s (%s)\n", name, source);
}

static void show_stack(const struct dump_stack *stack, FILE *stream)
{
	if (stack->is_in_gc)
		fprintf(stream, "    (garbage collector)\n");
	for (uint32_t i = 0; i < stack->count; i++) {
		show_frame(&stack->frames[i], stream);
		if (stack->frames[i].is_state_root && i + 1 < stack->count)
			fprintf(stream, "  resumed by\n");
	}
	if (stack->error != LS_WALK_NONE && stack->error != LS_WALK_NO_SCRIPT)
		fprintf(stream, "    (%s: %s)\n", stack->count ? "not complete" : "not available",
			reasons[stack->error]);
	else if (!stack->count)
		fprintf(stream, "    (no script on its stack)\n");
}

/* "idle: in read", "active" and the like. */
static void describe_status(const struct dump_thread *thread, char *to, size_t size)
{
	const struct standing_thread *place = &thread->place;
	const char *call = system_call__name(place->system_call);

	if (thread->status == DUMP_THREAD_ACTIVE)
		snprintf(to, size, "active");
	else if (thread->status != DUMP_THREAD_IDLE)
		snprintf(to, size, thread->samples ? "active" : "not available");
	else if (place->state == 'T' || place->state == 't')
		snprintf(to, size, "stopped%s%s", call ? ": in " : "", call ? call : "");
	else if (call)
		snprintf(to, size, "idle: in %s", call);
	else if (place->system_call >= 0)
		snprintf(to, size, "idle: in system call %" PRId64, place->system_call);
	else
		snprintf(to, size, "idle: in no system call");
}

static void show_thread(const struct dump_thread *thread, FILE *stream)
{
	char name[64], status[64];

	if (thread->status == DUMP_THREAD_GONE)
		return;
	describe_status(thread, status, sizeof(status));
	fprintf(stream, "\nThread %d \"%s\" (%s)\n", thread->tid,
		log__printable(thread->name, name, sizeof(name)), status);
	if (thread->status == DUMP_THREAD_MISSED)
		fprintf(stream, "    (it neither stood still nor ran for long enough)\n");
	else
		show_stack(&thread->stack, stream);
}

static void show_coroutines(const struct dump *dump, FILE *stream)
{
	for (size_t i = 0; i < dump->coroutine_count; i++) {
		const struct dump_stack *stack = &dump->coroutines[i].stack;

		fprintf(stream, "\nCoroutine 0x%" PRIx64 " (suspended)\n", stack->state);
		show_stack(stack, stream);
	}
}

static void show_count(FILE *stream, uint64_t count, const char *what)
{
	if (count)
		fprintf(stream, "  %" PRIu64 " %s\n", count, what);
}

static void show_missing(FILE *stream, uint64_t count, const char *one, const char *many)
{
	show_count(stream, count, count == 1 ? one : many);
}

static void show_counts(const struct dump *dump, FILE *stream)
{
	const struct dump_counts *counts = &dump->counts;
	uint64_t all = counts->active + counts->not_started + counts->finished + counts->failed +
		       counts->changing + counts->unreadable + dump->coroutine_count;

	if (dump->options.all) {
		fprintf(stream, "\nCoroutines: %" PRIu64 " in %" PRIu64 " VM%s\n", all, counts->vms,
			counts->vms == 1 ? "" : "s");
		show_count(stream, dump->coroutine_count, "suspended");
		show_count(stream, counts->active, "active (on a thread's stack)");
		show_count(stream, counts->not_started, "not started");
		show_count(stream, counts->finished, "finished");
		show_count(stream, counts->failed, "ended by an error");
		show_count(stream, counts->changing, "not read: they ran meanwhile");
		show_count(stream, counts->unreadable, "unreadable, or without a certain layout");
		if (counts->left_out)
			fprintf(stream,
				"  (there may be more: too many objects, objects that changed too "
				"fast, or a VM whose layout is not certain)\n");
		if (counts->ran)
			fprintf(stream, "  (the process ran meanwhile: some may be missing)\n");
	}
	if (counts->collected || counts->unnamed_calls || counts->unknown_lines)
		fprintf(stream, "\nNot readable\n");
	show_missing(stream, counts->collected, "function that was garbage-collected",
		     "functions that were garbage-collected");
	show_missing(stream, counts->unnamed_calls, "name of a call", "names of calls");
	show_missing(stream, counts->unknown_lines, "line", "lines");
}

int write_dump__text(const struct dump *dump, FILE *stream)
{
	char text[SHOWN_SIZE];

	fprintf(stream, "%s\n", log__printable(dump->target, text, sizeof(text)));
	if (dump->interpreter)
		fprintf(stream, "  interpreter  %s\n",
			log__printable(dump->interpreter, text, sizeof(text)));
	fprintf(stream, "  layout       %s\n", dump->layout);
	for (size_t i = 0; i < dump->thread_count; i++)
		show_thread(&dump->threads[i], stream);
	show_coroutines(dump, stream);
	show_counts(dump, stream);
	return ferror(stream) ? -EIO : 0;
}
