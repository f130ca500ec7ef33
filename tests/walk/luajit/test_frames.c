/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LuaJIT's frames: what kinds there are, where BASE is, and what is lost by a broken one. */
#include "luajit_fixture.h"

#define RDX 12

static void expect_all(struct fixture *fixture, uint8_t class)
{
	luajit_walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, class, 0);
}

static void tells_the_kinds_of_frames_apart(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	luajit_fixture__main(fixture);
	luajit_image__vararg(image, 0);
	luajit_image__call(image, 0, fixture->builtin, 4);
	luajit_image__pcall(image, 0, fixture->closures[1]);
	luajit_image__metamethod(image, 0, fixture->closures[2], 8);
	luajit_image__call(image, 0, luajit_image__c_closure(image, IMAGE_C_FUNCTION + 32), 9);
	luajit_image__call_from_c(image, 0, fixture->closures[0]);
	luajit_image__run_vm(image, 0, 21);
	expect_all(fixture, LS_SAMPLE_COMPLETE);
}

static void takes_from_the_c_frame_where_an_interrupted_function_is(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	luajit_fixture__main(fixture);
	luajit_image__call(image, 0, fixture->closures[1], 4);
	luajit_image__interrupt(image, 0, fixture->closures[2], 9);
	luajit_image__call(image, 0, fixture->closures[1], 6);
	luajit_image__interrupt(image, 0, fixture->closures[2], 11);
	luajit_image__run_vm(image, 0, 21);
	expect_all(fixture, LS_SAMPLE_COMPLETE);
}

static void finds_a_c_function_that_runs(struct fixture *fixture)
{
	luajit_fixture__main(fixture);
	luajit_image__call(&fixture->image, 0, fixture->builtin, 4);
	luajit_image__run_c(&fixture->image, 0);
	expect_all(fixture, LS_SAMPLE_COMPLETE);
}

static void joins_coroutines_with_their_resumers(struct fixture *fixture)
{
	size_t running = luajit_fixture__chain(fixture, 3);

	luajit_image__run_vm(&fixture->image, running, 2);
	for (int i = 0; i < 3; i++) {
		luajit_walker__sample(&fixture->walker, &fixture->image);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
	}
}

/* cur_L is whatever state ran last before C called back. */
static void does_not_believe_the_current_state(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = luajit_fixture__chain(fixture, 2);

	if (image->layout->has_jit_state)
		return; /* there is none */
	luajit_image__set_global(image, image->layout->global_current, image->threads[0].address,
				 IMAGE_REF);
	luajit_image__run_vm(image, running, 2);
	luajit_walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 2, 1, 0);
}

static void keeps_both_ends_of_a_deep_stack(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	struct walker *walker = &fixture->walker;
	const struct image_thread *thread = &image->threads[0];

	luajit_fixture__main(fixture);
	luajit_fixture__nest(fixture, 0, 600);
	luajit_image__run_vm(image, 0, 12);
	walker->max_depth = 100;
	luajit_walker__sample(walker, image);
	assert_int_equal(walker->class, LS_SAMPLE_TRUNCATED);
	assert_int_equal(luajit_walker__count(walker), 100);
	assert_true(luajit_walker__is_call(walker, 0, &thread->calls[thread->call_count - 1]));
	assert_true(luajit_walker__is_call(walker, 99, &thread->calls[0]));
}

/* Whose fields contradict each other is dropped with its callees, and that is counted. */
static void drops_a_broken_frame_with_its_callees(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	struct image_thread *thread = &image->threads[0];

	luajit_fixture__main(fixture);
	luajit_fixture__nest(fixture, 0, 8);
	luajit_image__run_vm(image, 0, 12);
	memory__put(&image->memory, thread->calls[6].base - IMAGE_FRAME_LINK, 0x4045000000000000,
		    IMAGE_REF);
	thread->call_count = 6;
	expect_all(fixture, LS_SAMPLE_TORN);
	assert_int_equal(luajit_walker__error(&fixture->walker), LS_WALK_FRAME_FUNCTION);
}

