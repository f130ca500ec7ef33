/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of the states: what kinds there are, and what is lost by a broken one. */
#include "fixture.h"

#include <string.h>

static void put(struct image *image, uint64_t address, uint64_t number, size_t size)
{
	memory__put(&image->memory, address, number, size);
}

/* The sample holds all calls of the main thread but number `missing` (0: outermost). */
static void expect_calls_but(struct fixture *fixture, size_t missing)
{
	const struct image_thread *thread = &fixture->image.threads[0];
	size_t at = 0;

	for (size_t i = thread->call_count; i-- > 0;)
		if (i != missing)
			walker__expect_call(&fixture->walker, at++, &thread->calls[i]);
	assert_int_equal(walker__count(&fixture->walker), at);
}

static void expect_all_but(struct fixture *fixture, size_t missing, uint8_t error)
{
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(walker__error(&fixture->walker), error);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_TORN);
	assert_int_equal(fixture->walker.is_evidence, 0);
	expect_calls_but(fixture, missing);
}

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
		expect_calls_but(fixture, missing);
	}
	fixture->walker.is_undecided = true;
	walker__forget(&fixture->walker);
	expect_all_but(fixture, missing, LS_WALK_FRAME_FUNCTION);
	fixture->walker.is_undecided = false;
	walker__forget(&fixture->walker);
}

static void tells_the_kinds_of_functions_apart(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 5);
	image__call_lua(image, 0, fixture->protos[1], 0, 60);
	image__call_light(image, 0, IMAGE_C_FUNCTION + 0x40, 5);
	image__call_lua(image, 0, fixture->protos[2], 59, 6);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

static void follows_a_long_stack_of_values(struct fixture *fixture)
{
	fixture__main(fixture);
	for (uint32_t slots = 2; slots < 200; slots += 3)
		fixture__nest(fixture, 0, 1, slots);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
}

/* callstatus of each release; 5.1 counts tail calls instead. */
static void marks_calls_by_their_status(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = &fixture->row->offsets;
	const uint32_t bits[] = {layout->status_tail, layout->status_hooked,
				 layout->status_finalizer};
	const uint8_t flags[] = {LS_FRAME_TAIL_CALLED, LS_FRAME_HOOKED, LS_FRAME_FINALIZER};
	struct image *image = &fixture->image;
	uint64_t status;

	fixture__main(fixture);
	status = image__top(image, 0)->ci + layout->ci_status;
	for (size_t i = 0; i < 3; i++) {
		put(image, status, bits[i], layout->ci_status_size);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		assert_int_equal(fixture->walker.scratch->frames[0].flags, bits[i] ? flags[i] : 0);
	}
	put(image, status, ~0ULL & ~(bits[0] | bits[1] | bits[2]), layout->ci_status_size);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.scratch->frames[0].flags, 0);
}

/* luaD_precall() of 5.1 sets the count of tail calls only for Lua functions. */
static void leaves_the_stale_count_of_a_c_function_alone(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	if (!image->layout->ci_is_array)
		return;
	fixture__main(fixture);
	image__call_c(image, 0, IMAGE_C_FUNCTION, 5);
	put(image, image__top(image, 0)->ci + image->layout->ci_status, 3, 4);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	assert_int_equal(fixture->walker.scratch->frames[0].flags, 0);
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
		put(image, top->value + 8, tags[i], 8);
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
	put(image, image__top(image, 0)->value + 8, 0, 8);
	expect_between_calls(fixture, 4);
	put(image, image->threads[0].base_ci + image->layout->ci_func,
	    image->threads[0].stack - 0x10000, 8);
	expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
	put(image, image->threads[0].base_ci + image->layout->ci_func, image->threads[0].stack, 8);
	put(image, image__top(image, 0)->value + 8, image->layout->tag_lua_function, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	/* 5.4: that of the running call is first, and L->stack last. */
	if (image->layout->relocates_stack)
		return;
	function_below = image->threads[0].stack - 0x100;
	put(image, function_below, memory__get(&image->memory, image__top(image, 0)->value, 8), 8);
	put(image, function_below + 8, image->layout->tag_lua_function, 8);
	put(image, image__top(image, 0)->ci + image->layout->ci_func, function_below, 8);
	expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
}

/* Where its function was, free() keeps a pointer while the stack moves. */
static void counts_a_first_call_without_a_function_as_torn(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__protect(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 7, 10);
	put(image, image__top(image, 0)->value + 8, 0, 8);
	expect_all_but(fixture, 0, LS_WALK_FRAME_FUNCTION);
}

static void drops_a_frame_whose_function_lies_off_the_stack(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t wild[] = {image->threads[0].stack_last + 16, ~7ULL, ~0ULL, 1ULL << 63,
			   image->threads[0].stack + 4};
	uint64_t func;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	func = image__top(image, 0)->ci + image->layout->ci_func;
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		put(image, func, wild[i], 8);
		expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
	}
}

