/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The views, of a recording by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report_fixture.h"

/* What is below the title, which begins with `title`. */
static void assert_prints(struct fixture *fixture, const char *title, const char *rows)
{
	const char *text = strstr(print(fixture, 80, false), title);

	if (!text || strcmp(strchr(text, '\n') + 1, rows) != 0)
		fail_msg("expected:\n%s\nbut:\n%s", rows, fixture->text);
}

static void functions_by_each_column(void **state)
{
	struct fixture *fixture = *state;

	select_from(fixture, 1, (struct selection){});
	fixture->report.limit = 3;
	assert_prints(fixture, "Functions, by self time",
		      "        self     time   total            function  source\n"
		      "   1   30.0%  30.0 ms   30.0%  ########  leaf      app.lua:20 ->:21 67%\n"
		      "   2   25.0%  25.0 ms   66.0%  #######   work      app.lua:3\n"
		      "   3   15.0%  15.0 ms   15.0%  ####      GC        GC\n");
	fixture->report.order = ROW_ORDER_TOTAL;
	assert_prints(
		fixture, "Functions, by total time",
		"        self     time   total            function    source\n"
		"   1   10.0%   100 ms  100.0%  ########  main chunk  app.lua\n"
		"   2   25.0%  66.0 ms   66.0%  #####     work        app.lua:3\n"
		"   3   30.0%  30.0 ms   30.0%  ##        leaf        app.lua:20 ->:21 67%\n");
	fixture->report.order = ROW_ORDER_NAME;
	fixture->report.limit = 2;
	assert_prints(fixture, "Functions, by name",
		      "        self     time   total            function         source\n"
		      "   1   15.0%  15.0 ms   15.0%  ########  GC               GC\n"
		      "   2    8.0%  8.00 ms    8.0%  ####      concat <plugin>  [C]\n");
}

static void the_least_share_is_of_total_time(void **state)
{
	struct fixture *fixture = *state;

	select_from(fixture, 1, (struct selection){});
	fixture->report.least_ppm = 300000;
	print(fixture, 80, false);
	assert_non_null(strstr(fixture->text, "leaf"));
	assert_non_null(strstr(fixture->text, "main chunk"));
	assert_null(strstr(fixture->text, "plug"));
}

/* Functions that only call others are no hot ones, but what a search or a share asks for. */
static void what_is_asked_for_needs_no_self_time(void **state)
{
	struct fixture *fixture = *state;

	charge(fixture, 100, WRAP, PLUG);
	select_from(fixture, 1, (struct selection){});
	assert_null(strstr(print(fixture, 80, false), "wrap"));
	fixture->report.least_ppm = 500000;
	assert_prints(fixture, "Functions, by self time",
		      "        self     time   total            function       source\n"
		      "   1   56.0%   112 ms   60.0%  ########  plug <plugin>  plugin.lua:1\n"
		      "   2    5.0%  10.0 ms   50.0%  #         main chunk     app.lua\n"
		      "   3    0.0%      0 s   50.0%            wrap           app.lua:40\n");
	fixture->report.least_ppm = 0;
	fixture->report.search = "wrap";
	assert_prints(fixture, "Functions, by self time",
		      "        self  time   total            function  source\n"
		      "   1    0.0%   0 s   50.0%            wrap      app.lua:40\n");
}

/* As in folded stacks. What luaspy calls "(host)" is no function, with or without others. */
static void functions_need_no_source(void **state)
{
	struct fixture *fixture = *state;

	fixture->functions[WORK].source = fixture->functions[AT_LINE].source = NULL;
	fixture->functions[WORK].line = fixture->functions[AT_LINE].line = 0;
	fixture->functions[LEAF].source = NULL;
	fixture->functions[LEAF].name = "(host)";
	fixture->report.limit = 1;
	select_from(fixture, 1, (struct selection){});
	assert_prints(fixture, "Functions, by self time",
		      "        self     time   total            function  source\n"
		      "   1   25.0%  25.0 ms   66.0%  ########  work\n");
	fixture->report.view = REPORT_CALLGRAPH;
	assert_non_null(strstr(print(fixture, 80, false), "   66.0%   25.0%     66.0 ms  work\n"));
	fixture->report.view = REPORT_SUMMARY;
	assert_non_null(strstr(print(fixture, 80, false), "   1   25.0%  25.0 ms   66.0%"));
	fixture->report.view = REPORT_FUNCTIONS;
	select_from(fixture, 1, (struct selection){.focus = "work"});
	assert_int_equal(fixture->totals.all_us, 66000);
}

