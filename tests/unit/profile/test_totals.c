/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/call_tree.h"
#include "profile/totals.h"

struct fixture {
	struct call_tree *tree;
	struct ls_profile profile;
	struct ls_totals totals;
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

	totals__free(&fixture->totals);
	call_tree__free(fixture->tree);
	free(fixture);
	return 0;
}

static const struct ls_totals *compute(struct fixture *fixture, uint32_t function_count)
{
	totals__free(&fixture->totals);
	call_tree__export(fixture->tree, &fixture->profile);
	fixture->profile.function_count = function_count;
	assert_int_equal(totals__compute(&fixture->profile, &fixture->totals), 0);
	return &fixture->totals;
}

/* Charges a new node, in microseconds, which are easier to read than the tree's nanoseconds. */
static uint32_t charge_us(struct fixture *fixture, uint32_t parent, uint32_t function, uint64_t us)
{
	uint32_t node = call_tree__child(fixture->tree, parent, function);

	assert_int_not_equal(node, 0);
	call_tree__charge(fixture->tree, node, 1000 * us);
	return node;
}

static void are_zero_for_an_empty_profile(void **state)
{
	assert_int_equal(compute(*state, 0)->all_us, 0);
}

static void free_leaves_nothing_behind(void **state)
{
	struct fixture *fixture = *state;

	compute(fixture, 3);
	totals__free(&fixture->totals);
	assert_null(fixture->totals.node_total_us);
	assert_null(fixture->totals.function_total_us);
	assert_null(fixture->totals.function_self_us);
}

static void a_node_is_its_own_time_and_its_children(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	uint32_t a = charge_us(fixture, root, 1, 5);
	uint32_t b = charge_us(fixture, a, 2, 7);
	uint32_t c = charge_us(fixture, a, 3, 11);
	const struct ls_totals *totals = compute(fixture, 3);

	assert_int_equal(totals->node_total_us[root], 23);
	assert_int_equal(totals->node_total_us[a], 23);
	assert_int_equal(totals->node_total_us[b], 7);
	assert_int_equal(totals->node_total_us[c], 11);
	assert_int_equal(totals->function_total_us[1], 23);
	assert_int_equal(totals->function_self_us[1], 5);
	assert_int_equal(totals->function_total_us[3], 11);
	assert_int_equal(totals->function_self_us[3], 11);
	assert_int_equal(totals->all_us, 23);
}

static void all_is_the_sum_of_the_categories(void **state)
{
	struct fixture *fixture = *state;
	uint32_t one = call_tree__category(fixture->tree, "one");
	uint32_t two = call_tree__category(fixture->tree, "two");
	const struct ls_totals *totals;

	charge_us(fixture, one, 1, 40);
	charge_us(fixture, two, 1, 2);
	call_tree__charge(fixture->tree, two, 3000);
	totals = compute(fixture, 1);
	assert_int_equal(totals->node_total_us[one], 40);
	assert_int_equal(totals->node_total_us[two], 5);
	assert_int_equal(totals->all_us, 45);
	assert_int_equal(totals->function_total_us[1], 42);
}

static void rounds_the_sum_down_once(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	const struct ls_totals *totals;
	uint64_t self_us = 0;

	for (uint32_t function = 1; function <= 1000; function++) {
		uint32_t node = call_tree__child(fixture->tree, root, function);

		call_tree__charge(fixture->tree, node, 999);
	}
	totals = compute(fixture, 1000);
	assert_int_equal(totals->all_us, 999);
	for (uint32_t function = 1; function <= 1000; function++) {
		assert_in_range(totals->function_self_us[function], 0, 1);
		self_us += totals->function_self_us[function];
	}
	assert_int_equal(self_us, 999);

	call_tree__charge(fixture->tree, root, 999);
	assert_int_equal(compute(fixture, 1000)->all_us, 999);
	call_tree__charge(fixture->tree, root, 1);
	assert_int_equal(compute(fixture, 1000)->all_us, 1000);
}

/* 1 > 2 > 1 > 2, beside it 2 > 1: the outermost of each path counts. */
static void counts_recursion_once(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	uint32_t a = charge_us(fixture, root, 1, 1);
	uint32_t ab = charge_us(fixture, a, 2, 10);
	uint32_t aba = charge_us(fixture, ab, 1, 100);
	uint32_t b = charge_us(fixture, root, 2, 1000);
	const struct ls_totals *totals;

	charge_us(fixture, aba, 2, 10000);
	charge_us(fixture, b, 1, 100000);
	totals = compute(fixture, 2);
	assert_int_equal(totals->function_total_us[1], 1 + 10 + 100 + 10000 + 100000);
	assert_int_equal(totals->function_total_us[2], 10 + 100 + 10000 + 1000 + 100000);
	assert_int_equal(totals->function_self_us[1], 1 + 100 + 100000);
	assert_int_equal(totals->function_self_us[2], 10 + 1000 + 10000);
	assert_int_equal(totals->all_us, 111111);
}

