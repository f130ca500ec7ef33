/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>

#include "base/terminal.h"
#include "view_fixture.h"
#include "top/top_view.h"

static const struct shown_function program[] = {
	{"@/srv/app/main.lua", "main chunk", 0, 0, 0, NULL},
	{"@/srv/app/main.lua", "hot", 10, 100, 600, "main chunk"},
	{"@/srv/app/json.lua", NULL, 5, 50, 300, "main chunk"},
	{"[C]", "string.rep", 0, 1, 100, "hot"},
};

static int set_up(void **state)
{
	const struct top_view top_view = {
		.target = "lua5.4 (pid 42)",
		.interpreter = "Lua 5.4.4 in /usr/bin/lua5.4, static, stripped",
		.layout = "5.4.3-5.4.9, agreed on by 8 of 8 samples, no sample fits another",
		.gc_is_known = true,
		.own_cpu_ns = 19000000,
	};

	if (view_fixture__set_up(state, &top_view))
		return -1;
	view_fixture__show(*state, program, sizeof(program) / sizeof(program[0]), 1);
	return 0;
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, view_fixture__tear_down)

/* As the program does it: what a key asks for. */
static void press(struct view_fixture *fixture, uint32_t key)
{
	struct calls_choice choice;

	if (listing__press(&fixture->listing, key) != LISTING_COUNT)
		return;
	choice = listing__choice(&fixture->listing);
	assert_int_equal(function_calls__count(fixture->stats, &choice), 0);
}

static bool holds(const struct view_fixture *fixture, const char *text)
{
	for (unsigned i = 0; i < fixture->count; i++)
		if (strstr(fixture->lines[i], text))
			return true;
	return false;
}

static void shows_all_on_80_by_24(void **state)
{
	static const char *const lines[] = {
		"luaspy top: lua5.4 (pid 42)                                              0:00:01",
		"Lua 5.4.4 in /usr/bin/lua5.4, static, stripped",
		"layout 5.4.3-5.4.9, agreed on by 8 of 8 samples, no sample fits another",
		"now   CPU 100.0% of a processor: script 100.0%, GC 0.0%; 1,000 samples/s",
		"lost  dropped 0, unreadable 0, torn 0, truncated 0 of 1,151",
		"cost  luaspy 1.9% of a processor; 0 warnings",
		" >self%  total%     self    total  function           source",
		"  60.0%   70.0%    0.70s    0.80s  hot                @/srv/app/main.lua:10",
		"  30.0%   30.0%    0.35s    0.35s  <anonymous>        @/srv/app/json.lua:5",
		"  10.0%   10.0%    0.10s    0.10s  string.rep         [C]",
		"   0.0%  100.0%    0.00s    1.15s  main chunk         @/srv/app/main.lua",
	};
	struct view_fixture *fixture = *state;

	view_fixture__draw(fixture);
	assert_int_equal(fixture->count, 24);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		view_fixture__assert_line(fixture, i, lines[i]);
	view_fixture__assert_line(fixture, 22, "1-4 of 4, by self% of the last second");
	view_fixture__assert_line(
		fixture, 23,
		"q:quit h:help Enter:callers 1-5:sort /:search f:filter a:avg G:GC p:pause w r");
	assert_int_equal(fixture->styles[6], STYLE_HEAD);
	assert_int_equal(fixture->styles[7], STYLE_CURSOR);
	assert_int_equal(fixture->styles[8], STYLE_PLAIN);
}

static void shows_what_matters_on_40_by_10(void **state)
{
	static const char *const lines[] = {
		"luaspy top: lua5.4 (pid 42)      0:00:01",
		"CPU 100.0% script 100.0% GC 0.0% 1,000/s",
		"drop 0 unread 0 torn 0 trunc 0",
		"luaspy 1.9% 0 warnings",
		" >self%  total%  function",
		"  60.0%   70.0%  hot @/srv/app/main.lua\u2026",
		"  30.0%   30.0%  <anonymous> @/srv/app/\u2026",
		"  10.0%   10.0%  string.rep [C]",
		"1-3 of 4, by self% of the last second",
		"q:quit h:help 1-5:sort /:find p w r",
	};
	struct view_fixture *fixture = *state;

	fixture->top_view.width = 40;
	fixture->top_view.height = 10;
	view_fixture__draw(fixture);
	assert_int_equal(fixture->count, 10);
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		view_fixture__assert_line(fixture, i, lines[i]);
	fixture->listing.pages[LISTING_FUNCTIONS].column = LISTING_TOTAL;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 4, "    self   >total  function");
	view_fixture__assert_line(fixture, 5, "   0.00s    1.15s  main chunk @/srv/app\u2026");
}

