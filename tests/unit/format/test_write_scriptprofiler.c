/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "profile/call_tree.h"
#include "profile/merged_profile.h"
#include "profile/totals.h"
#include "format/write_scriptprofiler.h"
#include "skip.h"

#define FUNCTIONS 8

struct fixture {
	struct call_tree *tree;
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct ls_profile profile;
	enum merged_lines lines;
	char *text;
	json_t *json;
};

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->tree = call_tree__new();
	return fixture->tree ? 0 : -1;
}

static void forget_document(struct fixture *fixture)
{
	json_decref(fixture->json);
	fixture->json = NULL;
	free(fixture->text);
	fixture->text = NULL;
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	forget_document(fixture);
	call_tree__free(fixture->tree);
	free(fixture);
	return 0;
}

/* All the way that a recording goes. */
static int write_to(struct fixture *fixture, FILE *stream)
{
	struct merged_profile *merged;
	struct ls_totals totals;
	int error;

	call_tree__export(fixture->tree, &fixture->profile);
	fixture->profile.functions = fixture->functions;
	fixture->profile.function_count = FUNCTIONS;
	assert_int_equal(merged_profile__new(&fixture->profile, fixture->lines, &merged), 0);
	assert_int_equal(totals__compute(merged_profile__profile(merged), &totals), 0);
	error = write_scriptprofiler(merged_profile__profile(merged), &totals, stream);
	totals__free(&totals);
	merged_profile__free(merged);
	return error;
}

static const char *write_text(struct fixture *fixture)
{
	size_t length;
	FILE *stream;

	forget_document(fixture);
	stream = open_memstream(&fixture->text, &length);
	assert_non_null(stream);
	assert_int_equal(write_to(fixture, stream), 0);
	assert_int_equal(fclose(stream), 0);
	return fixture->text;
}

static json_t *write_json(struct fixture *fixture)
{
	json_error_t error;

	fixture->json = json_loads(write_text(fixture), JSON_REJECT_DUPLICATES, &error);
	if (!fixture->json)
		fail_msg("%s: %s", fixture->text, error.text);
	return fixture->json;
}

static json_int_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static uint32_t charge_us(struct fixture *fixture, uint32_t parent, uint32_t function, uint64_t us)
{
	uint32_t node = call_tree__child(fixture->tree, parent, function);

	assert_int_not_equal(node, 0);
	call_tree__add(fixture->tree, node, 1, 1000 * us);
	return node;
}

static void an_empty_profile_is_a_document(void **state)
{
	assert_string_equal(write_text(*state),
			    "{\"Version\":2,\"Categories\":[],\"Nodes\":[],\"Functions\":[]}\n");
}

static void writes_one_line_for_each_element(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "lua");
	uint32_t caller;

	fixture->functions[1] =
		(struct ls_profile_function){.source = "a.lua", .name = "f", .line = 3};
	fixture->functions[2] =
		(struct ls_profile_function){.source = "a.lua", .line = 9, .flags = 3};
	fixture->functions[3] = (struct ls_profile_function){.source = "[C]", .name = "sort"};
	fixture->functions[4] = (struct ls_profile_function){.name = "(host)"};
	caller = charge_us(fixture, root, 1, 5);
	charge_us(fixture, caller, 2, 70);
	charge_us(fixture, caller, 3, 900);
	charge_us(fixture, root, 4, 0);
	fixture->profile.recorder.start_ms = 1700000000123;
	fixture->profile.recorder.duration_ns = 1500400000;
	assert_string_equal(
		write_text(fixture),
		"{\"Version\":2,"
		"\"SessionStartTime\":1700000000123,\"SessionEndTime\":1700000001623,"
		"\"Categories\":[\n{\"Name\":\"lua\",\"NodeId\":1}],"
		"\"Nodes\":[\n"
		"{\"TotalDuration\":975,\"FunctionIds\":[4,1],\"NodeIds\":[5,2]},\n"
		"{\"TotalDuration\":975,\"FunctionIds\":[3,2],\"NodeIds\":[4,3]},\n"
		"{\"TotalDuration\":70},\n"
		"{\"TotalDuration\":900},\n"
		"{\"TotalDuration\":0}],"
		"\"Functions\":[\n"
		"{\"Source\":\"a.lua\",\"Name\":\"f\",\"Line\":3,\"TotalDuration\":975},\n"
		"{\"Source\":\"a.lua\",\"Line\":9,\"Flags\":3,\"TotalDuration\":70},\n"
		"{\"Source\":\"[C]\",\"Name\":\"sort\",\"TotalDuration\":900},\n"
		"{\"Name\":\"(host)\",\"TotalDuration\":0}]}\n");
}

