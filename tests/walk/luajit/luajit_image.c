/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define HEAP_START  0x7f3456000000ULL
#define HEAP_SIZE   (24ULL << 20)
#define STACK_HIGH  0x7ffd00400000ULL
#define STACK_SIZE  0x400000ULL
#define CODE_SIZE   (IMAGE_TRACE_MAX * IMAGE_TRACE_BYTES)
#define SLOT_COUNT  30000 /* of each stack of values */
#define SLOT        8
#define CFRAME_SIZE 80   /* lj_frame.h */
#define GLOBAL_SIZE 4096 /* and what comes behind it in GG_State */
#define SAVED_REGS  16   /* CFRAME_SIZE_JIT - CFRAME_SIZE */

#define OP_CALL     66 /* lj_bc.h */
#define FRAME_C     1  /* lj_frame.h */
#define FRAME_CONT  2
#define FRAME_VARG  3
#define FRAME_PCALL 6
#define FRAME_LINK  16 /* bytes: a function and a link */

#define OBJECT_COUNT   4 /* constants of a prototype */
#define NUMBER_COUNT   2
#define INFO_BYTES     128
#define CONSTANTS_MAX  64 /* of a trace, in words */
#define MAP_ENTRIES    1024
#define CODE_OF(proto) ((proto) + sizeof(struct ls_luajit_proto))

#define NIL         (~0ULL)
#define TAGGED(gct) (~(uint64_t)(gct) << LS_LUAJIT_TYPE_SHIFT)
#define RDX         12
#define RBX         5

static void put(struct image *image, uint64_t address, uint64_t number, size_t size)
{
	memory__put(&image->memory, address, number, size);
}

static void put_word(struct image *image, uint64_t address, uint64_t word)
{
	put(image, address, word, sizeof(word));
}

uint64_t luajit_image__allocate(struct image *image, size_t size)
{
	uint64_t address = image->heap;

	image->heap += (size + 15) & ~15ULL;
	assert_in_range(image->heap, HEAP_START, HEAP_START + HEAP_SIZE);
	return address;
}

static uint64_t allocate_object(struct image *image, size_t size, uint8_t gct)
{
	uint64_t address = luajit_image__allocate(image, size);

	put(image, address + offsetof(struct ls_luajit_header, marked), 1, 1);
	put(image, address + offsetof(struct ls_luajit_header, gct), gct, 1);
	return address;
}

uint64_t luajit_image__string(struct image *image, const char *text)
{
	size_t length = strlen(text);
	struct ls_luajit_string string = {
		.marked = 1, .gct = LS_LUAJIT_STRING, .length = (uint32_t)length};
	uint64_t address = luajit_image__allocate(image, sizeof(string) + length + 1);

	for (size_t i = 0; i < length; i++)
		string.hash = string.hash * 33 + (uint8_t)text[i];
	memory__put_bytes(&image->memory, address, &string, sizeof(string));
	memory__put_bytes(&image->memory, address + sizeof(string), text, length + 1);
	return address;
}

/* Where the function that an instruction calls has its base, above the caller's. */
static uint64_t distance_of(uint32_t pc)
{
	return (2 + pc % 32) * SLOT + FRAME_LINK;
}

static void put_constants(struct image *image, uint64_t constants)
{
	static const char *const texts[OBJECT_COUNT] = {"print", "a constant", "one more", "last"};

	for (size_t i = 0; i < OBJECT_COUNT; i++)
		put_word(image, constants - SLOT * (i + 1), luajit_image__string(image, texts[i]));
	for (size_t i = 0; i < NUMBER_COUNT; i++)
		put_word(image, constants + SLOT * i, 0x4045000000000000 + i);
}

