/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which words of a native stack show that a sample is in the garbage collector. */
#include "fixture.h"

#define CODE      0x7f0000000000ULL
#define COLLECTOR (CODE + 0x1000)
#define OUTER     (CODE + 0x2000) /* the size of its frame is unknown */
#define FRAMED    (CODE + 0x3000) /* likewise an entry, but its frame has six words */
#define MODULE    (CODE + 0x80000)
#define LIBRARY   (CODE + 0x90000)

static struct ls_image target = {
	.code = {{CODE, CODE + 0x10000}},
	.map_count = 3,
	.map = {{COLLECTOR, 0x100, LS_CODE_COLLECTOR, .frame = 32},
		{OUTER, 0x100, LS_CODE_OUTER},
		{FRAMED, 0x100, LS_CODE_OUTER, .frame = 48}},
};

/* The running state is protected, and below that there is a frame of 40 words. */
static void prepare(struct fixture *fixture)
{
	memory__map(&fixture->image.memory, CODE, 0x10000);
	fixture__main(fixture);
	image__native_frame(&fixture->image, 40 * 8);
	walker__sample(&fixture->walker, &fixture->image);
}

static void put(struct fixture *fixture, uint32_t at, uint64_t word)
{
	image__native_word(&fixture->image, at * 8, word);
}

/* Puts the return address `place`, which follows a call of `callee`, at word `at`. */
static void put_call(struct fixture *fixture, uint32_t at, uint64_t place, uint64_t callee)
{
#ifdef __aarch64__
	uint64_t instruction = (0x94000000ULL | ((callee - place + 4) / 4 & 0x3ffffff))
			       << 32; /* BL */

	put(fixture, at - 1, fixture->image.sp + (at - 1) * 8 + LS_CHUNK_BYTES); /* its record */
#else
	uint64_t instruction = 0xe8ULL << 24 | (callee - place) << 32; /* CALL rel32 */
#endif
	memory__put(&fixture->image.memory, place - 8, instruction, sizeof(instruction));
	put(fixture, at, place);
}

/* Puts a return address into COLLECTOR, whose frame has four words, at word `at`. */
static void put_collector(struct fixture *fixture, uint32_t at)
{
	put_call(fixture, at, COLLECTOR + 8, CODE + 0x4000);
#ifdef __aarch64__
	put(fixture, at - 1, fixture->image.sp + (at + 3) * 8);
#endif
}

static int decide_at(struct fixture *fixture, uint64_t pc)
{
	return walker__is_in_collector(&fixture->walker, &target, pc);
}

/* Decides for a pc in a library, as in malloc(). */
static int decide(struct fixture *fixture)
{
	return decide_at(fixture, LIBRARY);
}

static void goes_by_the_pc(struct fixture *fixture)
{
	prepare(fixture);
	assert_int_equal(decide(fixture), 0);
	assert_int_equal(decide_at(fixture, COLLECTOR), 1);
	put_call(fixture, 5, OUTER + 0x20, COLLECTOR);
	put_collector(fixture, 1);
	assert_int_equal(decide(fixture), 1);
	assert_int_equal(decide_at(fixture, OUTER + 5), 0);
}

static void goes_by_the_nearest_return_address(struct fixture *fixture)
{
	prepare(fixture);
	put_collector(fixture, 3);
	put_call(fixture, 7, OUTER + 0x20, COLLECTOR);
	assert_int_equal(decide(fixture), 1);
	put_call(fixture, 1, OUTER + 0x30, CODE + 0x4000);
	assert_int_equal(decide(fixture), 0);
}

static void takes_only_what_follows_a_call_for_a_return_address(struct fixture *fixture)
{
	prepare(fixture);
	put(fixture, 1, OUTER);
	put(fixture, 2, OUTER + 0x30);
	put_collector(fixture, 3);
	put_call(fixture, 7, OUTER + 0x20, COLLECTOR);
	assert_int_equal(decide(fixture), 1);
}

