/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define RDX 12
#define RBX 5

#define FRAME_C     1 /* lj_frame.h */
#define FRAME_CONT  2
#define FRAME_VARG  3
#define FRAME_PCALL 6
#define SAVED_REGS  16 /* CFRAME_SIZE_JIT - CFRAME_SIZE */

#define CONSTANTS_MAX 64 /* of a trace, in words */
#define MAP_ENTRIES   1024
#define INLINED_MAX   8

/* Where the function that an instruction calls has its base, above the caller's. */
static uint64_t distance_of(uint32_t pc)
{
	return (2 + pc % 32) * IMAGE_SLOT + IMAGE_FRAME_LINK;
}

struct image_call *luajit_image__top(struct image *image, size_t thread)
{
	struct image_thread *of = &image->threads[thread];

	assert_in_range(of->call_count, 1, IMAGE_CALL_MAX);
	return &of->calls[of->call_count - 1];
}

/* Describes the closure as a call at `base`. */
static struct image_call describe(struct image *image, uint64_t closure, uint64_t base)
{
	struct ls_luajit_function function;
	struct image_call call = {.base = base};

	memory__get_bytes(&image->memory, closure, &function, sizeof(function));
	if (function.ffid == LS_LUAJIT_FF_LUA) {
		call.kind = LS_FRAME_LUA;
		call.code = function.pc;
		call.function = function.pc - sizeof(struct ls_luajit_proto);
		return call;
	}
	call.kind = LS_FRAME_C;
	call.function = function.function;
	if (function.ffid > LS_LUAJIT_FF_C)
		call.function |= (uint64_t)function.ffid << 56;
	return call;
}

static void push(struct image *image, size_t thread, uint64_t closure, uint64_t base, uint64_t link)
{
	struct image_thread *to = &image->threads[thread];

	assert_in_range(to->call_count, 0, IMAGE_CALL_MAX - 1);
	assert_in_range(base, to->stack + 2 * IMAGE_FRAME_LINK,
			to->stack + IMAGE_SLOT * (IMAGE_SLOT_COUNT - 300));
	luajit_image__put_frame(image, base, closure, link);
	to->calls[to->call_count++] = describe(image, closure, base);
}

void luajit_image__call(struct image *image, size_t thread, uint64_t closure, uint32_t pc)
{
	struct image_call *caller = luajit_image__top(image, thread);

	caller->pc = pc;
	push(image, thread, closure, caller->base + distance_of(pc), caller->code + 4 * (pc + 1));
}

static uint64_t base_of(const struct image_thread *thread)
{
	return thread->call_count ? thread->calls[thread->call_count - 1].base
				  : thread->stack + IMAGE_FRAME_LINK;
}

void luajit_image__call_from_c(struct image *image, size_t thread, uint64_t closure)
{
	uint64_t base = base_of(&image->threads[thread]);

	luajit_image__enter(image, thread);
	push(image, thread, closure, base + 64, 64 | FRAME_C);
}

void luajit_image__interrupt(struct image *image, size_t thread, uint64_t closure, uint32_t pc)
{
	struct image_call *interrupted = luajit_image__top(image, thread);

	interrupted->pc = pc;
	luajit_image__put(image,
			  image->threads[thread].cframe + offsetof(struct ls_luajit_cframe, pc),
			  interrupted->code + 4 * (pc + 1), sizeof(ls_luajit_ref_t));
	luajit_image__call_from_c(image, thread, closure);
}

void luajit_image__pcall(struct image *image, size_t thread, uint64_t closure)
{
	push(image, thread, closure, luajit_image__top(image, thread)->base + 16, 16 | FRAME_PCALL);
}

void luajit_image__metamethod(struct image *image, size_t thread, uint64_t closure, uint32_t pc)
{
	struct image_call *caller = luajit_image__top(image, thread);
	uint64_t base = caller->base + 320 + 2 * IMAGE_FRAME_LINK;

	caller->pc = pc;
	luajit_image__put(image, base - 2 * IMAGE_FRAME_LINK, IMAGE_C_FUNCTION + 64, IMAGE_REF);
	luajit_image__put(image, base - 2 * IMAGE_FRAME_LINK + IMAGE_REF,
			  caller->code + 4 * (pc + 1), IMAGE_REF);
	push(image, thread, closure, base, (320 + 2 * IMAGE_FRAME_LINK) | FRAME_CONT);
}

void luajit_image__vararg(struct image *image, size_t thread)
{
	struct image_call *call = luajit_image__top(image, thread);
	uint64_t value = memory__get(&image->memory, call->base - IMAGE_FRAME_LINK, IMAGE_REF);

	call->base += 64;
	luajit_image__put_frame(image, call->base, value & LS_LUAJIT_ADDRESS, 64 | FRAME_VARG);
}

