/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/call_tree.h"
#include "profile/merged_profile.h"
#include "profile/view.h"

/* Functions, by the letters of paths: capitals are in app.lua, small ones in plug/in.lua. */
#define HOST      1 /* '(' */
#define COROUTINE 2 /* '@' */
#define COLLECTOR 3 /* '#' */
#define CAPITALS  4
#define SMALLS    (CAPITALS + 26)
#define FUNCTIONS (SMALLS + 25)

struct fixture {
	struct call_tree *tree;
	struct ls_profile_function functions[FUNCTIONS + 1];
	char names[FUNCTIONS + 1][2];
	struct ls_profile profile;
	struct view_options options;
	struct view *view;
	struct merged_profile *merged;
	uint64_t taken; /* samples */
};

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	for (uint32_t i = CAPITALS; i <= FUNCTIONS; i++) {
		fixture->names[i][0] = (char)(i < SMALLS ? 'A' + i - CAPITALS : 'a' + i - SMALLS);
		fixture->functions[i] = (struct ls_profile_function){
			.source = i < SMALLS ? "app.lua" : "plug/in.lua",
			.name = fixture->names[i],
			.line = i};
	}
	fixture->functions[HOST].name = "(host)";
	fixture->functions[COROUTINE].name = PROFILE_COROUTINE;
	fixture->functions[COLLECTOR].name = fixture->functions[COLLECTOR].source = "GC";
	fixture->tree = call_tree__new();
	return fixture->tree ? 0 : -1;
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	merged_profile__free(fixture->merged);
	view__free(fixture->view);
	call_tree__free(fixture->tree);
	free(fixture);
	return 0;
}

static uint32_t function_of(char letter)
{
	switch (letter) {
	case '(':
		return HOST;
	case '@':
		return COROUTINE;
	case '#':
		return COLLECTOR;
	}
	return letter >= 'a' ? SMALLS + (uint32_t)(letter - 'a')
			     : CAPITALS + (uint32_t)(letter - 'A');
}

/* "AB": B, called by A. Returns its node. */
static uint32_t take(struct fixture *fixture, const char *path, uint64_t samples)
{
	uint32_t node = call_tree__category(fixture->tree, "main");

	for (; *path; path++)
		node = call_tree__child(fixture->tree, node, function_of(*path));
	assert_int_not_equal(node, 0);
	call_tree__add(fixture->tree, node, samples, samples * 1000);
	fixture->taken += samples;
	return node;
}

static const char *letter_of(const struct ls_profile_function *function)
{
	if (!function->source)
		return !strcmp(function->name, "(host)") ? "(" : function->name;
	return !strcmp(function->source, "GC") ? "#" : function->name;
}

/* "A+b+": with the flag; pseudo functions by their names. */
static void describe(const struct ls_profile *profile, uint32_t node, char *to, size_t size)
{
	char longer[256];

	for (*to = '\0'; profile->nodes[node].parent; node = profile->nodes[node].parent) {
		const struct ls_profile_function *function =
			&profile->functions[profile->nodes[node].function];

		snprintf(longer, sizeof(longer), "%s%s%s", letter_of(function),
			 function->flags & LS_FUNCTION_PLUGIN ? "+" : "", to);
		snprintf(to, size, "%s", longer);
	}
}

static const struct ls_profile *look(struct fixture *fixture)
{
	const struct ls_profile *merged;
	uint64_t samples = 0, ns = 0;

	call_tree__export(fixture->tree, &fixture->profile);
	fixture->profile.functions = fixture->functions;
	fixture->profile.function_count = FUNCTIONS;
	assert_int_equal(view__new(&fixture->profile, &fixture->options, &fixture->view), 0);
	assert_int_equal(merged_profile__new(view__profile(fixture->view), MERGED_LINES_FOLDED,
					     &fixture->merged),
			 0);
	merged = merged_profile__profile(fixture->merged);
	for (uint32_t id = 1; id <= merged->node_count; id++) {
		samples += merged->nodes[id].samples;
		ns += merged->nodes[id].self_ns;
	}
	/* Whatever is seen: nothing is lost. */
	assert_int_equal(samples, fixture->taken);
	assert_int_equal(ns, fixture->taken * 1000);
	return merged;
}

