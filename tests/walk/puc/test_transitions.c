/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples in the midst of a call or a return: a call that is not filled in yet, or whose results
 * already lie over it, and a stack that is being moved.
 */
#include "fixture.h"

#include <string.h>

/*
 * Call number `missing`, the running one, has not begun or is over: what runs is its caller. In
 * 5.1, and as long as the layout is in question, it counts as torn.
 */
static void expect_between_calls(struct fixture *fixture, size_t missing)
{
	struct image *image = &fixture->image;

	if (!image->layout->ci_is_array) {
		walker__sample(&fixture->walker, image);
		assert_int_equal(walker__error(&fixture->walker), LS_WALK_NONE);
		assert_int_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
		fixture__expect_calls_but(fixture, missing);
	}
	fixture->walker.is_undecided = true;
	walker__forget(&fixture->walker);
	fixture__expect_all_but(fixture, missing, LS_WALK_FRAME_FUNCTION);
	fixture->walker.is_undecided = false;
	walker__forget(&fixture->walker);
}

static void drops_a_call_that_has_no_function(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *top;
	uint64_t tags[] = {0, 3, 5, 68, 0xff};

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	top = image__top(image, 0);
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		image__put(image, top->value + 8, tags[i], 8);
		expect_between_calls(fixture, 4);
	}
}

/* luaD_reallocstack(): until the first call's `func` is corrected, the values may be overwritten.
 */
static void counts_a_moving_stack_as_torn(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t function_below;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	image__put(image, image__top(image, 0)->value + 8, 0, 8);
	expect_between_calls(fixture, 4);
	image__put(image, image->threads[0].base_ci + image->layout->ci_func,
		   image->threads[0].stack - 0x10000, 8);
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
	image__put(image, image->threads[0].base_ci + image->layout->ci_func,
		   image->threads[0].stack, 8);
	image__put(image, image__top(image, 0)->value + 8, image->layout->tag_lua_function, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	/* 5.4: that of the running call is first, and L->stack last. */
	if (image->layout->relocates_stack)
		return;
	function_below = image->threads[0].stack - 0x100;
	image__put(image, function_below, image__get(image, image__top(image, 0)->value), 8);
	image__put(image, function_below + 8, image->layout->tag_lua_function, 8);
	image__put(image, image__top(image, 0)->ci + image->layout->ci_func, function_below, 8);
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
}

/*
 * luaD_precall() of 5.2 and 5.3 reuses the CallInfo of an earlier call, stale until it is filled
 * in.
 */
static void drops_a_call_that_is_left_over(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	image__set_field(image, 0, image->layout->state_top, image__top(image, 0)->value, 8);
	expect_between_calls(fixture, 4);
}

/* A new CallInfo lies in memory that may have been another state's: its call is of that stack. */
static void drops_a_call_of_another_stack(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *top;
	uint64_t elsewhere;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	top = image__top(image, 0);
	elsewhere = image__allocate(image, IMAGE_VALUE_SIZE);
	image__put_value(image, elsewhere, image__get(image, top->value),
			 image->layout->tag_lua_function);
	assert_true(elsewhere > image->threads[0].stack_last);
	image__put(image, top->ci + image->layout->ci_func, elsewhere, 8);
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
}

static void drops_a_call_that_its_caller_does_not_make(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *calls;
	uint8_t hooked[4];

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	calls = image->threads[0].calls;
	image__set_call(image, &calls[3], 6);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	image__set_call(image, &calls[3], 7);
	expect_between_calls(fixture, 4);

	/* A hook is called from any instruction. */
	if (!image->layout->status_hooked)
		return;
	memcpy(hooked, &image->layout->status_hooked, 4);
	memory__put_bytes(&image->memory, calls[3].ci + image->layout->ci_status, hooked,
			  image->layout->ci_status_size);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* Since 5.4, functions with variable arguments lie above that place, but no C function does. */
static void drops_a_c_function_above_where_its_caller_calls(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *top;
	uint32_t distance;

	fixture__main(fixture);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 6);
	top = image__top(image, 0);
	distance = (uint32_t)(top->value - top[-1].value) / 16;
	image__set_call(image, top - 1, distance);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	image__set_call(image, top - 1, distance - 1);
	if (image->layout->ci_has_base)
		expect_between_calls(fixture, 2);
	else
		fixture__expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
}

/* luaD_call() of 5.4.1 may make a CallInfo the running one before it is filled in. */
static void drops_a_call_that_lies_no_higher_than_its_caller(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *caller;

	fixture__main(fixture);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 6);
	fixture__nest(fixture, 0, 1, 6);
	caller = image__top(image, 0) - 1;
	image__put(image, image__top(image, 0)->ci + image->layout->ci_func, caller->value, 8);
	expect_between_calls(fixture, image->threads[0].call_count - 1);
}

