/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests what a ScriptProfiler file says about its recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "document.h"

static void fill_recorder(struct ls_profile_recorder *recorder)
{
	*recorder = (struct ls_profile_recorder){
		.version = "1.2.3",
		.host = "box",
		.target = "lua5.4 (pid 42)",
		.layout = "5.4.0 to 5.4.6",
		.period_ns = 333333,
		.start_ms = 1000,
		.duration_ns = 2000999,
		.cpu_ns = 1999999,
		.samples = 21,
		.classes = {1, 2, 3, 4, 5, 6},
		.collected = 7,
		.unsampled_ns = 8999,
		.unnamed_calls = 9,
		.unkept_lines = 17,
		.vma_busy = 10,
		.evicted_functions = 11,
		.evicted_samples = 12,
		.lost_records = 13,
		.ignored_samples = 14,
		.untimed_samples = 15,
		.missed_processes = 16,
	};
	recorder->errors[LS_WALK_NONE] = 6;
	recorder->errors[LS_WALK_DEPTH] = 5;
	recorder->errors[LS_WALK_FRAME_PROTO] = 4;
}

static void tells_how_it_was_recorded(void **state)
{
	struct document *document = *state;
	const json_t *recorder, *samples;

	fill_recorder(&document->profile.recorder);
	recorder = json_object_get(document__json(document), "Recorder");
	assert_string_equal(json_string_value(json_object_get(recorder, "Tool")), "luaspy");
	assert_string_equal(json_string_value(json_object_get(recorder, "Version")), "1.2.3");
	assert_string_equal(json_string_value(json_object_get(recorder, "Host")), "box");
	assert_string_equal(json_string_value(json_object_get(recorder, "Target")),
			    "lua5.4 (pid 42)");
	assert_null(json_object_get(recorder, "Interpreter"));
	assert_string_equal(json_string_value(json_object_get(recorder, "Layout")),
			    "5.4.0 to 5.4.6");
	assert_int_equal(document__number(recorder, "Frequency"), 3000);
	assert_int_equal(document__number(recorder, "Period"), 333);
	assert_int_equal(document__number(recorder, "WallDuration"), 2000);
	assert_int_equal(document__number(recorder, "CpuDuration"), 1999);
	samples = json_object_get(recorder, "Samples");
	assert_int_equal(json_object_size(samples), 7);
	assert_int_equal(document__number(samples, "total"), 21);
	assert_int_equal(document__number(samples, "dropped"), 1);
	assert_int_equal(document__number(samples, "unreadable"), 2);
	assert_int_equal(document__number(samples, "host"), 3);
	assert_int_equal(document__number(samples, "torn"), 4);
	assert_int_equal(document__number(samples, "truncated"), 5);
	assert_int_equal(document__number(samples, "complete"), 6);
	assert_int_equal(document__number(recorder, "Collected"), 7);
	assert_int_equal(document__number(recorder, "Unsampled"), 8);
	assert_int_equal(document__number(recorder, "UnnamedCalls"), 9);
	assert_int_equal(document__number(recorder, "UnkeptLines"), 17);
	assert_int_equal(document__number(recorder, "StackLookupsRefused"), 10);
	assert_int_equal(document__number(recorder, "EvictedFunctions"), 11);
	assert_int_equal(document__number(recorder, "EvictedSamples"), 12);
	assert_int_equal(document__number(recorder, "LostRecords"), 13);
	assert_int_equal(document__number(recorder, "IgnoredSamples"), 14);
	assert_int_equal(document__number(recorder, "UntimedSamples"), 15);
	assert_int_equal(document__number(recorder, "MissedProcesses"), 16);
}

static void gives_a_reason_for_each_error_that_occurred(void **state)
{
	struct document *document = *state;
	const json_t *reasons, *reason;

	fill_recorder(&document->profile.recorder);
	reasons = json_object_get(json_object_get(document__json(document), "Recorder"), "Reasons");
	assert_int_equal(json_array_size(reasons), 2);
	reason = json_array_get(reasons, 0);
	assert_string_equal(json_string_value(json_object_get(reason, "Name")), "frame_proto");
	assert_string_equal(json_string_value(json_object_get(reason, "Class")), "torn");
	assert_int_equal(document__number(reason, "Count"), 4);
	reason = json_array_get(reasons, 1);
	assert_string_equal(json_string_value(json_object_get(reason, "Class")), "truncated");
	assert_string_equal(json_string_value(json_object_get(reason, "Sentence")),
			    "the stack is deeper than --max-depth");
}

static void is_strict_without_a_recorders_version(void **state)
{
	struct document *document = *state;

	fill_recorder(&document->profile.recorder);
	document->profile.recorder.version = NULL;
	assert_null(json_object_get(document__json(document), "Recorder"));
	assert_int_equal(document__number(document->json, "SessionStartTime"), 1000);
}

static void has_samples_in_order_of_time(void **state)
{
	static const struct ls_profile_sample samples[] = {
		{.time_ns = 5001999, .node = 3, .thread = 42},
		{.time_ns = 5002000, .node = 2, .thread = 43},
		{.time_ns = 5999999, .node = 3, .thread = 42},
	};
	struct document *document = *state;
	uint32_t unused = call_tree__category(document->tree, "unused"), root;

	assert_int_equal(unused, 1);
	root = call_tree__category(document->tree, "lua");
	call_tree__add(document->tree, root, 1, 0);
	document__charge_us(document, root, 1, 1);
	document->functions[1].source = "a.lua";
	document->profile.samples = samples;
	document->profile.sample_count = 3;
	fill_recorder(&document->profile.recorder);
	document->profile.recorder.timed_from_ns = 4000000;
	/* Ids are those that are written, and 1001.999 us are over at the first. */
	assert_non_null(strstr(document__text(document),
			       "\"Samples\":[\n[2,1001,42],\n[1,1,43],\n[2,997,42]]"));
	document->profile.recorder.version = NULL;
	assert_null(json_object_get(document__json(document), "Samples"));
}

