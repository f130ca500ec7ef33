/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When the closure of a call is known well enough not to be read again. The innermost function's
 * is read in each sample, those of its callers every 5 ms at least.
 */
#include "fixture.h"

#define SAMPLE walker__sample
#include "known_closures.h"

/* Changes the line that a prototype begins at: its memory was recycled, its code has not moved. */
static void recycle(struct fixture *fixture, uint64_t proto)
{
	struct image *image = &fixture->image;

	image__put(image, proto + image->layout->proto_line_defined, 4321, 4);
}

/* Takes a sample, and returns the fingerprint of the main chunk, which calls what runs. */
static uint64_t fingerprint_of_caller(struct fixture *fixture)
{
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_int_equal(walker__count(&fixture->walker), 2);
	return frame(fixture, 1)->fingerprint;
}

static void reads_neither_closure_nor_prototype_of_a_caller(struct fixture *fixture)
{
	struct image *image = &fixture->image;

	fixture__main(fixture);
	for (uint32_t i = 0; i < 50; i++) {
		image__allocate(image, 8192);
		image__call_lua(image, 0, image__proto(image, "@some.lua", i), 3, 4);
	}
	prove(fixture);
	walker__sample(&fixture->walker, image);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, 0);
	/* One for each CallInfo, unless these are an array. */
	assert_in_range(fixture->walker.reads, 1, 52 + 16);
}

static void sees_another_function_at_once(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	uint64_t code = image__get(image, fixture->protos[1] + image->layout->proto_code);
	const struct image_call *caller;

	fixture__main(fixture);
	prove(fixture);
	caller = &image->threads[0].calls[0];
	image__put(image, caller->closure + image->layout->closure_proto, fixture->protos[1], 8);
	image__put(image, caller->ci + image->layout->ci_savedpc, code + 4 * 6, 8);
	walker__sample(&fixture->walker, image);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_int_equal(frame(fixture, 1)->function, fixture->protos[1]);
	assert_int_equal(frame(fixture, 1)->pc, 5);
}

static void sees_at_once_that_the_running_function_was_recycled(struct fixture *fixture)
{
	uint64_t before;

	fixture__main(fixture);
	prove(fixture);
	before = frame(fixture, 0)->fingerprint;
	recycle(fixture, fixture->protos[2]);
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_not_equal(frame(fixture, 0)->fingerprint, before);
	assert_int_equal(fixture->walker.definition_count, 1);
}

static void sees_in_time_that_a_caller_was_recycled(struct fixture *fixture)
{
	uint64_t before, recycled_ns;

	fixture__main(fixture);
	prove(fixture);
	before = frame(fixture, 1)->fingerprint;
	recycle(fixture, fixture->protos[0]);
	recycled_ns = fixture->walker.now_ns;
	fixture->walker.step_ns = MS / 10;
	while (fingerprint_of_caller(fixture) == before)
		assert_in_range(fixture->walker.now_ns - recycled_ns, 0, 3 * MS);
	assert_in_range(fixture->walker.now_ns - recycled_ns, MS, 4 * MS);
	assert_int_equal(fixture->walker.definition_count, 1);
}

/* A template was replaced by one that has the same addresses. */
static void trusts_no_caller_once_a_function_is_new(struct fixture *fixture)
{
	uint64_t before;

	fixture__main(fixture);
	prove(fixture);
	before = frame(fixture, 1)->fingerprint;
	recycle(fixture, fixture->protos[0]);
	recycle(fixture, fixture->protos[2]);
	assert_int_not_equal(fingerprint_of_caller(fixture), before);
}

/* It is trusted for a fraction of the time that it was the same, so not for this step. */
static void trusts_a_new_closure_for_a_moment_only(struct fixture *fixture)
{
	uint64_t before;

	fixture__main(fixture);
	fixture->walker.step_ns = MS;
	for (int i = 0; i < 20; i++)
		before = fingerprint_of_caller(fixture);
	recycle(fixture, fixture->protos[0]);
	assert_int_not_equal(fingerprint_of_caller(fixture), before);
}

/* The other has been forked by it: what differs has the same addresses. */
static void tells_processes_apart(struct fixture *fixture)
{
	uint64_t before;

	fixture__main(fixture);
	prove(fixture);
	before = frame(fixture, 1)->fingerprint;
	recycle(fixture, fixture->protos[0]);
	fixture->image.tgid++;
	assert_int_not_equal(fingerprint_of_caller(fixture), before);
}

static void defines_the_callers_again_in_another_edition(struct fixture *fixture)
{
	fixture__main(fixture);
	prove(fixture);
	fixture->walker.scratch->edition++;
	walker__sample(&fixture->walker, &fixture->image);
	assert_int_equal(fixture->walker.definition_count, 2);
}

static void does_not_know_what_was_not_defined(struct fixture *fixture)
{
	struct walker *walker = &fixture->walker;

	fixture__main(fixture);
	walker->room = false;
	sample_for(fixture, 3000);
	walker->room = true;
	walker__sample(walker, &fixture->image);
	assert_int_equal(walker->definition_count, 2);
	walker__sample(walker, &fixture->image);
	assert_int_equal(walker->definition_count, 0);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(reads_neither_closure_nor_prototype_of_a_caller),
		TEST(sees_another_function_at_once),
		TEST(sees_at_once_that_the_running_function_was_recycled),
		TEST(sees_in_time_that_a_caller_was_recycled),
		TEST(trusts_no_caller_once_a_function_is_new),
		TEST(trusts_a_new_closure_for_a_moment_only),
		TEST(tells_processes_apart),
		TEST(defines_the_callers_again_in_another_edition),
		TEST(does_not_know_what_was_not_defined),
	};

	return fixture__run("known_closures", tests, sizeof(tests) / sizeof(tests[0]));
}