/* Bytecode, constants, lines and the rest are one object, in that order. */
uint64_t luajit_image__proto(struct image *image, const char *source, uint32_t line)
{
	const size_t size = sizeof(struct ls_luajit_proto) + 4 * IMAGE_CODE +
			    SLOT * (OBJECT_COUNT + NUMBER_COUNT) + INFO_BYTES;
	uint64_t address = luajit_image__allocate(image, size), code = CODE_OF(address);
	uint64_t constants = code + 4 * IMAGE_CODE + SLOT * OBJECT_COUNT;
	uint64_t info = constants + SLOT * NUMBER_COUNT;
	struct ls_luajit_proto proto = {
		.marked = 1,
		.gct = LS_LUAJIT_PROTO,
		.frame_size = 40,
		.code_count = IMAGE_CODE,
		.constants = constants,
		.object_count = OBJECT_COUNT,
		.number_count = NUMBER_COUNT,
		.size = (uint32_t)size,
		.chunk_name = luajit_image__string(image, source),
		.first_line = line,
		.line_count = line ? 10 : 1000,
		.line_info = info,
		.upvalue_info = info + IMAGE_CODE,
		.variable_info = info + IMAGE_CODE + 4,
	};

	memory__put_bytes(&image->memory, address, &proto, sizeof(proto));
	for (uint32_t i = 0; i < IMAGE_CODE; i++)
		put(image, code + 4 * i, OP_CALL | (2 + i % 32) << 8 | 1 << 24, 4);
	put_constants(image, constants);
	return address;
}

static uint64_t make_function(struct image *image, uint8_t ffid, uint64_t pc, uint64_t function)
{
	struct ls_luajit_function closure = {
		.marked = 1,
		.gct = LS_LUAJIT_FUNCTION,
		.ffid = ffid,
		.pc = pc,
		.function = function,
	};
	uint64_t address = luajit_image__allocate(image, sizeof(closure));

	memory__put_bytes(&image->memory, address, &closure, sizeof(closure));
	return address;
}

uint64_t luajit_image__closure(struct image *image, uint64_t proto)
{
	return make_function(image, LS_LUAJIT_FF_LUA, CODE_OF(proto), 0);
}

/* What the PC of builtins and C functions points to is in global_State and behind it. */
uint64_t luajit_image__c_closure(struct image *image, uint64_t function)
{
	return make_function(image, LS_LUAJIT_FF_C, image->global + 2000, function);
}

uint64_t luajit_image__builtin(struct image *image, uint64_t function, uint8_t number)
{
	return make_function(image, number, image->global + 2400 + 4ULL * number, function);
}

static void put_state(struct image *image, const struct image_thread *thread)
{
	const struct ls_luajit_state state = {
		.marked = 1,
		.gct = LS_LUAJIT_THREAD,
		.ffid = LS_LUAJIT_FF_C,
		.global = image->global,
		.base = thread->stack + FRAME_LINK,
		.top = thread->stack + FRAME_LINK,
		.max_stack = thread->stack + SLOT * (SLOT_COUNT - 8),
		.stack = thread->stack,
		.stack_size = SLOT_COUNT,
	};

	memory__put_bytes(&image->memory, thread->address, &state, sizeof(state));
}

static size_t add_thread(struct image *image, uint64_t address)
{
	struct image_thread *thread = &image->threads[image->thread_count];

	assert_in_range(image->thread_count, 0, IMAGE_THREAD_MAX - 1);
	thread->address = address;
	thread->stack = luajit_image__allocate(image, SLOT * SLOT_COUNT);
	thread->calls = calloc(IMAGE_CALL_MAX, sizeof(*thread->calls));
	assert_non_null(thread->calls);
	put_word(image, thread->stack, address | TAGGED(LS_LUAJIT_THREAD));
	put_word(image, thread->stack + SLOT, NIL);
	put_state(image, thread);
	return image->thread_count++;
}

size_t luajit_image__coroutine(struct image *image)
{
	return add_thread(image,
			  allocate_object(image, sizeof(struct ls_luajit_state), LS_LUAJIT_THREAD));
}

void luajit_image__set_global(struct image *image, size_t offset, uint64_t number, size_t size)
{
	put(image, image->global + offset, number, size);
}

void luajit_image__set_vm_state(struct image *image, int32_t vm_state)
{
	if (vm_state < LS_LUAJIT_IN_INTERPRETER)
		vm_state -= image->layout->more_states;
	luajit_image__set_global(image, image->layout->global_vm_state, (uint32_t)vm_state, 4);
}

