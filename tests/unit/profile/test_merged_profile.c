/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/call_tree.h"
#include "profile/merged_profile.h"

#define FUNCTIONS 8

struct fixture {
	struct call_tree *tree;
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct ls_profile profile;
	enum merged_lines lines;
	struct merged_profile *merged;
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

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	merged_profile__free(fixture->merged);
	call_tree__free(fixture->tree);
	free(fixture);
	return 0;
}

static int try_merge(struct fixture *fixture)
{
	return merged_profile__new(&fixture->profile, fixture->lines, &fixture->merged);
}

static void export(struct fixture *fixture)
{
	call_tree__export(fixture->tree, &fixture->profile);
	fixture->profile.functions = fixture->functions;
	fixture->profile.function_count = FUNCTIONS;
}

static const struct ls_profile *merge(struct fixture *fixture)
{
	export(fixture);
	assert_int_equal(try_merge(fixture), 0);
	return merged_profile__profile(fixture->merged);
}

static uint32_t sample(struct fixture *fixture, uint32_t parent, uint32_t function, uint64_t ns)
{
	uint32_t node = call_tree__child(fixture->tree, parent, function);

	assert_int_not_equal(node, 0);
	call_tree__add(fixture->tree, node, 1, ns);
	return node;
}

static void takes_an_empty_profile(void **state)
{
	const struct ls_profile *merged = merge(*state);

	assert_int_equal(merged->node_count, 0);
	assert_int_equal(merged->function_count, 0);
	assert_int_equal(merged->category_count, 0);
}

static void makes_one_function_of_lookalikes_from_different_memory(void **state)
{
	struct fixture *fixture = *state;
	char source[] = "a.lua", twin[] = "a.lua";
	uint32_t root = call_tree__category(fixture->tree, "main");
	const struct ls_profile *merged;

	fixture->functions[1] =
		(struct ls_profile_function){.source = source, .name = "f", .line = 3};
	fixture->functions[2] =
		(struct ls_profile_function){.source = source, .name = "g", .line = 3};
	fixture->functions[3] =
		(struct ls_profile_function){.source = twin, .name = "f", .line = 3};
	sample(fixture, root, 1, 10);
	sample(fixture, root, 2, 100);
	sample(fixture, root, 3, 1000);
	merged = merge(fixture);
	assert_int_equal(merged->function_count, 2);
	assert_string_equal(merged->functions[1].name, "f");
	assert_string_equal(merged->functions[2].name, "g");
	assert_int_equal(merged->node_count, 3);
	assert_int_equal(merged->nodes[2].function, 1);
	assert_int_equal(merged->nodes[2].self_ns, 1010);
	assert_int_equal(merged->nodes[2].samples, 2);
	assert_int_equal(merged->nodes[3].function, 2);
	assert_int_equal(merged->nodes[3].self_ns, 100);
}

/* main > 1 > 4 and main > 2 > 5, where 1 looks like 2 and 4 like 5, become main > 1 > 4. */
static void merges_whole_subtrees(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	const struct ls_profile *merged;

	for (int id = 1; id <= 2; id++) {
		fixture->functions[id] =
			(struct ls_profile_function){.source = "a", .name = "f", .line = 1};
		fixture->functions[id + 3] =
			(struct ls_profile_function){.source = "b", .name = "g", .line = 2};
		sample(fixture, sample(fixture, root, id, 1), id + 3, 10);
	}
	merged = merge(fixture);
	assert_int_equal(merged->function_count, 2);
	assert_int_equal(merged->node_count, 3);
	assert_int_equal(merged->nodes[1].first_child, 2);
	assert_int_equal(merged->nodes[2].self_ns, 2);
	assert_int_equal(merged->nodes[2].next_sibling, 0);
	assert_int_equal(merged->nodes[2].first_child, 3);
	assert_int_equal(merged->nodes[3].parent, 2);
	assert_int_equal(merged->nodes[3].self_ns, 20);
	assert_int_equal(merged->nodes[3].next_sibling, 0);
}

