/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests what top shows of its targets, their functions and itself on a large screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view_fixture.h"

#define with_fixture(test)                                                                         \
	cmocka_unit_test_setup_teardown(test, view_fixture__set_up_program, view_fixture__tear_down)

static void says_that_it_is_paused_or_over(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->top_view.state = TOP_VIEW_PAUSED;
	view_fixture__draw(fixture);
	assert_true(view_fixture__holds(fixture, " [paused] 0:00:01"));
	view_fixture__assert_line(fixture, 22, "paused: it is still sampled, p shows it again");
	fixture->top_view.state = TOP_VIEW_ENDED;
	view_fixture__draw(fixture);
	assert_true(view_fixture__holds(fixture, " [ended] 0:00:01"));
	view_fixture__assert_line(fixture, 22, "ended: this is the last picture, q quits");
	fixture->top_view.message = "wrote x.json";
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 22, "wrote x.json");
	assert_true(view_fixture__holds(fixture, " [ended] 0:00:01"));
}

static void tells_the_layout_once(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->top_view.message = "layout 5.4.3-5.4.9, agreed on by 1 of 1 samples";
	view_fixture__draw(fixture);
	assert_memory_equal(fixture->lines[2], "layout 5.4.3-5.4.9", 18);
	view_fixture__assert_line(fixture, 22, "1-4 of 4, by self% of the last second");
	/* Where it has no line of its own, it is told as it comes. */
	fixture->top_view.height = 10;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 8, fixture->top_view.message);
}

static void shows_prompts_searches_and_help(void **state)
{
	struct view_fixture *fixture = *state;

	listing__press(&fixture->listing, '/');
	listing__press(&fixture->listing, 'j');
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 22, "/j_");
	listing__press(&fixture->listing, LISTING_ENTER);
	view_fixture__draw(fixture);
	assert_int_equal(fixture->styles[8], STYLE_CURSOR);
	listing__press(&fixture->listing, LISTING_HOME);
	view_fixture__draw(fixture);
	assert_int_equal(fixture->styles[8], STYLE_FOUND);
	view_fixture__assert_line(fixture, 22, "1-4 of 4, by self% of the last second, search j");
	listing__press(&fixture->listing, '/');
	listing__press(&fixture->listing, 'j');
	listing__press(&fixture->listing, 'y');
	listing__press(&fixture->listing, LISTING_ENTER);
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 22,
				  "1-4 of 4, by self% of the last second, search jy: no match");
	listing__press(&fixture->listing, 'f');
	for (const char *key = "nothing"; *key; key++)
		listing__press(&fixture->listing, (unsigned char)*key);
	listing__press(&fixture->listing, LISTING_ENTER);
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 7, "no function fits the filter (Esc shows all)");
	listing__press(&fixture->listing, 'h');
	view_fixture__draw(fixture);
	assert_true(view_fixture__holds(fixture, "w        write the profile so far"));
}

static void says_why_there_is_nothing(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, view_program, 0, 1);
	fixture->top_view.why_empty = "it was idle";
	fixture->top_view.interpreter = fixture->top_view.layout = NULL;
	fixture->top_view.gc_is_known = false;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 1, "no interpreter found yet");
	view_fixture__assert_line(fixture, 2, "layout undecided");
	view_fixture__assert_line(fixture, 3,
				  "now   CPU 0.0% of a processor: script -, GC ?; 0 samples/s");
	view_fixture__assert_line(fixture, 7, "it was idle");
	view_fixture__assert_line(fixture, 22, "0-0 of 0, by self% of the last second");
}

static void shows_no_rate_before_time_has_passed(void **state)
{
	struct view_fixture *fixture = *state;

	function_stats__free(fixture->stats);
	fixture->stats = function_stats__new(false);
	fixture->top_view.stats = fixture->stats;
	showing__look(fixture->stats, view_program, 4, 1, true);
	view_fixture__draw(fixture);
	view_fixture__assert_line(
		fixture, 3, "now   CPU - of a processor: script 100.0%, GC 0.0%; - samples/s");
}

static void shows_the_process_beside_its_functions(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, view_program, 4, 2);
	fixture->top_view.target = "the system";
	view_fixture__draw(fixture);
	view_fixture__assert_line(
		fixture, 0,
		"luaspy top: the system: 2 processes                                      0:00:01");
	view_fixture__assert_line(fixture, 6,
				  " >self%  total%  process               function         source");
	view_fixture__assert_line(
		fixture, 7,
		"  60.0%   70.0%  1 lua5.4              hot              @/srv/app/main.lua:10");
	assert_memory_equal(fixture->lines[8], "  60.0%   70.0%  2 lua5.4 ", 26);
	fixture->top_view.width = 120;
	view_fixture__draw(fixture);
	assert_true(view_fixture__holds(fixture, " >self%  total%     self    total  process"));
	assert_true(view_fixture__holds(fixture, "  60.0%   70.0%    0.70s    0.80s  1 lua5.4 "));
	fixture->top_view.width = 40;
	view_fixture__draw(fixture);
	assert_true(view_fixture__holds(fixture, "  60.0%   70.0%  1 lua5\u2026 hot @/srv/app/"));
}