/* Beside shares of a part, samples of all would be taken for those of the part. */
static void a_summary_of_a_part_has_no_figures_of_all(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_recorder *recorder = &fixture->profile.recorder;

	recorder->interpreter = "Lua 5.4.4";
	recorder->gc = "lua_newstate calls it";
	recorder->samples = recorder->classes[LS_SAMPLE_COMPLETE] = 100;
	fixture->report.view = REPORT_SUMMARY;
	select_from(fixture, 1, (struct selection){});
	assert_non_null(strstr(print(fixture, 80, false), "% of 100 samples whole; GC 15.0%\n"));
	select_from(fixture, 1, (struct selection){.focus = "work"});
	assert_null(strstr(print(fixture, 80, false), "samples"));
	assert_non_null(strstr(fixture->text, "\nGC 22.7%\n"));
	select_from(fixture, 1, (struct selection){.no_gc = true});
	assert_null(strstr(print(fixture, 80, false), "samples"));
	assert_null(strstr(fixture->text, "GC 0"));
}

static void the_tree_without_what_was_left_out(void **state)
{
	struct fixture *fixture = *state;

	fixture->report.view = REPORT_TREE;
	fixture->report.order = ROW_ORDER_TOTAL;
	select_from(fixture, 1, (struct selection){.no_gc = true, .no_plugins = true});
	assert_prints(fixture, "Call tree",
		      "   total    self        time  function\n"
		      "  100.0%   15.4%     65.0 ms  main chunk  app.lua\n"
		      "   78.5%   30.8%     51.0 ms    work  app.lua:3\n"
		      "   40.0%   40.0%     26.0 ms      leaf  app.lua:20\n"
		      "    7.7%    7.7%     5.00 ms      work  app.lua:3\n"
		      "    6.2%    6.2%     4.00 ms    leaf  app.lua:20\n");
	assert_non_null(strstr(fixture->text,
			       "shares are of 65.0% of CPU time: without GC, without plugins\n"));
}

static void a_search_shows_what_leads_there(void **state)
{
	struct fixture *fixture = *state;

	fixture->report.view = REPORT_TREE;
	fixture->report.order = ROW_ORDER_TOTAL;
	fixture->report.search = "plugin.LUA";
	select_from(fixture, 1, (struct selection){});
	assert_prints(fixture, "Call tree", "   total    self        time  function\n  none\n");
	fixture->report.search = "plugin.lua";
	assert_prints(fixture, "Call tree",
		      "   total    self        time  function\n"
		      "  100.0%   10.0%      100 ms  main chunk  app.lua\n"
		      "   20.0%   12.0%     20.0 ms    plug <plugin>  plugin.lua:1\n"
		      "    8.0%    8.0%     8.00 ms      concat <plugin>  [C]\n");
}

static void bottom_up_shows_who_called(void **state)
{
	struct fixture *fixture = *state;

	fixture->report.view = REPORT_BOTTOM_UP;
	fixture->report.least_ppm = 250000;
	select_from(fixture, 1, (struct selection){});
	/* Recursion is one call; callers with less are counted. */
	assert_prints(fixture, "Functions by self time",
		      "    self        time  function\n"
		      "   30.0%     30.0 ms  leaf  app.lua:20\n"
		      "   26.0%     26.0 ms    work  app.lua:3\n"
		      "   26.0%     26.0 ms      main chunk  app.lua\n"
		      "    4.0%     4.00 ms    ... 1 other\n"
		      "   25.0%     25.0 ms  work  app.lua:3\n"
		      "   25.0%     25.0 ms    main chunk  app.lua\n");
}

static void the_call_graph_has_callers_and_callees(void **state)
{
	struct fixture *fixture = *state;

	fixture->report.view = REPORT_CALLGRAPH;
	fixture->report.order = ROW_ORDER_TOTAL;
	fixture->report.search = "work";
	select_from(fixture, 1, (struct selection){});
	assert_prints(fixture, "Call graph",
		      "   total    self        time  function\n"
		      "\n"
		      "                     66.0 ms    from main chunk  app.lua\n"
		      "   66.0%   25.0%     66.0 ms  work  app.lua:3\n"
		      "                     26.0 ms    to leaf  app.lua:20\n"
		      "                     15.0 ms    to GC  GC\n");
}

