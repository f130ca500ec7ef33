/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each owner's profile equals that of a tree with this owner alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/call_tree.h"
#include "session/profile_split.h"

#define OWNERS    5 /* the first is 0 */
#define FUNCTIONS 40
#define PLAIN     20 /* these are at a line; the function 20 below is at none */
#define STACKS    3000
#define DEPTH     12

struct fixture {
	struct call_tree *whole, *alone[OWNERS];
	struct ls_profile_function functions[FUNCTIONS + 1];
	char names[FUNCTIONS + 1][8];
	struct ls_profile_sample timed[STACKS], timed_alone[OWNERS][STACKS];
	size_t timed_counts[OWNERS];
	struct profile_split *split;
	struct ls_profile profile;
	unsigned seed;
};

/* The ids are neither dense nor in the order of their first categories. */
static const uint32_t ids[OWNERS] = {0, 70000, 3, 12, 4};

static unsigned draw(struct fixture *fixture, unsigned below)
{
	return (unsigned)rand_r(&fixture->seed) % below;
}

static void add_stack(struct fixture *fixture, size_t at)
{
	static const char *const categories[] = {"lua", "worker", "(other)"};
	unsigned owner = draw(fixture, OWNERS), depth = draw(fixture, DEPTH);
	const char *category = categories[draw(fixture, 3)];
	uint64_t ns = draw(fixture, 1000000);
	uint32_t node = call_tree__category_of(fixture->whole, ids[owner], category);
	uint32_t alone = call_tree__category(fixture->alone[owner], category);

	for (unsigned i = 0; i < depth; i++) {
		uint32_t function = 1 + draw(fixture, 3) + (i % 2 ? PLAIN : 0);

		node = call_tree__child(fixture->whole, node, function);
		alone = call_tree__child(fixture->alone[owner], alone, function);
	}
	call_tree__add(fixture->whole, node, 1, ns);
	call_tree__add(fixture->alone[owner], alone, 1, ns);
	fixture->timed[at] = (struct ls_profile_sample){.time_ns = at, .node = node};
	fixture->timed_alone[owner][fixture->timed_counts[owner]++] =
		(struct ls_profile_sample){.time_ns = at, .node = alone};
}

static int make_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	if (!fixture)
		return -1;
	fixture->seed = 6;
	for (uint32_t i = 1; i <= FUNCTIONS; i++) {
		snprintf(fixture->names[i], sizeof(fixture->names[i]), "f%u", i);
		fixture->functions[i] =
			(struct ls_profile_function){.source = "a.lua",
						     .name = fixture->names[i],
						     .current_line = i > PLAIN ? i : 0,
						     .function = i > PLAIN ? i - PLAIN : 0};
	}
	fixture->whole = call_tree__new();
	for (int i = 0; i < OWNERS; i++)
		fixture->alone[i] = call_tree__new();
	for (size_t i = 0; i < STACKS; i++)
		add_stack(fixture, i);
	fixture->profile = (struct ls_profile){.functions = fixture->functions,
					       .function_count = FUNCTIONS,
					       .samples = fixture->timed,
					       .sample_count = STACKS};
	call_tree__export(fixture->whole, &fixture->profile);
	return profile_split__new(&fixture->profile, &fixture->split);
}

static int free_fixture(void **state)
{
	struct fixture *fixture = *state;

	profile_split__free(fixture->split);
	call_tree__free(fixture->whole);
	for (int i = 0; i < OWNERS; i++)
		call_tree__free(fixture->alone[i]);
	free(fixture);
	return 0;
}

static void assert_same_nodes(const struct fixture *fixture, const struct ls_profile *part,
			      const struct ls_profile *alone)
{
	assert_int_equal(part->node_count, alone->node_count);
	for (uint32_t id = 1; id <= alone->node_count; id++) {
		const struct ls_profile_node *node = &part->nodes[id], *other = &alone->nodes[id];

		assert_int_equal(node->parent, other->parent);
		assert_int_equal(node->first_child, other->first_child);
		assert_int_equal(node->next_sibling, other->next_sibling);
		assert_int_equal(node->samples, other->samples);
		assert_int_equal(node->self_ns, other->self_ns);
		assert_int_equal(!node->function, !other->function);
		assert_in_range(node->function, 0, part->function_count);
		if (node->function)
			assert_ptr_equal(part->functions[node->function].name,
					 fixture->functions[other->function].name);
	}
}