/* f at lines 4 and 5 and somewhere, g at a line that took no time. */
static void make_lines(struct fixture *fixture)
{
	uint32_t root = call_tree__category(fixture->tree, "lua");

	for (uint32_t id = 1; id <= 5; id++)
		fixture->functions[id] = (struct ls_profile_function){
			.source = "a.lua", .name = id < 4 ? "f" : "g", .line = 3};
	fixture->functions[1].current_line = 5;
	fixture->functions[2].current_line = 4;
	fixture->functions[4].current_line = 9;
	for (uint32_t id = 1; id <= 4; id++)
		charge_us(fixture, root, id, id < 4 ? id * 10 : 0);
	fixture->profile.recorder.version = "1";
}

static void writes_own_time_by_line(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	make_lines(fixture);
	text = write_text(fixture);
	assert_non_null(strstr(text, "{\"Source\":\"a.lua\",\"Name\":\"f\",\"Line\":3,"
				     "\"TotalDuration\":60,\"Lines\":[[4,20,1],[5,10,1]]},\n"
				     "{\"Source\":\"a.lua\",\"Name\":\"g\",\"Line\":3,"
				     "\"TotalDuration\":0,\"Lines\":[[9,0,1]]}]"));
	assert_null(strstr(text, "CurrentLine"));
	fixture->profile.recorder.version = NULL;
	assert_null(strstr(write_text(fixture), "Lines"));
}

static void tells_functions_apart_by_line(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	make_lines(fixture);
	fixture->lines = MERGED_LINES_SPLIT;
	text = write_text(fixture);
	assert_non_null(strstr(text, "\"Line\":3,\"CurrentLine\":5,\"TotalDuration\":10},"));
	assert_non_null(strstr(text, "\"Line\":3,\"CurrentLine\":4,\"TotalDuration\":20},"));
	assert_non_null(strstr(text, "\"Name\":\"f\",\"Line\":3,\"TotalDuration\":30},"));
	assert_null(strstr(text, "\"Lines\""));
}

static void names_the_collector_if_it_ran(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "lua");
	uint32_t caller;

	fixture->functions[1] =
		(struct ls_profile_function){.source = "a.lua", .name = "f", .line = 3};
	fixture->functions[2] = (struct ls_profile_function){
		.source = "GC", .name = "GC", .flags = LS_FUNCTION_PLUGIN};
	fixture->functions[3] = (struct ls_profile_function){.source = "GC", .name = "GC"};
	fixture->functions[4] = (struct ls_profile_function){.source = "GC"};
	caller = charge_us(fixture, root, 1, 5);
	charge_us(fixture, caller, 4, 1);
	assert_null(json_object_get(write_json(fixture), "GCFuncId"));
	charge_us(fixture, caller, 2, 1);
	assert_int_equal(number(write_json(fixture), "GCFuncId"), 2);
	charge_us(fixture, caller, 3, 1);
	assert_int_equal(number(write_json(fixture), "GCFuncId"), 3);
}

static void hostile_names_are_shown_as_text(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "\x1b]0;owned\a");
	const json_t *function;

	fixture->functions[1] =
		(struct ls_profile_function){.source = "a\xff\"\n", .name = "\\xff", .line = 3};
	charge_us(fixture, root, 1, 1);
	function = json_array_get(json_object_get(write_json(fixture), "Functions"), 0);
	assert_string_equal(json_string_value(json_object_get(function, "Source")), "a\\xff\"\n");
	assert_string_equal(json_string_value(json_object_get(function, "Name")), "\\x5cxff");
	assert_null(strpbrk(fixture->text, "\x1b\a\xff"));
}

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
	struct fixture *fixture = *state;
	const json_t *recorder, *samples;

	fill_recorder(&fixture->profile.recorder);
	recorder = json_object_get(write_json(fixture), "Recorder");
	assert_string_equal(json_string_value(json_object_get(recorder, "Tool")), "luaspy");
	assert_string_equal(json_string_value(json_object_get(recorder, "Version")), "1.2.3");
	assert_string_equal(json_string_value(json_object_get(recorder, "Host")), "box");
	assert_string_equal(json_string_value(json_object_get(recorder, "Target")),
			    "lua5.4 (pid 42)");
	assert_null(json_object_get(recorder, "Interpreter"));
	assert_string_equal(json_string_value(json_object_get(recorder, "Layout")),
			    "5.4.0 to 5.4.6");
	assert_int_equal(number(recorder, "Frequency"), 3000);
	assert_int_equal(number(recorder, "Period"), 333);
	assert_int_equal(number(recorder, "WallDuration"), 2000);
	assert_int_equal(number(recorder, "CpuDuration"), 1999);
	samples = json_object_get(recorder, "Samples");
	assert_int_equal(json_object_size(samples), 7);
	assert_int_equal(number(samples, "total"), 21);
	assert_int_equal(number(samples, "dropped"), 1);
	assert_int_equal(number(samples, "unreadable"), 2);
	assert_int_equal(number(samples, "host"), 3);
	assert_int_equal(number(samples, "torn"), 4);
	assert_int_equal(number(samples, "truncated"), 5);
	assert_int_equal(number(samples, "complete"), 6);
	assert_int_equal(number(recorder, "Collected"), 7);
	assert_int_equal(number(recorder, "Unsampled"), 8);
	assert_int_equal(number(recorder, "UnnamedCalls"), 9);
	assert_int_equal(number(recorder, "UnkeptLines"), 17);
	assert_int_equal(number(recorder, "StackLookupsRefused"), 10);
	assert_int_equal(number(recorder, "EvictedFunctions"), 11);
	assert_int_equal(number(recorder, "EvictedSamples"), 12);
	assert_int_equal(number(recorder, "LostRecords"), 13);
	assert_int_equal(number(recorder, "IgnoredSamples"), 14);
	assert_int_equal(number(recorder, "UntimedSamples"), 15);
	assert_int_equal(number(recorder, "MissedProcesses"), 16);
}

