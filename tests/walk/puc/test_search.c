/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The search of the native stack for states: how far it reaches, and what is not looked at twice.
 */
#include "fixture.h"

static void skips_a_page_that_is_not_there(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	image__native_frame(image, 5 * MEMORY_PAGE);
	for (size_t i = 1; i < 4; i++)
		memory__punch(&image->memory, image->sp + i * MEMORY_PAGE);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

/* A chunk is read as a whole: none may extend into the absent page. */
static void reads_up_to_a_page_that_is_not_there(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t edge, thread = image->threads[0].address;

	image__protect_hidden(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 7, 10);
	image__native_frame(image, 3 * MEMORY_PAGE);
	edge = (image->sp & ~(MEMORY_PAGE - 1)) + MEMORY_PAGE;
	memory__punch(&image->memory, edge);
	for (uint64_t before = 8; before < 2 * LS_CHUNK_BYTES; before += 0x1a8) {
		walker__forget(&fixture->walker);
		image->sp = edge - before;
		memory__put(&image->memory, edge - 8, thread, 8);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		memory__put(&image->memory, edge - 8, 0, 8);
		memory__put(&image->memory, edge + MEMORY_PAGE, thread, 8);
		walker__forget(&fixture->walker);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		memory__put(&image->memory, edge + MEMORY_PAGE, 0, 8);
	}
}

static void scans_a_stack_to_its_last_word(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__protect_hidden(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 7, 10);
	for (uint64_t last = 0x80; last < 0xc0; last += 8) {
		walker__forget(&fixture->walker);
		image__native_word(image, last, image->threads[0].address);
		image->stack_high = image->sp + last + 8;
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		image__native_word(image, last, 0);
	}
	walker__forget(&fixture->walker);
	image__native_word(image, 0x28, image->threads[0].address);
	image->stack_high = image->sp + 0x80; /* its errorJmp lies here */
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
}

/* The end of the last chunk that may be read, from SP. */
#define CHUNKS_MAX 64 /* LS_CHUNKS_MAX */
#define FAR        ((uint64_t)CHUNKS_MAX * LS_CHUNK_BYTES)

static void says_so_if_a_known_state_lies_too_far_up(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
	image__suspend(image, 1);
	fixture__resume(fixture, IMAGE_MAIN);
	image__native_frame(image, FAR + MEMORY_PAGE);
	walker__sample(&fixture->walker, image);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_STATE_BEYOND);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_UNREADABLE);
	assert_in_range(walker__chunks(&fixture->walker), 1, CHUNKS_MAX);
}

/* A resumer is in coroutine.resume, but the state of its coroutine lies out of reach. */
static void says_so_if_it_cannot_look_at_all_below_a_known_state(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	fixture__resume(fixture, IMAGE_MAIN);
	image__native_frame(image, FAR + MEMORY_PAGE);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_UNREADABLE);
	assert_int_equal(walker__error(&fixture->walker), LS_WALK_STATE_BEYOND);
}

static void bounds_a_search_without_script(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__native_frame(image, 2 * FAR);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	assert_in_range(fixture->walker.reads, 1, 12);
}

/* Words that were examined are marked with a number that wraps around: no old mark may match it. */
static void finds_a_state_however_many_samples_ago_it_was_seen(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__chain(fixture, 1);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
	for (uint32_t i = 1; i < 1 << 16; i++)
		walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
	image__set_error_jump(image, 1,
			      image__field(image, 1, image->layout->state_error_jump) - 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 1, 0);
}

/* Every word is a pointer, but none points to a state. */
static void does_not_look_through_a_chunk_twice(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t first;

	image__native_frame(image, FAR);
	for (uint64_t offset = 0; offset < FAR; offset += 8)
		image__native_word(image, offset, image->heap + offset * 8);
	walker__sample(&fixture->walker, image);
	first = fixture->walker.reads;
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	assert_in_range(first, 2000, FAR);
	assert_in_range(fixture->walker.reads, 1, 300);
}

/* A C function whose native frames have as many pointers to values as the caller says. */
static uint64_t reads_with_pointers_to_values(struct fixture *fixture, uint64_t pointers)
{
	struct image *image = &fixture->image;
	uint64_t values = image__field(image, IMAGE_MAIN, image->layout->state_stack);

	for (uint64_t i = 0; i < pointers; i++)
		image__native_word(image, 8 * (i + 1), values + 16 * i);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	assert_int_equal(walker__chunks(&fixture->walker), 1);
	return fixture->walker.reads;
}

