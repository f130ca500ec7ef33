/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains of calls that are too long, have no end, or lead nowhere. */
#include "fixture.h"

static uint64_t previous_of(const struct fixture *fixture, size_t at)
{
	return fixture->image.threads[0].calls[at].ci + fixture->image.layout->ci_previous;
}

/* The most reads that any one sample may need: four for a frame, eleven for its content. */
static uint64_t most_reads(uint32_t frames)
{
	return 2 * 15 * (uint64_t)frames + 200;
}

/* Expects leaf and root of the main thread's calls, with a placeholder between them. */
static void expect_truncated(struct fixture *fixture, uint32_t room)
{
	const struct image_thread *thread = &fixture->image.threads[0];
	const struct ls_frame *frames = fixture->walker.scratch->frames;
	uint32_t half = room / 2;

	assert_int_equal(fixture->walker.class, LS_SAMPLE_TRUNCATED);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_DEPTH);
	assert_int_equal(walker__count(&fixture->walker), room);
	for (uint32_t i = 0; i < half; i++)
		walker__expect_call(&fixture->walker, i,
				    &thread->calls[thread->call_count - 1 - i]);
	assert_int_equal(frames[half].kind, LS_FRAME_TRUNCATED);
	assert_int_equal(frames[half].function, 0);
	for (uint32_t i = half + 1; i < room; i++)
		walker__expect_call(&fixture->walker, i, &thread->calls[room - 1 - i]);
}

static void takes_a_stack_that_is_exactly_as_deep_as_it_may_be(struct fixture *fixture)
{
	fixture__main(fixture);
	fixture__nest(fixture, 0, 98, 5);
	fixture->walker.max_depth = 100;
	for (int i = 0; i < 2; i++) {
		walker__sample(&fixture->walker, &fixture->image);
		expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
	}
}

static void takes_a_chain_that_is_exactly_as_deep_as_it_may_be(struct fixture *fixture)
{
	fixture__chain(fixture, 3);
	fixture->walker.max_depth = 2 + 3 * 3;
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
}

static void keeps_leaf_and_root_of_a_deeper_stack(struct fixture *fixture)
{
	static const uint32_t rooms[] = {100, 64, 33, 3, 2, 1};

	fixture__main(fixture);
	fixture__nest(fixture, 0, 99, 5);
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		fixture->walker.max_depth = rooms[i];
		walker__sample(&fixture->walker, &fixture->image);
		expect_truncated(fixture, rooms[i]);
		assert_int_equal(fixture->walker.is_evidence, 1);
	}
}

static void keeps_leaf_and_root_at_the_greatest_depth(struct fixture *fixture)
{
	fixture__main(fixture);
	fixture__nest(fixture, 0, LS_DEPTH_MAX + 100, 4);
	fixture->walker.max_depth = LS_DEPTH_MAX;
	walker__sample(&fixture->walker, &fixture->image);
	expect_truncated(fixture, LS_DEPTH_MAX);
}

static void takes_the_greatest_depth(struct fixture *fixture)
{
	fixture__main(fixture);
	fixture__nest(fixture, 0, LS_DEPTH_MAX - 2, 4);
	fixture->walker.max_depth = LS_DEPTH_MAX;
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 0);
}