static void lines_by_source(void **state)
{
	struct fixture *fixture = *state;

	fixture->report.view = REPORT_LINES;
	select_from(fixture, 1, (struct selection){});
	assert_prints(fixture, "Lines",
		      "    self        time    line\n"
		      "\n"
		      "app.lua  30.0%\n"
		      "   20.0%     20.0 ms      21  in leaf\n"
		      "   10.0%     10.0 ms      22  in leaf\n");
	fixture->report.limit = 1;
	assert_prints(fixture, "Lines",
		      "    self        time    line\n"
		      "\n"
		      "app.lua  20.0%\n"
		      "   20.0%     20.0 ms      21  in leaf\n");
}

/* 100 ms in 400 ms of wall clock. */
static void times_are_averages_on_demand(void **state)
{
	struct fixture *fixture = *state;
	char text[64];
	const struct printer second = {.average_s = 1, .wall_ns = 400 * NS_PER_MS};
	const struct printer minute = {.average_s = 60, .wall_ns = 400 * NS_PER_MS};

	(void)fixture;
	assert_string_equal(printer__format_time(&second, 66000, text, sizeof(text)), "165 ms");
	assert_string_equal(printer__format_time(&minute, 66000, text, sizeof(text)), "9.90 s");
}

static void colors_only_where_there_are_any(void **state)
{
	struct fixture *fixture = *state;

	for (int view = 0; view < REPORT_VIEWS; view++) {
		fixture->report.view = (enum report_view)view;
		select_from(fixture, 1, (struct selection){});
		assert_null(strchr(print(fixture, 80, false), '\033'));
		if (view != REPORT_SUMMARY)
			assert_non_null(strstr(print(fixture, 80, true), "\033[1m"));
	}
}

/* No line is wider, and nothing of a name gets to the terminal as it is. */
static void hostile_names_are_escaped_and_cut(void **state)
{
	static const unsigned widths[] = {40, 80, 200};
	struct fixture *fixture = *state;
	static char name[3000];

	memset(name, 'x', sizeof(name) - 1);
	memcpy(name, "\033[2J\n\r\xff%s", 9);
	fixture->functions[LEAF].name = fixture->functions[LEAF].source = name;
	fixture->functions[WORK].name = "";
	for (int at = 0; at < 3 * REPORT_VIEWS; at++) {
		unsigned width = widths[at / REPORT_VIEWS];
		char *line, *rest;

		fixture->report.view = (enum report_view)(at % REPORT_VIEWS);
		select_from(fixture, 1, (struct selection){});
		print(fixture, width, false);
		for (line = strtok_r(fixture->text, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest)) {
			if (strlen(line) > width)
				fail_msg("%zu columns instead of %u: %s", strlen(line), width,
					 line);
			for (const char *c = line; *c; c++)
				assert_in_range((unsigned char)*c, 0x20, 0x7e);
		}
	}
}

static json_t *json_of(struct fixture *fixture)
{
	json_error_t error;
	json_t *document;
	FILE *stream;
	size_t size;

	free(fixture->text);
	stream = open_memstream(&fixture->text, &size);
	assert_int_equal(report__write_json(&fixture->report, stream), 0);
	fclose(stream);
	document = json_loads(fixture->text, JSON_REJECT_DUPLICATES, &error);
	if (!document)
		fail_msg("%s in:\n%s", error.text, fixture->text);
	return document;
}

/* The number of `key` in the row of `list` whose `name` is that. */
static json_int_t number_in(json_t *document, const char *list, const char *name, const char *value,
			    const char *key)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(document, list), i, row)
	{
		const char *text = json_string_value(json_object_get(row, name));

		if (text && !strcmp(text, value))
			return json_integer_value(json_object_get(row, key));
	}
	fail_msg("no %s in %s", value, list);
	return 0;
}

static void json_has_the_same_numbers(void **state)
{
	struct fixture *fixture = *state;
	json_t *document;

	fixture->report.limit = UINT32_MAX;
	select_from(fixture, 1, (struct selection){.no_gc = true});
	document = json_of(fixture);
	assert_int_equal(json_integer_value(json_object_get(document, "CpuUs")), 100000);
	assert_int_equal(json_integer_value(json_object_get(document, "ShownUs")), 85000);
	assert_int_equal(number_in(document, "Functions", "Name", "work", "TotalUs"), 51000);
	assert_int_equal(number_in(document, "Functions", "Name", "work", "SelfUs"), 25000);
	json_decref(document);
	fixture->report.view = REPORT_TREE;
	document = json_of(fixture);
	assert_int_equal(number_in(document, "Nodes", "Category", "main", "TotalUs"), 85000);
	assert_int_equal(number_in(document, "Nodes", "Name", "plug", "SelfUs"), 12000);
	json_decref(document);
	fixture->report.view = REPORT_LINES;
	document = json_of(fixture);
	assert_int_equal(number_in(document, "Lines", "Source", "app.lua", "SelfUs"), 20000);
	json_decref(document);
}