static void put_global(struct image *image)
{
	uint64_t main_thread = image->threads[IMAGE_MAIN].address;

	luajit_image__set_vm_state(image, LS_LUAJIT_IN_INTERPRETER);
	luajit_image__set_global(image, image->layout->global_main_thread, main_thread, 8);
	luajit_image__set_global(image, image->layout->global_current, main_thread, 8);
	/* What is there under another layout: the gc_root of a metatable, a table. */
	if (image->layout->global_current > 368)
		luajit_image__set_global(image, 368, allocate_object(image, 64, LS_LUAJIT_TABLE),
					 8);
	image->traces = luajit_image__allocate(image, SLOT * IMAGE_TRACE_MAX);
	luajit_image__set_global(image, image->layout->global_traces[0], image->traces, 8);
	luajit_image__set_global(image, image->layout->global_traces[0] + 8, 1, 4);
	luajit_image__set_global(image, image->layout->global_traces[0] + 12, IMAGE_TRACE_MAX, 4);
}

void luajit_image__start(struct image *image, const struct ls_luajit_layout *layout)
{
	uint64_t main_thread;

	*image = (struct image){
		.layout = layout,
		.tgid = 1234,
		.heap = HEAP_START + 64,
		.stack_low = STACK_HIGH - STACK_SIZE,
		.stack_high = STACK_HIGH,
		.sp = STACK_HIGH - 4096,
		.own_stack = true,
	};
	memory__start(&image->memory);
	memory__map(&image->memory, HEAP_START, HEAP_SIZE);
	memory__map(&image->memory, STACK_HIGH - STACK_SIZE, STACK_SIZE);
	memory__map(&image->memory, IMAGE_MACHINE_CODE, CODE_SIZE);
	main_thread = allocate_object(image, sizeof(struct ls_luajit_state), LS_LUAJIT_THREAD);
	image->global = luajit_image__allocate(image, GLOBAL_SIZE);
	add_thread(image, main_thread);
	put_global(image);
}

void luajit_image__end(struct image *image)
{
	for (size_t i = 0; i < image->thread_count; i++)
		free(image->threads[i].calls);
	memory__end(&image->memory);
}

void luajit_image__native_frame(struct image *image, uint64_t size)
{
	image->sp -= size;
	for (uint64_t at = 0; at < size; at += 8)
		put_word(image, image->sp + at, 0);
}

