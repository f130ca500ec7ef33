/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When what LuaJIT's calls consist of is known well enough not to be read again: the closures of
 * callers and their call instructions. The innermost function's closure is read in each sample.
 */
#include "luajit_fixture.h"

#include <stddef.h>

#define SAMPLE luajit_walker__sample
#include "known_closures.h"

/* The main chunk has called a function, which runs: frames[1] and frames[0]. */
static void start(struct fixture *fixture)
{
	luajit_fixture__main(fixture);
	luajit_image__run_vm(&fixture->image, IMAGE_MAIN, 6);
}

/* Changes the line that a prototype begins at: its memory was recycled, its code has not moved. */
static void recycle(struct fixture *fixture, uint64_t code)
{
	uint64_t proto = code - sizeof(struct ls_luajit_proto);

	luajit_image__put(&fixture->image, proto + offsetof(struct ls_luajit_proto, first_line),
			  4321, 4);
}

static void sees_another_function_at_once(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	const struct image_call *calls;
	uint64_t code;

	start(fixture);
	prove(fixture);
	calls = image->threads[IMAGE_MAIN].calls;
	code = fixture->protos[1] + sizeof(struct ls_luajit_proto);
	luajit_image__put(image, fixture->closures[0] + offsetof(struct ls_luajit_function, pc),
			  code, sizeof(((struct ls_luajit_function *)0)->pc));
	luajit_image__put_frame(image, calls[1].base, fixture->closures[2],
				code + 4 * (calls[0].pc + 1));
	sample_for(fixture, 1);
	assert_int_equal(fixture->walker.class, LS_SAMPLE_COMPLETE);
	assert_int_equal(frame(fixture, 1)->function, fixture->protos[1]);
}

static void sees_at_once_that_the_running_function_was_recycled(struct fixture *fixture)
{
	uint64_t before;

	start(fixture);
	prove(fixture);
	before = frame(fixture, 0)->fingerprint;
	recycle(fixture, fixture->image.threads[IMAGE_MAIN].calls[1].code);
	sample_for(fixture, 1);
	assert_int_not_equal(frame(fixture, 0)->fingerprint, before);
}

static void sees_in_time_that_a_caller_was_recycled(struct fixture *fixture)
{
	uint64_t before;

	start(fixture);
	prove(fixture);
	before = frame(fixture, 1)->fingerprint;
	recycle(fixture, fixture->image.threads[IMAGE_MAIN].calls[0].code);
	for (int i = 0; i < 5 && frame(fixture, 1)->fingerprint == before; i++)
		sample_for(fixture, 1);
	assert_int_not_equal(frame(fixture, 1)->fingerprint, before);
}

/* Until then, nothing that owns the instruction is where its caller seems to be. */
static void sees_in_time_that_a_call_instruction_was_recycled(struct fixture *fixture)
{
	struct image *image = &fixture->image;
	struct image_call *calls;
	bool is_torn = false;

	start(fixture);
	prove(fixture);
	calls = image->threads[IMAGE_MAIN].calls;
	/* The call moves up by a slot; so do operand A and what runs. */
	calls[1].base += IMAGE_SLOT;
	luajit_image__put_frame(image, calls[1].base, fixture->closures[2],
				calls[0].code + 4 * (calls[0].pc + 1));
	luajit_image__put(image, calls[0].code + 4 * calls[0].pc + 1, 2 + calls[0].pc % 32 + 1, 1);
	luajit_image__run_vm(image, IMAGE_MAIN, 6);
	for (int i = 0; i < 5; i++) {
		sample_for(fixture, 1);
		is_torn |= fixture->walker.class != LS_SAMPLE_COMPLETE;
	}
	assert_true(is_torn);
	expect_threads(&fixture->walker, image, LS_SAMPLE_COMPLETE, IMAGE_MAIN);
}

/* The other has been forked by it: what differs has the same addresses. */
static void tells_processes_apart(struct fixture *fixture)
{
	uint64_t before;

	start(fixture);
	prove(fixture);
	before = frame(fixture, 1)->fingerprint;
	recycle(fixture, fixture->image.threads[IMAGE_MAIN].calls[0].code);
	fixture->image.tgid++;
	sample_for(fixture, 1);
	assert_int_not_equal(frame(fixture, 1)->fingerprint, before);
}

int main(void)
{
	static const struct fixture_test tests[] = {
		TEST(sees_another_function_at_once),
		TEST(sees_at_once_that_the_running_function_was_recycled),
		TEST(sees_in_time_that_a_caller_was_recycled),
		TEST(sees_in_time_that_a_call_instruction_was_recycled),
		TEST(tells_processes_apart),
	};

	return luajit_fixture__run("known closures of LuaJIT", tests,
				   sizeof(tests) / sizeof(tests[0]));
}