static void marks_where_a_line_is_cut_off(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->top_view.width = 40;
	fixture->top_view.height = 14;
	fixture->top_view.state = TOP_VIEW_PAUSED;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 1, "Lua 5.4.4 in /usr/bin/lua5.4, static, s\u2026");
	view_fixture__assert_line(fixture, 12, "paused: it is still sampled, p shows it\u2026");
	fixture->top_view.is_utf8 = false;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 12, "paused: it is still sampled, p shows i..");
	fixture->top_view.width = 1;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 12, ".");
}

static void fits_screens_of_any_size(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->listing.pages[LISTING_FUNCTIONS].search[0] = 'o';
	for (unsigned height = 1; height < 40; height++) {
		for (unsigned width = 1; width < 130; width += width < 12 ? 1 : 9) {
			fixture->top_view.width = width;
			fixture->top_view.height = height;
			view_fixture__draw(fixture);
			assert_in_range(fixture->count, 1, height);
			for (unsigned i = 0; i < fixture->count; i++)
				assert_in_range(terminal__width(fixture->lines[i]), 0, width);
		}
	}
}

static void losses_and_costs_are_on_every_screen(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->top_view.width = 40;
	for (unsigned height = 3; height < 40; height++) {
		fixture->top_view.height = height;
		view_fixture__draw(fixture);
		assert_true(holds(fixture, "drop 0 unread 0 torn 0 trunc 0"));
		assert_true(holds(fixture, "luaspy 1.9%"));
	}
}

static void escapes_what_a_hostile_program_calls_itself(void **state)
{
	static const struct shown_function hostile[] = {
		{"@a\033[2J\r\nb.lua", "\033]0;title\a", 1, 0, 10, NULL},
		{"@\u202egnp.lua", "a\xff\xc2\x9b", 2, 0, 5, NULL},
	};
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, hostile, 2, 1);
	fixture->top_view.width = 120;
	fixture->top_view.target = "\033[31m (pid 1)";
	fixture->top_view.message = "wrote \a";
	view_fixture__draw(fixture);
	assert_true(holds(fixture, "luaspy top: \\x1b[31m (pid 1)"));
	assert_true(holds(fixture, "\\x1b]0;title\\x07"));
	assert_true(holds(fixture, "@a\\x1b[2J\\x0d\\x0ab.lua:1"));
	assert_true(holds(fixture, "a\\xff\\xc2\\x9b"));
	assert_true(holds(fixture, "@\\xe2\\x80\\xaegnp.lua:2"));
	assert_true(holds(fixture, "wrote \\x07"));
	for (unsigned i = 0; i < fixture->count; i++)
		for (const char *c = fixture->lines[i]; *c; c++)
			assert_true((unsigned char)*c >= 0x20);
}

static void keeps_columns_beside_wide_characters(void **state)
{
	static const struct shown_function wide[] = {
		{"@\u4e2d\u6587.lua",
		 "\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57", 1, 0, 10, NULL},
		{"@e\u0301.lua", "e\u0301\u0301\u0301\u0301", 2, 0, 5, NULL},
		{"@\ufdd0.lua", "plain", 3, 0, 1, NULL},
	};
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, wide, 3, 1);
	view_fixture__draw(fixture);
	view_fixture__assert_line(
		fixture, 7,
		"   1.0%    1.0%    0.01s    0.01s  \u6f22\u5b57\u6f22\u5b57\u6f22\u5b57\u6f22\u5b57"
		"\u6f22\u5b57 @\u4e2d\u6587.lua:1");
	/*
	 * Of marks on a character two, which have no column; the others are seen as what they are.
	 */
	view_fixture__assert_line(
		fixture, 8,
		"   0.5%    0.5%    0.01s    0.01s  e\u0301\u0301\\xcc\\x81\\xcc\\x81  "
		"@e\u0301.lua:2");
	assert_true(holds(fixture, "@\\xef\\xb7\\x90.lua:3"));
}

