/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sample of LuaJIT costs: reads of the target. For a stack whose closures and calls are
 * known, a read per frame plus eighteen are promised, inlined frames of a trace included.
 */
#include "luajit_fixture.h"

#include <stdlib.h>

#define BESIDES 18

struct stack {
	uint32_t depth;
	uint32_t between; /* bytes of heap, from one function to the next */
	size_t resumers;
	bool recurses;
	enum { IN_VM, IN_C, IN_TRACE } runs;
	uint32_t traces; /* others, that the array has and that ran before */
};

static void build(struct fixture *fixture, const struct stack *stack)
{
	struct image *image = &fixture->image;
	size_t running = luajit_fixture__chain(fixture, stack->resumers);
	uint64_t inlined[2];

	while (image->threads[running].call_count < stack->depth) {
		uint64_t proto = stack->recurses ? fixture->protos[1]
						 : luajit_image__proto(image, "@far.lua", 10);

		luajit_image__allocate(image, stack->between);
		luajit_image__call(image, running,
				   stack->recurses ? fixture->closures[1]
						   : luajit_image__closure(image, proto),
				   image->threads[running].call_count % 31);
	}
	if (stack->runs == IN_C) {
		luajit_image__call(image, running, fixture->builtin, 2);
		luajit_image__run_c(image, running);
	} else if (stack->runs == IN_TRACE) {
		for (size_t i = 0; i < 2; i++)
			inlined[i] = fixture->closures[i];
		luajit_image__add_trace(
			image, 7,
			memory__get(&image->memory,
				    luajit_image__top(image, running)->base - IMAGE_FRAME_LINK, 8) &
				LS_LUAJIT_ADDRESS,
			inlined, 2, 5);
		luajit_image__run_trace(image, running, 7, 14, false);
	} else {
		luajit_image__run_vm(image, running, 6);
	}
}

static uint64_t measure(const struct layout_luajit *row, const struct stack *stack,
			uint32_t *frames)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct walker *walker;
	uint64_t reads;

	assert_non_null(fixture);
	luajit_fixture__start(fixture, row);
	walker = &fixture->walker;
	build(fixture, stack);
	for (int i = 0; i < 500; i++)
		luajit_walker__sample(walker, &fixture->image);
	walker->step_ns = 1000;
	luajit_walker__sample(walker, &fixture->image);
	assert_int_equal(luajit_walker__error(walker), LS_WALK_NONE);
	reads = walker->reads;
	*frames = luajit_walker__count(walker);
	luajit_fixture__end(fixture);
	free(fixture);
	return reads;
}

static void expect_at_most(const struct stack *stack, uint32_t ten_frames)
{
	static const char *const runs[] = {"the VM", "C", "a trace"};

	for (size_t i = 0; i < layouts_luajit_count; i++) {
		uint32_t frames;
		uint64_t reads = measure(&layouts_luajit[i], stack, &frames);
		uint64_t most = (uint64_t)ten_frames * frames / 10 + BESIDES;

		print_message("%-12s %-8s %4u frames %4u reads, at most %u\n",
			      layouts_luajit[i].name, runs[stack->runs], frames, (unsigned)reads,
			      (unsigned)most);
		assert_in_range(reads, 1, most);
	}
}

static void reads_once_a_frame_where_nothing_is_near(void **state)
{
	static const uint32_t depths[] = {2, 10, 100, 400};
	struct stack stack = {.between = 8192};

	(void)state;
	for (stack.runs = IN_VM; stack.runs <= IN_TRACE; stack.runs++)
		for (size_t i = 0; i < 4; i++) {
			stack.depth = depths[i];
			expect_at_most(&stack, 10);
		}
}

static void reads_less_than_once_a_frame_of_one_file(void **state)
{
	struct stack stack = {.depth = 400};

	(void)state;
	for (stack.runs = IN_VM; stack.runs <= IN_TRACE; stack.runs++)
		expect_at_most(&stack, 6);
}

static void reads_what_calls_itself_in_windows(void **state)
{
	struct stack stack = {.depth = 400, .recurses = true};

	(void)state;
	for (stack.runs = IN_VM; stack.runs <= IN_TRACE; stack.runs++)
		expect_at_most(&stack, 1);
}

static void reads_the_states_of_resumers_besides(void **state)
{
	static const size_t resumers[] = {1, 3, 15};
	struct stack stack = {.depth = 3};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		stack.resumers = resumers[i];
		expect_at_most(&stack, 15);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_once_a_frame_where_nothing_is_near),
		cmocka_unit_test(reads_less_than_once_a_frame_of_one_file),
		cmocka_unit_test(reads_what_calls_itself_in_windows),
		cmocka_unit_test(reads_the_states_of_resumers_besides),
	};

	return cmocka_run_group_tests_name("reads of LuaJIT", tests, NULL, NULL);
}