static void tells_what_the_session_was_told(void **state)
{
	static const struct ls_profile_event events[] = {{1500, "pause", NULL},
							 {2000000, "mark", "</script>\033"}};
	struct document *document = *state;
	struct ls_profile_recorder *recorder = &document->profile.recorder;
	const json_t *told, *listed;

	recorder->version = "1";
	told = json_object_get(document__json(document), "Recorder");
	assert_null(json_object_get(told, "Events"));
	assert_null(json_object_get(told, "PausedDuration"));
	recorder->events = events;
	recorder->event_count = 2;
	recorder->paused_ns = 7000;
	recorder->events_left_out = 3;
	told = json_object_get(document__json(document), "Recorder");
	listed = json_object_get(told, "Events");
	assert_int_equal(json_array_size(listed), 2);
	assert_int_equal(document__number(json_array_get(listed, 0), "TimeUs"), 1);
	assert_int_equal(document__number(json_array_get(listed, 1), "TimeUs"), 2000);
	assert_null(json_object_get(json_array_get(listed, 0), "Text"));
	assert_string_equal(json_string_value(json_object_get(json_array_get(listed, 1), "Text")),
			    events[1].text);
	assert_null(strstr(document->text, "</script"));
	assert_int_equal(document__number(told, "PausedDuration"), 7);
	assert_int_equal(document__number(told, "EventsLeftOut"), 3);
}

/* In whole microseconds, of which the sum is that of its parts. */
static void tells_what_it_cost_where_that_was_limited(void **state)
{
	struct document *document = *state;
	struct ls_profile_recorder *recorder = &document->profile.recorder;
	const json_t *told;

	recorder->version = "1";
	assert_null(
		json_object_get(json_object_get(document__json(document), "Recorder"), "Overhead"));
	recorder->overhead = (struct ls_profile_overhead){
		.limit_ppm = 5000, .interrupts_ns = 1900, .bpf_ns = 2900, .own_ns = 3900};
	told = json_object_get(json_object_get(document__json(document), "Recorder"), "Overhead");
	assert_int_equal(document__number(told, "MaxPpm"), 5000);
	assert_int_equal(document__number(told, "Interrupts"), 1);
	assert_int_equal(document__number(told, "Bpf"), 2);
	assert_int_equal(document__number(told, "Luaspy"), 3);
	assert_int_equal(document__number(told, "Total"), 6);
	assert_null(json_object_get(told, "LowestFrequency"));
	recorder->overhead.lowered_ns = 12000;
	recorder->overhead.period_most_ns = 4000000;
	told = json_object_get(json_object_get(document__json(document), "Recorder"), "Overhead");
	assert_int_equal(document__number(told, "LoweredDuration"), 12);
	assert_int_equal(document__number(told, "LowestFrequency"), 250);
}

static void set_vm_functions(struct document *document)
{
	document->functions[1] =
		(struct ls_profile_function){.source = "a.lua", .name = "f", .line = 3};
	document->functions[2] = (struct ls_profile_function){
		.source = "a.lua", .name = "f", .line = 3, .flags = LS_FUNCTION_NATIVE};
	document->functions[3] = (struct ls_profile_function){.source = "[C]", .name = "sort"};
	document->functions[4] = (struct ls_profile_function){.source = "GC", .name = "GC"};
	document->functions[5] =
		(struct ls_profile_function){.source = PROFILE_COMPILER, .name = PROFILE_COMPILER};
	document->functions[6] = (struct ls_profile_function){.source = PROFILE_TRACE_EXIT,
							      .name = PROFILE_TRACE_EXIT};
	document->functions[7] = (struct ls_profile_function){.name = PROFILE_HOST};
}

/* In microseconds that add up to the self time of all functions but the host's. */
static void tells_what_vms_did_that_compile(void **state)
{
	static const struct {
		const char *key;
		uint64_t us;
	} parts[] = {{"Interpreted", 11}, {"Compiled", 900}, {"C", 40},
		     {"GC", 7},           {"Compiler", 5},   {"TraceExit", 3}};
	struct document *document = *state;
	uint32_t root = call_tree__category(document->tree, "lua"), caller;
	const json_t *told;

	set_vm_functions(document);
	document->profile.recorder.version = "1";
	caller = document__charge_us(document, root, 1, 11);
	document__charge_us(document, caller, 3, 40);
	document__charge_us(document, caller, 4, 7);
	document__charge_us(document, root, 7, 600);
	told = json_object_get(document__json(document), "Recorder");
	assert_null(json_object_get(told, "ScriptDuration"));
	document__charge_us(document, caller, 2, 900);
	document__charge_us(document, caller, 5, 5);
	document__charge_us(document, caller, 6, 3);
	told = json_object_get(json_object_get(document__json(document), "Recorder"),
			       "ScriptDuration");
	assert_int_equal(json_object_size(told), sizeof(parts) / sizeof(parts[0]));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_int_equal(document__number(told, parts[i].key), parts[i].us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_document(tells_how_it_was_recorded),
		with_document(gives_a_reason_for_each_error_that_occurred),
		with_document(is_strict_without_a_recorders_version),
		with_document(has_samples_in_order_of_time),
		with_document(tells_what_the_session_was_told),
		with_document(tells_what_it_cost_where_that_was_limited),
		with_document(tells_what_vms_did_that_compile),
	};

	return cmocka_run_group_tests_name("write_scriptprofiler: recorder", tests, NULL, NULL);
}
