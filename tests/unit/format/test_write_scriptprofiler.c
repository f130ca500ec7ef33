/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Categories, nodes and functions of ScriptProfiler files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "document.h"
#include "skip.h"

static void an_empty_profile_is_a_document(void **state)
{
	assert_string_equal(document__text(*state),
			    "{\"Version\":2,\"Categories\":[],\"Nodes\":[],\"Functions\":[]}\n");
}

static void writes_one_line_for_each_element(void **state)
{
	struct document *document = *state;
	uint32_t root = call_tree__category(document->tree, "lua");
	uint32_t caller;

	document->functions[1] =
		(struct ls_profile_function){.source = "a.lua", .name = "f", .line = 3};
	document->functions[2] =
		(struct ls_profile_function){.source = "a.lua", .line = 9, .flags = 3};
	document->functions[3] = (struct ls_profile_function){.source = "[C]", .name = "sort"};
	document->functions[4] = (struct ls_profile_function){.name = "(host)"};
	caller = document__charge_us(document, root, 1, 5);
	document__charge_us(document, caller, 2, 70);
	document__charge_us(document, caller, 3, 900);
	document__charge_us(document, root, 4, 0);
	document->profile.recorder.start_ms = 1700000000123;
	document->profile.recorder.duration_ns = 1500400000;
	assert_string_equal(
		document__text(document),
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
static void make_lines(struct document *document)
{
	uint32_t root = call_tree__category(document->tree, "lua");

	for (uint32_t id = 1; id <= 5; id++)
		document->functions[id] = (struct ls_profile_function){
			.source = "a.lua", .name = id < 4 ? "f" : "g", .line = 3};
	document->functions[1].current_line = 5;
	document->functions[2].current_line = 4;
	document->functions[4].current_line = 9;
	for (uint32_t id = 1; id <= 4; id++)
		document__charge_us(document, root, id, id < 4 ? id * 10 : 0);
	document->profile.recorder.version = "1";
}

static void writes_own_time_by_line(void **state)
{
	struct document *document = *state;
	const char *text;

	make_lines(document);
	text = document__text(document);
	assert_non_null(strstr(text, "{\"Source\":\"a.lua\",\"Name\":\"f\",\"Line\":3,"
				     "\"TotalDuration\":60,\"Lines\":[[4,20,1],[5,10,1]]},\n"
				     "{\"Source\":\"a.lua\",\"Name\":\"g\",\"Line\":3,"
				     "\"TotalDuration\":0,\"Lines\":[[9,0,1]]}]"));
	assert_null(strstr(text, "CurrentLine"));
	document->profile.recorder.version = NULL;
	assert_null(strstr(document__text(document), "Lines"));
}

static void tells_functions_apart_by_line(void **state)
{
	struct document *document = *state;
	const char *text;

	make_lines(document);
	document->lines = MERGED_LINES_SPLIT;
	text = document__text(document);
	assert_non_null(strstr(text, "\"Line\":3,\"CurrentLine\":5,\"TotalDuration\":10},"));
	assert_non_null(strstr(text, "\"Line\":3,\"CurrentLine\":4,\"TotalDuration\":20},"));
	assert_non_null(strstr(text, "\"Name\":\"f\",\"Line\":3,\"TotalDuration\":30},"));
	assert_null(strstr(text, "\"Lines\""));
}

static void names_the_collector_if_it_ran(void **state)
{
	struct document *document = *state;
	uint32_t root = call_tree__category(document->tree, "lua");
	uint32_t caller;

	document->functions[1] =
		(struct ls_profile_function){.source = "a.lua", .name = "f", .line = 3};
	document->functions[2] = (struct ls_profile_function){
		.source = "GC", .name = "GC", .flags = LS_FUNCTION_PLUGIN};
	document->functions[3] = (struct ls_profile_function){.source = "GC", .name = "GC"};
	document->functions[4] = (struct ls_profile_function){.source = "GC"};
	caller = document__charge_us(document, root, 1, 5);
	document__charge_us(document, caller, 4, 1);
	assert_null(json_object_get(document__json(document), "GCFuncId"));
	document__charge_us(document, caller, 2, 1);
	assert_int_equal(document__number(document__json(document), "GCFuncId"), 2);
	document__charge_us(document, caller, 3, 1);
	assert_int_equal(document__number(document__json(document), "GCFuncId"), 3);
}

static void hostile_names_are_shown_as_text(void **state)
{
	struct document *document = *state;
	uint32_t root = call_tree__category(document->tree, "\x1b]0;owned\a");
	const json_t *function;

	document->functions[1] =
		(struct ls_profile_function){.source = "a\xff\"\n", .name = "\\xff", .line = 3};
	document__charge_us(document, root, 1, 1);
	function = json_array_get(json_object_get(document__json(document), "Functions"), 0);
	assert_string_equal(json_string_value(json_object_get(function, "Source")), "a\\xff\"\n");
	assert_string_equal(json_string_value(json_object_get(function, "Name")), "\\x5cxff");
	assert_null(strpbrk(document->text, "\x1b\a\xff"));
}

static void reports_a_full_disk(void **state)
{
	struct document *document = *state;
	FILE *full = fopen("/dev/full", "w");
	uint32_t root = call_tree__category(document->tree, "lua");

	if (!full)
		skip_because("there is no /dev/full");
	/* More than the stream's buffer, so that it shows before the flush. */
	for (int i = 0; i < 10000; i++)
		root = document__charge_us(document, root, 1, 1);
	assert_int_equal(document__write(document, full), -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_document(an_empty_profile_is_a_document),
		with_document(writes_one_line_for_each_element),
		with_document(writes_own_time_by_line),
		with_document(tells_functions_apart_by_line),
		with_document(names_the_collector_if_it_ran),
		with_document(hostile_names_are_shown_as_text),
		with_document(reports_a_full_disk),
	};

	return cmocka_run_group_tests_name("write_scriptprofiler", tests, NULL, NULL);
}
