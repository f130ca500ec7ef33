/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a function to its callers and callees and back; averages, and what is hidden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "showing.h"
#include "stats_fixture.h"
#include "top/listing.h"

#define HEIGHT 5

static const struct shown_function program[] = {
	{"@app.lua", "main", 1, 0, 0, NULL},        {"@app.lua", "hot", 10, 100, 600, "main"},
	{"@json.lua", "decode", 5, 50, 300, "hot"}, {"@json.lua", "scan", 50, 20, 100, "decode"},
	{"GC", "GC", 0, 10, 40, "decode"},          {"[C]", "string.rep", 0, 30, 10, "decode"},
};

#define COUNT (sizeof(program) / sizeof(program[0]))

struct fixture {
	struct function_stats *stats;
	struct listing listing;
	char shown[512];
};

static void show(struct fixture *fixture, int processes)
{
	function_stats__free(fixture->stats);
	fixture->stats = showing__stats(program, COUNT, processes);
	assert_int_equal(listing__update(&fixture->listing, fixture->stats, HEIGHT), 0);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	listing__init(&fixture->listing, LISTING_RECENT_SELF);
	show(fixture, 1);
	return 0;
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
	struct listing *listing = &fixture->listing;
	enum listing_demand demand = listing__press(listing, key);

	if (demand == LISTING_COUNT) {
		struct calls_choice choice = listing__choice(listing);

		assert_int_equal(function_calls__count(fixture->stats, &choice), 0);
	}
	if (demand == LISTING_HIDE)
		assert_int_equal(function_stats__hide(fixture->stats, listing->hidden), 0);
	assert_int_equal(listing__update(listing, fixture->stats, HEIGHT), 0);
	return demand;
}

static void type(struct fixture *fixture, const char *text)
{
	for (; *text; text++)
		press(fixture, (unsigned char)*text);
}

/* All names in order: callers, the function, itself, callees. */
static const char *names(struct fixture *fixture)
{
	const struct listing *listing = &fixture->listing;

	fixture->shown[0] = '\0';
	for (uint32_t at = 0; at < listing->count; at++)
		snprintf(fixture->shown + strlen(fixture->shown),
			 sizeof(fixture->shown) - strlen(fixture->shown), "%s%s", at ? " " : "",
			 listing__name(listing__row(listing, at)));
	return fixture->shown;
}

static const struct stats_row *at_cursor(const struct fixture *fixture)
{
	const struct listing_page *page = listing__page(&fixture->listing);

	assert_in_range(page->cursor, page->first, page->first + HEIGHT - 1);
	return listing__row(&fixture->listing, page->cursor);
}

static void assert_at(const struct fixture *fixture, const char *name)
{
	assert_string_equal(at_cursor(fixture)->name, name);
}

static void go_to(struct fixture *fixture, const char *name)
{
	press(fixture, LISTING_HOME);
	for (uint32_t i = 0; i < fixture->listing.count; i++) {
		if (!strcmp(at_cursor(fixture)->name, name))
			return;
		press(fixture, LISTING_DOWN);
	}
	fail_msg("no row of %s", name);
}

static void callers_are_above_and_callees_below(void **state)
{
	struct fixture *fixture = *state;

	go_to(fixture, "decode");
	assert_int_equal(press(fixture, LISTING_ENTER), LISTING_COUNT);
	assert_int_equal(fixture->listing.view, LISTING_CALLS);
	assert_string_equal(names(fixture), "hot decode decode scan GC string.rep");
	assert_at(fixture, "decode");
	assert_int_equal(at_cursor(fixture)->role, STATS_CHOSEN);
	/* By what is recent, by name, and backwards: only among themselves. */
	press(fixture, '1');
	assert_string_equal(names(fixture), "hot decode decode scan GC string.rep");
	press(fixture, '5');
	assert_string_equal(names(fixture), "hot decode decode GC scan string.rep");
	press(fixture, 'i');
	assert_string_equal(names(fixture), "hot decode decode string.rep scan GC");
	assert_at(fixture, "decode");
}

static void goes_back_to_the_function(void **state)
{
	struct fixture *fixture = *state;

	go_to(fixture, "hot");
	assert_int_equal(listing__page(&fixture->listing)->cursor, 0);
	press(fixture, LISTING_ENTER);
	press(fixture, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.view, LISTING_FUNCTIONS);
	assert_at(fixture, "hot");
	/* Even where it is not the first any more. */
	press(fixture, LISTING_ENTER);
	press(fixture, LISTING_ESCAPE);
	press(fixture, '5');
	assert_string_equal(names(fixture), "GC decode hot main scan string.rep");
	assert_at(fixture, "hot");
}

