/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/pruning.h"

#define FUNCTIONS 3000
#define OTHER     1 /* the ids of functions: without a source these two, the rest with one */
#define HOST      2
#define A         3

struct fixture {
	struct call_tree *tree;
	struct ls_profile_function functions[FUNCTIONS + 1];
	struct ls_profile before, after;
	struct call_tree *pruned;
	uint32_t *nodes;
	uint8_t used[FUNCTIONS + 1];
};

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	for (uint32_t id = A; id <= FUNCTIONS; id++)
		fixture->functions[id].source = "app.lua";
	fixture->functions[OTHER].name = "(other)";
	fixture->functions[HOST].name = "(host)";
	fixture->tree = call_tree__new();
	return fixture->tree ? 0 : -1;
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	call_tree__free(fixture->tree);
	call_tree__free(fixture->pruned);
	free(fixture->nodes);
	free(fixture);
	return 0;
}

/* A path like "AB(BC": letters are functions, '?' is "(other)", '(' is "(host)". */
static uint32_t function_of(char letter)
{
	return letter == '?' ? OTHER : letter == '(' ? HOST : (uint32_t)(A + letter - 'A');
}

static void take(struct fixture *fixture, const char *path, uint64_t samples)
{
	uint32_t node = call_tree__category(fixture->tree, "main");

	for (; *path; path++)
		node = call_tree__child(fixture->tree, node, function_of(*path));
	assert_int_not_equal(node, 0);
	call_tree__add(fixture->tree, node, samples, samples * 1000);
	call_tree__weigh(fixture->tree, node, samples * 500);
}

static void prune(struct fixture *fixture, uint32_t functions_most, uint32_t nodes_most)
{
	const struct pruning pruning = {
		.functions_most = functions_most, .nodes_most = nodes_most, .other = OTHER};

	call_tree__export(fixture->tree, &fixture->before);
	fixture->before.functions = fixture->functions;
	fixture->before.function_count = FUNCTIONS;
	assert_int_equal(pruning__run(&pruning, &fixture->before, &fixture->pruned, &fixture->nodes,
				      fixture->used),
			 0);
	call_tree__export(fixture->pruned, &fixture->after);
}

static void expect(struct fixture *fixture, const char *path, uint64_t samples)
{
	uint32_t node = call_tree__category(fixture->pruned, "main");
	uint32_t count = call_tree__nodes(fixture->pruned);

	for (const char *at = path; *at; at++)
		node = call_tree__child(fixture->pruned, node, function_of(*at));
	if (call_tree__nodes(fixture->pruned) != count)
		fail_msg("no path %s", path);
	assert_int_equal(fixture->after.nodes[node].samples, samples);
	assert_int_equal(fixture->after.nodes[node].self_ns, samples * 1000);
	assert_int_equal(fixture->after.nodes[node].weight_ns, samples * 500);
}

/* B to D are A at three lines, F and G are E at two: A has most samples, E fewer than any line. */
static void forgets_lines_before_functions(void **state)
{
	struct fixture *fixture = *state;

	for (char letter = 'B'; letter <= 'G'; letter++) {
		if (letter == 'E')
			continue;
		fixture->functions[function_of(letter)].function =
			function_of(letter < 'E' ? 'A' : 'E');
		fixture->functions[function_of(letter)].current_line = letter;
	}
	take(fixture, "HB", 50);
	take(fixture, "HC", 4);
	take(fixture, "HD", 4);
	take(fixture, "HF", 2);
	take(fixture, "HG", 2);
	/* H, A and B stay: what A has at its other lines it has at none. */
	prune(fixture, 3, 100);
	assert_int_equal(fixture->after.node_count, 5);
	expect(fixture, "HB", 50);
	expect(fixture, "HA", 8);
	expect(fixture, "H?", 4);
}

static void leaves_a_small_tree_as_it_is(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, "AB", 3);
	take(fixture, "AC", 1);
	take(fixture, "(", 1);
	prune(fixture, 10, 10);
	assert_int_equal(fixture->after.node_count, 5);
	expect(fixture, "AB", 3);
	expect(fixture, "AC", 1);
	expect(fixture, "(", 1);
	assert_int_equal(fixture->used[function_of('B')], 1);
	assert_int_equal(fixture->used[function_of('D')], 0);
}

/* Templates that occur once call functions that are called all the time. */
static void puts_rare_functions_into_one_where_they_stood(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, "A", 5);
	take(fixture, "ACX", 10);
	take(fixture, "AD", 1);
	take(fixture, "ADX", 10);
	take(fixture, "ADEX", 10);
	take(fixture, "X", 7);
	prune(fixture, 2, 100);
	expect(fixture, "A", 5);
	expect(fixture, "A?", 1);
	expect(fixture, "A?X", 30);
	assert_int_equal(pruning__samples(&fixture->after, OTHER), 31);
	expect(fixture, "X", 7);
	assert_int_equal(fixture->after.node_count, 1 + 4);
	assert_int_equal(fixture->used[function_of('C')], 0);
	assert_int_equal(fixture->used[OTHER], 1);
}

static void keeps_functions_that_are_used_elsewhere(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, "A", 5);
	take(fixture, "AB", 1);
	take(fixture, "AC", 1);
	fixture->used[function_of('C')] = 1;
	prune(fixture, 1, 100);
	expect(fixture, "A?", 1);
	expect(fixture, "AC", 1);
	assert_int_equal(fixture->used[function_of('C')], 1);
}

