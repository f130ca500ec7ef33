/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sample costs: reads of the target, 30 ns each plus 16 for each KiB. For a stack whose
 * closures are known, twelve are promised, and 0.4 per frame: CallInfos and values are read in
 * windows, which grow. It is 1.5 per frame if CallInfos lie far from each other.
 */
#include "fixture.h"

#include <stdlib.h>

struct stack {
	const struct layout_puc *row;
	uint32_t depth;
	uint32_t slots;   /* of values, that each call takes */
	uint32_t between; /* bytes of heap, from one CallInfo to the next */
	size_t resumers;
	bool recurses;
};

struct cost {
	uint64_t cold;
	uint64_t second;
	uint64_t warm; /* all prototypes have long been proven */
	uint32_t frames;
};

static void build(struct fixture *fixture, const struct stack *stack)
{
	size_t running = fixture__chain(fixture, stack->resumers);

	while (fixture->image.threads[running].call_count < stack->depth) {
		if (stack->recurses && fixture->image.threads[running].call_count)
			image__recurse(&fixture->image, running, 7, stack->slots);
		else
			fixture__nest(fixture, running, 1, stack->slots);
		image__allocate(&fixture->image, stack->between);
	}
}

static struct fixture *start(const struct layout_puc *row)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	image__start(&fixture->image, &row->offsets);
	walker__start(&fixture->walker);
	for (size_t i = 0; i < 3; i++)
		fixture->protos[i] = image__proto(&fixture->image, "@some.lua", i * 20);
	return fixture;
}

/* Takes samples until no prototype needs to be looked at. */
static void warm_up(struct fixture *fixture)
{
	for (int i = 0; i < 500; i++)
		walker__sample(&fixture->walker, &fixture->image);
	fixture->walker.step_ns = 1000;
	walker__sample(&fixture->walker, &fixture->image);
}

static struct cost measure(const struct stack *stack)
{
	struct fixture *fixture = start(stack->row);
	struct walker *walker = &fixture->walker;
	struct cost cost;

	build(fixture, stack);
	walker__sample(walker, &fixture->image);
	cost.cold = walker->reads;
	walker__sample(walker, &fixture->image);
	cost.second = walker->reads;
	warm_up(fixture);
	cost.warm = walker->reads;
	cost.frames = walker__count(walker);
	assert_int_equal(walker->class, LS_SAMPLE_COMPLETE);
	assert_int_equal(walker__chunks(walker), 0);
	walker__end(walker);
	image__end(&fixture->image);
	free(fixture);
	return cost;
}

static void print_head(const char *what)
{
	print_message("reads, %s\n%-12s %6s %6s %6s %6s %6s %6s\n", what, "layout", "frames",
		      "slots", "cold", "second", "warm", "at most");
}

/* Expects at most that many reads per ten frames, plus twelve. */
static void expect_at_most(const struct stack *stack, uint32_t ten_frames)
{
	struct cost cost = measure(stack);
	uint64_t most = (uint64_t)ten_frames * cost.frames / 10 + 12;

	print_message("%-12s %6u %6u %6u %6u %6u %6u\n", stack->row->name, cost.frames,
		      stack->slots, (unsigned)cost.cold, (unsigned)cost.second, (unsigned)cost.warm,
		      (unsigned)most);
	assert_in_range(cost.warm, 1, most);
}

static void reads_less_than_once_a_frame(void **state)
{
	static const uint32_t depths[] = {2, 10, 100, 400}, slots[] = {5, 20, 60};
	struct stack stack = {.between = 0};

	(void)state;
	print_head("one after the other");
	for (size_t i = 0; i < layouts_puc_count; i++)
		for (size_t j = 0; j < 4; j++)
			for (size_t k = 0; k < 3; k++) {
				stack.row = &layouts_puc[i];
				stack.depth = depths[j];
				stack.slots = slots[k];
				expect_at_most(&stack, 4);
			}
}

static void reads_twice_a_frame_where_nothing_is_near(void **state)
{
	struct stack stack = {.between = 8192, .depth = 400, .slots = 60};

	(void)state;
	print_head("far from each other");
	for (size_t i = 0; i < layouts_puc_count; i++) {
		stack.row = &layouts_puc[i];
		expect_at_most(&stack, layouts_puc[i].offsets.ci_is_array ? 5 : 15);
	}
}

static void reads_the_states_of_resumers_besides(void **state)
{
	static const size_t resumers[] = {1, 3, 15};
	struct stack stack = {.depth = 3, .slots = 6};

	(void)state;
	print_head("in coroutines");
	for (size_t i = 0; i < layouts_puc_count; i++)
		for (size_t j = 0; j < 3; j++) {
			stack.row = &layouts_puc[i];
			stack.resumers = resumers[j];
			expect_at_most(&stack, 15);
		}
}

/* What each call needs of its own is read in windows of many calls. */
static void reads_what_calls_itself_once(void **state)
{
	struct stack stack = {.depth = 400, .slots = 5, .recurses = true};

	(void)state;
	print_head("of one function that calls itself");
	for (size_t i = 0; i < layouts_puc_count; i++) {
		stack.row = &layouts_puc[i];
		expect_at_most(&stack, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_less_than_once_a_frame),
		cmocka_unit_test(reads_twice_a_frame_where_nothing_is_near),
		cmocka_unit_test(reads_the_states_of_resumers_besides),
		cmocka_unit_test(reads_what_calls_itself_once),
	};

	return cmocka_run_group_tests_name("reads", tests, NULL, NULL);
}