static void tells_apart_what_differs_in_one_thing(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");

	fixture->functions[1] = (struct ls_profile_function){.source = "a", .name = "f", .line = 1};
	fixture->functions[2] = (struct ls_profile_function){.source = "b", .name = "f", .line = 1};
	fixture->functions[3] = (struct ls_profile_function){.source = "a", .name = "g", .line = 1};
	fixture->functions[4] = (struct ls_profile_function){.source = "a", .name = "f", .line = 2};
	fixture->functions[5] = (struct ls_profile_function){
		.source = "a", .name = "f", .line = 1, .flags = LS_FUNCTION_NATIVE};
	fixture->functions[6] = (struct ls_profile_function){.name = "f", .line = 1};
	fixture->functions[7] = (struct ls_profile_function){.source = "a", .line = 1};
	fixture->functions[8] = (struct ls_profile_function){.source = "", .name = "f", .line = 1};
	for (uint32_t id = 1; id <= 8; id++)
		sample(fixture, root, id, 1);
	assert_int_equal(merge(fixture)->function_count, 8);
	assert_int_equal(merged_profile__profile(fixture->merged)->node_count, 9);
}

static void leaves_out_functions_that_no_node_uses(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	const struct ls_profile *merged;

	for (uint32_t id = 1; id <= FUNCTIONS; id++)
		fixture->functions[id] =
			(struct ls_profile_function){.source = "a", .name = "f", .line = id};
	sample(fixture, sample(fixture, root, 7, 1), 4, 1);
	merged = merge(fixture);
	assert_int_equal(merged->function_count, 2);
	assert_int_equal(merged->functions[1].line, 4);
	assert_int_equal(merged->functions[2].line, 7);
	assert_int_equal(merged->nodes[2].function, 2);
	assert_int_equal(merged->nodes[3].function, 1);
}

static void keeps_what_has_samples_or_time_and_its_callers(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	uint32_t silent = call_tree__category(fixture->tree, "silent");
	uint32_t caller = call_tree__child(fixture->tree, root, 1);
	uint32_t timed = call_tree__child(fixture->tree, root, 3);
	const struct ls_profile *merged;

	for (uint32_t id = 1; id <= FUNCTIONS; id++)
		fixture->functions[id] =
			(struct ls_profile_function){.source = "a", .name = "f", .line = id};
	sample(fixture, caller, 2, 0);
	call_tree__charge(fixture->tree, timed, 1);
	call_tree__child(fixture->tree, caller, 4);
	call_tree__child(fixture->tree, silent, 5);
	merged = merge(fixture);
	assert_int_equal(merged->category_count, 1);
	assert_string_equal(merged->categories[0].name, "main");
	assert_int_equal(merged->node_count, 4);
	assert_int_equal(merged->function_count, 3);
}

static void outlives_the_tree(void **state)
{
	struct fixture *fixture = *state;
	const struct ls_profile *merged;

	fixture->functions[1].name = "(host)";
	fixture->profile.recorder.samples = 42;
	sample(fixture, call_tree__category(fixture->tree, "main"), 1, 5);
	merged = merge(fixture);
	call_tree__free(fixture->tree);
	fixture->tree = NULL;
	assert_string_equal(merged->categories[0].name, "main");
	assert_string_equal(merged->functions[1].name, "(host)");
	assert_int_equal(merged->nodes[2].self_ns, 5);
	assert_int_equal(merged->recorder.samples, 42);
}

static void merges_categories_of_one_name(void **state)
{
	struct fixture *fixture = *state;
	const struct ls_profile_node nodes[] = {{0}, {.self_ns = 1}, {.self_ns = 2}};
	const struct ls_profile_category categories[] = {{"main", 1, 0}, {"main", 2, 0}};
	const struct ls_profile *merged;

	fixture->profile = (struct ls_profile){
		.nodes = nodes,
		.node_count = 2,
		.categories = categories,
		.category_count = 2,
	};
	assert_int_equal(try_merge(fixture), 0);
	merged = merged_profile__profile(fixture->merged);
	assert_int_equal(merged->category_count, 1);
	assert_int_equal(merged->node_count, 1);
	assert_int_equal(merged->nodes[1].self_ns, 3);
}

static void set_at_line(struct fixture *fixture, uint32_t id, const char *name, uint32_t line)
{
	fixture->functions[id] = (struct ls_profile_function){
		.source = "a.lua", .name = name, .line = 1, .current_line = line};
}

static void expect_line(const struct ls_profile *merged, uint32_t function, uint32_t at,
			const struct ls_profile_line *expected)
{
	const struct ls_profile_line *line =
		&merged->lines[merged->functions[function].first_line + at];

	assert_int_equal(line->line, expected->line);
	assert_int_equal(line->samples, expected->samples);
	assert_int_equal(line->self_ns, expected->self_ns);
}

/* Lookalikes of all lines, in any order of ids and lines; what they call is what the function
 * calls. */
