/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luajit_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define HEAP_START  LS_LUAJIT_BYTES(0x7f3456000000ULL, 0x41000000ULL)
#define HEAP_SIZE   (24ULL << 20)
#define STACK_HIGH  0x7ffd00400000ULL
#define STACK_SIZE  0x400000ULL
#define CODE_SIZE   (IMAGE_TRACE_MAX * IMAGE_TRACE_BYTES)
#define CFRAME_SIZE 80   /* lj_frame.h */
#define GLOBAL_SIZE 4096 /* and what comes behind it in GG_State */
#define OP_CALL     66   /* lj_bc.h */

#define OBJECT_COUNT   4 /* constants of a prototype */
#define NUMBER_COUNT   2
#define INFO_BYTES     128
#define CODE_OF(proto) ((proto) + sizeof(struct ls_luajit_proto))

#define NIL (~0ULL)

void luajit_image__put(struct image *image, uint64_t address, uint64_t number, size_t size)
{
	memory__put(&image->memory, address, number, size);
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

	luajit_image__put(image, address + offsetof(struct ls_luajit_header, marked), 1, 1);
	luajit_image__put(image, address + offsetof(struct ls_luajit_header, gct), gct, 1);
	return address;
}

uint64_t luajit_image__string(struct image *image, const char *text)
{
	size_t length = strlen(text);
	struct ls_luajit_string string = {.marked = 1, .gct = LS_LUAJIT_STRING};
	uint64_t address = luajit_image__allocate(image, sizeof(string) + length + 1);

	memory__put_bytes(&image->memory, address, &string, sizeof(string));
	luajit_image__put(image, address + image->layout->string_length, length, 4);
	memory__put_bytes(&image->memory, address + image->layout->string_text, text, length + 1);
	return address;
}

static void put_constants(struct image *image, uint64_t constants)
{
	static const char *const texts[OBJECT_COUNT] = {"print", "a constant", "one more", "last"};

	for (size_t i = 0; i < OBJECT_COUNT; i++)
		luajit_image__put(image, constants - IMAGE_REF * (i + 1),
				  luajit_image__string(image, texts[i]), IMAGE_REF);
	for (size_t i = 0; i < NUMBER_COUNT; i++)
		luajit_image__put(image, constants + IMAGE_SLOT * i, 0x4045000000000000 + i, 8);
}

/* Bytecode, constants, lines and the rest are one object, in that order. */
uint64_t luajit_image__proto(struct image *image, const char *source, uint32_t line)
{
	const size_t size = sizeof(struct ls_luajit_proto) + 4 * IMAGE_CODE +
			    IMAGE_SLOT * (OBJECT_COUNT + NUMBER_COUNT) + INFO_BYTES;
	uint64_t address = luajit_image__allocate(image, size), code = CODE_OF(address);
	uint64_t constants = code + 4 * IMAGE_CODE + IMAGE_SLOT * OBJECT_COUNT;
	uint64_t info = constants + IMAGE_SLOT * NUMBER_COUNT;
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
		luajit_image__put(image, code + 4 * i, OP_CALL | (2 + i % 32) << 8 | 1 << 24, 4);
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

void luajit_image__put_frame(struct image *image, uint64_t base, uint64_t closure, uint64_t link)
{
	const uint64_t tag = LS_LUAJIT_BYTES(IMAGE_TAGGED(LS_LUAJIT_FUNCTION), 0);

	luajit_image__put(image, base - IMAGE_FRAME_LINK, closure | tag, IMAGE_REF);
	luajit_image__put(image, base - IMAGE_REF, link, IMAGE_REF);
}

static void put_state(struct image *image, const struct image_thread *thread)
{
	const struct ls_luajit_state state = {
		.marked = 1,
		.gct = LS_LUAJIT_THREAD,
		.ffid = LS_LUAJIT_FF_C,
		.global = image->global,
		.base = thread->stack + IMAGE_FRAME_LINK,
		.top = thread->stack + IMAGE_FRAME_LINK,
		.max_stack = thread->stack + IMAGE_SLOT * (IMAGE_SLOT_COUNT - 8),
		.stack = thread->stack,
		.stack_size = IMAGE_SLOT_COUNT,
	};

	memory__put_bytes(&image->memory, thread->address, &state, sizeof(state));
}

static size_t add_thread(struct image *image, uint64_t address)
{
	struct image_thread *thread = &image->threads[image->thread_count];

	assert_in_range(image->thread_count, 0, IMAGE_THREAD_MAX - 1);
	thread->address = address;
	thread->stack = luajit_image__allocate(image, IMAGE_SLOT * IMAGE_SLOT_COUNT);
	thread->calls = calloc(IMAGE_CALL_MAX, sizeof(*thread->calls));
	assert_non_null(thread->calls);
	luajit_image__put(image, thread->stack, address | IMAGE_TAGGED(LS_LUAJIT_THREAD), 8);
	luajit_image__put(image, thread->stack + IMAGE_SLOT, NIL, 8);
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
	luajit_image__put(image, image->global + offset, number, size);
}

void luajit_image__set_vm_state(struct image *image, int32_t vm_state)
{
	if (vm_state < LS_LUAJIT_IN_INTERPRETER)
		vm_state -= image->layout->more_states;
	luajit_image__set_global(image, image->layout->global_vm_state, (uint32_t)vm_state, 4);
}

void luajit_image__set_trace_base(struct image *image, size_t thread, uint64_t base)
{
	if (image->layout->has_jit_state)
		luajit_image__set_global(image, image->layout->global_current,
					 base ? image->threads[thread].address : 0, IMAGE_REF);
	luajit_image__set_global(image, image->layout->global_jit_base, base, IMAGE_REF);
}

static void put_global(struct image *image)
{
	uint64_t main_thread = image->threads[IMAGE_MAIN].address;

	/* What is there under another layout: the gc_root of a metatable, a table. */
	for (size_t at = LS_LUAJIT_GLOBAL_FROM; at < LS_LUAJIT_GLOBAL_MAX; at += IMAGE_REF)
		luajit_image__set_global(image, at, allocate_object(image, 64, LS_LUAJIT_TABLE),
					 IMAGE_REF);
	luajit_image__set_vm_state(image, LS_LUAJIT_IN_INTERPRETER);
	luajit_image__set_global(image, image->layout->global_main_thread, main_thread, IMAGE_REF);
	luajit_image__set_global(image, image->layout->global_current, main_thread, IMAGE_REF);
	luajit_image__set_trace_base(image, IMAGE_MAIN, 0);
	image->traces = luajit_image__allocate(image, IMAGE_REF * IMAGE_TRACE_MAX);
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
		luajit_image__put(image, image->sp + at, 0, 8);
}

void luajit_image__enter(struct image *image, size_t thread)
{
	struct image_thread *entered = &image->threads[thread];
	struct ls_luajit_cframe cframe = {.results = 1, .state = entered->address};

	cframe.rest[(image->layout->cframe_previous - LS_LUAJIT_CFRAME_REST) / 8] = entered->cframe;
	luajit_image__native_frame(image, CFRAME_SIZE + 64);
	memory__put_bytes(&image->memory, image->sp, &cframe, sizeof(cframe));
	entered->cframe = image->sp;
	luajit_image__put(image, entered->address + offsetof(struct ls_luajit_state, cframe),
			  image->sp, 8);
}
