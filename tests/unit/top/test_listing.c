/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "showing.h"
#include "top/listing.h"

#define HEIGHT 3

static const struct shown_function program[] = {
	{"@app.lua", "main", 1, 0, 0, NULL},          {"@app.lua", "hot", 10, 100, 600, "main"},
	{"@app.lua", "past", 20, 900, 0, "main"},     {"@json.lua", "decode", 5, 50, 300, "main"},
	{"@json.lua", "scan", 50, 20, 100, "decode"}, {"[C]", "string.rep", 0, 1, 1, "hot"},
};

#define COUNT (sizeof(program) / sizeof(program[0]))

struct fixture {
	struct function_stats *stats;
	struct listing listing;
	char shown[512];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->stats = showing__stats(program, COUNT, 1);
	listing__init(&fixture->listing, LISTING_RECENT_SELF);
	return listing__update(&fixture->listing, fixture->stats, HEIGHT);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	listing__free(&fixture->listing);
	function_stats__free(fixture->stats);
	free(fixture);
	return 0;
}

#define with_fixture(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

/* As the program does it: what a key asks for, then the rows. */
static enum listing_demand press(struct fixture *fixture, uint32_t key)
{
	enum listing_demand demand = listing__press(&fixture->listing, key);

	assert_int_equal(listing__update(&fixture->listing, fixture->stats, HEIGHT), 0);
	return demand;
}

static void type(struct fixture *fixture, const char *text)
{
	for (; *text; text++)
		press(fixture, (unsigned char)*text);
}

static const char *shown_name(const struct listing *listing, uint32_t at)
{
	return listing->view == LISTING_PROCESSES ? listing__process(listing, at)->name
						  : listing__name(listing__row(listing, at));
}

/* All names in order. */
static const char *names(struct fixture *fixture)
{
	const struct listing *listing = &fixture->listing;

	fixture->shown[0] = '\0';
	for (uint32_t i = 0; i < listing->count; i++)
		snprintf(fixture->shown + strlen(fixture->shown),
			 sizeof(fixture->shown) - strlen(fixture->shown), "%s%s", i ? " " : "",
			 shown_name(listing, i));
	return fixture->shown;
}

static const char *at_cursor(const struct fixture *fixture)
{
	const struct listing *listing = &fixture->listing;

	const struct listing_page *page = listing__page(listing);

	assert_in_range(page->cursor, page->first, page->first + HEIGHT - 1);
	return shown_name(listing, page->cursor);
}

static void sorts_by_each_column(void **state)
{
	assert_string_equal(names(*state), "hot decode scan string.rep past main");
	press(*state, '2');
	assert_string_equal(names(*state), "main hot decode scan string.rep past");
	press(*state, '3');
	assert_string_equal(names(*state), "past hot decode scan string.rep main");
	press(*state, '4');
	assert_string_equal(names(*state), "main past hot decode scan string.rep");
	press(*state, '5');
	assert_string_equal(names(*state), "decode hot main past scan string.rep");
}

static void reverses(void **state)
{
	press(*state, 'i');
	assert_string_equal(names(*state), "past main string.rep scan decode hot");
	press(*state, 'i');
	assert_string_equal(names(*state), "hot decode scan string.rep past main");
}

static void goes_to_the_column_beside(void **state)
{
	struct fixture *fixture = *state;

	press(fixture, '<');
	assert_int_equal(listing__page(&fixture->listing)->column, LISTING_NAME);
	press(fixture, '>');
	press(fixture, '>');
	assert_int_equal(listing__page(&fixture->listing)->column, LISTING_RECENT_TOTAL);
}

static void the_cursor_stays_with_its_function(void **state)
{
	press(*state, LISTING_DOWN);
	assert_string_equal(at_cursor(*state), "decode");
	press(*state, '3');
	assert_string_equal(at_cursor(*state), "decode");
	press(*state, 'i');
	assert_string_equal(at_cursor(*state), "decode");
	/* At the top it stays at the top. */
	press(*state, 'i');
	press(*state, LISTING_HOME);
	assert_string_equal(at_cursor(*state), "past");
	press(*state, '1');
	assert_string_equal(at_cursor(*state), "hot");
}