static void expect(const struct fixture *fixture, const char *path, uint64_t samples)
{
	const struct ls_profile *merged = merged_profile__profile(fixture->merged);
	char description[256];

	for (uint32_t id = 1; id <= merged->node_count; id++) {
		describe(merged, id, description, sizeof(description));
		if (strcmp(description, path))
			continue;
		assert_int_equal(merged->nodes[id].samples, samples);
		return;
	}
	for (uint32_t id = 1; id <= merged->node_count; id++) {
		describe(merged, id, description, sizeof(description));
		print_message("%s %d\n", description, (int)merged->nodes[id].samples);
	}
	fail_msg("no path %s", path);
}

static void nothing_is_to_be_seen_without_a_pattern(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(view_options__are_any(&fixture->options), 0);
	patterns__add(&fixture->options.ignored, "A");
	assert_int_equal(view_options__are_any(&fixture->options), 1);
}

static void flags_a_plugin_and_all_that_it_calls(void **state)
{
	struct fixture *fixture = *state;

	patterns__add(&fixture->options.plugins, "plug/*");
	take(fixture, "A", 1);
	take(fixture, "AB", 2);
	take(fixture, "Aa", 4);
	take(fixture, "AaBC", 8);
	take(fixture, "Aa#", 16);
	take(fixture, "A#", 32);
	take(fixture, "(", 64);
	look(fixture);
	expect(fixture, "A", 1);
	expect(fixture, "AB", 2);
	expect(fixture, "Aa+", 4);
	expect(fixture, "Aa+B+C+", 8);
	expect(fixture, "Aa+#+", 16);
	expect(fixture, "A#", 32);
	expect(fixture, "(", 64);
}

static void a_function_inside_and_outside_of_a_plugin_is_two(void **state)
{
	struct fixture *fixture = *state;
	const struct ls_profile *merged;
	int found = 0;

	patterns__add(&fixture->options.plugins, "plug/*");
	take(fixture, "AB", 1);
	take(fixture, "aB", 2);
	take(fixture, "aAB", 4);
	merged = look(fixture);
	for (uint32_t id = 1; id <= merged->function_count; id++)
		found += !strcmp(merged->functions[id].name, "B");
	assert_int_equal(found, 2);
	assert_int_equal(merged->function_count, 5);
}

/* Where two lines of a function are plain and plugin, each keeps its own of them. */
static void lines_stay_with_their_twin(void **state)
{
	struct fixture *fixture = *state;
	const struct ls_profile *merged;

	fixture->functions[function_of('C')] = fixture->functions[function_of('B')];
	fixture->functions[function_of('C')].function = function_of('B');
	fixture->functions[function_of('C')].current_line = 7;
	patterns__add(&fixture->options.plugins, "plug/*");
	take(fixture, "AC", 1);
	take(fixture, "aC", 2);
	merged = look(fixture);
	for (uint32_t id = 1; id <= merged->function_count; id++) {
		const struct ls_profile_function *function = &merged->functions[id];

		if (strcmp(function->name, "B"))
			continue;
		assert_int_equal(function->line_count, 1);
		assert_int_equal(merged->lines[function->first_line].samples,
				 function->flags ? 2 : 1);
	}
	assert_int_equal(
		view__profile(fixture->view)->functions[FUNCTIONS + function_of('C')].function,
		FUNCTIONS + function_of('B'));
}

static void time_of_the_ignored_is_their_callers(void **state)
{
	struct fixture *fixture = *state;

	patterns__add(&fixture->options.ignored, "B");
	take(fixture, "A", 1);
	take(fixture, "AB", 2);
	take(fixture, "ABC", 4);
	take(fixture, "AC", 8);
	take(fixture, "ABB", 16);
	take(fixture, "AB#", 32);
	look(fixture);
	expect(fixture, "A", 19);
	expect(fixture, "AC", 12);
	expect(fixture, "A#", 32);
	assert_int_equal(merged_profile__profile(fixture->merged)->recorder.ignored_samples, 18);
}

static void the_ignored_without_a_caller_stay_in_sight(void **state)
{
	struct fixture *fixture = *state;

	patterns__add(&fixture->options.ignored, "A");
	patterns__add(&fixture->options.ignored, "a");
	take(fixture, "A", 1);
	take(fixture, "AB", 2);
	take(fixture, "Aa", 4);
	take(fixture, "A#", 8);
	take(fixture, "(", 16);
	look(fixture);
	expect(fixture, "(ignored)", 5);
	expect(fixture, "B", 2);
	expect(fixture, "(ignored)#", 8);
	expect(fixture, "(", 16);
}