/*
 * OP_TAILCALL of 5.3: the new function has been copied over its caller, and is still in its old
 * place.
 */
static void drops_a_call_whose_caller_has_not_begun(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_thread *thread = &image->threads[0];
	struct image_call *caller;
	uint64_t code;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 2, 6);
	caller = &thread->calls[thread->call_count - 2];
	code = image__get(image, caller->function + image->layout->proto_code);
	image__put(image, caller->ci + image->layout->ci_savedpc, code + 4, 8);
	caller->pc = 0;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	image__put(image, caller->ci + image->layout->ci_savedpc, code, 8);
	fixture__expect_all_but(fixture, thread->call_count - 1, LS_WALK_FRAME_FUNCTION);
}

/*
 * 5.1: while the running function's pc is its caller's, it has not begun or is over. Any other pc
 * outside its code is a contradiction, and so is that one while the layout is in question.
 */
static void drops_a_call_that_has_the_pc_of_its_caller(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct ls_puc_layout *layout = image->layout;
	const struct image_thread *thread = &image->threads[0];
	const struct image_call *caller;
	uint64_t callers;
	size_t top;

	if (!layout->state_savedpc)
		return;
	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	top = thread->call_count - 1;
	caller = &thread->calls[top - 1];
	callers = image__get(image, caller->ci + layout->ci_savedpc);
	image__set_field(image, 0, layout->state_savedpc, callers, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_NONE);
	fixture__expect_calls_but(fixture, top);
	fixture->walker.is_undecided = true;
	walker__forget(&fixture->walker);
	fixture__expect_all_but(fixture, top, LS_WALK_FRAME_PROTO);
	fixture->walker.is_undecided = false;
	walker__forget(&fixture->walker);
	image__set_field(image, 0, layout->state_savedpc, callers + 4, 8);
	fixture__expect_all_but(fixture, top, LS_WALK_FRAME_PROTO);
}

/* The program is just calling the first function, or got its results back: no script runs. */
static void takes_a_first_call_that_has_not_begun_for_none(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct ls_puc_layout *layout = image->layout;

	if (!layout->state_savedpc)
		return;
	image__protect(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 7, 10);
	image__set_field(image, 0, layout->state_savedpc,
			 image__get(image, image->threads[0].base_ci + layout->ci_savedpc), 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_NO_SCRIPT);
	assert_int_equal(walker__count(&fixture->walker), 0);
}

/* Makes the main thread's last call one that wants `operand` - 1 results. */
static void set_call(struct image *image, uint8_t operand)
{
	const struct ls_puc_layout *layout = image->layout;
	const struct image_call *top = image__top(image, 0), *caller = top - 1;
	uint64_t mask = ((1ULL << layout->op_results_bits) - 1) << layout->op_results;
	uint64_t code, address;

	image__set_call(image, caller, (uint32_t)(top->value - caller->value) / 16);
	code = image__get(image, caller->function + layout->proto_code);
	address = code + caller->pc * 4;
	image__put(image, address,
		   (memory__get(&image->memory, address, 4) & ~mask) |
			   (uint64_t)operand << layout->op_results,
		   4);
}

/*
 * luaD_poscall(), 5.4: the result, a C function, has been copied over the function that returns,
 * and the original lies above it, on the stack or just off it. Before 5.4 that call was already
 * left.
 */