void luajit_image__enter(struct image *image, size_t thread)
{
	struct image_thread *entered = &image->threads[thread];
	struct ls_luajit_cframe cframe = {.results = 1, .state = entered->address};

	cframe.rest[(image->layout->cframe_previous - LS_LUAJIT_CFRAME_REST) / 8] = entered->cframe;
	luajit_image__native_frame(image, CFRAME_SIZE + 64);
	memory__put_bytes(&image->memory, image->sp, &cframe, sizeof(cframe));
	entered->cframe = image->sp;
	put_word(image, entered->address + offsetof(struct ls_luajit_state, cframe), image->sp);
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
	assert_in_range(base, to->stack + 2 * FRAME_LINK, to->stack + SLOT * (SLOT_COUNT - 300));
	put_word(image, base - FRAME_LINK, closure | TAGGED(LS_LUAJIT_FUNCTION));
	put_word(image, base - SLOT, link);
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
				  : thread->stack + FRAME_LINK;
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
	put(image, image->threads[thread].cframe + offsetof(struct ls_luajit_cframe, pc),
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
	uint64_t base = caller->base + 320 + 2 * FRAME_LINK;

	caller->pc = pc;
	put_word(image, base - 2 * FRAME_LINK, IMAGE_C_FUNCTION + 64);
	put_word(image, base - 2 * FRAME_LINK + 8, caller->code + 4 * (pc + 1));
	push(image, thread, closure, base, (320 + 2 * FRAME_LINK) | FRAME_CONT);
}

void luajit_image__vararg(struct image *image, size_t thread)
{
	struct image_call *call = luajit_image__top(image, thread);
	uint64_t value = memory__get(&image->memory, call->base - FRAME_LINK, 8);

	call->base += 64;
	put_word(image, call->base - FRAME_LINK, value);
	put_word(image, call->base - SLOT, 64 | FRAME_VARG);
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
	put_word(image, image->threads[thread].address + offsetof(struct ls_luajit_state, base),
		 luajit_image__top(image, thread)->base);
}

void luajit_image__run_c(struct image *image, size_t thread)
{
	luajit_image__save_base(image, thread);
	luajit_image__native_frame(image, 160);
	put_word(image, image->sp + 40, image->threads[thread].address);
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

/* Adds a constant of 64 bits, which takes two instructions. Returns its reference. */
static uint32_t add_constant(struct compilation *compilation, uint64_t value)
{
	uint32_t reference = compilation->constant;

	put_word(compilation->image, compilation->header.ir + 8ULL * reference, 0);
	put_word(compilation->image, compilation->header.ir + 8ULL * (reference + 1), value);
	compilation->constant += 2;
	return reference;
}

static void add_entry(struct compilation *compilation, uint32_t entry)
{
	put(compilation->image, compilation->header.snapshot_map + 4ULL * compilation->entry, entry,
	    4);
	compilation->entry++;
}

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
	uint32_t slot = 0;

	for (uint32_t i = 0; i < depth; i++) {
		uint64_t link = code + 4 * (pc + i + 1);

		slot += (uint32_t)distance_of(pc + i) / SLOT;
		add_entry(compilation, slot << 24 | add_constant(compilation, closures[i]));
		add_entry(compilation, (slot + 1) << 24 | LS_LUAJIT_SNAP_FRAME |
					       add_constant(compilation, link));
		code = describe(image, closures[i], 0).code;
	}
	snapshot.entry_count = (uint8_t)(2 * depth);
	code += 4ULL * index;
	add_entry(compilation, (uint32_t)(code << 8 | slot));
	add_entry(compilation, (uint32_t)(code >> 24));
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
	put_word(image, image->traces + SLOT * number, address);
	return address;
}

/* Adds the calls that the snapshot has, as `count` entries of its map tell. */
static void add_inlined(struct image *image, size_t thread, const struct ls_luajit_trace *header,
			const struct ls_luajit_snapshot *snapshot)
{
	struct image_thread *to = &image->threads[thread];

	luajit_image__top(image, thread)->is_native = true;
	for (uint32_t i = 0; i < snapshot->entry_count; i += 2) {
		uint64_t at = header->snapshot_map + 4ULL * (snapshot->map_offset + i), words[2];

		for (uint32_t j = 0; j < 2; j++)
			words[j] = memory__get(
				&image->memory,
				header->ir + 8 * (memory__get(&image->memory, at + 4 * j, 2) + 1),
				8);
		luajit_image__top(image, thread)->pc =
			(uint32_t)((words[1] - luajit_image__top(image, thread)->code) / 4 - 1);
		to->calls[to->call_count++] = describe(image, words[0], 0);
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

	memory__get_bytes(&image->memory,
			  memory__get(&image->memory, image->traces + SLOT * number, 8), &header,
			  sizeof(header));
	memory__get_bytes(&image->memory, header.snapshots + at * sizeof(snapshot), &snapshot,
			  sizeof(snapshot));
	luajit_image__set_global(image, image->layout->global_jit_base,
				 luajit_image__top(image, thread)->base, 8);
	luajit_image__set_global(image, image->layout->global_vm_state, number, 4);
	luajit_image__native_frame(image, image->sp - frame);
	image->pc = pc;
	if (in_c) {
		luajit_image__native_frame(image, 8);
		put_word(image, image->sp, pc);
		luajit_image__native_frame(image, 96);
		image->pc = IMAGE_C_FUNCTION + 8;
	}
	add_inlined(image, thread, &header, &snapshot);
	luajit_image__top(image, thread)->pc = at;
}