static void drops_a_frame_whose_closure_is_none(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *top;
	uint64_t wild[] = {0, 7, 1ULL << 63, 0x10000, 0x555500000000, ~7ULL};

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	top = image__top(image, 0);
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		put(image, top->value, wild[i], 8);
		expect_all_but(fixture, 4, LS_WALK_FRAME_MEMORY);
	}
	put(image, top->value, image->threads[0].address, 8);
	expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
}

static void drops_a_frame_whose_prototype_is_none(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t field;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	field = image__top(image, 0)->closure + image->layout->closure_proto;
	put(image, field, 0, 8);
	expect_all_but(fixture, 4, LS_WALK_FRAME_MEMORY);
	put(image, field, 0x7fff00000000, 8);
	expect_all_but(fixture, 4, LS_WALK_FRAME_MEMORY);
	put(image, field, image->threads[0].address, 8);
	expect_all_but(fixture, 4, LS_WALK_FRAME_PROTO);
	put(image, field, image__allocate(image, 256), 8); /* no code */
	expect_all_but(fixture, 4, LS_WALK_FRAME_PROTO);
}

/* What an invalid frame called cannot be told from stale CallInfos. */
static void drops_what_a_torn_frame_called(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	memory__put(&image->memory, image->threads[0].calls[2].value + 8, 0, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_FRAME_FUNCTION);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_TORN);
	assert_int_equal(fixture->walker.is_evidence, 0);
	assert_int_equal(walker__count(&fixture->walker), 2);
	walker__expect_call(&fixture->walker, 0, &image->threads[0].calls[1]);
	walker__expect_call(&fixture->walker, 1, &image->threads[0].calls[0]);
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
		expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
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
	put(image, image__top(image, 0)->ci + image->layout->ci_func, caller->value, 8);
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
	code = memory__get(&image->memory, caller->function + image->layout->proto_code, 8);
	put(image, caller->ci + image->layout->ci_savedpc, code + 4, 8);
	caller->pc = 0;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	put(image, caller->ci + image->layout->ci_savedpc, code, 8);
	expect_all_but(fixture, thread->call_count - 1, LS_WALK_FRAME_FUNCTION);
}

/* Makes the main thread's last call one that wants `operand` - 1 results. */
static void set_call(struct image *image, uint8_t operand)
{
	const struct ls_puc_layout *layout = image->layout;
	const struct image_call *top = image__top(image, 0), *caller = top - 1;
	uint64_t mask = ((1ULL << layout->op_results_bits) - 1) << layout->op_results;
	uint64_t code, address;

	image__set_call(image, caller, (uint32_t)(top->value - caller->value) / 16);
	code = memory__get(&image->memory, caller->function + layout->proto_code, 8);
	address = code + caller->pc * 4;
	put(image, address,
	    (memory__get(&image->memory, address, 4) & ~mask) | (uint64_t)operand
									<< layout->op_results,
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
	value = memory__get(&image->memory, top->value, 8);
	tag = memory__get(&image->memory, top->value + 8, 8);
	for (uint64_t slot = 1; slot < 20; slot++) {
		uint64_t address = top->value + 16 * slot;
		uint64_t before = memory__get(&image->memory, address, 8);
		uint64_t tag_before = memory__get(&image->memory, address + 8, 8);

		/* A nil keeps the value bits of what it replaced. */
		put(image, address, value, 8);
		put(image, address + 8, 0, 8);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		/* Results that are wanted but missing are nils. */
		set_call(image, 3);
		if (slot <= 6)
			expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
		set_call(image, 2);
		put(image, address + 8, tag, 8);
		if (slot <= 6 || slot >= 14)
			expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
		put(image, address, before, 8);
		put(image, address + 8, tag_before, 8);
	}
	image__set_field(image, 0, image->layout->state_top, top->value + 16, 8);
	put(image, top->value + 32, value, 8);
	put(image, top->value + 40, tag, 8);
	expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
}

/* No call is dropped as long as operand C of the caller's instruction is less than `end`. */
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
	put(image, top->value + 16, 0x123456789000, 8);
	put(image, top->value + 16 + 8, 69, 1);
	for (uint64_t slot = 2; slot < 5; slot++) {
		put(image, top->value + 16 * slot, 7, 8);
		put(image, top->value + 16 * slot + 8, 0, 1);
	}
	expect_whole_below_operand(fixture, 5);
	set_call(image, 5);
	expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
	put(image, top->value + 16 * 3 + 8, 69, 1);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	set_call(image, 4);
	put(image, top->value + 16 * 3, 0x123456789000, 8);
	expect_all_but(fixture, 2, LS_WALK_FRAME_FUNCTION);
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
	put(image, yielded->ci + layout->ci_func, yielded->value + 16, 8);
	put(image, yielded->ci + layout->ci_extra, yielded->value - image->threads[0].stack, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_FRAME_FUNCTION);
	assert_int_equal(walker__count(&fixture->walker), image->threads[0].call_count - 2);
	image__set_status(image, 0, 1);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* Where the pc of the main thread's last call is kept. */
static uint64_t saved_pc(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = fixture->image.layout;

	if (layout->state_savedpc)
		return fixture->image.threads[0].address + layout->state_savedpc;
	return image__top(&fixture->image, 0)->ci + layout->ci_savedpc;
}

static void drops_a_frame_whose_pc_is_not_of_its_prototype(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t code;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 1, 6);
	code = memory__get(&image->memory, fixture->protos[0] + image->layout->proto_code, 8);
	const uint64_t wild[] = {0,        code - 4, code + 64 * 4 + 4,
				 code + 2, ~3ULL,    code ^ 1ULL << 63};

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		put(image, saved_pc(fixture), wild[i], 8);
		expect_all_but(fixture, 2, LS_WALK_FRAME_PROTO);
	}
}