void luajit_image__run_vm(struct image *image, size_t thread, uint32_t pc)
{
	struct image_call *call = luajit_image__top(image, thread);

	call->pc = pc;
	image->sp = image->threads[thread].cframe;
	image->registers[RDX] = call->base;
	image->registers[RBX] = call->code + 4 * (pc + 1);
	luajit_image__set_vm_state(image, LS_LUAJIT_IN_INTERPRETER);
}

void luajit_image__save_base(struct image *image, size_t thread)
{
	luajit_image__put(image,
			  image->threads[thread].address + offsetof(struct ls_luajit_state, base),
			  luajit_image__top(image, thread)->base, 8);
}

void luajit_image__run_c(struct image *image, size_t thread)
{
	luajit_image__save_base(image, thread);
	luajit_image__native_frame(image, 160);
	luajit_image__put(image, image->sp + 40, image->threads[thread].address, 8);
	luajit_image__set_vm_state(image, LS_LUAJIT_IN_C);
}

/* ---- traces */

/* What is being written of a trace. */
struct compilation {
	struct image *image;
	struct ls_luajit_trace header;
	uint32_t constant; /* reference of the next constant */
	uint32_t entry;    /* index of the next entry of the map */
};

/* Adds a constant of two instructions: one of 64 bits is in the second. Returns its reference. */
static uint32_t add_constant(struct compilation *compilation, uint64_t value)
{
	uint32_t reference = compilation->constant;

	luajit_image__put(compilation->image, compilation->header.ir + 8ULL * reference,
			  LS_LUAJIT_BYTES(0, value), 8);
	luajit_image__put(compilation->image, compilation->header.ir + 8ULL * (reference + 1),
			  LS_LUAJIT_BYTES(value, 0), 8);
	compilation->constant += 2;
	return reference;
}

static void add_entry(struct compilation *compilation, uint32_t entry)
{
	luajit_image__put(compilation->image,
			  compilation->header.snapshot_map + 4ULL * compilation->entry, entry, 4);
	compilation->entry++;
}

#ifdef LS_NARROW
static void add_frame(struct compilation *compilation, uint32_t slot, uint64_t closure,
		      uint64_t link)
{
	(void)link; /* behind the map: end_map() */
	add_entry(compilation,
		  slot << 24 | LS_LUAJIT_SNAP_FRAME | add_constant(compilation, closure));
}

static void end_map(struct compilation *compilation, uint64_t pc, uint32_t slot,
		    const uint64_t *links, size_t depth)
{
	(void)slot;
	add_entry(compilation, (uint32_t)pc);
	for (size_t i = depth; i-- > 0;)
		add_entry(compilation, (uint32_t)links[i]);
}
#else
static void add_frame(struct compilation *compilation, uint32_t slot, uint64_t closure,
		      uint64_t link)
{
	add_entry(compilation, slot << 24 | add_constant(compilation, closure));
	add_entry(compilation,
		  (slot + 1) << 24 | LS_LUAJIT_SNAP_FRAME | add_constant(compilation, link));
}

static void end_map(struct compilation *compilation, uint64_t pc, uint32_t slot,
		    const uint64_t *links, size_t depth)
{
	(void)links, (void)depth; /* constants: add_frame() */
	add_entry(compilation, (uint32_t)(pc << 8 | slot));
	add_entry(compilation, (uint32_t)(pc >> 24));
}
#endif

/* Adds snapshot `index`, which has the first `depth` of the closures. */
static void add_snapshot(struct compilation *compilation, uint32_t index, uint64_t code,
			 const uint64_t *closures, size_t depth, uint32_t pc)
{
	struct image *image = compilation->image;
	struct ls_luajit_snapshot snapshot = {
		.map_offset = compilation->entry,
		.reference = (uint16_t)(LS_LUAJIT_REF_BIAS + 1 + index),
		.code_offset = (uint16_t)(index * IMAGE_TRACE_BYTES / IMAGE_SNAPSHOTS),
	};
	uint64_t links[INLINED_MAX];
	uint32_t slot = 0;

	assert_in_range(depth, 0, INLINED_MAX);
	for (uint32_t i = 0; i < depth; i++) {
		links[i] = code + 4 * (pc + i + 1);
		slot += (uint32_t)distance_of(pc + i) / IMAGE_SLOT;
		add_frame(compilation, slot, closures[i], links[i]);
		code = describe(image, closures[i], 0).code;
	}
	snapshot.entry_count = (uint8_t)(IMAGE_FRAME_ENTRIES * depth);
	end_map(compilation, code + 4ULL * index, slot, links, depth);
	memory__put_bytes(&image->memory, compilation->header.snapshots + index * sizeof(snapshot),
			  &snapshot, sizeof(snapshot));
}