static void flattens_calls_that_are_rare(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, "AB", 50);
	take(fixture, "ABC", 50);
	take(fixture, "ABAB", 1);
	take(fixture, "ABABABABABABABABABABABAB", 1);
	take(fixture, "ABACACACACACACACACACACAC", 1);
	take(fixture, "(", 1);
	prune(fixture, 100, 20);
	expect(fixture, "AB", 50);
	expect(fixture, "ABC", 50);
	expect(fixture, "ABA?B", 2);
	expect(fixture, "ABA?C", 1);
	expect(fixture, "(", 1);
	assert_int_equal(fixture->after.node_count, 9);
	assert_int_equal(pruning__samples(&fixture->after, OTHER), 3);
}

static void makes_calls_one_node_where_nothing_else_helps(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, "A", 100);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t node = call_tree__category(fixture->tree, "main");

		node = call_tree__child(fixture->tree, node, A);
		node = call_tree__child(fixture->tree, node, A + 10 + i);
		call_tree__add(fixture->tree, node, 1, 1000);
		call_tree__weigh(fixture->tree, node, 500);
	}
	prune(fixture, FUNCTIONS, 20);
	expect(fixture, "A", 100);
	expect(fixture, "A?", 1000);
	assert_int_equal(fixture->after.node_count, 3);
}

static void is_the_same_when_pruned_again(void **state)
{
	struct fixture *fixture = *state;

	take(fixture, "ABCD", 1);
	take(fixture, "AB", 9);
	prune(fixture, 2, 100);
	expect(fixture, "AB?", 1);
	call_tree__free(fixture->tree);
	free(fixture->nodes);
	fixture->tree = fixture->pruned;
	take(fixture, "ABE", 1);
	prune(fixture, 2, 100);
	expect(fixture, "AB?", 2);
	assert_int_equal(fixture->after.node_count, 4);
}

/* Samples with the function on their stack, recursion counted once. */
static void add_up(const struct ls_profile *profile, uint64_t *totals, uint64_t *selves,
		   uint64_t *all)
{
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];

		*all += node->samples;
		selves[node->function] += node->samples;
		for (uint32_t at = id; at; at = profile->nodes[at].parent) {
			uint32_t below = id;

			while (below != at &&
			       profile->nodes[below].function != profile->nodes[at].function)
				below = profile->nodes[below].parent;
			if (below == at)
				totals[profile->nodes[at].function] += node->samples;
		}
	}
}

static void grow_at_random(struct fixture *fixture, uint32_t samples, uint32_t functions)
{
	for (uint32_t i = 0; i < samples; i++) {
		char name[2] = {(char)('a' + rand() % 3), '\0'};
		uint32_t node = call_tree__category(fixture->tree, name);

		for (int depth = rand() % 20; depth-- > 0;) {
			uint32_t some = rand() % 4 || functions < 12 ? functions : 12;
			uint32_t function = (uint32_t)rand() % some;

			node = call_tree__child(fixture->tree, node, A + function);
		}
		call_tree__add(fixture->tree, node, 1, 1 + rand() % 1000);
	}
}

static void check_at_random(struct fixture *fixture, uint32_t functions, uint32_t functions_most,
			    uint32_t nodes_most, bool is_flat)
{
	static uint64_t totals[2][FUNCTIONS + 1], selves[2][FUNCTIONS + 1];
	uint64_t all[2] = {0}, ns[2] = {0};
	uint32_t kept = 0;

	memset(totals, 0, sizeof(totals));
	memset(selves, 0, sizeof(selves));
	grow_at_random(fixture, 4000, functions);
	prune(fixture, functions_most, nodes_most);
	add_up(&fixture->before, totals[0], selves[0], &all[0]);
	add_up(&fixture->after, totals[1], selves[1], &all[1]);
	for (uint32_t id = 1; id <= fixture->before.node_count; id++) {
		assert_in_range(fixture->nodes[id], 1, fixture->after.node_count);
		ns[0] += fixture->before.nodes[id].self_ns;
	}
	for (uint32_t id = 1; id <= fixture->after.node_count; id++) {
		assert_in_range(fixture->after.nodes[id].parent, 0, id - 1);
		ns[1] += fixture->after.nodes[id].self_ns;
	}
	assert_int_equal(all[0], all[1]);
	assert_int_equal(ns[0], ns[1]);
	assert_in_range(fixture->after.node_count, 1, fixture->before.node_count);
	for (uint32_t id = A; id <= FUNCTIONS; id++) {
		kept += fixture->used[id];
		if (!fixture->used[id])
			continue;
		if (!is_flat)
			assert_int_equal(totals[0][id], totals[1][id]);
		assert_int_equal(selves[0][id], selves[1][id]);
	}
	assert_in_range(kept, functions_most / 2, functions_most);
	print_message("%u nodes became %u, %u functions stayed\n", fixture->before.node_count,
		      fixture->after.node_count, kept);
}

static void keeps_the_shares_of_all_functions_that_stay(void **state)
{
	srand(1);
	check_at_random(*state, 2900, 1000, 1000000, false);
}

static void keeps_own_time_when_calls_are_flattened(void **state)
{
	srand(2);
	check_at_random(*state, 12, 12, 8000, true);
	assert_true(((struct fixture *)*state)->after.node_count <
		    ((struct fixture *)*state)->before.node_count);
}

#define fixed(test) cmocka_unit_test_setup_teardown(test, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixed(leaves_a_small_tree_as_it_is),
		fixed(forgets_lines_before_functions),
		fixed(puts_rare_functions_into_one_where_they_stood),
		fixed(keeps_functions_that_are_used_elsewhere),
		fixed(flattens_calls_that_are_rare),
		fixed(makes_calls_one_node_where_nothing_else_helps),
		fixed(is_the_same_when_pruned_again),
		fixed(keeps_the_shares_of_all_functions_that_stay),
		fixed(keeps_own_time_when_calls_are_flattened),
	};

	return cmocka_run_group_tests_name("pruning", tests, NULL, NULL);
}