static void tells_the_calls_of_one_function_apart(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t broken;

	fixture__main(fixture);
	for (uint32_t pc = 0; pc < 60; pc++)
		image__recurse(image, 0, pc, 5);
	fixture__nest(fixture, 0, 3, 5);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	if (image->layout->ci_is_array)
		return;
	broken = image->threads[0].calls[image->threads[0].call_count - 10].ci;
	put(image, broken + image->layout->ci_savedpc, 2, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_FRAME_PROTO);
	assert_int_equal(walker__count(&fixture->walker), image->threads[0].call_count - 10);
}

static void takes_every_pc_of_a_prototype(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t code;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 1, 6);
	code = memory__get(&image->memory, fixture->protos[0] + image->layout->proto_code, 8);
	for (uint32_t i = 0; i <= 64; i++) {
		put(image, saved_pc(fixture), code + i * 4, 8);
		image__top(image, 0)->pc = i ? i - 1 : 0; /* 0: not started */
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	}
}

static void reads_no_more_than_there_is_of_an_object(struct fixture *fixture)
{
	const uint64_t edge = 0x600000002000;
	struct image *image = &fixture->image;
	uint64_t heap = image->heap, heap_end = image->heap_end;

	memory__map(&image->memory, edge - MEMORY_PAGE, MEMORY_PAGE);
	fixture__main(fixture);
	fixture__nest(fixture, 0, 1, 5);
	image__return(image, 0); /* the next call reuses its CallInfo */
	/* its upvalues lie elsewhere, the pointers to them are part of it */
	image->heap = edge - (image->layout->closure_proto + 8 + 2 * 8);
	image->heap_end = edge + 64;
	image__call_lua(image, 0, fixture->protos[1], 3, 5);
	image->heap = heap;
	image->heap_end = heap_end;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* luaD_reallocstack(), 5.4.5: pointers into the stack are offsets while it moves. */
static void follows_a_stack_that_is_being_moved(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_thread *thread = &image->threads[0];

	if (!image->layout->relocates_stack)
		return;
	fixture__main(fixture);
	fixture__nest(fixture, 0, 20, 8);
	put(image, thread->address + image->layout->state_top, thread->next_value - thread->stack,
	    8);
	for (size_t i = 0; i < thread->call_count; i++) {
		put(image, thread->calls[i].ci + image->layout->ci_func,
		    thread->calls[i].value - thread->stack, 8);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	}
	put(image, thread->base_ci + image->layout->ci_func, 0, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(tells_the_kinds_of_functions_apart),
		TEST(follows_a_long_stack_of_values),
		TEST(marks_calls_by_their_status),
		TEST(leaves_the_stale_count_of_a_c_function_alone),
		TEST(drops_a_call_that_has_no_function),
		TEST(counts_a_moving_stack_as_torn),
		TEST(counts_a_first_call_without_a_function_as_torn),
		TEST(drops_a_frame_whose_function_lies_off_the_stack),
		TEST(drops_a_frame_whose_closure_is_none),
		TEST(drops_a_frame_whose_prototype_is_none),
		TEST(drops_what_a_torn_frame_called),
		TEST(drops_a_call_that_is_left_over),
		TEST(drops_a_call_that_its_caller_does_not_make),
		TEST(drops_a_c_function_above_where_its_caller_calls),
		TEST(drops_a_call_that_lies_no_higher_than_its_caller),
		TEST(drops_a_call_whose_caller_has_not_begun),
		TEST(drops_a_function_that_its_result_lies_over),
		TEST(finds_a_function_that_yielded_where_it_was_called),
		TEST(drops_a_function_whose_results_lie_over_each_other),
		TEST(drops_a_frame_whose_pc_is_not_of_its_prototype),
		TEST(takes_every_pc_of_a_prototype),
		TEST(tells_the_calls_of_one_function_apart),
		TEST(reads_no_more_than_there_is_of_an_object),
		TEST(follows_a_stack_that_is_being_moved),
	};

	return fixture__run("calls", tests, sizeof(tests) / sizeof(tests[0]));
}
