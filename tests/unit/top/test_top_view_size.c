/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that top fits screens of any size, whatever names it has to show. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/terminal.h"
#include "view_fixture.h"

#define with_fixture(test)                                                                         \
	cmocka_unit_test_setup_teardown(test, view_fixture__set_up_program, view_fixture__tear_down)

/* As the program does it: what a key asks for. */
static void press(struct view_fixture *fixture, uint32_t key)
{
	struct calls_choice choice;

	if (listing__press(&fixture->listing, key) != LISTING_COUNT)
		return;
	choice = listing__choice(&fixture->listing);
	assert_int_equal(function_calls__count(fixture->stats, &choice), 0);
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
		assert_true(view_fixture__holds(fixture, "drop 0 unread 0 torn 0 trunc 0"));
		assert_true(view_fixture__holds(fixture, "luaspy 1.9%"));
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
	assert_true(view_fixture__holds(fixture, "luaspy top: \\x1b[31m (pid 1)"));
	assert_true(view_fixture__holds(fixture, "\\x1b]0;title\\x07"));
	assert_true(view_fixture__holds(fixture, "@a\\x1b[2J\\x0d\\x0ab.lua:1"));
	assert_true(view_fixture__holds(fixture, "a\\xff\\xc2\\x9b"));
	assert_true(view_fixture__holds(fixture, "@\\xe2\\x80\\xaegnp.lua:2"));
	assert_true(view_fixture__holds(fixture, "wrote \\x07"));
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
	assert_true(view_fixture__holds(fixture, "@\\xef\\xb7\\x90.lua:3"));
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
	assert_true(view_fixture__holds(fixture, "by --max-overhead"));
	listing__press(&fixture->listing, 'h');
	for (unsigned height = 3; height < 40; height++) {
		fixture->top_view.width = 40;
		fixture->top_view.height = height;
		view_fixture__draw(fixture);
		assert_in_range(fixture->count, 3, height);
		assert_true(view_fixture__holds(fixture, "drop 0 unread 0 torn 0 trunc 0"));
		assert_true(view_fixture__holds(fixture, "luaspy 1.9%"));
		assert_int_equal(view_fixture__holds(fixture, "125 Hz 0.8% of 1%, all 1.2%"),
				 height > 3);
	}
	fixture->top_view.width = 80;
	fixture->top_view.limit.period_ns = 1000000;
	fixture->top_view.limit.recent_ns = 0;
	view_fixture__draw(fixture);
	view_fixture__assert_line(fixture, 6,
				  "limit 1% of targets' CPU: 0.0% now, 1.2% in all; at 1,000 Hz");
}

static void fits_views_of_many_on_any_screen(void **state)
{
	struct view_fixture *fixture = *state;

	view_fixture__show(fixture, view_program, 4, 30);
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
		with_fixture(fits_views_of_many_on_any_screen),
	};

	return cmocka_run_group_tests_name("top view: size", tests, NULL, NULL);
}