static void folds_lines_into_histograms(void **state)
{
	static const uint32_t lines[] = {7, 5, 0, 6, 5};
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main"), caller = root;
	const struct ls_profile *merged;

	for (uint32_t i = 0; i < 5; i++)
		set_at_line(fixture, i + 2, "f", lines[i]);
	set_at_line(fixture, 1, "g", 3);
	set_at_line(fixture, 7, "g", 0);
	for (uint32_t id = 2; id <= 6; id++) {
		caller = sample(fixture, root, id, 10 * id);
		sample(fixture, caller, 1, 1);
	}
	sample(fixture, root, 7, 1000);
	merged = merge(fixture);
	assert_int_equal(merged->function_count, 2);
	assert_int_equal(merged->node_count, 4);
	assert_int_equal(merged->line_count, 4);
	assert_string_equal(merged->functions[2].name, "f");
	assert_int_equal(merged->functions[2].current_line, 0);
	assert_int_equal(merged->functions[2].line_count, 3);
	expect_line(merged, 2, 0,
		    &(struct ls_profile_line){.line = 5, .samples = 2, .self_ns = 90});
	expect_line(merged, 2, 1,
		    &(struct ls_profile_line){.line = 6, .samples = 1, .self_ns = 50});
	expect_line(merged, 2, 2,
		    &(struct ls_profile_line){.line = 7, .samples = 1, .self_ns = 20});
	assert_int_equal(merged->functions[1].line_count, 1);
	expect_line(merged, 1, 0, &(struct ls_profile_line){.line = 3, .samples = 5, .self_ns = 5});
}

static void keeps_lines_apart_if_told_to(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	const struct ls_profile *merged;

	for (uint32_t id = 1; id <= 4; id++) {
		set_at_line(fixture, id, "f", id / 2);
		sample(fixture, root, id, 10 * id);
	}
	fixture->lines = MERGED_LINES_SPLIT;
	merged = merge(fixture);
	assert_int_equal(merged->function_count, 3);
	assert_int_equal(merged->node_count, 4);
	assert_int_equal(merged->line_count, 0);
	for (uint32_t id = 1; id <= 3; id++) {
		assert_int_equal(merged->functions[id].current_line, id - 1);
		assert_int_equal(merged->functions[id].line_count, 0);
	}
	assert_int_equal(merged->nodes[3].self_ns, 50);
}

static void refuses_a_profile_that_breaks_its_rules(void **state)
{
	static const struct {
		struct ls_profile_node nodes[3];
		struct ls_profile_category categories[2];
		uint32_t category_count;
	} cases[] = {
		/* parent comes later */
		{{{0}, {.parent = 2, .self_ns = 1}, {0}}, {{"a", 2, 0}}, 1},
		/* no such function */
		{{{0}, {0}, {.parent = 1, .function = 2}}, {{"a", 1, 0}}, 1},
		/* no such node */
		{{{0}, {0}, {.parent = 1, .function = 1}}, {{"a", 3, 0}}, 1},
		{{{0}, {0}, {.parent = 1, .function = 1}}, {{"a", 0, 0}}, 1},
		/* the category is no root */
		{{{0}, {0}, {.parent = 1, .function = 1}}, {{"a", 2, 0}}, 1},
		/* the root is no category */
		{{{0}, {.samples = 1}, {.samples = 1}}, {{"a", 1, 0}}, 1},
		/* or two */
		{{{0}, {.samples = 1}, {0}}, {{"a", 1, 0}, {"b", 1, 0}}, 2},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fixture->profile = (struct ls_profile){
			.functions = fixture->functions,
			.function_count = 1,
			.nodes = cases[i].nodes,
			.node_count = 2,
			.categories = cases[i].categories,
			.category_count = cases[i].category_count,
		};
		assert_int_equal(try_merge(fixture), -EINVAL);
		assert_null(fixture->merged);
	}
}

static void free_takes_null(void **state)
{
	(void)state;
	merged_profile__free(NULL);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(takes_an_empty_profile),
		test(makes_one_function_of_lookalikes_from_different_memory),
		test(merges_whole_subtrees),
		test(tells_apart_what_differs_in_one_thing),
		test(leaves_out_functions_that_no_node_uses),
		test(keeps_what_has_samples_or_time_and_its_callers),
		test(outlives_the_tree),
		test(merges_categories_of_one_name),
		test(folds_lines_into_histograms),
		test(keeps_lines_apart_if_told_to),
		test(refuses_a_profile_that_breaks_its_rules),
		cmocka_unit_test(free_takes_null),
	};

	return cmocka_run_group_tests_name("merged_profile", tests, NULL, NULL);
}