static void gives_a_reason_for_each_error_that_occurred(void **state)
{
	struct fixture *fixture = *state;
	const json_t *reasons, *reason;

	fill_recorder(&fixture->profile.recorder);
	reasons = json_object_get(json_object_get(write_json(fixture), "Recorder"), "Reasons");
	assert_int_equal(json_array_size(reasons), 2);
	reason = json_array_get(reasons, 0);
	assert_string_equal(json_string_value(json_object_get(reason, "Name")), "frame_proto");
	assert_string_equal(json_string_value(json_object_get(reason, "Class")), "torn");
	assert_int_equal(number(reason, "Count"), 4);
	reason = json_array_get(reasons, 1);
	assert_string_equal(json_string_value(json_object_get(reason, "Class")), "truncated");
	assert_string_equal(json_string_value(json_object_get(reason, "Sentence")),
			    "the stack is deeper than --max-depth");
}

static void is_strict_without_a_recorders_version(void **state)
{
	struct fixture *fixture = *state;

	fill_recorder(&fixture->profile.recorder);
	fixture->profile.recorder.version = NULL;
	assert_null(json_object_get(write_json(fixture), "Recorder"));
	assert_int_equal(number(fixture->json, "SessionStartTime"), 1000);
}

static void has_samples_in_order_of_time(void **state)
{
	static const struct ls_profile_sample samples[] = {
		{.time_ns = 5001999, .node = 3, .thread = 42},
		{.time_ns = 5002000, .node = 2, .thread = 43},
		{.time_ns = 5999999, .node = 3, .thread = 42},
	};
	struct fixture *fixture = *state;
	uint32_t unused = call_tree__category(fixture->tree, "unused"), root;

	assert_int_equal(unused, 1);
	root = call_tree__category(fixture->tree, "lua");
	call_tree__add(fixture->tree, root, 1, 0);
	charge_us(fixture, root, 1, 1);
	fixture->functions[1].source = "a.lua";
	fixture->profile.samples = samples;
	fixture->profile.sample_count = 3;
	fill_recorder(&fixture->profile.recorder);
	fixture->profile.recorder.timed_from_ns = 4000000;
	/* Ids are those that are written, and 1001.999 us are over at the first. */
	assert_non_null(
		strstr(write_text(fixture), "\"Samples\":[\n[2,1001,42],\n[1,1,43],\n[2,997,42]]"));
	fixture->profile.recorder.version = NULL;
	assert_null(json_object_get(write_json(fixture), "Samples"));
}

