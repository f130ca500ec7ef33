/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a walker over an image. Each family's walker includes this once, after its walk_*.bpf.h. It
 * uses names of that file, and members that the images of all these families have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define X(code, class, counter, sentence) [LS_WALK_##code] = LS_SAMPLE_##class,
static const uint8_t class_of_error[] = {LS_WALK_ERRORS(X)};
#undef X

static void start_walker(struct walker *walker)
{
	*walker = (struct walker){
		.scratch = calloc(1, sizeof(*walker->scratch)),
		.max_depth = 512,
		.now_ns = 1000000000,
		.step_ns = 1000000,
	};
	assert_non_null(walker->scratch);
}

static void end_walker(struct walker *walker)
{
	free(walker->scratch);
	walker->scratch = NULL;
}

static void clear_walker(struct walker *walker)
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
	scratch->own_ns = 0;
	scratch->tgid = image->tgid;
	scratch->sp = image->sp;
	scratch->pc = image->pc;
	scratch->frame_room = walker->max_depth;
	scratch->is_undecided = walker->is_undecided;
	scratch->register_count = 21; /* of struct pt_regs, asm/ptrace.h */
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

static void sample_as(struct walker *walker, struct image *image, const ls_layout_t *layout)
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

static bool is_call(const struct walker *walker, size_t at, const struct image_call *call)
{
	const struct ls_frame *frame = &walker->scratch->frames[at];

	return frame->kind == call->kind && frame->function == call->function &&
	       (call->kind != LS_FRAME_LUA || frame->pc == call->pc) &&
	       !!(frame->flags & LS_FRAME_NATIVE) == call->is_native;
}

static void expect_call(const struct walker *walker, size_t at, const struct image_call *call)
{
	const struct ls_frame *frame = &walker->scratch->frames[at];

	assert_in_range(at, 0, LS_DEPTH_MAX - 1);
	assert_int_equal(frame->kind, call->kind);
	assert_int_equal(frame->function, call->function);
	if (call->kind == LS_FRAME_LUA)
		assert_int_equal(frame->pc, call->pc);
	assert_int_equal(!!(frame->flags & LS_FRAME_NATIVE), call->is_native);
}

static void expect_chain(const struct walker *walker, const struct image *image, uint8_t class,
			 const size_t *threads, size_t thread_count)
{
	const struct ls_sample *sample = &walker->scratch->sample;
	size_t at = 0;

	assert_int_equal(sample->error, class == LS_SAMPLE_COMPLETE ? 0 : sample->error);
	assert_int_equal(walker->class, class);
	assert_int_equal(sample->state, image->threads[threads[0]].address);
	for (size_t i = 0; i < thread_count; i++) {
		const struct image_thread *thread = &image->threads[threads[i]];

		for (size_t j = thread->call_count; j-- > 0; at++) {
			assert_in_range(at + 1, 1, sample->frame_count);
			expect_call(walker, at, &thread->calls[j]);
			assert_int_equal(
				!!(walker->scratch->frames[at].flags & LS_FRAME_STATE_ROOT),
				j == 0);
		}
	}
	assert_int_equal(sample->frame_count, at);
}