/* The leaf's half ends, and the root's part begins, in the middle of coroutines. */
static void keeps_leaf_and_root_across_coroutines(struct fixture *fixture)
{
	const struct ls_frame *frames = fixture->walker.scratch->frames;
	struct image *image = &fixture->image;
	const struct image_thread *threads = image->threads;

	fixture__chain(fixture, 5);
	fixture->walker.max_depth = 9;
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_TRUNCATED);
	assert_int_equal(walker__count(&fixture->walker), 9);
	walker__expect_call(&fixture->walker, 0, &threads[5].calls[1]);
	walker__expect_call(&fixture->walker, 1, &threads[5].calls[0]);
	walker__expect_call(&fixture->walker, 2, &threads[4].calls[2]);
	walker__expect_call(&fixture->walker, 3, &threads[4].calls[1]);
	assert_int_equal(frames[4].kind, LS_FRAME_TRUNCATED);
	walker__expect_call(&fixture->walker, 5, &threads[1].calls[0]);
	walker__expect_call(&fixture->walker, 6, &threads[0].calls[2]);
	walker__expect_call(&fixture->walker, 7, &threads[0].calls[1]);
	walker__expect_call(&fixture->walker, 8, &threads[0].calls[0]);
	assert_int_equal(frames[1].flags & LS_FRAME_STATE_ROOT, LS_FRAME_STATE_ROOT);
}

static void marks_the_roots_of_states_beyond_the_gap_too(struct fixture *fixture)
{
	const struct ls_frame *frames = fixture->walker.scratch->frames;

	fixture__chain(fixture, 5);
	fixture->walker.max_depth = 9;
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(walker__count(&fixture->walker), 9);
	assert_int_equal(frames[5].flags & LS_FRAME_STATE_ROOT, LS_FRAME_STATE_ROOT);
	assert_int_equal(frames[6].flags & LS_FRAME_STATE_ROOT, 0);
	assert_int_equal(frames[8].flags & LS_FRAME_STATE_ROOT, LS_FRAME_STATE_ROOT);
}

static void drops_what_a_torn_frame_near_the_root_called(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 20, 5);
	memory__put(&image->memory, image->threads[0].calls[1].value + 8, 0, 8);
	fixture->walker.max_depth = 9;
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__count(&fixture->walker), 1);
	walker__expect_call(&fixture->walker, 0, &image->threads[0].calls[0]);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_TORN);
}

/* luaD_reallocCI (5.1) has moved the array, but not yet updated the pointer to the running call. */
static void sees_that_the_running_call_is_not_in_the_array(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t ci;

	if (!image->layout->ci_is_array)
		return;
	fixture__main(fixture);
	fixture__nest(fixture, 0, 20, 5);
	ci = image__field(image, 0, image->layout->state_ci);
	image__set_field(image, 0, image->layout->state_ci, ci + 40 * 5000, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_UNREADABLE);
	image__set_field(image, 0, image->layout->state_ci, ci + 8, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_UNREADABLE);
	image__set_field(image, 0, image->layout->state_ci, ci, 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

static void stops_on_a_cycle_of_call_infos(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 20, 5);
	if (image->layout->ci_is_array)
		return;
	for (size_t back = 4; back < 20; back += 5) {
		memory__put(&image->memory, previous_of(fixture, 4),
			    image->threads[0].calls[back].ci, 8);
		walker__sample(&fixture->walker, image);
		assert_int_equal(fixture->walker.class, LS_SAMPLE_TRUNCATED);
		assert_in_range(walker__count(&fixture->walker), 1, fixture->walker.max_depth);
		assert_in_range(fixture->walker.reads, 1, most_reads(fixture->walker.max_depth));
	}
}

/* Frames that cannot be decoded take time, but no room. */
static void stops_on_a_cycle_of_torn_call_infos(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 4, 5);
	if (image->layout->ci_is_array)
		return;
	for (size_t i = 2; i < 6; i++)
		memory__put(&image->memory, image->threads[0].calls[i].value + 8, 0, 8);
	memory__put(&image->memory, previous_of(fixture, 2), image->threads[0].calls[5].ci, 8);
	walker__sample(&fixture->walker, image);
	assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_int_equal(fixture->walker.is_evidence, 0);
	assert_in_range(fixture->walker.reads, 1, 4 * fixture->walker.max_depth + 200);
}