/* Samples a stack of which one link is broken: its walk ends there. */
static void refuse_link(struct fixture *fixture, uint64_t link)
{
	struct image *image = &fixture->image;
	uint64_t at = image->threads[0].calls[5].base - IMAGE_REF;
	uint64_t before = memory__get(&image->memory, at, IMAGE_REF);

	memory__put(&image->memory, at, link, IMAGE_REF);
	luajit_walker__sample(&fixture->walker, image);
	assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_in_range(fixture->walker.reads, 1, 200);
	memory__put(&image->memory, at, before, IMAGE_REF);
}

/* Neither right nor endless: the distance to the caller is nothing, or leads up or out. */
static void refuses_links_that_do_not_lead_down(struct fixture *fixture)
{
	static const uint64_t links[] = {
		0, 1, 2, 3, 6, 8 | 3, ~0ULL, -16 | 1, 4 << 20 | 1, 4 << 20 | 3, 9 | 1, 1ULL << 47};
	const struct image_call *calls = fixture->image.threads[0].calls;

	luajit_fixture__main(fixture);
	luajit_fixture__nest(fixture, 0, 8);
	luajit_image__run_vm(&fixture->image, 0, 12);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		refuse_link(fixture, links[i]);
	/* To a callee, as if it were the frame below: a circle. */
	refuse_link(fixture, (calls[5].base - calls[7].base) | 3);
	expect_all(fixture, LS_SAMPLE_COMPLETE);
}

static bool is_base(const struct image_thread *thread, uint64_t address)
{
	for (size_t i = 0; i < thread->call_count; i++)
		if (thread->calls[i].base == address)
			return true;
	return false;
}

/* An instruction that says that its caller is where no function is. */
static void refuses_calls_from_where_no_function_is(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	struct image_call *caller;

	luajit_fixture__main(fixture);
	luajit_fixture__nest(fixture, 0, 8);
	luajit_image__run_vm(image, 0, 12);
	caller = &image->threads[0].calls[4];
	for (uint32_t distance = 0; distance < 256; distance++) {
		if (is_base(&image->threads[0], caller[1].base - IMAGE_FRAME_LINK - 8 * distance))
			continue;
		memory__put(&image->memory, caller->code + 4 * caller->pc + 1, distance, 1);
		luajit_walker__sample(&fixture->walker, image);
		assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	}
}

/* The only state that points to itself as its resumer, and one that is nowhere. */
static void refuses_states_that_are_none(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	size_t running = luajit_fixture__chain(fixture, 1);
	uint64_t state = image->threads[running].address;

	luajit_image__run_vm(image, running, 2);
	luajit_image__native_frame(image, 64);
	for (uint64_t at = 0; at < 64; at += 8)
		memory__put(&image->memory, image->sp + at, state, 8);
	memory__put(&image->memory,
		    image->threads[running].cframe + offsetof(struct ls_luajit_cframe, state),
		    state + 8, IMAGE_REF);
	luajit_walker__sample(&fixture->walker, image);
	for (uint32_t i = 0; i < luajit_walker__count(&fixture->walker); i++)
		assert_int_not_equal(fixture->walker.scratch->sample.state, state);
	memory__punch(&image->memory, image->threads[running].stack + 8);
	luajit_walker__sample(&fixture->walker, image);
	assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(tells_the_kinds_of_frames_apart),
		TEST(takes_from_the_c_frame_where_an_interrupted_function_is),
		TEST(finds_a_c_function_that_runs),
		TEST(joins_coroutines_with_their_resumers),
		TEST(does_not_believe_the_current_state),
		TEST(keeps_both_ends_of_a_deep_stack),
		TEST(drops_a_broken_frame_with_its_callees),
		TEST(refuses_links_that_do_not_lead_down),
		TEST(refuses_calls_from_where_no_function_is),
		TEST(refuses_states_that_are_none),
	};

	return luajit_fixture__run("frames of LuaJIT", tests, sizeof(tests) / sizeof(tests[0]));
}