static void goes_on_to_callers_and_callees(void **state)
{
	struct fixture *fixture = *state;

	go_to(fixture, "decode");
	press(fixture, LISTING_ENTER);
	go_to(fixture, "scan");
	press(fixture, LISTING_ENTER);
	assert_string_equal(names(fixture), "decode scan scan");
	assert_at(fixture, "scan");
	press(fixture, LISTING_HOME);
	press(fixture, LISTING_ENTER);
	press(fixture, LISTING_HOME);
	assert_at(fixture, "hot");
	press(fixture, LISTING_ENTER);
	press(fixture, LISTING_HOME);
	press(fixture, LISTING_ENTER);
	assert_string_equal(names(fixture), "(no caller) main hot");
	/* Nothing calls it. */
	press(fixture, LISTING_HOME);
	assert_int_equal(press(fixture, LISTING_ENTER), LISTING_NOTHING);
	assert_int_equal(press(fixture, LISTING_ESCAPE), LISTING_COUNT);
	assert_at(fixture, "main");
	press(fixture, LISTING_ESCAPE);
	assert_at(fixture, "hot");
	press(fixture, LISTING_ESCAPE);
	assert_at(fixture, "decode");
	press(fixture, LISTING_ESCAPE);
	assert_at(fixture, "scan");
	press(fixture, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.view, LISTING_FUNCTIONS);
	assert_at(fixture, "decode");
}

static void the_function_itself_leads_nowhere(void **state)
{
	struct fixture *fixture = *state;

	go_to(fixture, "decode");
	press(fixture, LISTING_ENTER);
	assert_int_equal(press(fixture, LISTING_ENTER), LISTING_NOTHING);
	press(fixture, LISTING_DOWN);
	assert_int_equal(at_cursor(fixture)->role, STATS_ITSELF);
	assert_int_equal(press(fixture, LISTING_ENTER), LISTING_NOTHING);
	press(fixture, 'o');
	press(fixture, 'v');
	assert_int_equal(fixture->listing.view, LISTING_CALLS);
}

static void forgets_the_beginning_of_a_long_way(void **state)
{
	struct fixture *fixture = *state;

	go_to(fixture, "decode");
	press(fixture, LISTING_ENTER);
	for (int i = 0; i < 3 * LISTING_STEPS; i++) {
		go_to(fixture, i % 2 ? "decode" : "scan");
		press(fixture, LISTING_ENTER);
		assert_at(fixture, i % 2 ? "decode" : "scan");
	}
	for (int i = 0; i < LISTING_STEPS; i++) {
		assert_int_equal(fixture->listing.view, LISTING_CALLS);
		press(fixture, LISTING_ESCAPE);
	}
	assert_int_equal(fixture->listing.view, LISTING_FUNCTIONS);
	assert_at(fixture, "decode");
}

static void filters_and_searches_neighbours(void **state)
{
	struct fixture *fixture = *state;

	go_to(fixture, "decode");
	press(fixture, LISTING_ENTER);
	press(fixture, 'f');
	type(fixture, "[c]");
	press(fixture, LISTING_ENTER);
	assert_string_equal(names(fixture), "decode string.rep");
	press(fixture, LISTING_ESCAPE);
	assert_string_equal(names(fixture), "hot decode decode scan GC string.rep");
	press(fixture, '/');
	type(fixture, "sca");
	press(fixture, LISTING_ENTER);
	assert_at(fixture, "scan");
	press(fixture, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.view, LISTING_CALLS);
	press(fixture, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.view, LISTING_FUNCTIONS);
}

static void calls_are_those_of_the_process_of_the_row(void **state)
{
	struct fixture *fixture = *state;
	uint32_t process;
	uint64_t time;

	show(fixture, 3);
	go_to(fixture, "decode");
	press(fixture, LISTING_DOWN);
	assert_at(fixture, "decode");
	time = at_cursor(fixture)->all.total;
	process = listing__process(&fixture->listing, listing__page(&fixture->listing)->cursor)->id;
	press(fixture, LISTING_ENTER);
	assert_int_equal(listing__choice(&fixture->listing).process, process);
	assert_true(listing__is_of_one(&fixture->listing));
	assert_string_equal(names(fixture), "hot decode decode scan GC string.rep");
	assert_int_equal(at_cursor(fixture)->all.total, time);
	press(fixture, LISTING_HOME);
	press(fixture, LISTING_ENTER);
	assert_int_equal(listing__choice(&fixture->listing).process, process);
	press(fixture, LISTING_ESCAPE);
	press(fixture, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.view, LISTING_FUNCTIONS);
	assert_false(listing__is_of_one(&fixture->listing));
	assert_int_equal(
		listing__process(&fixture->listing, listing__page(&fixture->listing)->cursor)->id,
		process);
	press(fixture, 'v');
	assert_int_equal(fixture->listing.view, LISTING_PROCESSES);
	press(fixture, LISTING_DOWN);
	press(fixture, LISTING_ENTER);
	assert_int_equal(fixture->listing.view, LISTING_ONE_PROCESS);
	go_to(fixture, "decode");
	press(fixture, LISTING_ENTER);
	assert_true(listing__is_of_one(&fixture->listing));
	assert_string_equal(listing__one(&fixture->listing, fixture->stats)->name,
			    "lua5.4 (pid 2)");
	assert_int_equal(listing__choice(&fixture->listing).process, fixture->listing.one);
	press(fixture, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.view, LISTING_ONE_PROCESS);
	assert_at(fixture, "decode");
	press(fixture, LISTING_ESCAPE);
	assert_int_equal(fixture->listing.view, LISTING_PROCESSES);
}