static void stops_at_a_link_that_leads_nowhere(struct fixture *fixture)
{
	static const uint64_t wild[] = {0, 8, 0x10001, 1ULL << 47, ~7ULL, ~0ULL, 0x123456789a0};
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 4, 5);
	if (image->layout->ci_is_array)
		return;
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		memory__put(&image->memory, previous_of(fixture, 2), wild[i], 8);
		walker__sample(&fixture->walker, image);
		assert_int_equal(walker__error(&fixture->walker), LS_WALK_CALL_CHAIN);
		assert_int_equal(fixture->walker.class, LS_SAMPLE_UNREADABLE);
		assert_int_equal(fixture->walker.is_evidence, 0);
	}
}

static void tells_a_broken_chain_from_a_torn_frame(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	fixture__nest(fixture, 0, 4, 5);
	if (image->layout->ci_is_array)
		return;
	memory__put(&image->memory, image__top(image, 0)->value + 8, 0, 8);
	memory__put(&image->memory, previous_of(fixture, 4), 0x123456789a0, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_CALL_CHAIN);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_UNREADABLE);
}

static void survives_an_array_of_call_infos_that_is_none(struct fixture *fixture)
{
	const struct ls_puc_layout *layout = fixture->image.layout;
	struct image *image = &fixture->image;
	uint64_t base = image->threads[0].base_ci;
	const uint64_t wild[] = {0x10000,   base - 40,           base + 20,
				 base + 41, base + (1ULL << 40), (1ULL << 47) - 8,
				 ~7ULL};

	if (!layout->ci_is_array)
		return;
	fixture__main(fixture);
	fixture__nest(fixture, 0, 60, 5);
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		walker__forget(&fixture->walker);
		image__set_field(image, 0, layout->state_ci, wild[i], 8);
		walker__sample(&fixture->walker, image);
		assert_int_not_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
		assert_int_equal(fixture->walker.is_evidence, 0);
		assert_in_range(fixture->walker.reads, 1, 600);
	}
}

static void survives_a_state_with_wild_fields(struct fixture *fixture)
{
	static const uint64_t wild[] = {0, 8, 0x10000, 1ULL << 47, ~7ULL, ~0ULL, 0x123456789a0};
	const struct ls_puc_layout *layout = fixture->image.layout;
	const uint8_t fields[] = {layout->state_ci,         layout->state_stack,
				  layout->state_stack_last, layout->state_global,
				  layout->state_base_ci,    layout->state_error_jump,
				  layout->state_top};
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	for (size_t i = 0; i < sizeof(fields); i++) {
		for (size_t j = 0; j < sizeof(wild) / sizeof(wild[0]); j++) {
			uint64_t before = image__field(image, 1, fields[i]);

			image__set_field(image, 1, fields[i], wild[j], 8);
			walker__forget(&fixture->walker);
			walker__sample(&fixture->walker, image);
			image__set_field(image, 1, fields[i], before, 8);
			walker__sample(&fixture->walker, image);
			expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
		}
	}
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(takes_a_stack_that_is_exactly_as_deep_as_it_may_be),
		TEST(takes_a_chain_that_is_exactly_as_deep_as_it_may_be),
		TEST(keeps_leaf_and_root_of_a_deeper_stack),
		TEST(keeps_leaf_and_root_at_the_greatest_depth),
		TEST(takes_the_greatest_depth),
		TEST(keeps_leaf_and_root_across_coroutines),
		TEST(marks_the_roots_of_states_beyond_the_gap_too),
		TEST(drops_what_a_torn_frame_near_the_root_called),
		TEST(sees_that_the_running_call_is_not_in_the_array),
		TEST(stops_on_a_cycle_of_call_infos),
		TEST(stops_on_a_cycle_of_torn_call_infos),
		TEST(stops_at_a_link_that_leads_nowhere),
		TEST(tells_a_broken_chain_from_a_torn_frame),
		TEST(survives_an_array_of_call_infos_that_is_none),
		TEST(survives_a_state_with_wild_fields),
	};

	return fixture__run("depth", tests, sizeof(tests) / sizeof(tests[0]));
}