static void drops_a_function_that_its_result_lies_over(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *top;
	uint64_t value, tag;

	if (image->layout->ci_has_base)
		return;
	fixture__main(fixture);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 20);
	top = image__top(image, 0);
	set_call(image, 2);
	value = image__get(image, top->value);
	tag = image__get(image, top->value + 8);
	for (uint64_t slot = 1; slot < 20; slot++) {
		uint64_t address = top->value + 16 * slot;
		uint64_t before = image__get(image, address);
		uint64_t tag_before = image__get(image, address + 8);

		/* A nil keeps the value bits of what it replaced. */
		image__put(image, address, value, 8);
		image__put(image, address + 8, 0, 8);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		/* Results that are wanted but missing are nils. */
		set_call(image, 3);
		if (slot <= 6)
			fixture__expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
		set_call(image, 2);
		image__put(image, address + 8, tag, 8);
		if (slot <= 6 || slot >= 14)
			fixture__expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
		image__put(image, address, before, 8);
		image__put(image, address + 8, tag_before, 8);
	}
	image__set_field(image, 0, image->layout->state_top, top->value + 16, 8);
	image__put(image, top->value + 32, value, 8);
	image__put(image, top->value + 40, tag, 8);
	fixture__expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
}

/* Expects no call to be dropped while operand C of the caller's instruction is less than `end`. */
static void expect_whole_below_operand(struct fixture *fixture, uint8_t end)
{
	for (uint8_t operand = 1; operand < end; operand++) {
		set_call(&fixture->image, operand);
		walker__sample(&fixture->walker, &fixture->image);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
	}
}

/* The same if the third result has been copied over the first: pairs(), in `for`. */
static void drops_a_function_whose_results_lie_over_each_other(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *top;

	fixture__main(fixture);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 6);
	top = image__top(image, 0);
	image__set_field(image, 0, image->layout->state_top, top->value + 16 * 5, 8);
	image__put(image, top->value + 16, 0x123456789000, 8);
	image__put(image, top->value + 16 + 8, 69, 1);
	for (uint64_t slot = 2; slot < 5; slot++) {
		image__put(image, top->value + 16 * slot, 7, 8);
		image__put(image, top->value + 16 * slot + 8, 0, 1);
	}
	expect_whole_below_operand(fixture, 5);
	set_call(image, 5);
	fixture__expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
	image__put(image, top->value + 16 * 3 + 8, 69, 1);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	set_call(image, 4);
	image__put(image, top->value + 16 * 3, 0x123456789000, 8);
	fixture__expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
	expect_whole_below_operand(fixture, 4);
	set_call(image, 4);
	image__set_field(image, 0, image->layout->state_top, top->value + 16 * 2, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/*
 * nmap calls functions on coroutines that have yielded: the one that yielded lies below its
 * results.
 */
static void finds_a_function_that_yielded_where_it_was_called(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct ls_puc_layout *layout = image->layout;
	const struct image_call *yielded;

	if (!layout->ci_extra || layout->closure_is_c)
		return;
	fixture__main(fixture);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 6);
	fixture__nest(fixture, 0, 1, 6);
	yielded = &image->threads[0].calls[image->threads[0].call_count - 2];
	image__put(image, yielded->ci + layout->ci_func, yielded->value + 16, 8);
	image__put(image, yielded->ci + layout->ci_extra, yielded->value - image->threads[0].stack,
		   8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_FRAME_FUNCTION);
	assert_int_equal(walker__count(&fixture->walker), image->threads[0].call_count - 2);
	image__set_status(image, 0, 1);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(drops_a_call_that_has_no_function),
		TEST(counts_a_moving_stack_as_torn),
		TEST(drops_a_call_that_is_left_over),
		TEST(drops_a_call_of_another_stack),
		TEST(drops_a_call_that_its_caller_does_not_make),
		TEST(drops_a_c_function_above_where_its_caller_calls),
		TEST(drops_a_call_that_lies_no_higher_than_its_caller),
		TEST(drops_a_call_whose_caller_has_not_begun),
		TEST(drops_a_call_that_has_the_pc_of_its_caller),
		TEST(takes_a_first_call_that_has_not_begun_for_none),
		TEST(drops_a_function_that_its_result_lies_over),
		TEST(finds_a_function_that_yielded_where_it_was_called),
		TEST(drops_a_function_whose_results_lie_over_each_other),
	};

	return fixture__run("transitions", tests, sizeof(tests) / sizeof(tests[0]));
}