/* No state is among the values of the one that was seen to run. */
static void does_not_follow_pointers_to_values(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t reads;

	fixture__main(fixture);
	image__call_c(image, IMAGE_MAIN, 0x555500001230, 20);
	image__native_frame(image, 0x100);
	walker__sample(&fixture->walker, image);
	image__native_word(image, 0, 1); /* the chunk is looked through again */
	reads = reads_with_pointers_to_values(fixture, 0);
	assert_int_equal(reads_with_pointers_to_values(fixture, 8), reads);
}

static void leaves_a_pointer_to_nowhere_alone_for_a_moment(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;
	uint64_t first;

	image__native_frame(&fixture->image, 0x100);
	image__native_word(&fixture->image, 0x40, 0x123400000010);
	walker->step_ns = 1000;
	walker__sample(walker, &fixture->image);
	first = walker->reads;
	image__native_word(&fixture->image, 0x48, 1); /* the chunk is looked through again */
	walker__sample(walker, &fixture->image);
	assert_int_equal(walker->reads, first - 1);
	walker->step_ns = 6000000;
	image__native_word(&fixture->image, 0x48, 2);
	walker__sample(walker, &fixture->image);
	assert_int_equal(walker->reads, first);
}

/* An idle state may run by the next sample, and nothing on the stack but its errorJmp is new. */
static void looks_again_at_a_chunk_that_holds_an_idle_state(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__native_frame(image, 3 * LS_CHUNK_BYTES);
	image__native_word(image, LS_CHUNK_BYTES + 8, image->threads[0].address);
	image__native_word(image, 2 * LS_CHUNK_BYTES + 8, image->threads[0].address);
	for (int i = 0; i < 3; i++) {
		walker__sample(&fixture->walker, image);
		assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	}
	image__native_word(image, LS_CHUNK_BYTES + 8, 0);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 0, 10);
	image__set_error_jump(image, 0, image->sp + 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* More than are remembered of a chunk: the last one runs by the next sample. */
static void looks_again_at_a_chunk_that_holds_many_idle_states(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__native_frame(image, 3 * LS_CHUNK_BYTES);
	for (uint64_t i = 0; i < LS_CHUNK_STATES; i++) {
		size_t idle = image__coroutine(image);

		image__native_word(image, LS_CHUNK_BYTES + 8 * i, image->threads[idle].address);
	}
	image__native_word(image, LS_CHUNK_BYTES + 8 * LS_CHUNK_STATES, image->threads[0].address);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 0, 10);
	image__set_error_jump(image, 0, image->sp + 8);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
}

/* A page may be absent for a moment: swapped out, or about to move to another node. */
static void looks_again_for_a_state_that_could_not_be_read(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	image__protect_hidden(image, IMAGE_MAIN);
	image__call_lua(image, IMAGE_MAIN, fixture->protos[0], 7, 10);
	for (uint64_t at = 0x40; at <= 2 * LS_CHUNK_BYTES; at += LS_CHUNK_BYTES) {
		walker__forget(&fixture->walker);
		image__native_frame(image, 3 * LS_CHUNK_BYTES);
		image__native_word(image, at, image->threads[0].address);
		memory__punch(&image->memory, image->threads[0].address);
		walker__sample(&fixture->walker, image);
		assert_int_equal(fixture->walker.class, LS_SAMPLE_HOST);
		memory__mend(&image->memory);
		walker__sample(&fixture->walker, image);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
		image__native_word(image, at, 0);
	}
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(skips_a_page_that_is_not_there),
		TEST(reads_up_to_a_page_that_is_not_there),
		TEST(scans_a_stack_to_its_last_word),
		TEST(says_so_if_a_known_state_lies_too_far_up),
		TEST(says_so_if_it_cannot_look_at_all_below_a_known_state),
		TEST(bounds_a_search_without_script),
		TEST(does_not_look_through_a_chunk_twice),
		TEST(does_not_follow_pointers_to_values),
		TEST(leaves_a_pointer_to_nowhere_alone_for_a_moment),
		TEST(looks_again_at_a_chunk_that_holds_an_idle_state),
		TEST(looks_again_at_a_chunk_that_holds_many_idle_states),
		TEST(looks_again_for_a_state_that_could_not_be_read),
		TEST(finds_a_state_however_many_samples_ago_it_was_seen),
	};

	return fixture__run("search", tests, sizeof(tests) / sizeof(tests[0]));
}