static void moves_within_the_rows(void **state)
{
	static const struct {
		uint32_t key;
		const char *name;
	} steps[] = {
		{LISTING_UP, "hot"},         {LISTING_PAGE_DOWN, "scan"},
		{LISTING_PAGE_DOWN, "past"}, {LISTING_PAGE_DOWN, "main"},
		{LISTING_DOWN, "main"},      {LISTING_PAGE_UP, "string.rep"},
		{LISTING_END, "main"},       {LISTING_UP, "past"},
		{LISTING_HOME, "hot"},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		press(*state, steps[i].key);
		assert_string_equal(at_cursor(*state), steps[i].name);
	}
}

static void searches_names_and_places(void **state)
{
	press(*state, '/');
	type(*state, "JSON");
	assert_int_equal(press(*state, LISTING_ENTER), LISTING_NOTHING);
	assert_string_equal(at_cursor(*state), "decode");
	assert_int_equal(press(*state, 'n'), LISTING_NOTHING);
	assert_string_equal(at_cursor(*state), "scan");
	press(*state, 'n');
	assert_string_equal(at_cursor(*state), "decode");
	press(*state, 'N');
	assert_string_equal(at_cursor(*state), "scan");
	press(*state, '/');
	type(*state, "lua:20");
	press(*state, LISTING_ENTER);
	assert_string_equal(at_cursor(*state), "past");
	press(*state, LISTING_ESCAPE);
	press(*state, 'n');
	assert_string_equal(at_cursor(*state), "past");
}

static void searches_both_ways_round_the_ends(void **state)
{
	static const struct {
		char key;
		const char *name;
	} steps[] = {{'n', "past"}, {'n', "main"}, {'n', "hot"},
		     {'N', "main"}, {'N', "past"}, {'N', "hot"}};

	press(*state, '/');
	type(*state, "app.lua");
	press(*state, LISTING_ENTER);
	assert_string_equal(at_cursor(*state), "hot");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		press(*state, (unsigned char)steps[i].key);
		assert_string_equal(at_cursor(*state), steps[i].name);
	}
}

static void leaves_the_cursor_where_nothing_is_found(void **state)
{
	press(*state, LISTING_DOWN);
	press(*state, '/');
	type(*state, "nowhere");
	assert_int_equal(press(*state, LISTING_ENTER), LISTING_NOT_FOUND);
	assert_string_equal(at_cursor(*state), "decode");
	assert_int_equal(press(*state, 'n'), LISTING_NOT_FOUND);
	assert_int_equal(press(*state, 'N'), LISTING_NOT_FOUND);
	assert_string_equal(at_cursor(*state), "decode");
	/* There is nothing to be found in no rows, and nothing is looked for without a search. */
	press(*state, 'f');
	type(*state, "nowhere");
	assert_int_equal(press(*state, LISTING_ENTER), LISTING_NOTHING);
	assert_int_equal(press(*state, 'n'), LISTING_NOT_FOUND);
	press(*state, LISTING_ESCAPE);
	assert_int_equal(press(*state, 'n'), LISTING_NOTHING);
}

static void filters(void **state)
{
	struct fixture *fixture = *state;

	press(*state, LISTING_END);
	press(*state, 'f');
	type(*state, "json");
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state), "decode scan");
	assert_string_equal(at_cursor(*state), "scan");
	/* It is there to be changed. */
	press(*state, 'f');
	type(*state, ".lua:5x");
	press(*state, LISTING_ERASE);
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state), "decode scan");
	press(*state, 'f');
	type(*state, "0");
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state), "scan");
	press(*state, 'f');
	type(*state, "0");
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state), "");
	assert_int_equal(listing__page(&fixture->listing)->cursor, 0);
	for (const char *key = "nNij"; *key; key++)
		press(*state, (unsigned char)*key);
	press(*state, LISTING_PAGE_DOWN);
	press(*state, 'i');
	press(*state, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.count, COUNT);
}

