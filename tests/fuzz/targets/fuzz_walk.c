/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walker over the image of a VM that goes mad. An input is a layout, a thread, and then steps:
 * words written over, at once or while a sample is taken, pages that vanish, registers, samples.
 * Everything is undone at its end, and what the walker then finds must be the image's stack.
 */
#include "changes.h"
#include "fixture.h"
#include "input.h"
#include "sample_checks.h"

#define STEPS_MAX   200
#define SAMPLES_MAX 24
#define DEPTH_MAX   64

struct bench {
	struct fixture fixture;
	struct changes changes;
	uint64_t registers[LS_REGISTER_MAX], sp;
	size_t samples;
};

static struct bench *benches[LS_LAYOUT_MAX];
static struct bench *bench; /* of the input that runs */

static void change_underfoot(struct memory *memory)
{
	changes__make_planned(&bench->changes, memory);
}

static struct bench *build(const struct layout_puc *row)
{
	static const char *const sources[] = {"@main.lua", "@body.lua", "return text"};
	struct bench *made = calloc(1, sizeof(*made));
	struct fixture *fixture;

	require(made);
	fixture = &made->fixture;
	fixture->row = row;
	image__start(&fixture->image, &row->offsets);
	walker__start(&fixture->walker);
	for (size_t i = 0; i < 3; i++)
		fixture->protos[i] = image__proto(&fixture->image, sources[i], (uint32_t)i * 10);
	fixture__chain(fixture, 3);
	fixture__nest(fixture, 3, 20, 9);
	fixture->image.memory.before_read = change_underfoot;
	made->sp = fixture->image.sp;
	return made;
}

/* One of the words that the walker looks at. */
static uint64_t take_place(struct input *input)
{
	const struct image *image = &bench->fixture.image;
	uint8_t kind = input__take(input, 1);
	const struct image_thread *thread =
		&image->threads[input__take(input, 1) % image->thread_count];
	const struct image_call *call = &thread->calls[input__take(input, 1) % thread->call_count];
	uint64_t at = input__take(input, 1) * 8;

	switch (kind % 8) {
	case 0:
		return thread->address + at % image->layout->state_size;
	case 1:
		return call->ci + at % image->layout->ci_size;
	case 2:
		return call->value + at % 32;
	case 3:
		return (call->closure ? call->closure : call->value) + at % 48;
	case 4:
		return bench->fixture.protos[kind / 8 % 3] + at % image->layout->proto_size;
	case 5:
		return image->global + at % 512;
	case 6:
		return bench->sp + at;
	default: /* strings, constants, code: what was allocated after the prototypes began */
		return bench->fixture.protos[0] + kind / 8 * 2048ULL + at;
	}
}

/* What a word may become: what looks like a pointer is followed furthest. */
static uint64_t take_word(struct input *input)
{
	static const int8_t near[] = {-16, -8, -4, -1, 1, 4, 8, 16};
	uint8_t kind = input__take(input, 1);

	switch (kind % 8) {
	case 0:
		return input__take(input, 8);
	case 1:
		return input__take(input, 2);
	case 2:
		return ~input__take(input, 2);
	case 3:
		return 1ULL << kind / 8 * 2;
	case 4: /* what is there already, moved by a little */
		return changes__read(&bench->fixture.image.memory, take_place(input)) +
		       near[kind / 8 % 8];
	case 5:
		return changes__read(&bench->fixture.image.memory, take_place(input));
	case 6:
		return bench->fixture.image.threads[kind / 8 % 4].address;
	default:
		return take_place(input);
	}
}

static void check_sample(const struct walker *walker)
{
	uint32_t placeholders = 0, empty = 0;

	for (uint32_t i = 0; i < walker__count(walker); i++) {
		const struct ls_frame *frame = &walker->scratch->frames[i];

		require(frame->kind <= LS_FRAME_TRUNCATED);
		if (frame->kind) {
			require(!frame->padding);
			require(frame->kind == LS_FRAME_LUA || !frame->fingerprint);
			require(frame->flags < 2 * LS_FRAME_STATE_ROOT);
		}
		placeholders += frame->kind == LS_FRAME_TRUNCATED;
		empty += !frame->kind;
	}
	/* Only a stack that was cut in the middle has places without a frame. */
	require(placeholders <= 1);
	require(!empty || placeholders);
	if (walker->class == LS_SAMPLE_COMPLETE)
		require(walker__count(walker) && !placeholders && !walker__error(walker));
	if (walker->class == LS_SAMPLE_TRUNCATED)
		require(walker__count(walker) == walker->max_depth && placeholders);
}