static void counts_direct_recursion_in_two_branches_twice(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	uint32_t a = charge_us(fixture, root, 2, 0);
	uint32_t b = charge_us(fixture, root, 3, 0);
	const struct ls_totals *totals;

	charge_us(fixture, charge_us(fixture, a, 1, 1), 1, 2);
	charge_us(fixture, charge_us(fixture, b, 1, 4), 1, 8);
	totals = compute(fixture, 3);
	assert_int_equal(totals->function_total_us[1], 15);
	assert_int_equal(totals->function_total_us[2], 3);
	assert_int_equal(totals->function_total_us[3], 12);
}

static void takes_a_tree_deeper_than_the_c_stack_and_as_wide(void **state)
{
	const uint32_t size = 400000;
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	uint32_t at = root;
	const struct ls_totals *totals;

	for (uint32_t i = 0; i < size; i++)
		at = charge_us(fixture, at, 1 + i % 2, 1);
	for (uint32_t i = 0; i < size; i++)
		charge_us(fixture, root, 3 + i, 1);
	totals = compute(fixture, 2 + size);
	assert_int_equal(totals->all_us, 2 * size);
	assert_int_equal(totals->node_total_us[root], 2 * size);
	assert_int_equal(totals->function_total_us[1], size);
	assert_int_equal(totals->function_total_us[2], size - 1);
	assert_int_equal(totals->function_self_us[1], size / 2);
	assert_int_equal(totals->function_total_us[2 + size], 1);
}

static void takes_times_near_the_limit(void **state)
{
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	const struct ls_totals *totals;

	call_tree__charge(fixture->tree, call_tree__child(fixture->tree, root, 1), 999);
	call_tree__charge(fixture->tree, call_tree__child(fixture->tree, root, 2), UINT64_MAX);
	totals = compute(fixture, 2);
	assert_int_equal(totals->all_us, UINT64_MAX / 1000 + 1);
}

/* Function 1 has 1999 ns in three nodes, which round to 1 us, and 2000 ns at lines of it. */
static void lines_add_up_to_no_more_than_the_function(void **state)
{
	static const struct ls_profile_line lines[] = {
		{.line = 3, .self_ns = 700, .samples = 1},
		{.line = 4, .self_ns = 600, .samples = 1},
		{.line = 9, .self_ns = 699, .samples = 1},
		{.line = 2, .self_ns = 300000, .samples = 1},
		{.line = 7, .self_ns = 600000, .samples = 1},
	};
	static const struct ls_profile_function functions[] = {
		{0}, {.line_count = 3}, {.first_line = 3, .line_count = 2}};
	struct fixture *fixture = *state;
	uint32_t root = call_tree__category(fixture->tree, "main");
	uint32_t parent = call_tree__child(fixture->tree, root, 1);
	const struct ls_totals *totals;

	call_tree__charge(fixture->tree, parent, 700);
	call_tree__charge(fixture->tree, call_tree__child(fixture->tree, parent, 1), 1299);
	charge_us(fixture, root, 2, 1000);
	fixture->profile.functions = functions;
	fixture->profile.lines = lines;
	fixture->profile.line_count = 5;
	totals = compute(fixture, 2);
	assert_int_equal(totals->function_self_us[1], 1);
	assert_int_equal(
		totals->line_self_us[0] + totals->line_self_us[1] + totals->line_self_us[2], 1);
	/* A tenth of it at no known line. */
	assert_int_equal(totals->function_self_us[2], 1000);
	assert_int_equal(totals->line_self_us[3], 300);
	assert_int_equal(totals->line_self_us[4], 600);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(are_zero_for_an_empty_profile),
		test(free_leaves_nothing_behind),
		test(a_node_is_its_own_time_and_its_children),
		test(all_is_the_sum_of_the_categories),
		test(rounds_the_sum_down_once),
		test(counts_recursion_once),
		test(counts_direct_recursion_in_two_branches_twice),
		test(takes_a_tree_deeper_than_the_c_stack_and_as_wide),
		test(takes_times_near_the_limit),
		test(lines_add_up_to_no_more_than_the_function),
	};

	return cmocka_run_group_tests_name("totals", tests, NULL, NULL);
}