static void a_prompt_takes_all_keys(void **state)
{
	struct fixture *fixture = *state;

	press(*state, '/');
	assert_int_equal(press(*state, 'q'), LISTING_NOTHING);
	assert_int_equal(press(*state, ' '), LISTING_NOTHING);
	assert_int_equal(press(*state, LISTING_UP), LISTING_NOTHING);
	assert_int_equal(press(*state, 1), LISTING_NOTHING);
	press(*state, 0xe9);
	press(*state, 0x4e2d);
	press(*state, 0x1f600);
	assert_string_equal(fixture->listing.typed, "q \u00e9\u4e2d\U0001f600");
	press(*state, LISTING_ERASE);
	press(*state, LISTING_ERASE);
	press(*state, LISTING_ERASE);
	assert_string_equal(fixture->listing.typed, "q ");
	for (int i = 0; i < 9; i++)
		press(*state, LISTING_ERASE);
	assert_string_equal(fixture->listing.typed, "");
	for (int i = 0; i < 2 * LISTING_TEXT; i++)
		press(*state, 0x4e2d);
	assert_in_range(strlen(fixture->listing.typed), LISTING_TEXT - 8, LISTING_TEXT - 1);
	press(*state, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.prompt, LISTING_NO_PROMPT);
	assert_string_equal(listing__page(&fixture->listing)->search, "");
}

static void tells_what_is_left_to_do(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(press(*state, 'p'), LISTING_PAUSE);
	assert_int_equal(press(*state, ' '), LISTING_PAUSE);
	assert_int_equal(press(*state, 'r'), LISTING_RESET);
	assert_int_equal(press(*state, 'w'), LISTING_WRITE);
	assert_int_equal(press(*state, 'x'), LISTING_NOTHING);
	assert_int_equal(press(*state, LISTING_OTHER), LISTING_NOTHING);
	press(*state, 'h');
	assert_true(fixture->listing.shows_help);
	assert_int_equal(press(*state, 'w'), LISTING_NOTHING);
	assert_false(fixture->listing.shows_help);
	press(*state, '?');
	assert_int_equal(press(*state, 'q'), LISTING_QUIT);
}

/* The same with so many processes, all functions of which are on the screen. */
static void show_processes(struct fixture *fixture, int processes)
{
	function_stats__free(fixture->stats);
	fixture->stats = showing__stats(program, COUNT, processes);
	assert_int_equal(listing__update(&fixture->listing, fixture->stats, HEIGHT), 0);
}

static const char *process_at_cursor(const struct fixture *fixture)
{
	const struct listing *listing = &fixture->listing;

	return listing__process(listing, listing__page(listing)->cursor)->name;
}

static void sticks_to_the_process(void **state)
{
	struct fixture *fixture = *state;

	show_processes(fixture, 2);
	assert_int_equal(fixture->listing.count, 2 * COUNT);
	press(*state, LISTING_DOWN);
	assert_string_equal(at_cursor(*state), "hot");
	assert_string_equal(process_at_cursor(fixture), "lua5.4 (pid 2)");
	press(*state, 'i');
	assert_string_equal(at_cursor(*state), "hot");
	assert_string_equal(process_at_cursor(fixture), "lua5.4 (pid 2)");
}

static void shows_processes_and_functions_by_turns(void **state)
{
	struct fixture *fixture = *state;

	show_processes(fixture, 3);
	press(*state, 'v');
	assert_string_equal(names(*state), "lua5.4 (pid 1) lua5.4 (pid 2) lua5.4 (pid 3)");
	press(*state, '5');
	press(*state, 'i');
	assert_string_equal(names(*state), "lua5.4 (pid 3) lua5.4 (pid 2) lua5.4 (pid 1)");
	press(*state, LISTING_DOWN);
	press(*state, 'i');
	assert_string_equal(at_cursor(*state), "lua5.4 (pid 2)");
	/* What functions are sorted by is their own. */
	press(*state, '\t');
	assert_int_equal(fixture->listing.count, 3 * COUNT);
	assert_int_equal(listing__page(&fixture->listing)->column, LISTING_RECENT_SELF);
	assert_string_equal(at_cursor(*state), "hot");
	press(*state, 'v');
	assert_string_equal(at_cursor(*state), "lua5.4 (pid 2)");
}