static void a_long_name_takes_what_its_place_leaves(void **state)
{
	static const struct shown_function long_names[] = {
		{"@a/path/of/its/own/that/is/long.lua", "a_name_that_has_no_room", 1, 0, 10, NULL},
		{"@a.lua", "a_name_of_35_columns_______________", 2, 0, 5, NULL},
		{"@a.lua", "a_name_of_37_columns_________________", 3, 0, 1, NULL},
	};
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, long_names, 3, 1);
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 7,
				  "   1.0%    1.0%    0.01s    0.01s  a_name_that_has_n\u2026 "
				  "\u2026ts/own/that/is/long.lua:1");
	view_fixture__assert_line(fixture, 8,
				  "   0.5%    0.5%    0.01s    0.01s  "
				  "a_name_of_35_columns_______________ @a.lua:2");
	view_fixture__assert_line(fixture, 9,
				  "   0.1%    0.1%    0.00s    0.00s  "
				  "a_name_of_37_columns_______________\u2026 @a.lua:3");
}

static void is_ascii_where_the_terminal_is(void **state)
{
	static const struct shown_function names[] = {
		{"@caf\u00e9.lua", "a_name_that_is_longer_than_its_column", 1, 0, 10, NULL},
	};
	struct view_fixture *fixture = *state;

	setlocale(LC_CTYPE, "C");
	view_fixture__show(fixture, names, 1, 1);
	fixture->top_view.is_utf8 = false;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 7,
				  "   1.0%    1.0%    0.01s    0.01s  a_name_that_is_longer_th.. "
				  "@caf\\xc3\\xa9.lua:1");
	for (unsigned i = 0; i < fixture->count; i++)
		for (const char *c = fixture->lines[i]; *c; c++)
			assert_in_range(*c, 0x20, 0x7e);
}

static void says_that_it_is_paused_or_over(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->top_view.state = TOP_VIEW_PAUSED;
	view_fixture__draw(fixture);
	assert_true(holds(fixture, " [paused] 0:00:01"));
	view_fixture__assert_line(fixture, 22, "paused: it is still sampled, p shows it again");
	fixture->top_view.state = TOP_VIEW_ENDED;
	view_fixture__draw(fixture);
	assert_true(holds(fixture, " [ended] 0:00:01"));
	view_fixture__assert_line(fixture, 22, "ended: this is the last picture, q quits");
	fixture->top_view.message = "wrote x.json";
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 22, "wrote x.json");
	assert_true(holds(fixture, " [ended] 0:00:01"));
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
	assert_true(holds(fixture, "w        write the profile so far"));
}

static void says_why_there_is_nothing(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, program, 0, 1);
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
	showing__look(fixture->stats, program, 4, 1, true);
	view_fixture__draw(fixture);
	view_fixture__assert_line(
		fixture, 3, "now   CPU - of a processor: script 100.0%, GC 0.0%; - samples/s");
}

static void shows_the_process_beside_its_functions(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, program, 4, 2);
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
	assert_true(holds(fixture, " >self%  total%     self    total  process"));
	assert_true(holds(fixture, "  60.0%   70.0%    0.70s    0.80s  1 lua5.4 "));
	fixture->top_view.width = 40;
	view_fixture__draw(fixture);
	assert_true(holds(fixture, "  60.0%   70.0%  1 lua5\u2026 hot @/srv/app/"));
}

static void shows_processes(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, program, 4, 2);
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