static void reports_a_full_disk(void **state)
{
	struct fixture *fixture = *state;
	FILE *full = fopen("/dev/full", "w");
	uint32_t root = call_tree__category(fixture->tree, "lua");

	if (!full)
		skip_because("there is no /dev/full");
	/* More than the stream's buffer, so that it shows before the flush. */
	for (int i = 0; i < 10000; i++)
		root = charge_us(fixture, root, 1, 1);
	assert_int_equal(write_to(fixture, full), -ENOSPC);
	fclose(full);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

static void tells_what_the_session_was_told(void **state)
{
	static const struct ls_profile_event events[] = {{1500, "pause", NULL},
							 {2000000, "mark", "</script>\033"}};
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;
	const json_t *told, *listed;

	recorder->version = "1";
	told = json_object_get(write_json(fixture), "Recorder");
	assert_null(json_object_get(told, "Events"));
	assert_null(json_object_get(told, "PausedDuration"));
	recorder->events = events;
	recorder->event_count = 2;
	recorder->paused_ns = 7000;
	recorder->events_left_out = 3;
	told = json_object_get(write_json(fixture), "Recorder");
	listed = json_object_get(told, "Events");
	assert_int_equal(json_array_size(listed), 2);
	assert_int_equal(number(json_array_get(listed, 0), "TimeUs"), 1);
	assert_int_equal(number(json_array_get(listed, 1), "TimeUs"), 2000);
	assert_null(json_object_get(json_array_get(listed, 0), "Text"));
	assert_string_equal(json_string_value(json_object_get(json_array_get(listed, 1), "Text")),
			    events[1].text);
	assert_null(strstr(fixture->text, "</script"));
	assert_int_equal(number(told, "PausedDuration"), 7);
	assert_int_equal(number(told, "EventsLeftOut"), 3);
}

/* In whole microseconds, of which the sum is that of its parts. */
static void tells_what_it_cost_where_that_was_limited(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;
	const json_t *told;

	recorder->version = "1";
	assert_null(json_object_get(json_object_get(write_json(fixture), "Recorder"), "Overhead"));
	recorder->overhead = (struct ls_profile_overhead){
		.limit_ppm = 5000, .interrupts_ns = 1900, .bpf_ns = 2900, .own_ns = 3900};
	told = json_object_get(json_object_get(write_json(fixture), "Recorder"), "Overhead");
	assert_int_equal(number(told, "MaxPpm"), 5000);
	assert_int_equal(number(told, "Interrupts"), 1);
	assert_int_equal(number(told, "Bpf"), 2);
	assert_int_equal(number(told, "Luaspy"), 3);
	assert_int_equal(number(told, "Total"), 6);
	assert_null(json_object_get(told, "LowestFrequency"));
	recorder->overhead.lowered_ns = 12000;
	recorder->overhead.period_most_ns = 4000000;
	told = json_object_get(json_object_get(write_json(fixture), "Recorder"), "Overhead");
	assert_int_equal(number(told, "LoweredDuration"), 12);
	assert_int_equal(number(told, "LowestFrequency"), 250);
}

static void set_vm_functions(struct fixture *fixture)
{
	fixture->functions[1] =
		(struct ls_profile_function){.source = "a.lua", .name = "f", .line = 3};
	fixture->functions[2] = (struct ls_profile_function){
		.source = "a.lua", .name = "f", .line = 3, .flags = LS_FUNCTION_NATIVE};
	fixture->functions[3] = (struct ls_profile_function){.source = "[C]", .name = "sort"};
	fixture->functions[4] = (struct ls_profile_function){.source = "GC", .name = "GC"};
	fixture->functions[5] =
		(struct ls_profile_function){.source = PROFILE_COMPILER, .name = PROFILE_COMPILER};
	fixture->functions[6] = (struct ls_profile_function){.source = PROFILE_TRACE_EXIT,
							     .name = PROFILE_TRACE_EXIT};
	fixture->functions[7] = (struct ls_profile_function){.name = PROFILE_HOST};
}

/* In microseconds that add up to the self time of all functions but the host's. */
static void tells_what_vms_did_that_compile(void **state)
{
	static const struct {
		const char *key;
		uint64_t us;
	} parts[] = {{"Interpreted", 11}, {"Compiled", 900}, {"C", 40},
		     {"GC", 7},           {"Compiler", 5},   {"TraceExit", 3}};
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "lua"), caller;
	const json_t *told;

	set_vm_functions(fixture);
	fixture->profile.recorder.version = "1";
	caller = charge_us(fixture, root, 1, 11);
	charge_us(fixture, caller, 3, 40);
	charge_us(fixture, caller, 4, 7);
	charge_us(fixture, root, 7, 600);
	told = json_object_get(write_json(fixture), "Recorder");
	assert_null(json_object_get(told, "ScriptDuration"));
	charge_us(fixture, caller, 2, 900);
	charge_us(fixture, caller, 5, 5);
	charge_us(fixture, caller, 6, 3);
	told = json_object_get(json_object_get(write_json(fixture), "Recorder"), "ScriptDuration");
	assert_int_equal(json_object_size(told), sizeof(parts) / sizeof(parts[0]));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_int_equal(number(told, parts[i].key), parts[i].us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(an_empty_profile_is_a_document),
		test(writes_one_line_for_each_element),
		test(writes_own_time_by_line),
		test(tells_functions_apart_by_line),
		test(names_the_collector_if_it_ran),
		test(hostile_names_are_shown_as_text),
		test(tells_how_it_was_recorded),
		test(gives_a_reason_for_each_error_that_occurred),
		test(is_strict_without_a_recorders_version),
		test(has_samples_in_order_of_time),
		test(reports_a_full_disk),
		test(tells_what_the_session_was_told),
		test(tells_what_it_cost_where_that_was_limited),
		test(tells_what_vms_did_that_compile),
	};

	return cmocka_run_group_tests_name("write_scriptprofiler", tests, NULL, NULL);
}