static void sample_as(const struct ls_puc_layout *layout)
{
	struct walker *walker = &bench->fixture.walker;
	uint32_t rounds = walker->max_depth + 2 * LS_CHAIN_MAX;

	if (++bench->samples > SAMPLES_MAX)
		return;
	bench->fixture.image.memory.reads = 0;
	walker__sample_as(walker, &bench->fixture.image, layout);
	bench->changes.planned_count = 0;
	require(walker__count(walker) <= walker->max_depth);
	require(walker->reads <= 2 * rounds * 15 + 64 * 256);
	if (walker->is_evidence)
		require(walker->class == LS_SAMPLE_COMPLETE ||
			walker->class == LS_SAMPLE_TRUNCATED);
	check_sample(walker);
	check_definitions(walker->definitions, walker->definition_count < WALKER_DEFINITION_MAX
						       ? walker->definition_count
						       : WALKER_DEFINITION_MAX);
}

static void plan(struct input *input)
{
	uint64_t after = 1 + input__take(input, 1), place = take_place(input);

	changes__plan(&bench->changes, place, take_word(input), after);
}

static void take_step(struct input *input)
{
	struct fixture *fixture = &bench->fixture;
	struct image *image = &fixture->image;
	struct walker *walker = &fixture->walker;
	uint64_t place;
	uint8_t kind = input__take(input, 1);

	switch (kind % 12) {
	case 0 ... 2:
		place = take_place(input);
		changes__write(&bench->changes, &image->memory, place, take_word(input));
		return;
	case 3:
	case 4:
		plan(input);
		return;
	case 5:
		if (image->memory.hole_count < MEMORY_HOLE_MAX)
			memory__punch(&image->memory, take_place(input));
		return;
	case 6:
		place = input__take(input, 1) % image->register_count;
		image->registers[place] = take_word(input);
		return;
	case 7: /* SP is a multiple of 8 and within the stack: see copy_registers() */
		image->sp = bench->sp + (int8_t)input__take(input, 1) * 8;
		return;
	case 8:
		walker->max_depth = 1 + input__take(input, 1) % DEPTH_MAX;
		walker->step_ns = 1ULL << input__take(input, 1) % 36;
		walker->room = kind / 12 % 4;
		walker->is_undecided = kind / 48 % 2;
		return;
	case 9:
		memory__mend(&image->memory);
		return;
	case 10:
		sample_as(&layouts_puc[input__take(input, 1) % layouts_puc_count].offsets);
		return;
	default:
		sample_as(image->layout);
		return;
	}
}

static void begin(struct bench *chosen, uint8_t flags)
{
	struct walker *walker = &chosen->fixture.walker;

	bench = chosen;
	memory__select(&chosen->fixture.image.memory);
	walker__forget(walker);
	walker->max_depth = DEPTH_MAX;
	walker->step_ns = 1000000;
	walker->room = true;
	walker->is_undecided = flags & 4;
	chosen->samples = 0;
	chosen->fixture.image.own_stack = !(flags & 1);
	if (flags & 2) /* with a chain and prototypes remembered */
		sample_as(chosen->fixture.image.layout);
}

/* The image as it was built: nothing that went before may show. */
static void undo(void)
{
	struct fixture *fixture = &bench->fixture;

	changes__undo(&bench->changes, &fixture->image.memory);
	memset(fixture->image.registers, 0, sizeof(fixture->image.registers));
	fixture->image.sp = bench->sp;
	fixture->image.own_stack = true;
	fixture->walker.max_depth = 512;
	fixture->walker.room = true;
	fixture->walker.is_undecided = false;
	walker__forget(&fixture->walker);
	walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 3, 2, 1, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = {bytes, size};
	size_t index = input__take(&input, 1) % layouts_puc_count;

	if (!benches[index])
		benches[index] = build(&layouts_puc[index]);
	begin(benches[index], (uint8_t)input__take(&input, 1));
	for (int i = 0; i < STEPS_MAX && input.left; i++)
		take_step(&input);
	sample_as(bench->fixture.image.layout);
	undo();
	return 0;
}
