/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LuaJIT's walker over the image of a VM that goes mad. An input is a layout, what runs, and then
 * steps: words written over, at once or while a sample is taken, pages that vanish, registers,
 * samples. Everything is undone at its end, and what the walker then finds must be the image's
 * stack.
 */
#include <string.h>

#include "changes.h"
#include "input.h"
#include "luajit_fixture.h"
#include "sample_checks.h"

#define STEPS_MAX   200
#define SAMPLES_MAX 24
#define DEPTH_MAX   64
#define READS_MAX   200000 /* of a sample: see LS_FRAMES_AT_ONCE and LS_TRACES_AT_ONCE */
#define RUN_COUNT   3      /* the VM, a C function, a trace */
#define NUMBER      3      /* of the trace */

struct bench {
	struct fixture fixture;
	struct changes changes;
	uint64_t registers[32], sp, pc;
	size_t samples;
};

static struct bench *benches[LS_LAYOUT_MAX][RUN_COUNT];
static struct bench *bench; /* of the input that runs */

static void change_underfoot(struct memory *memory)
{
	changes__make_planned(&bench->changes, memory);
}

static struct bench *build(const struct layout_luajit *row, size_t runs)
{
	struct bench *made = calloc(1, sizeof(*made));
	struct image *image;
	size_t running;

	require(made);
	image = &made->fixture.image;
	luajit_fixture__start(&made->fixture, row);
	luajit_fixture__trace(&made->fixture, NUMBER);
	running = luajit_fixture__chain(&made->fixture, 2);
	luajit_fixture__nest(&made->fixture, running, 21);
	if (runs == 0)
		luajit_image__run_vm(image, running, 12);
	if (runs == 1) {
		luajit_image__call(image, running, made->fixture.builtin, 4);
		luajit_image__run_c(image, running);
	}
	if (runs == 2)
		luajit_image__run_trace(image, running, NUMBER, 8, true);
	image->memory.before_read = change_underfoot;
	made->sp = image->sp;
	made->pc = image->pc;
	memcpy(made->registers, image->registers, sizeof(made->registers));
	return made;
}

/* One of the words that the walker looks at. */
static uint64_t take_place(struct input *input)
{
	const struct fixture *fixture = &bench->fixture;
	const struct image *image = &fixture->image;
	uint8_t kind = input__take(input, 1);
	const struct image_thread *thread =
		&image->threads[input__take(input, 1) % image->thread_count];
	const struct image_call *call = &thread->calls[input__take(input, 1) % thread->call_count];
	uint64_t at = input__take(input, 1) * 8, trace;

	trace = memory__get(&image->memory, luajit_image__trace_place(image, NUMBER), IMAGE_REF);
	switch (kind % 10) {
	case 0:
		return thread->address + at % sizeof(struct ls_luajit_state);
	case 1: /* not yet on the stack of values if it is inlined */
		return (call->base ? call->base : thread->stack + 32) - 32 + at % 48;
	case 2:
		return fixture->closures[kind / 10 % 3] + at % sizeof(struct ls_luajit_function);
	case 3:
		return fixture->protos[kind / 10 % 3] + at % (sizeof(struct ls_luajit_proto) + 256);
	case 4:
		return image->global + at % 1200;
	case 5:
		return image->global + image->layout->global_vm_state + at % 216;
	case 6:
		return bench->sp + at;
	case 7:
		return trace + at % sizeof(struct ls_luajit_trace);
	case 8: /* constants, snapshots, their map */
		return trace + sizeof(struct ls_luajit_trace) + kind / 10 * 512ULL + at;
	default:
		return image->traces + at % (IMAGE_REF * IMAGE_TRACE_MAX);
	}
}

/* What a word may become: what looks like a pointer is followed furthest. */
static uint64_t take_word(struct input *input)
{
	static const int8_t near[] = {-16, -8, -4, -1, 1, 4, 8, 16};
	const struct image *image = &bench->fixture.image;
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
		       (uint64_t)near[kind / 8 % 8];
	case 5:
		return changes__read(&bench->fixture.image.memory, take_place(input));
	case 6:
		return image->threads[kind / 8 % image->thread_count].address;
	default:
		return take_place(input);
	}
}

static void sample_as(const struct ls_luajit_layout *layout)
{
	struct walker *walker = &bench->fixture.walker;

	if (++bench->samples > SAMPLES_MAX)
		return;
	bench->fixture.image.memory.reads = 0;
	luajit_walker__sample_as(walker, &bench->fixture.image, layout);
	bench->changes.planned_count = 0;
	require(luajit_walker__count(walker) <= walker->max_depth);
	require(walker->reads <= READS_MAX);
	if (walker->class == LS_SAMPLE_COMPLETE)
		require(!luajit_walker__error(walker));
	check_frames(walker->scratch->frames, luajit_walker__count(walker),
		     walker->class == LS_SAMPLE_COMPLETE);
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
	struct image *image = &bench->fixture.image;
	struct walker *walker = &bench->fixture.walker;
	uint8_t kind = input__take(input, 1);
	uint64_t place;

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
		place = input__take(input, 1) % 21;
		image->registers[place] = take_word(input);
		return;
	case 7:
		image->sp = bench->sp + (uint64_t)((int8_t)input__take(input, 1) * 8);
		return;
	case 8:
		walker->max_depth = 1 + input__take(input, 1) % DEPTH_MAX;
		walker->step_ns = 1ULL << input__take(input, 1) % 36;
		walker->is_undecided = kind / 12 % 2;
		return;
	case 9:
		memory__mend(&image->memory);
		image->pc = IMAGE_MACHINE_CODE + input__take(input, 2);
		return;
	case 10:
		sample_as(&layouts_luajit[input__take(input, 1) % layouts_luajit_count].offsets);
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
	luajit_walker__forget(walker);
	walker->max_depth = DEPTH_MAX;
	walker->step_ns = 1000000;
	walker->is_undecided = flags & 4;
	chosen->samples = 0;
	chosen->fixture.image.own_stack = !(flags & 1);
	if (flags & 2) /* with a chain, prototypes and traces remembered */
		sample_as(chosen->fixture.image.layout);
}

/* The image as it was built: nothing that went before may show. */
static void undo(void)
{
	struct fixture *fixture = &bench->fixture;

	changes__undo(&bench->changes, &fixture->image.memory);
	memcpy(fixture->image.registers, bench->registers, sizeof(bench->registers));
	fixture->image.sp = bench->sp;
	fixture->image.pc = bench->pc;
	fixture->image.own_stack = true;
	fixture->walker.max_depth = 512;
	fixture->walker.is_undecided = false;
	luajit_walker__forget(&fixture->walker);
	luajit_walker__sample(&fixture->walker, &fixture->image);
	expect_threads(&fixture->walker, &fixture->image, LS_SAMPLE_COMPLETE, 2, 1, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input input = {bytes, size};
	size_t index = input__take(&input, 1) % layouts_luajit_count;
	size_t runs = input__take(&input, 1) % RUN_COUNT;

	if (!benches[index][runs])
		benches[index][runs] = build(&layouts_luajit[index], runs);
	begin(benches[index][runs], (uint8_t)input__take(&input, 1));
	for (int i = 0; i < STEPS_MAX && input.left; i++)
		take_step(&input);
	sample_as(bench->fixture.image.layout);
	undo();
	return 0;
}