static void assert_same_categories(const struct ls_profile *part, const struct ls_profile *alone)
{
	assert_int_equal(part->category_count, alone->category_count);
	for (uint32_t i = 0; i < alone->category_count; i++) {
		assert_string_equal(part->categories[i].name, alone->categories[i].name);
		assert_int_equal(part->categories[i].node, alone->categories[i].node);
	}
}

/* Splits twice, in another order, to show that nothing is left over from the first time. */
static void each_owner_has_what_is_his(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 2 * OWNERS; i++) {
		int owner = i < OWNERS ? i : 2 * OWNERS - 1 - i;
		struct ls_profile part, alone = {};

		assert_int_equal(profile_split__of(fixture->split, ids[owner], &part), 0);
		call_tree__export(fixture->alone[owner], &alone);
		assert_same_nodes(fixture, &part, &alone);
		assert_same_categories(&part, &alone);
		assert_in_range(part.function_count, 1, 6);
	}
}

static void a_function_at_a_line_has_its_own_without_one(void **state)
{
	struct fixture *fixture = *state;
	int at_lines = 0;

	for (int owner = 0; owner < OWNERS; owner++) {
		struct ls_profile part;

		assert_int_equal(profile_split__of(fixture->split, ids[owner], &part), 0);
		for (uint32_t id = 1; id <= part.function_count; id++) {
			const struct ls_profile_function *function = &part.functions[id];

			if (!function->current_line) {
				assert_int_equal(function->function, 0);
				continue;
			}
			at_lines++;
			assert_in_range(function->function, 1, part.function_count);
			assert_ptr_equal(part.functions[function->function].name,
					 fixture->functions[function->current_line - PLAIN].name);
		}
	}
	assert_in_range(at_lines, 1, OWNERS * 3);
}

static void samples_in_time_are_their_owners_too(void **state)
{
	struct fixture *fixture = *state;

	for (int owner = 0; owner < OWNERS; owner++) {
		struct ls_profile part;

		assert_int_equal(profile_split__of(fixture->split, ids[owner], &part), 0);
		assert_int_equal(part.sample_count, fixture->timed_counts[owner]);
		for (size_t i = 0; i < part.sample_count; i++) {
			assert_int_equal(part.samples[i].time_ns,
					 fixture->timed_alone[owner][i].time_ns);
			assert_int_equal(part.samples[i].node, fixture->timed_alone[owner][i].node);
		}
	}
}

static void a_stranger_has_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct ls_profile part;

	assert_int_equal(profile_split__of(fixture->split, 5, &part), 0);
	assert_int_equal(part.node_count, 0);
	assert_int_equal(part.category_count, 0);
	assert_int_equal(part.function_count, 0);
	assert_int_equal(part.sample_count, 0);
}

static void of_an_empty_profile_nobody_has_anything(void **state)
{
	const struct ls_profile empty = {};
	struct profile_split *split;
	struct ls_profile part;

	(void)state;
	assert_int_equal(profile_split__new(&empty, &split), 0);
	assert_int_equal(profile_split__of(split, 0, &part), 0);
	assert_int_equal(part.node_count, 0);
	profile_split__free(split);
	profile_split__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_owner_has_what_is_his, make_fixture,
						free_fixture),
		cmocka_unit_test_setup_teardown(a_function_at_a_line_has_its_own_without_one,
						make_fixture, free_fixture),
		cmocka_unit_test_setup_teardown(samples_in_time_are_their_owners_too, make_fixture,
						free_fixture),
		cmocka_unit_test_setup_teardown(a_stranger_has_nothing, make_fixture, free_fixture),
		cmocka_unit_test(of_an_empty_profile_nobody_has_anything),
	};

	return cmocka_run_group_tests_name("profile_split", tests, NULL, NULL);
}
