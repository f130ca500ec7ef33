/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When the cached chain of the last sample suffices, and when the stack has to be searched again.
 */
#include "fixture.h"

static uint64_t error_jump(const struct image *image, size_t thread)
{
	return image__field(image, thread, image->layout->state_error_jump);
}

/* Takes a sample. Returns whether the native stack was searched. */
static bool searches(struct fixture *fixture)
{
	walker__sample(&fixture->walker, &fixture->image);
	return walker__chunks(&fixture->walker) != 0;
}

static void decides_alone_when_nothing_moved(struct fixture *fixture)
{
	fixture__chain(fixture, 2);
	assert_int_equal(searches(fixture), true);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(searches(fixture), false);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 2, 1, 0);
		assert_int_equal(fixture->walker.is_evidence, 1);
	}
}

static void follows_the_calls_of_the_running_state(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	searches(fixture);
	image__call_lua(image, 1, fixture->protos[0], 9, 4);
	assert_int_equal(searches(fixture), false);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
	image__return(image, 1);
	image__return(image, 1);
	assert_int_equal(searches(fixture), false);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

/* The resumer's errorJmp is as valid as before. */
static void does_not_take_a_resumer_for_the_running_state(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = 0;

	fixture__main(fixture);
	searches(fixture);
	for (int i = 0; i < 3; i++) {
		running = fixture__resume(fixture, running);
		assert_int_equal(searches(fixture), true);
		assert_int_equal(fixture->walker.scratch->sample.state,
				 image->threads[running].address);
	}
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
}

static void searches_again_under_a_c_function(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	searches(fixture);
	image__call_c(image, 1, IMAGE_C_FUNCTION, 3);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
	image__return(image, 1);
	image__call_light(image, 1, IMAGE_C_FUNCTION, 3);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

/*
 * luaD_hook() runs a C hook, which may resume a coroutine, under the Lua function it interrupted.
 */
static void searches_again_inside_a_hook(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t coroutine;

	fixture__chain(fixture, 1);
	searches(fixture);
	image__set_field(image, 1, image->layout->state_allow_hook, 0, 1);
	coroutine = image__coroutine(image);
	image__protect(image, coroutine);
	image__call_lua(image, coroutine, fixture->protos[1], 2, 4);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, coroutine, 1, 0);
}

static void searches_again_if_the_running_error_jump_moved(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t before;

	fixture__chain(fixture, 1);
	searches(fixture);
	before = error_jump(image, 1);
	image__protect(image, 1); /* pcall */
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
	image__set_error_jump(image, 1, before);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

static void searches_again_if_a_resumer_called_something_else(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 2);
	searches(fixture);
	image__return(image, 0);
	image__call_lua(image, 0, fixture->protos[1], 1, 8);
	image__call_light(image, 0, IMAGE_C_FUNCTION, 8);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 2, 1, 0);
}

/* The call of another C function has the CallInfo that the call of the generator had. */
static void forgets_a_generator_that_yielded(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t ci;

	fixture__chain(fixture, 1);
	searches(fixture);
	ci = image__top(image, 0)->ci;
	image__suspend(image, 1);
	image__return(image, 0);
	image__call_c(image, 0, IMAGE_C_FUNCTION + 0x100, 4);
	assert_int_equal(image__top(image, 0)->ci, ci);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* The coroutine has been collected since, and its memory reused. */
static void forgets_a_coroutine_that_is_gone(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	searches(fixture);
	image__return(image, 0);
	image__call_c(image, 0, IMAGE_C_FUNCTION + 0x100, 4);
	for (size_t at = 0; at < image->layout->state_size; at += 4)
		image__set_field(image, 1, at, 0x41414141, 4);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* The next generator runs where the last one did, under the same call of the same resumer. */
static void tells_a_coroutine_from_the_one_before(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t jump;
	size_t next;

	fixture__chain(fixture, 1);
	searches(fixture);
	jump = error_jump(image, 1);
	image__suspend(image, 1);
	next = image__coroutine(image);
	image__set_error_jump(image, next, jump);
	image__call_lua(image, next, fixture->protos[1], 2, 8);
	image__native_word(image, 0x28, image->threads[next].address);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, next, 0);
}

/* A generator yielded, and its resumer goes on. */
static void goes_on_with_the_resumer_of_what_yielded(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 2);
	searches(fixture);
	image__suspend(image, 2);
	image__return(image, 1);
	assert_int_equal(searches(fixture), false);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

/*
 * Further up lies a frame of the embedding program, which a search without a cache has to go
 * through.
 */
static void searches_only_below_the_resumer_that_stands(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t first, next;

	fixture__main(fixture);
	image__native_frame(image, 8 * LS_CHUNK_BYTES);
	first = fixture__resume(fixture, 0);
	next = fixture__resume(fixture, first);
	searches(fixture);
	assert_in_range(walker__chunks(&fixture->walker), 8, 12);
	image__suspend(image, next);
	image__return(image, first);
	next = fixture__resume(fixture, first);
	searches(fixture);
	assert_in_range(walker__chunks(&fixture->walker), 1, 3);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, next, first, 0);
}