/* Where the garbage collector was once called from, something else has been called since. */
static void passes_over_what_was_left_behind(struct fixture *fixture)
{
	prepare(fixture);
	put_collector(fixture, 3);
	assert_int_equal(decide(fixture), 0);
	put_call(fixture, 7, OUTER + 0x20, CODE + 0x4000);
	assert_int_equal(decide(fixture), 0);
	put_call(fixture, 7, OUTER + 0x20, COLLECTOR);
	assert_int_equal(decide(fixture), 1);
}

/* Puts the return address into FRAMED of a call of COLLECTOR at word `at`. */
static void put_framed(struct fixture *fixture, uint32_t at)
{
	put_call(fixture, at, FRAMED + 0x20, COLLECTOR);
#ifdef __aarch64__
	put(fixture, at - 1, fixture->image.sp + (at + 5) * 8);
#endif
}

/* The function that entered the collector has ended as well, and the next left a hole there. */
static void passes_over_what_a_function_that_ended_left_behind(struct fixture *fixture)
{
	prepare(fixture);
	memory__map(&fixture->image.memory, MODULE, 0x1000);
	put_collector(fixture, 3);
	put_framed(fixture, 7);
	put(fixture, 13, 1);
	assert_int_equal(decide(fixture), 0);
	put(fixture, 13, MODULE + 0x40);
	assert_int_equal(decide(fixture), 0);
	put_call(fixture, 13, MODULE + 0x40, MODULE + 0x80); /* of a stub */
	assert_int_equal(decide(fixture), 1);
	put_call(fixture, 13, OUTER + 0x20, FRAMED);
	assert_int_equal(decide(fixture), 1);
	put_call(fixture, 13, OUTER + 0x20, CODE + 0x4000);
	assert_int_equal(decide(fixture), 0);
	target.map[2].is_tail_called = 1;
	assert_int_equal(decide(fixture), 1);
	target.map[2].is_tail_called = 0;
}

/* The kernel reclaims what a thread has not used for long: the stack above, and callers' code. */
static void needs_no_page_further_up(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	prepare(fixture);
	image__native_frame(image, MEMORY_PAGE + (image->sp + 14 * 8) % MEMORY_PAGE);
	walker__sample(&fixture->walker, image);
	assert_int_equal(image->sp % MEMORY_PAGE, MEMORY_PAGE - 14 * 8);
	put_collector(fixture, 3);
	put_framed(fixture, 7);
	put_call(fixture, 13, OUTER + 0x20, FRAMED);
	assert_int_equal(decide(fixture), 1);
	memory__punch(&image->memory, image->sp + MEMORY_PAGE);
	assert_int_equal(decide(fixture), 1);
	put_call(fixture, 13, CODE + 0x8020, FRAMED);
	memory__punch(&image->memory, CODE + 0x8000);
	assert_int_equal(decide(fixture), 1);
	memory__punch(&image->memory, image->sp);
	assert_int_equal(decide(fixture), 0);
}

/* A finalizer runs under a protected call: what lies above that call waits. */
static void looks_no_further_than_the_protected_call(struct fixture *fixture)
{
	prepare(fixture);
	put_collector(fixture, 30);
	put_call(fixture, 34, OUTER + 0x20, COLLECTOR);
	assert_int_equal(decide(fixture), 1);
	image__set_error_jump(&fixture->image, IMAGE_MAIN, fixture->image.sp + 20 * 8);
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(decide(fixture), 0);
}

static void knows_nothing_without_a_map(struct fixture *fixture)
{
	struct ls_image unknown = target;

	prepare(fixture);
	unknown.map_count = 0;
	assert_int_equal(walker__is_in_collector(&fixture->walker, &unknown, COLLECTOR), 0);
}

int main(void)
{
	const struct fixture_test tests[] = {
		TEST(goes_by_the_pc),
		TEST(goes_by_the_nearest_return_address),
		TEST(takes_only_what_follows_a_call_for_a_return_address),
		TEST(passes_over_what_was_left_behind),
		TEST(passes_over_what_a_function_that_ended_left_behind),
		TEST(needs_no_page_further_up),
		TEST(looks_no_further_than_the_protected_call),
		TEST(knows_nothing_without_a_map),
	};

	return fixture__run("gc", tests, sizeof(tests) / sizeof(tests[0]));
}
