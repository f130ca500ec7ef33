/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "profile/call_tree.h"

static int make_tree(void **state)
{
	*state = call_tree__new();
	return *state ? 0 : -1;
}

static int free_tree(void **state)
{
	call_tree__free(*state);
	return 0;
}

static struct ls_profile export(const struct call_tree *tree)
{
	struct ls_profile profile = {0};

	call_tree__export(tree, &profile);
	return profile;
}

static void is_empty_at_first(void **state)
{
	struct ls_profile profile = export(*state);

	assert_int_equal(profile.node_count, 0);
	assert_int_equal(profile.category_count, 0);
}

static void free_takes_null(void **state)
{
	(void)state;
	call_tree__free(NULL);
}

static void finds_a_category_by_name_and_copies_the_name(void **state)
{
	char name[] = "main";
	uint32_t main_node = call_tree__category(*state, name);
	uint32_t other = call_tree__category(*state, "worker");
	struct ls_profile profile;

	name[0] = 'p';
	assert_int_equal(main_node, 1);
	assert_int_equal(other, 2);
	assert_int_equal(call_tree__category(*state, "main"), main_node);
	profile = export(*state);
	assert_int_equal(profile.category_count, 2);
	assert_string_equal(profile.categories[0].name, "main");
	assert_int_equal(profile.categories[0].node, main_node);
	assert_string_equal(profile.categories[1].name, "worker");
	assert_int_equal(profile.nodes[main_node].parent, 0);
	assert_int_equal(profile.nodes[main_node].function, 0);
	assert_int_equal(profile.nodes[main_node].next_sibling, 0);
}

static void takes_an_empty_name_and_thousands_of_others(void **state)
{
	char name[16];

	assert_int_equal(call_tree__category(*state, ""), 1);
	for (uint32_t i = 2; i <= 5000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(call_tree__category(*state, name), i);
	}
	for (uint32_t i = 2; i <= 5000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(call_tree__category(*state, name), i);
	}
	assert_int_equal(call_tree__category(*state, ""), 1);
	assert_int_equal(export(*state).category_count, 5000);
}

static void has_one_category_for_all_that_are_too_many(void **state)
{
	char name[16];
	uint32_t other;

	for (int i = 0; i < CALL_TREE_CATEGORIES_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		call_tree__category(*state, name);
	}
	other = call_tree__category(*state, "one more");
	assert_int_equal(call_tree__category(*state, "and another"), other);
	assert_int_equal(call_tree__category(*state, "7"), 8);
	assert_int_equal(export(*state).category_count, CALL_TREE_CATEGORIES_MAX + 1);
	assert_string_equal(export(*state).categories[CALL_TREE_CATEGORIES_MAX].name, "(other)");
}

/*
 * Categories of two owners stay apart even if they have the same name, also if there are too many.
 */
static void owners_have_categories_of_their_own(void **state)
{
	uint32_t first = call_tree__category_of(*state, 1, "main");
	uint32_t second = call_tree__category_of(*state, 2, "main"), other;
	char name[16];

	assert_int_not_equal(first, second);
	assert_int_not_equal(call_tree__category(*state, "main"), first);
	assert_int_equal(call_tree__category_of(*state, 1, "main"), first);
	assert_int_equal(call_tree__category_of(*state, 2, "main"), second);
	assert_int_equal(export(*state).categories[1].owner, 2);
	for (int i = 3; i < CALL_TREE_CATEGORIES_MAX; i++) {
		snprintf(name, sizeof(name), "%d", i);
		call_tree__category_of(*state, 1, name);
	}
	other = call_tree__category_of(*state, 1, "one more");
	assert_int_equal(call_tree__category_of(*state, 1, "and another"), other);
	assert_int_not_equal(call_tree__category_of(*state, 2, "and another"), other);
	assert_int_equal(call_tree__category_of(*state, 2, "main"), second);
	assert_int_equal(export(*state).category_count, CALL_TREE_CATEGORIES_MAX + 2);
}