/* In a Lua function, a state has only called helpers of the interpreter; a hook may do anything. */
static void searches_nothing_below_a_state_in_a_register_that_runs_lua(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running;

	fixture__main(fixture);
	searches(fixture);
	running = fixture__resume(fixture, 0);
	image__native_frame(image, 8 * LS_CHUNK_BYTES);
	image->registers[3] = image->threads[running].address;
	searches(fixture);
	assert_in_range(walker__chunks(&fixture->walker), 1, 3);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, running, 0);
	fixture->walker.thread.chain_count = 1;
	fixture->walker.thread.chain[0] = fixture->walker.thread.root;
	image__set_field(image, running, image->layout->state_allow_hook, 0, 1);
	searches(fixture);
	assert_in_range(walker__chunks(&fixture->walker), 8, 12);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, running, 0);
}

static void sees_the_end_of_script(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	searches(fixture);
	image__return(image, 0);
	image__return(image, 0);
	image__set_error_jump(image, 0, 0);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	assert_int_equal(fixture->walker.thread.chain_count, 0);
}

static void sees_the_end_of_script_that_ran_unprotected(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image->registers[3] = image->threads[0].address;
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 0, 10);
	image__execute(image, IMAGE_MAIN);
	searches(fixture);
	assert_int_equal(searches(fixture), false);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	image__return(image, 0);
	image->registers[3] = 0;
	for (int i = 0; i < 2; i++) {
		walker__sample(&fixture->walker, image);
		assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	}
}

static void sees_that_an_unprotected_main_thread_is_protected_now(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image->registers[3] = image->threads[0].address;
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 0, 10);
	image__execute(image, IMAGE_MAIN);
	searches(fixture);
	image__protect(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[1], 0, 10);
	assert_int_equal(searches(fixture), true);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* Its memory is no longer there: swapped out, or unmapped. */
static void searches_again_if_the_cached_state_cannot_be_read(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	searches(fixture);
	memory__punch(&image->memory, image->threads[1].address);
	memory__punch(&image->memory, image->threads[0].address);
	walker__sample(&fixture->walker, image);
	assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	memory__mend(&image->memory);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(decides_alone_when_nothing_moved),
		TEST(follows_the_calls_of_the_running_state),
		TEST(does_not_take_a_resumer_for_the_running_state),
		TEST(searches_again_under_a_c_function),
		TEST(searches_again_inside_a_hook),
		TEST(searches_again_if_the_running_error_jump_moved),
		TEST(searches_again_if_a_resumer_called_something_else),
		TEST(forgets_a_generator_that_yielded),
		TEST(forgets_a_coroutine_that_is_gone),
		TEST(tells_a_coroutine_from_the_one_before),
		TEST(goes_on_with_the_resumer_of_what_yielded),
		TEST(searches_only_below_the_resumer_that_stands),
		TEST(searches_nothing_below_a_state_in_a_register_that_runs_lua),
		TEST(sees_the_end_of_script),
		TEST(sees_the_end_of_script_that_ran_unprotected),
		TEST(sees_that_an_unprotected_main_thread_is_protected_now),
		TEST(searches_again_if_the_cached_state_cannot_be_read),
	};

	return fixture__run("cache", tests, sizeof(tests) / sizeof(tests[0]));
}
