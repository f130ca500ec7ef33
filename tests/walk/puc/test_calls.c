/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls of the states: what kinds there are, and what is lost by a broken one. */
#include "fixture.h"

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
		image__put(image, status, bits[i], layout->ci_status_size);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		assert_int_equal(fixture->walker.scratch->frames[0].flags, bits[i] ? flags[i] : 0);
	}
	image__put(image, status, ~0ULL & ~(bits[0] | bits[1] | bits[2]), layout->ci_status_size);
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
	image__put(image, image__top(image, 0)->ci + image->layout->ci_status, 3, 4);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	assert_int_equal(fixture->walker.scratch->frames[0].flags, 0);
}

/* Where its function was, free() keeps a pointer while the stack moves. */
static void counts_a_first_call_without_a_function_as_torn(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__protect(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 7, 10);
	image__put(image, image__top(image, 0)->value + 8, 0, 8);
	fixture__expect_all_but(fixture, 0, LS_WALK_FRAME_FUNCTION);
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
		image__put(image, func, wild[i], 8);
		fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
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
		image__put(image, top->value, wild[i], 8);
		fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_MEMORY);
	}
	image__put(image, top->value, image->threads[0].address, 8);
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_FUNCTION);
}

static void drops_a_frame_whose_prototype_is_none(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t field;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	field = image__top(image, 0)->closure + image->layout->closure_proto;
	image__put(image, field, 0, 8);
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_MEMORY);
	image__put(image, field, 0x7fff00000000, 8);
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_MEMORY);
	image__put(image, field, image->threads[0].address, 8);
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_PROTO);
	image__put(image, field, image__allocate(image, 256), 8); /* no code */
	fixture__expect_all_but(fixture, 4, LS_WALK_FRAME_PROTO);
}

/* What an invalid frame called cannot be told from stale CallInfos. */
static void drops_what_a_torn_frame_called(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 3, 6);
	image__put(image, image->threads[0].calls[2].value + 8, 0, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_FRAME_FUNCTION);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_TORN);
	assert_int_equal(fixture->walker.is_evidence, 0);
	assert_int_equal(walker__count(&fixture->walker), 2);
	walker__expect_call(&fixture->walker, 0, &image->threads[0].calls[1]);
	walker__expect_call(&fixture->walker, 1, &image->threads[0].calls[0]);
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
	code = image__get(image, fixture->protos[0] + image->layout->proto_code);
	const uint64_t wild[] = {0,        code - 4, code + 64 * 4 + 4,
				 code + 2, ~3ULL,    code ^ 1ULL << 63};

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		image__put(image, saved_pc(fixture), wild[i], 8);
		fixture__expect_all_but(fixture, 2, LS_WALK_FRAME_PROTO);
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
	image__put(image, broken + image->layout->ci_savedpc, 2, 8);
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
	code = image__get(image, fixture->protos[0] + image->layout->proto_code);
	for (uint32_t i = 0; i <= 64; i++) {
		image__put(image, saved_pc(fixture), code + i * 4, 8);
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
	image__put(image, thread->address + image->layout->state_top,
		   thread->next_value - thread->stack, 8);
	for (size_t i = 0; i < thread->call_count; i++) {
		image__put(image, thread->calls[i].ci + image->layout->ci_func,
			   thread->calls[i].value - thread->stack, 8);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	}
	image__put(image, thread->base_ci + image->layout->ci_func, 0, 8);
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
		TEST(counts_a_first_call_without_a_function_as_torn),
		TEST(drops_a_frame_whose_function_lies_off_the_stack),
		TEST(drops_a_frame_whose_closure_is_none),
		TEST(drops_a_frame_whose_prototype_is_none),
		TEST(drops_what_a_torn_frame_called),
		TEST(drops_a_frame_whose_pc_is_not_of_its_prototype),
		TEST(takes_every_pc_of_a_prototype),
		TEST(tells_the_calls_of_one_function_apart),
		TEST(reads_no_more_than_there_is_of_an_object),
		TEST(follows_a_stack_that_is_being_moved),
	};

	return fixture__run("calls", tests, sizeof(tests) / sizeof(tests[0]));
}