static void who_was_called_by_an_ignored_plugin_is_flagged(void **state)
{
	struct fixture *fixture = *state;

	patterns__add(&fixture->options.plugins, "plug/*");
	patterns__add(&fixture->options.ignored, "a");
	take(fixture, "Aa", 1);
	take(fixture, "AaB", 2);
	look(fixture);
	expect(fixture, "A", 1);
	expect(fixture, "AB+", 2);
}

static void shows_the_stacks_of_one_coroutine(void **state)
{
	struct fixture *fixture = *state;

	patterns__add(&fixture->options.coroutines, "B");
	take(fixture, "@A", 1);
	take(fixture, "@AB", 2); /* called, not resumed */
	take(fixture, "@AC@B", 4);
	take(fixture, "@AC@BD", 8);
	take(fixture, "@AC@BD@E", 16);
	take(fixture, "@AC@B@B", 32);
	take(fixture, "@AC@D", 64);
	take(fixture, "(", 128);
	take(fixture, "@AC@B#", 256);
	take(fixture, "@A#", 512);
	take(fixture, "@B", 1024);
	look(fixture);
	expect(fixture, "B", 4 + 1024);
	expect(fixture, "BD", 8);
	expect(fixture, "BDE", 16);
	expect(fixture, "BB", 32);
	expect(fixture, "(", 128);
	expect(fixture, "B#", 256);
	expect(fixture, "(other coroutines)", 1 + 2 + 64 + 512);
	assert_int_equal(merged_profile__profile(fixture->merged)->node_count, 8);
}

static void a_coroutine_may_be_meant_by_its_place(void **state)
{
	struct fixture *fixture = *state;
	char place[32];

	snprintf(place, sizeof(place), "app.lua:%u", function_of('B'));
	patterns__add(&fixture->options.coroutines, place);
	take(fixture, "@A@B", 1);
	take(fixture, "@A@C", 2);
	look(fixture);
	expect(fixture, "B", 1);
	expect(fixture, "(other coroutines)", 2);
}

static void what_is_ignored_in_a_coroutine_is_not_counted_outside(void **state)
{
	struct fixture *fixture = *state;

	patterns__add(&fixture->options.coroutines, "B");
	patterns__add(&fixture->options.ignored, "C");
	take(fixture, "@A@BC", 1);
	take(fixture, "@AC", 2);
	look(fixture);
	expect(fixture, "B", 1);
	expect(fixture, "(other coroutines)", 2);
	assert_int_equal(merged_profile__profile(fixture->merged)->recorder.ignored_samples, 1);
}

/* The written node of each sample: after the view, and after merging. */
static void samples_in_time_point_at_what_is_written(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile_sample samples[3] = {{.time_ns = 1}, {.time_ns = 2}, {.time_ns = 3}};
	const struct ls_profile *merged;
	char description[256];

	patterns__add(&fixture->options.ignored, "A");
	patterns__add(&fixture->options.plugins, "plug/*");
	samples[0].node = take(fixture, "BA", 1);
	samples[1].node = take(fixture, "BAa", 1);
	take(fixture, "BAD", 0);
	samples[2].node = take(fixture, "A", 1);
	fixture->profile.samples = samples;
	fixture->profile.sample_count = 3;
	merged = look(fixture);
	assert_ptr_equal(merged->samples, samples);
	assert_int_equal(merged->sample_count, 3);
	for (size_t i = 0; i < 3; i++) {
		static const char *const expected[] = {"B", "Ba+", "(ignored)"};

		describe(merged, merged->sample_nodes[samples[i].node], description,
			 sizeof(description));
		assert_string_equal(description, expected[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define each(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)
		each(nothing_is_to_be_seen_without_a_pattern),
		each(flags_a_plugin_and_all_that_it_calls),
		each(a_function_inside_and_outside_of_a_plugin_is_two),
		each(lines_stay_with_their_twin),
		each(time_of_the_ignored_is_their_callers),
		each(the_ignored_without_a_caller_stay_in_sight),
		each(who_was_called_by_an_ignored_plugin_is_flagged),
		each(shows_the_stacks_of_one_coroutine),
		each(a_coroutine_may_be_meant_by_its_place),
		each(what_is_ignored_in_a_coroutine_is_not_counted_outside),
		each(samples_in_time_point_at_what_is_written),
#undef each
	};

	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
