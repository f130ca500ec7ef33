/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which coroutine runs, and who resumed it: from registers and the native stack alone. */
#include "fixture.h"

static void finds_the_running_coroutine_by_the_native_stack(struct fixture *fixture)
{
	fixture__chain(fixture, 1);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 1, 0);
	assert_int_equal(fixture->walker.is_evidence, 1);
}

static void finds_the_running_coroutine_by_a_register(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t coroutine = image__coroutine(image);

	fixture__main(fixture);
	image__call_c(image, IMAGE_MAIN, IMAGE_C_FUNCTION, 4);
	image__protect_hidden(image, coroutine);
	image__call_lua(image, coroutine, fixture->protos[1], 0, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);

	walker__forget(&fixture->walker);
	image->registers[12] = image->threads[coroutine].address;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, coroutine, 0);
}

static void walks_the_whole_chain_of_resumers(struct fixture *fixture)
{
	fixture__chain(fixture, 3);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
	assert_int_equal(walker__count(&fixture->walker), 2 + 3 + 3 + 3);
}

static void decides_by_error_jumps_not_by_the_order_of_pointers(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 3);
	image->registers[0] = image->threads[0].address;
	image->registers[1] = image->threads[2].address;
	image__native_frame(image, 0x100);
	image__native_word(image, 0x10, image->threads[1].address);
	image__native_word(image, 0x18, image->threads[0].address);
	image__native_word(image, 0x20, image->threads[3].address);
	image__native_word(image, 0x28, image->threads[2].address);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
}

static void knows_the_main_thread_without_meeting_it(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__protect_hidden(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 0, 10);
	fixture__resume(fixture, IMAGE_MAIN);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

static void runs_a_coroutine_whose_main_thread_is_idle(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t coroutine = image__coroutine(image);

	image__protect(image, coroutine);
	image__call_lua(image, coroutine, fixture->protos[1], 0, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, coroutine);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, coroutine);
}

static void runs_an_unprotected_main_thread(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image->registers[3] = image->threads[0].address;
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 0, 10);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[1], 4, 10);
	image__execute(image, IMAGE_MAIN);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);

	fixture__resume(fixture, IMAGE_MAIN);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
	walker__forget(&fixture->walker);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

static void sees_no_script_where_only_an_idle_main_thread_is(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image->registers[3] = image->threads[0].address;
	image__native_frame(image, 0x100);
	image__native_word(image, 0x40, image->threads[0].address);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	assert_int_equal(fixture->walker.is_evidence, 0);

	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 0, 10);
	image__set_status(image, IMAGE_MAIN, 2);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
}

static void ignores_coroutines_that_do_not_run(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t fresh = image__coroutine(image), yielded = image__coroutine(image);
	size_t dead = image__coroutine(image), ended = image__coroutine(image);

	image__call_lua(image, yielded, fixture->protos[1], 0, 8);
	image__call_light(image, yielded, IMAGE_C_FUNCTION, 4);
	image__suspend(image, yielded);
	image__call_lua(image, dead, fixture->protos[1], 0, 8);
	image__set_status(image, dead, 2);
	image__call_lua(image, ended, fixture->protos[1], 0, 8);
	image__return(image, ended);
	/* A coroutine that the embedding program called into without protection, and left. */
	image__call_lua(image, image__coroutine(image), fixture->protos[1], 0, 8);
	fixture__main(fixture);
	for (size_t i = 0; i < 5; i++) {
		image->registers[i] = image->threads[fresh + i].address;
		image__native_frame(image, 0x20);
		image__native_word(image, 8, image->threads[fresh + i].address);
	}
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

static void ignores_states_that_run_on_other_stacks(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t elsewhere = image__coroutine(image), above = image__coroutine(image);

	image__call_lua(image, elsewhere, fixture->protos[1], 0, 8);
	image__set_error_jump(image, elsewhere, image->stack_low - 0x1000);
	image__call_lua(image, above, fixture->protos[1], 0, 8);
	image__set_error_jump(image, above, image->stack_high + 0x40);
	fixture__main(fixture);
	image->registers[1] = image->threads[elsewhere].address;
	image->registers[2] = image->threads[above].address;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);

	/* What lies below SP has returned. */
	image__set_error_jump(image, elsewhere, image->sp - 0x40);
	walker__forget(&fixture->walker);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

static void ignores_wild_pointers(struct fixture *fixture)
{
	static const uint64_t wild[] = {0,
					1,
					8,
					0xfff8,
					0x10000,
					0x7ffffffffff8,
					0x800000000000,
					~0ULL,
					~7ULL,
					1ULL << 63,
					0x555555555555,
					0x555555555558,
					0x4141414141414140};
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		image->registers[i] = wild[i];
		image__native_frame(image, 0x20);
		image__native_word(image, 8, wild[i]);
	}
	image->registers[13] = image->heap_end - 8;
	image->registers[14] = image->sp;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

/* C coroutines may have their stacks in the heap, with states beside them. */
static void finds_states_that_share_a_mapping_with_the_stack(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t heap, heap_end = image->heap_end;
	size_t coroutine;

	heap = image->heap;
	image__native_frame(image, 0x200000);
	image->heap = image->sp + 0x1000;
	image->heap_end = image->stack_high - 0x1000;
	coroutine = image__coroutine(image);
	image->heap = heap;
	image->heap_end = heap_end;
	fixture__main(fixture);
	image__call_c(image, IMAGE_MAIN, IMAGE_C_FUNCTION, 8);
	fixture__hold(fixture, IMAGE_MAIN, coroutine);
	image__protect(image, coroutine);
	image__call_lua(image, coroutine, fixture->protos[1], 0, 8);
	image__execute(image, coroutine);
	image->own_stack = false;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, coroutine, IMAGE_MAIN);

	/* If the mapping holds only the stack, nothing on it can be a state. */
	walker__forget(&fixture->walker);
	image->own_stack = true;
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
}

