/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When the closure of a call of Luau is known well enough not to be read again: those of callers.
 * The innermost function's is read in each sample.
 */
#include "luau_fixture.h"

#define SAMPLE luau_walker__sample
#include "known_closures.h"

/* The main chunk has called protos[1], which runs: frames[1] and frames[0]. */
static void start(struct fixture *fixture)
{
	luau_fixture__main(fixture);
	luau_image__run(&fixture->image, IMAGE_MAIN, 9);
	prove(fixture);
}

/* Changes the line that a prototype begins at: its memory was recycled, its code has not moved. */
static void recycle(struct fixture *fixture, uint64_t proto)
{
	memory__put(&fixture->image.memory, proto + fixture->image.layout->proto_line_defined, 4321,
		    4);
}

static void reads_neither_closure_nor_prototype_of_a_caller(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	luau_fixture__main(fixture);
	for (uint32_t i = 0; i < 50; i++) {
		uint64_t proto;

		luau_image__allocate(image, 8192);
		proto = luau_image__proto(image, "@far.luau", "far", i);
		luau_image__allocate(image, 8192);
		luau_image__call(image, IMAGE_MAIN, luau_image__closure(image, proto), 3);
	}
	luau_image__run(image, IMAGE_MAIN, 9);
	prove(fixture);
	sample_for(fixture, 1);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
	/* What the running function has, the states, and windows of calls and values. */
	assert_in_range(fixture->walker.reads, 1, 40);
}

static void sees_at_once_that_the_running_function_was_recycled(struct fixture *fixture)
{
	uint64_t before;

	start(fixture);
	before = frame(fixture, 0)->fingerprint;
	recycle(fixture, fixture->protos[1]);
	sample_for(fixture, 1);
	assert_int_not_equal(frame(fixture, 0)->fingerprint, before);
}

static void sees_in_time_that_a_caller_was_recycled(struct fixture *fixture)
{
	uint64_t before;

	start(fixture);
	before = frame(fixture, 1)->fingerprint;
	recycle(fixture, fixture->protos[0]);
	for (int i = 0; i < 5 && frame(fixture, 1)->fingerprint == before; i++)
		sample_for(fixture, 1);
	assert_int_not_equal(frame(fixture, 1)->fingerprint, before);
}

/* The other has been forked by it: what differs has the same addresses. */
static void tells_processes_apart(struct fixture *fixture)
{
	uint64_t before;

	start(fixture);
	before = frame(fixture, 1)->fingerprint;
	recycle(fixture, fixture->protos[0]);
	fixture->image.tgid++;
	sample_for(fixture, 1);
	assert_int_not_equal(frame(fixture, 1)->fingerprint, before);
}

/* A caller runs as machine code in one call and is interpreted in another. */
static void tells_how_a_known_caller_runs(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	start(fixture);
	for (int i = 0; i < 5; i++) {
		luau_image__run_native(image, IMAGE_MAIN, 9);
		luau_image__call(image, IMAGE_MAIN, fixture->closures[2], 3);
		luau_image__run(image, IMAGE_MAIN, 9);
		sample_for(fixture, 1);
		expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
	}
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(reads_neither_closure_nor_prototype_of_a_caller),
		TEST(sees_at_once_that_the_running_function_was_recycled),
		TEST(sees_in_time_that_a_caller_was_recycled),
		TEST(tells_processes_apart),
		TEST(tells_how_a_known_caller_runs),
	};

	return luau_fixture__run("known closures of Luau", tests, sizeof(tests) / sizeof(tests[0]));
}