static void one_process_has_no_other_views(void **state)
{
	struct fixture *fixture = *state;

	press(*state, 'v');
	press(*state, 'o');
	assert_int_equal(fixture->listing.view, LISTING_FUNCTIONS);
	assert_string_equal(names(*state), "hot decode scan string.rep past main");
}

static void enters_a_process_and_goes_back(void **state)
{
	struct fixture *fixture = *state;

	show_processes(fixture, 3);
	press(*state, 'v');
	press(*state, '5');
	press(*state, LISTING_DOWN);
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state), "hot decode scan string.rep past main");
	assert_string_equal(process_at_cursor(fixture), "lua5.4 (pid 2)");
	assert_string_equal(listing__one(&fixture->listing, fixture->stats)->name,
			    "lua5.4 (pid 2)");
	/* A filter goes first, then the process. */
	press(*state, 'f');
	type(*state, "json");
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state), "decode scan");
	press(*state, LISTING_ESCAPE);
	assert_string_equal(names(*state), "hot decode scan string.rep past main");
	press(*state, LISTING_ESCAPE);
	assert_string_equal(names(*state), "lua5.4 (pid 1) lua5.4 (pid 2) lua5.4 (pid 3)");
	assert_string_equal(at_cursor(*state), "lua5.4 (pid 2)");
	/* From a function, and back to all functions. */
	press(*state, 'v');
	press(*state, LISTING_END);
	press(*state, 'o');
	assert_int_equal(fixture->listing.count, COUNT);
	assert_string_equal(process_at_cursor(fixture), "lua5.4 (pid 3)");
	press(*state, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.count, 3 * COUNT);
	assert_string_equal(at_cursor(*state), "main");
}

static void searches_and_filters_by_process(void **state)
{
	struct fixture *fixture = *state;

	show_processes(fixture, 12);
	press(*state, 'f');
	type(*state, "PID 11");
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state), "hot decode scan string.rep past main");
	press(*state, 'v');
	assert_int_equal(fixture->listing.count, 12);
	press(*state, '/');
	type(*state, "pid 7");
	press(*state, LISTING_ENTER);
	assert_string_equal(at_cursor(*state), "lua5.4 (pid 7)");
	press(*state, 'f');
	type(*state, "pid 1");
	press(*state, LISTING_ENTER);
	assert_string_equal(names(*state),
			    "lua5.4 (pid 1) lua5.4 (pid 10) lua5.4 (pid 11) lua5.4 (pid 12)");
	/* In the process it means functions. */
	press(*state, LISTING_ENTER);
	assert_int_equal(fixture->listing.count, COUNT);
}

static void knows_columns_by_name(void **state)
{
	(void)state;
	assert_int_equal(listing__find_column("self"), LISTING_RECENT_SELF);
	assert_int_equal(listing__find_column("all-total"), LISTING_TOTAL);
	assert_int_equal(listing__find_column("Self"), -22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(sorts_by_each_column),
		with_fixture(reverses),
		with_fixture(goes_to_the_column_beside),
		with_fixture(the_cursor_stays_with_its_function),
		with_fixture(moves_within_the_rows),
		with_fixture(searches_names_and_places),
		with_fixture(searches_both_ways_round_the_ends),
		with_fixture(leaves_the_cursor_where_nothing_is_found),
		with_fixture(filters),
		with_fixture(a_prompt_takes_all_keys),
		with_fixture(tells_what_is_left_to_do),
		with_fixture(sticks_to_the_process),
		with_fixture(shows_processes_and_functions_by_turns),
		with_fixture(one_process_has_no_other_views),
		with_fixture(enters_a_process_and_goes_back),
		with_fixture(searches_and_filters_by_process),
		cmocka_unit_test(knows_columns_by_name),
	};

	return cmocka_run_group_tests_name("listing", tests, NULL, NULL);
}
