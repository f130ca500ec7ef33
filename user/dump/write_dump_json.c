/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/write_dump.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "dump/system_call.h"
#include "json/json_field.h"
#include "walk_error.h"

#define X(code, class, counter, sentence) [LS_WALK_##code] = sentence,
static const char *const reasons[] = {LS_WALK_ERRORS(X)};
#undef X

/* Omitted if it is 0. */
static void put_count(struct json_writer *writer, const char *key, uint64_t number)
{
	if (number)
		json_field__uint(writer, key, number);
}

/* As a string, because 64-bit numbers are not safe in JSON. Omitted if it is 0. */
static void put_address(struct json_writer *writer, const char *key, uint64_t address)
{
	char text[24];

	if (!address)
		return;
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json_field__text(writer, key, text);
}

static void put_frame(struct json_writer *writer, const struct dump_frame *frame)
{
	json_writer__object(writer);
	json_field__text(writer, "Name", frame->name);
	json_field__text(writer, "Source", frame->source);
	put_count(writer, "Line", frame->line_defined);
	put_count(writer, "CurrentLine", frame->line);
	put_count(writer, "CurrentLineIsRough", frame->is_rough);
	json_writer__end_object(writer);
}

/* One array of frames for each coroutine. */
static void put_stacks(struct json_writer *writer, const struct dump_stack *stack)
{
	bool is_open = false;

	json_field__array_lines(writer, "Stacks");
	for (uint32_t i = 0; i < stack->count; i++) {
		if (!is_open)
			json_writer__array_lines(writer);
		put_frame(writer, &stack->frames[i]);
		is_open = !stack->frames[i].is_state_root;
		if (!is_open)
			json_writer__end_array(writer);
	}
	if (is_open)
		json_writer__end_array(writer);
	json_writer__end_array(writer);
	put_address(writer, "State", stack->state);
	put_address(writer, "Vm", stack->vm);
	put_count(writer, "InCollector", stack->is_in_gc);
	if (stack->error != LS_WALK_NONE && stack->error != LS_WALK_NO_SCRIPT)
		json_field__text(writer, "Problem", reasons[stack->error]);
}

static void put_thread(struct json_writer *writer, const struct dump_thread *thread)
{
	static const char *const statuses[] = {
		[DUMP_THREAD_MISSED] = "missed",
		[DUMP_THREAD_IDLE] = "idle",
		[DUMP_THREAD_ACTIVE] = "active",
	};

	if (thread->status == DUMP_THREAD_GONE)
		return;
	json_writer__object(writer);
	json_field__uint(writer, "Id", (uint64_t)thread->tid);
	json_field__text(writer, "Name", thread->name);
	json_field__text(writer, "Status", statuses[thread->status]);
	if (thread->status == DUMP_THREAD_IDLE && thread->place.system_call >= 0) {
		json_field__uint(writer, "SystemCallNumber", (uint64_t)thread->place.system_call);
		json_field__text(writer, "SystemCall",
				 system_call__name(thread->place.system_call));
	}
	put_stacks(writer, &thread->stack);
	json_writer__end_object(writer);
}

static void put_threads(struct json_writer *writer, const struct dump *dump)
{
	json_field__array_lines(writer, "Threads");
	for (size_t i = 0; i < dump->thread_count; i++)
		put_thread(writer, &dump->threads[i]);
	json_writer__end_array(writer);
}

static void put_coroutines(struct json_writer *writer, const struct dump *dump)
{
	if (!dump->options.all)
		return;
	json_field__array_lines(writer, "Coroutines");
	for (size_t i = 0; i < dump->coroutine_count; i++) {
		json_writer__object(writer);
		json_field__text(writer, "Status", "suspended");
		put_stacks(writer, &dump->coroutines[i].stack);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void put_counts(struct json_writer *writer, const struct dump_counts *counts)
{
	json_field__object(writer, "Counts");
	put_count(writer, "Vms", counts->vms);
	put_count(writer, "ObjectsSeen", counts->objects);
	put_count(writer, "ActiveCoroutines", counts->active);
	put_count(writer, "CoroutinesNotStarted", counts->not_started);
	put_count(writer, "FinishedCoroutines", counts->finished);
	put_count(writer, "FailedCoroutines", counts->failed);
	put_count(writer, "CoroutinesThatRan", counts->changing);
	put_count(writer, "UnreadableCoroutines", counts->unreadable);
	put_count(writer, "LeftOut", counts->left_out);
	put_count(writer, "RanMeanwhile", counts->ran);
	put_count(writer, "UnnamedCalls", counts->unnamed_calls);
	put_count(writer, "CollectedFunctions", counts->collected);
	put_count(writer, "UnknownLines", counts->unknown_lines);
	json_writer__end_object(writer);
}

int write_dump__json(const struct dump *dump, FILE *stream)
{
	struct json_writer writer;

	json_writer__init(&writer, stream);
	json_writer__object(&writer);
	json_field__text(&writer, "Target", dump->target);
	json_field__text(&writer, "Interpreter", dump->interpreter);
	json_field__text(&writer, "Layout", dump->layout);
	json_field__uint(&writer, "TimeMs", dump->time_ms);
	put_threads(&writer, dump);
	put_coroutines(&writer, dump);
	put_counts(&writer, &dump->counts);
	json_writer__end_object(&writer);
	return json_writer__finish(&writer);
}