uint64_t luajit_image__add_trace(struct image *image, uint32_t number, uint64_t begins_in,
				 const uint64_t *closures, size_t count, uint32_t pc)
{
	const uint32_t constants = CONSTANTS_MAX * (uint32_t)(count + 1) * 4;
	uint64_t address = luajit_image__allocate(image, sizeof(struct ls_luajit_trace));
	struct compilation compilation = {.image = image,
					  .constant = LS_LUAJIT_REF_BIAS - constants};
	struct ls_luajit_trace *header = &compilation.header;
	uint64_t code = describe(image, begins_in, 0).code;

	*header = (struct ls_luajit_trace){
		.marked = 1,
		.gct = LS_LUAJIT_TRACE,
		.snapshot_count = IMAGE_SNAPSHOTS,
		.instruction_end = LS_LUAJIT_REF_BIAS + 16,
		.ir = luajit_image__allocate(image, 8ULL * (constants + 16)) -
		      8ULL * (LS_LUAJIT_REF_BIAS - constants),
		.constant_start = LS_LUAJIT_REF_BIAS - constants,
		.snapshots = luajit_image__allocate(
			image, IMAGE_SNAPSHOTS * sizeof(struct ls_luajit_snapshot)),
		.snapshot_map = luajit_image__allocate(image, 4 * MAP_ENTRIES),
		.start_pc = code,
		.code_size = IMAGE_TRACE_BYTES,
		.code = IMAGE_MACHINE_CODE + (uint64_t)number * IMAGE_TRACE_BYTES,
		.stack_bytes = IMAGE_SPADJUST,
		.number = (uint16_t)number,
		.link = (uint16_t)number,
	};
	for (uint32_t i = 0; i < IMAGE_SNAPSHOTS; i++)
		add_snapshot(&compilation, i, code, closures, i % (count + 1), pc);
	header->map_count = compilation.entry;
	assert_in_range(header->map_count, 1, MAP_ENTRIES);
	memory__put_bytes(&image->memory, address, header, sizeof(*header));
	luajit_image__put(image, luajit_image__trace_place(image, number), address, IMAGE_REF);
	return address;
}

/* What stands for a reference in entry `at` of a map. */
static uint64_t constant_of(const struct image *image, const struct ls_luajit_trace *header,
			    uint32_t at)
{
	uint64_t reference = memory__get(&image->memory, header->snapshot_map + 4ULL * at, 2);

	return memory__get(&image->memory, header->ir + 8 * (reference + LS_LUAJIT_BYTES(1, 0)), 8);
}

/* The link of the frame whose entry is number i of the snapshot's map. */
static uint64_t link_of(const struct image *image, const struct ls_luajit_trace *header,
			const struct ls_luajit_snapshot *snapshot, uint32_t i)
{
#ifdef LS_NARROW
	uint32_t behind = snapshot->map_offset + 2U * snapshot->entry_count - i;

	return memory__get(&image->memory, header->snapshot_map + 4ULL * behind, 4);
#else
	return constant_of(image, header, snapshot->map_offset + i + 1);
#endif
}

/* Adds the calls that the snapshot has. */
static void add_inlined(struct image *image, size_t thread, const struct ls_luajit_trace *header,
			const struct ls_luajit_snapshot *snapshot)
{
	struct image_thread *to = &image->threads[thread];

	luajit_image__top(image, thread)->is_native = true;
	for (uint32_t i = 0; i < snapshot->entry_count; i += IMAGE_FRAME_ENTRIES) {
		struct image_call *caller = luajit_image__top(image, thread);
		uint64_t closure = constant_of(image, header, snapshot->map_offset + i);

		caller->pc =
			(uint32_t)((link_of(image, header, snapshot, i) - caller->code) / 4 - 1);
		to->calls[to->call_count++] = describe(image, closure, 0);
		luajit_image__top(image, thread)->is_native = true;
	}
}

void luajit_image__run_trace(struct image *image, size_t thread, uint32_t number, uint32_t at,
			     bool in_c)
{
	uint64_t frame = image->threads[thread].cframe - SAVED_REGS - IMAGE_SPADJUST;
	uint64_t pc = IMAGE_MACHINE_CODE + (uint64_t)number * IMAGE_TRACE_BYTES +
		      at * IMAGE_TRACE_BYTES / IMAGE_SNAPSHOTS + 5;
	struct ls_luajit_snapshot snapshot;
	struct ls_luajit_trace header;

	memory__get_bytes(
		&image->memory,
		memory__get(&image->memory, luajit_image__trace_place(image, number), IMAGE_REF),
		&header, sizeof(header));
	memory__get_bytes(&image->memory, header.snapshots + at * sizeof(snapshot), &snapshot,
			  sizeof(snapshot));
	luajit_image__set_trace_base(image, thread, luajit_image__top(image, thread)->base);
	luajit_image__set_global(image, image->layout->global_vm_state, number, 4);
	luajit_image__native_frame(image, image->sp - frame);
	image->pc = pc;
	if (in_c) {
		luajit_image__native_frame(image, 8);
		luajit_image__put(image, image->sp, pc, 8);
		luajit_image__native_frame(image, 96);
		image->pc = IMAGE_C_FUNCTION + 8;
	}
	add_inlined(image, thread, &header, &snapshot);
	luajit_image__top(image, thread)->pc = at;
}