static void tells_apart_the_same_function_under_two_parents(void **state)
{
	uint32_t root = call_tree__category(*state, "main");
	uint32_t a = call_tree__child(*state, root, 1);
	uint32_t b = call_tree__child(*state, root, 2);
	uint32_t ab = call_tree__child(*state, a, 2);
	uint32_t bb = call_tree__child(*state, b, 2);

	assert_int_not_equal(ab, bb);
	assert_int_not_equal(ab, b);
	assert_int_equal(call_tree__child(*state, a, 2), ab);
	assert_int_equal(call_tree__child(*state, b, 2), bb);
	assert_int_equal(export(*state).node_count, 5);
}

static void has_no_child_under_no_parent(void **state)
{
	assert_int_equal(call_tree__child(*state, 0, 1), 0);
	assert_int_equal(call_tree__child(*state, 7, 1), 0);
	assert_int_equal(export(*state).node_count, 0);
}

static void links_every_child_to_its_parent_once(void **state)
{
	uint32_t root = call_tree__category(*state, "main");
	struct ls_profile profile;
	uint32_t seen[5] = {0};
	uint32_t count = 0;

	for (uint32_t function = 1; function <= 4; function++)
		call_tree__child(*state, root, function);
	profile = export(*state);
	for (uint32_t id = profile.nodes[root].first_child; id;
	     id = profile.nodes[id].next_sibling) {
		assert_int_equal(profile.nodes[id].parent, root);
		assert_in_range(profile.nodes[id].function, 1, 4);
		seen[profile.nodes[id].function]++;
		count++;
	}
	assert_int_equal(count, 4);
	for (uint32_t function = 1; function <= 4; function++)
		assert_int_equal(seen[function], 1);
}

static void adds_up_samples_and_time(void **state)
{
	uint32_t root = call_tree__category(*state, "main");
	uint32_t node = call_tree__child(*state, root, 3);
	struct ls_profile profile;

	call_tree__count(*state, node, 1000);
	call_tree__count(*state, node, 3000);
	call_tree__charge(*state, node, 999);
	call_tree__charge(*state, node, 2);
	call_tree__charge(*state, root, 5);
	call_tree__add(*state, node, 10, 100);
	call_tree__weigh(*state, node, 20);
	call_tree__weigh(*state, root, 7);
	profile = export(*state);
	assert_int_equal(profile.nodes[node].samples, 12);
	assert_int_equal(profile.nodes[node].self_ns, 1101);
	assert_int_equal(profile.nodes[node].weight_ns, 4020);
	assert_int_equal(profile.nodes[root].samples, 0);
	assert_int_equal(profile.nodes[root].self_ns, 5);
	assert_int_equal(profile.nodes[root].weight_ns, 7);
}

/* Wide and deep at once, so that the index grows with nodes of both kinds in it. */
static void holds_a_million_nodes(void **state)
{
	const uint32_t wide = 500000, deep = 500000;
	uint32_t root = call_tree__category(*state, "main");
	uint32_t at = root;
	struct ls_profile profile;

	for (uint32_t i = 1; i <= wide; i++)
		assert_int_equal(call_tree__child(*state, root, i), root + i);
	for (uint32_t i = 1; i <= deep; i++)
		at = call_tree__child(*state, at, i % 2 ? wide + 1 : wide + 2);
	profile = export(*state);
	assert_int_equal(profile.node_count, 1 + wide + deep);
	for (uint32_t id = 2; id <= profile.node_count; id++) {
		uint32_t parent = profile.nodes[id].parent;

		assert_in_range(parent, 1, id - 1);
		assert_int_equal(call_tree__child(*state, parent, profile.nodes[id].function), id);
	}
	assert_int_equal(export(*state).node_count, 1 + wide + deep);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_tree, free_tree)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(is_empty_at_first),
		cmocka_unit_test(free_takes_null),
		test(finds_a_category_by_name_and_copies_the_name),
		test(takes_an_empty_name_and_thousands_of_others),
		test(has_one_category_for_all_that_are_too_many),
		test(owners_have_categories_of_their_own),
		test(tells_apart_the_same_function_under_two_parents),
		test(has_no_child_under_no_parent),
		test(links_every_child_to_its_parent_once),
		test(adds_up_samples_and_time),
		test(holds_a_million_nodes),
	};

	return cmocka_run_group_tests_name("call_tree", tests, NULL, NULL);
}