static bool has_id(json_t *document, const char *list, json_int_t id)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(document, list), i, row)
	{
		if (json_integer_value(json_object_get(row, "Id")) == id)
			return true;
	}
	return false;
}

/* Each end of a call is a function or a category of the document. Returns the number of calls. */
static size_t check_calls(json_t *document)
{
	json_t *calls = json_object_get(document, "Calls"), *call;
	size_t i;

	json_array_foreach(calls, i, call)
	{
		json_int_t caller = json_integer_value(json_object_get(call, "Caller"));
		json_int_t callee = json_integer_value(json_object_get(call, "Callee"));

		assert_true(has_id(document, "Functions", callee));
		assert_true(has_id(document, "Functions", caller) ||
			    has_id(document, "Categories", caller));
	}
	return json_array_size(calls);
}

static void json_of_the_call_graph_has_both_ends_of_calls(void **state)
{
	struct fixture *fixture = *state;
	json_t *document;

	fixture->functions[PLUG].source = NULL;
	fixture->functions[PLUG].name = "(host)";
	fixture->report.view = REPORT_CALLGRAPH;
	fixture->report.order = ROW_ORDER_TOTAL;
	select_from(fixture, 1, (struct selection){});
	document = json_of(fixture);
	assert_int_equal(check_calls(document), 8);
	json_decref(document);
	fixture->report.search = "work";
	document = json_of(fixture);
	/* From the main chunk, by itself, and to leaf and GC. */
	assert_int_equal(check_calls(document), 4);
	assert_int_equal(number_in(document, "Functions", "Name", "work", "IsNeighbor"), 0);
	assert_int_equal(number_in(document, "Functions", "Name", "main chunk", "IsNeighbor"), 1);
	json_decref(document);
	fixture->report.search = NULL;
	fixture->report.limit = 1;
	document = json_of(fixture);
	assert_int_equal(check_calls(document), 4);
	json_decref(document);
	fixture->report.limit = 100;
	fixture->report.least_ppm = 500000;
	document = json_of(fixture);
	assert_int_equal(check_calls(document), 7);
	json_decref(document);
}

static void json_of_trees_keeps_to_the_limit(void **state)
{
	struct fixture *fixture = *state;
	json_t *document;

	fixture->report.view = REPORT_TREE;
	fixture->report.limit = 3;
	select_from(fixture, 1, (struct selection){});
	document = json_of(fixture);
	assert_int_equal(json_array_size(json_object_get(document, "Nodes")), 3);
	assert_int_equal(number_in(document, "Nodes", "Name", "work", "TotalUs"), 66000);
	json_decref(document);
	fixture->report.view = REPORT_BOTTOM_UP;
	fixture->report.limit = 2;
	document = json_of(fixture);
	assert_int_equal(json_array_size(json_object_get(document, "Nodes")), 2);
	assert_int_equal(number_in(document, "Nodes", "Name", "leaf", "Us"), 30000);
	json_decref(document);
}

static void json_of_each_view_is_valid(void **state)
{
	struct fixture *fixture = *state;

	fixture->functions[LEAF].name = "\033\"\\\xff</script>";
	fixture->functions[PLUG].name = NULL;
	for (int view = 0; view < REPORT_VIEWS; view++) {
		json_t *document;

		fixture->report.view = (enum report_view)view;
		select_from(fixture, 1, (struct selection){});
		document = json_of(fixture);
		assert_string_equal(json_string_value(json_object_get(document, "View")),
				    report_views[view]);
		json_decref(document);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_recording(functions_by_each_column),
		with_recording(the_least_share_is_of_total_time),
		with_recording(what_is_asked_for_needs_no_self_time),
		with_recording(functions_need_no_source),
		with_recording(a_summary_of_a_part_has_no_figures_of_all),
		with_recording(the_tree_without_what_was_left_out),
		with_recording(a_search_shows_what_leads_there),
		with_recording(bottom_up_shows_who_called),
		with_recording(the_call_graph_has_callers_and_callees),
		with_recording(lines_by_source),
		with_recording(times_are_averages_on_demand),
		with_recording(colors_only_where_there_are_any),
		with_recording(hostile_names_are_escaped_and_cut),
		with_recording(json_has_the_same_numbers),
		with_recording(json_of_the_call_graph_has_both_ends_of_calls),
		with_recording(json_of_trees_keeps_to_the_limit),
		with_recording(json_of_each_view_is_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