static void shows_the_limit_on_every_screen_that_has_room(void **state)
{
	struct view_fixture *fixture = *state;

	fixture->top_view.limit = (struct top_view_limit){.ppm = 10000,
							  .period_ns = 8000000,
							  .asked_period_ns = 1000000,
							  .recent_ns = 8000000,
							  .all_ns = 12000000,
							  .all_cpu_ns = 1000000000};
	view_fixture__draw(fixture);
	assert_int_equal(fixture->count, 24);
	view_fixture__assert_line(
		fixture, 6,
		"limit 1% of targets' CPU: 0.8% now, 1.2% in all; at 125 Hz, not 1,000 Hz");
	assert_int_equal(fixture->styles[7], STYLE_HEAD);
	assert_int_equal(fixture->styles[8], STYLE_CURSOR);
	view_fixture__assert_line(fixture, 22, "1-4 of 4, by self% of the last second");
	listing__press(&fixture->listing, 'h');
	view_fixture__draw(fixture);
	assert_true(holds(fixture, "by --max-overhead"));
	listing__press(&fixture->listing, 'h');
	for (unsigned height = 3; height < 40; height++) {
		fixture->top_view.width = 40;
		fixture->top_view.height = height;
		view_fixture__draw(fixture);
		assert_in_range(fixture->count, 3, height);
		assert_true(holds(fixture, "drop 0 unread 0 torn 0 trunc 0"));
		assert_true(holds(fixture, "luaspy 1.9%"));
		assert_int_equal(holds(fixture, "125 Hz 0.8% of 1%, all 1.2%"), height > 3);
	}
	fixture->top_view.width = 80;
	fixture->top_view.limit.period_ns = 1000000;
	fixture->top_view.limit.recent_ns = 0;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 6,
				  "limit 1% of targets' CPU: 0.0% now, 1.2% in all; at 1,000 Hz");
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
	assert_true(holds(fixture, "  ended          42 lua5.4 "));
	assert_true(holds(fixture, "lost  processes 3, dropped 0, "));
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
		assert_true(holds(fixture, "procs 3 drop 0 unread 0 torn 0 trunc 0"));
		assert_true(holds(fixture, "luaspy 1.9%"));
	}
}

static void fits_views_of_many_on_any_screen(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, program, 4, 30);
	for (int view = 0; view < LISTING_VIEWS; view++) {
		for (unsigned height = 1; height < 40; height += 3) {
			for (unsigned width = 1; width < 200; width += width < 12 ? 1 : 9) {
				fixture->top_view.width = width;
				fixture->top_view.height = height;
				view_fixture__draw(fixture);
				assert_in_range(fixture->count, 1, height);
				for (unsigned i = 0; i < fixture->count; i++)
					assert_in_range(terminal__width(fixture->lines[i]), 0,
							width);
			}
		}
		press(fixture, view ? LISTING_ENTER : 'v');
	}
	assert_int_equal(fixture->listing.view, LISTING_CALLS);
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
		with_fixture(shows_all_on_80_by_24),
		with_fixture(shows_what_matters_on_40_by_10),
		with_fixture(marks_where_a_line_is_cut_off),
		with_fixture(fits_screens_of_any_size),
		with_fixture(shows_the_limit_on_every_screen_that_has_room),
		with_fixture(losses_and_costs_are_on_every_screen),
		with_fixture(escapes_what_a_hostile_program_calls_itself),
		with_fixture(keeps_columns_beside_wide_characters),
		with_fixture(a_long_name_takes_what_its_place_leaves),
		with_fixture(is_ascii_where_the_terminal_is),
		with_fixture(says_that_it_is_paused_or_over),
		with_fixture(tells_the_layout_once),
		with_fixture(shows_prompts_searches_and_help),
		with_fixture(says_why_there_is_nothing),
		with_fixture(shows_no_rate_before_time_has_passed),
		with_fixture(shows_the_process_beside_its_functions),
		with_fixture(shows_processes),
		with_fixture(shows_who_has_ended_and_who_was_missed),
		with_fixture(fits_views_of_many_on_any_screen),
		with_fixture(shows_what_bpf_costs_if_known),
	};

	return cmocka_run_group_tests_name("top view", tests, NULL, NULL);
}