/* Expects a cut chain: its mapping may hold the stacks of other C coroutines as well. */
static void expect_cut_chain(struct fixture *fixture)
{
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, &fixture->image);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_TORN, 2, 1);
		assert_int_equal(walker__error(&fixture->walker), LS_WALK_RESUMERS);
		assert_int_equal(fixture->walker.is_evidence, 0);
	}
}

static void asks_resumers_for_proof_in_a_shared_mapping(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image->own_stack = false;
	fixture__chain(fixture, 2);
	image__execute(image, 2);
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 2, 1, 0);
	}
	/* The main thread is in a function that holds another coroutine. */
	fixture__hold(fixture, 0, 2);
	walker__forget(&fixture->walker);
	expect_cut_chain(fixture);
	memory__punch(&image->memory, image__top(image, 0)->value);
	walker__forget(&fixture->walker);
	walker__sample(&fixture->walker, image);
	assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
}

/* coroutine.wrap() keeps the coroutine in an upvalue. */
static void takes_an_upvalue_for_proof(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t coroutine = image__coroutine(image);
	uint64_t upvalue;

	image->own_stack = false;
	fixture__main(fixture);
	image__call_c(image, IMAGE_MAIN, IMAGE_C_FUNCTION, 8);
	upvalue = image__top(image, 0)->closure + image->layout->closure_function + 8;
	memory__put(&image->memory, upvalue, image->threads[coroutine].address, 8);
	image__protect(image, coroutine);
	image__call_lua(image, coroutine, fixture->protos[1], 0, 8);
	image__execute(image, coroutine);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, coroutine, IMAGE_MAIN);
}

/* luaD_reallocstack(): the stack has moved, stack_last is still the old one's. */
static void finds_states_between_a_stack_and_its_former_end(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = image__coroutine(image), resumer = image__coroutine(image);

	fixture__main(fixture);
	image__call_light(image, IMAGE_MAIN, IMAGE_C_FUNCTION, 4);
	image__protect(image, resumer);
	image__call_lua(image, resumer, fixture->protos[1], 3, 8);
	image__call_light(image, resumer, IMAGE_C_FUNCTION, 4);
	image__protect(image, running);
	image__call_lua(image, running, fixture->protos[2], 3, 8);
	image__set_field(image, running, image->layout->state_stack_last,
			 image->threads[resumer].stack_last, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, running, resumer, IMAGE_MAIN);
}

static void keeps_sixteen_active_states(struct fixture *fixture)
{
	size_t expected[LS_CHAIN_MAX];

	fixture__chain(fixture, LS_CHAIN_MAX - 1);
	for (size_t i = 0; i < LS_CHAIN_MAX; i++)
		expected[i] = LS_CHAIN_MAX - 1 - i;
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, &fixture->image);
		walker__expect(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, expected,
			       LS_CHAIN_MAX);
	}
}

static void tells_that_resumers_are_missing_each_time(struct fixture *fixture)
{
	size_t expected[LS_CHAIN_MAX];

	fixture__chain(fixture, LS_CHAIN_MAX);
	for (size_t i = 0; i < LS_CHAIN_MAX; i++)
		expected[i] = LS_CHAIN_MAX - i;
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, &fixture->image);
		walker__expect(&fixture->walker, &fixture->image, LS_SAMPLE_TORN, expected,
			       LS_CHAIN_MAX);
		assert_int_equal(walker__error(&fixture->walker), LS_WALK_RESUMERS);
		assert_int_equal(fixture->walker.is_evidence, 0);
	}
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(finds_the_running_coroutine_by_the_native_stack),
		TEST(finds_the_running_coroutine_by_a_register),
		TEST(walks_the_whole_chain_of_resumers),
		TEST(decides_by_error_jumps_not_by_the_order_of_pointers),
		TEST(knows_the_main_thread_without_meeting_it),
		TEST(runs_a_coroutine_whose_main_thread_is_idle),
		TEST(runs_an_unprotected_main_thread),
		TEST(sees_no_script_where_only_an_idle_main_thread_is),
		TEST(ignores_coroutines_that_do_not_run),
		TEST(ignores_states_that_run_on_other_stacks),
		TEST(ignores_wild_pointers),
		TEST(finds_states_that_share_a_mapping_with_the_stack),
		TEST(finds_states_between_a_stack_and_its_former_end),
		TEST(asks_resumers_for_proof_in_a_shared_mapping),
		TEST(takes_an_upvalue_for_proof),
		TEST(keeps_sixteen_active_states),
		TEST(tells_that_resumers_are_missing_each_time),
	};

	return fixture__run("find_state", tests, sizeof(tests) / sizeof(tests[0]));
}
