/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The walker that takes a sample: send_definition() has no argument for it. */
static struct walker *current;

static long send_definition(struct ls_function *function)
{
	if (!current->room)
		return -EAGAIN;
	if (current->definition_count < WALKER_DEFINITION_MAX)
		current->definitions[current->definition_count] = *function;
	current->definition_count++;
	return 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "puc/walk_puc.bpf.h"
#include "gc.bpf.h"
#pragma GCC diagnostic pop

#define X(code, class, counter, sentence) [LS_WALK_##code] = LS_SAMPLE_##class,
static const uint8_t class_of_error[] = {LS_WALK_ERRORS(X)};
#undef X

void walker__start(struct walker *walker)
{
	*walker = (struct walker){
		.scratch = calloc(1, sizeof(*walker->scratch)),
		.max_depth = 512,
		.now_ns = 1000000000,
		.step_ns = 1000000,
		.room = true,
	};
	assert_non_null(walker->scratch);
}

void walker__end(struct walker *walker)
{
	free(walker->scratch);
	walker->scratch = NULL;
}

void walker__forget(struct walker *walker)
{
	memset(walker->scratch, 0, sizeof(*walker->scratch));
	walker->thread = (struct ls_thread){0};
}

/* Like begin_sample() in bpf/sample.bpf.h. */
static void begin_sample(struct walker *walker, const struct image *image)
{
	struct ls_scratch *scratch = walker->scratch;

	walker->now_ns += walker->step_ns;
	walker->thread.stack_low = image->stack_low;
	walker->thread.stack_high = image->stack_high;
	walker->thread.own_stack = image->own_stack;
	scratch->now_ns = walker->now_ns;
	scratch->own_ns = walker->is_alone ? walker->now_ns - walker->asleep_ns : 0;
	scratch->tgid = image->tgid;
	scratch->sp = image->sp;
	scratch->frame_room = walker->max_depth;
	scratch->is_undecided = walker->is_undecided;
	scratch->register_count = image->register_count;
	memcpy(scratch->registers, image->registers, sizeof(image->registers));
	memset(&scratch->sample, 0, sizeof(scratch->sample));
}

/* Like send_sample() in bpf/sample.bpf.h. */
static void end_sample(struct walker *walker)
{
	struct ls_sample *sample = &walker->scratch->sample;

	if (!sample->error && !sample->frame_count)
		sample->error = LS_WALK_NO_SCRIPT;
	assert_in_range(sample->error, 0, LS_WALK_ERROR_COUNT - 1);
	assert_in_range(sample->frame_count, 0, LS_DEPTH_MAX);
	walker->class = class_of_error[sample->error];
}

void walker__sample_as(struct walker *walker, struct image *image,
		       const struct ls_puc_layout *layout)
{
	uint64_t reads = image->memory.reads;

	begin_sample(walker, image);
	walker->definition_count = 0;
	current = walker;
	walker->is_evidence = take_stack(walker->scratch, layout, &walker->thread);
	current = NULL;
	walker->reads = image->memory.reads - reads;
	end_sample(walker);
}

void walker__sample(struct walker *walker, struct image *image)
{
	walker__sample_as(walker, image, image->layout);
}

bool walker__is_in_collector(struct walker *walker, const struct ls_image *target, uint64_t pc)
{
	walker->scratch->pc = pc;
	return is_in_gc(walker->scratch, target);
}

void walker__expect_call(const struct walker *walker, size_t at, const struct image_call *call)
{
	const struct ls_frame *frame = &walker->scratch->frames[at];

	assert_in_range(at, 0, LS_DEPTH_MAX - 1);
	assert_int_equal(frame->kind, call->kind);
	assert_int_equal(frame->function, call->function);
	assert_int_equal(frame->pc, call->pc);
}

void walker__expect(const struct walker *walker, const struct image *image, uint8_t class,
		    const size_t *threads, size_t thread_count)
{
	const struct ls_sample *sample = &walker->scratch->sample;
	size_t at = 0;

	assert_int_equal(walker->class, class);
	assert_int_equal(sample->state, image->threads[threads[0]].address);
	for (size_t i = 0; i < thread_count; i++) {
		const struct image_thread *thread = &image->threads[threads[i]];

		for (size_t j = thread->call_count; j-- > 0; at++) {
			assert_in_range(at + 1, 1, sample->frame_count);
			walker__expect_call(walker, at, &thread->calls[j]);
			assert_int_equal(
				!!(walker->scratch->frames[at].flags & LS_FRAME_STATE_ROOT),
				j == 0);
		}
	}
	assert_int_equal(sample->frame_count, at);
}