static void shows_processes(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, view_program, 4, 2);
	listing__press(&fixture->listing, LISTING_OTHER);
	view_fixture__draw(fixture);
	listing__press(&fixture->listing, 'v');
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 6, "  >cpu% script%     time  samples  process");
	view_fixture__assert_line(fixture, 7, " 100.0%  100.0%    1.15s    1,151  lua5.4 (pid 1)");
	view_fixture__assert_line(fixture, 22, "1-2 of 2, by CPU of the last second");
	fixture->top_view.is_merged = true;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 6, "procs   >cpu% script%     time  samples  process");
	view_fixture__assert_line(fixture, 7,
				  "    1  100.0%  100.0%    1.15s    1,151  lua5.4 (pid 1)");
	fixture->top_view.is_merged = false;
	listing__press(&fixture->listing, LISTING_ENTER);
	view_fixture__draw(fixture);
	assert_memory_equal(fixture->lines[0], "luaspy top: lua5.4 (pid 1) of ", 30);
	view_fixture__assert_line(fixture, 6,
				  " >self%  total%     self    total  function           source");
	view_fixture__assert_line(
		fixture, 7,
		"  60.0%   70.0%    0.70s    0.80s  hot                @/srv/app/main.lua:10");
}

/* All of it, and that one of the processes lives no more. */
static void let_end(struct view_fixture *fixture)
{
	static const struct ls_profile_function functions[3] = {
		{0}, {.source = "@a.lua", .name = "work", .line = 1}};
	static const struct ls_profile_node nodes[3] = {{0},
							{.first_child = 2, .samples = 0},
							{.parent = 1,
							 .function = 1,
							 .samples = 7,
							 .self_ns = 7000000,
							 .weight_ns = 7000000}};
	static const struct ls_profile_category category = {.name = "lua5.4 (pid 42)", .node = 1};
	const struct ls_profile profile = {.functions = functions,
					   .function_count = 1,
					   .nodes = nodes,
					   .node_count = 2,
					   .categories = &category,
					   .category_count = 1,
					   .recorder = {.cpu_ns = 7000000,
							.classes[LS_SAMPLE_COMPLETE] = 7,
							.missed_processes = 3}};

	function_stats__free(fixture->stats);
	fixture->stats = function_stats__new(true);
	fixture->top_view.stats = fixture->stats;
	for (uint64_t second = 1; second <= 3; second++) {
		assert_int_equal(
			function_stats__begin(fixture->stats, second * 1000000000, &profile), 0);
		assert_int_equal(
			function_stats__see_living(
				fixture->stats, second == 1 ? category.name : "lua5.4 (pid 43)", 0),
			0);
		assert_int_equal(function_stats__end(fixture->stats), 0);
	}
}

static void shows_who_has_ended_and_who_was_missed(void **state)
{
	struct view_fixture *fixture = *state;

	let_end(fixture);
	fixture->top_view.target = "the system";
	view_fixture__draw(fixture);
	view_fixture__assert_line(
		fixture, 0,
		"luaspy top: the system: 1 process, 1 ended                               0:00:02");
	assert_true(view_fixture__holds(fixture, "  ended          42 lua5.4 "));
	assert_true(view_fixture__holds(fixture, "lost  processes 3, dropped 0, "));
	listing__press(&fixture->listing, 'v');
	view_fixture__draw(fixture);
	/* The cursor is on the first. */
	view_fixture__assert_line(fixture, 7, "  ended  100.0%    0.01s        7  lua5.4 (pid 42)");
	view_fixture__assert_line(fixture, 8, "   0.0%       -    0.00s        0  lua5.4 (pid 43)");
	listing__press(&fixture->listing, LISTING_DOWN);
	view_fixture__draw(fixture);
	assert_int_equal(fixture->styles[7], STYLE_GONE);
	assert_int_equal(fixture->styles[8], STYLE_CURSOR);
	for (unsigned height = 3; height < 40; height++) {
		fixture->top_view.width = 40;
		fixture->top_view.height = height;
		view_fixture__draw(fixture);
		assert_true(view_fixture__holds(fixture, "procs 3 drop 0 unread 0 torn 0 trunc 0"));
		assert_true(view_fixture__holds(fixture, "luaspy 1.9%"));
	}
}

static void shows_what_bpf_costs_if_known(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->top_view.bpf_ns = 3000000;
	fixture->top_view.warnings = 1;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 5,
				  "cost  luaspy 1.9%, BPF 0.3% of a processor; 1 warning");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(says_that_it_is_paused_or_over),
		with_fixture(tells_the_layout_once),
		with_fixture(shows_prompts_searches_and_help),
		with_fixture(says_why_there_is_nothing),
		with_fixture(shows_no_rate_before_time_has_passed),
		with_fixture(shows_the_process_beside_its_functions),
		with_fixture(shows_processes),
		with_fixture(shows_who_has_ended_and_who_was_missed),
		with_fixture(shows_what_bpf_costs_if_known),
	};

	return cmocka_run_group_tests_name("top view", tests, NULL, NULL);
}