/*
 * Of many callers, those with the least time are next to the function, and its callees are below
 * it.
 */
static void the_function_is_in_the_middle_of_the_screen(void **state)
{
	struct fixture *fixture = *state;
	struct listing *listing = &fixture->listing;
	struct stats_fixture *stats;
	struct ls_profile profile;
	void *made = NULL;

	assert_int_equal(stats_fixture__set_up_one(&made), 0);
	stats = made;
	for (uint32_t i = 1; i <= 20; i++)
		stats_fixture__sample_stack(stats, "main", 100 - i,
					    stats_fixture__script(stats, "caller.lua", i),
					    stats->work, stats->rest);
	stats_fixture__look_at(stats, NULL);
	stats_fixture__export(stats, &profile);
	assert_int_equal(function_calls__see(stats->stats, &profile, stats->time_ns), 0);
	function_stats__free(fixture->stats);
	fixture->stats = stats->stats;
	assert_int_equal(listing__update(listing, fixture->stats, HEIGHT), 0);
	while (strcmp(at_cursor(fixture)->source, "work.lua") != 0)
		press(fixture, LISTING_DOWN);
	press(fixture, LISTING_ENTER);
	assert_int_equal(listing->count, 22);
	assert_int_equal(at_cursor(fixture)->role, STATS_CHOSEN);
	assert_int_equal(listing__page(listing)->cursor, 20);
	assert_int_equal(listing__page(listing)->first, 17);
	press(fixture, LISTING_UP);
	assert_int_equal(at_cursor(fixture)->line, 20);
	stats->stats = NULL;
	stats_fixture__tear_down(&made);
}

static void hides_and_shows_the_collector(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(press(fixture, 'G'), LISTING_HIDE);
	assert_string_equal(names(fixture), "hot decode scan string.rep main");
	go_to(fixture, "decode");
	press(fixture, LISTING_ENTER);
	assert_string_equal(names(fixture), "hot decode decode scan string.rep");
	press(fixture, 'g');
	assert_string_equal(names(fixture), "hot decode decode scan GC string.rep");
	/* Who is hidden has no rows, but a way back. */
	go_to(fixture, "GC");
	press(fixture, LISTING_ENTER);
	press(fixture, 'G');
	assert_int_equal(fixture->listing.count, 0);
	press(fixture, LISTING_ENTER);
	press(fixture, LISTING_DOWN);
	press(fixture, LISTING_ESCAPE);
	assert_string_equal(names(fixture), "hot decode decode scan string.rep");
}

static void says_that_no_plugins_are_known(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(press(fixture, 'P'), LISTING_NO_PLUGINS);
	assert_int_equal(fixture->listing.hidden, 0);
	fixture->listing.has_plugins = true;
	assert_int_equal(press(fixture, 'P'), LISTING_HIDE);
	assert_int_equal(fixture->listing.hidden, STATS_HIDDEN_PLUGINS);
	press(fixture, 'G');
	assert_int_equal(fixture->listing.hidden, STATS_HIDDEN_ALL);
	press(fixture, 'P');
	assert_int_equal(fixture->listing.hidden, STATS_HIDDEN_GC);
}

static void goes_through_the_averages(void **state)
{
	static const uint32_t spans[] = {1, 60, 300, 600, 0, 1};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		assert_int_equal(press(fixture, 'a'), LISTING_NOTHING);
		assert_int_equal(fixture->listing.average_s, spans[i]);
	}
}

static void knows_averages_by_name(void **state)
{
	(void)state;
	assert_int_equal(listing__find_average("1s"), 1);
	assert_int_equal(listing__find_average("60"), 60);
	assert_int_equal(listing__find_average("5m"), 300);
	assert_int_equal(listing__find_average("10m"), 600);
	assert_int_equal(listing__find_average("2m"), -22);
	assert_int_equal(listing__find_average("1 min"), -22);
	assert_int_equal(listing__find_average(""), -22);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_fixture(callers_are_above_and_callees_below),
		with_fixture(goes_back_to_the_function),
		with_fixture(goes_on_to_callers_and_callees),
		with_fixture(the_function_itself_leads_nowhere),
		with_fixture(forgets_the_beginning_of_a_long_way),
		with_fixture(filters_and_searches_neighbours),
		with_fixture(calls_are_those_of_the_process_of_the_row),
		with_fixture(the_function_is_in_the_middle_of_the_screen),
		with_fixture(hides_and_shows_the_collector),
		with_fixture(says_that_no_plugins_are_known),
		with_fixture(goes_through_the_averages),
		cmocka_unit_test(knows_averages_by_name),
	};

	return cmocka_run_group_tests_name("listing of calls", tests, NULL, NULL);
}
