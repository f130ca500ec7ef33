/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define HEAP_START  0x7f3456000000ULL
#define HEAP_SIZE   (8ULL << 20)
#define STACK_HIGH  0x7ffd00400000ULL
#define STACK_SIZE  0x400000ULL
#define VALUE_COUNT 9000 /* of each thread */
#define GLOBAL_SIZE 4096
#define MAIN_THREAD 1200 /* where global_State has it */
#define CLOSURE     96   /* bytes */
#define LINE_GAP    24
#define R15         0
#define R14         1
#define RBX         5

static void put(struct image *image, uint64_t address, uint64_t number, size_t size)
{
	memory__put(&image->memory, address, number, size);
}

static void put_word(struct image *image, uint64_t address, uint64_t word)
{
	put(image, address, word, sizeof(word));
}

uint64_t luau_image__allocate(struct image *image, size_t size)
{
	uint64_t address = image->heap;

	image->heap += (size + 15) & ~15ULL;
	assert_in_range(image->heap, HEAP_START, HEAP_START + HEAP_SIZE);
	return address;
}

static uint64_t allocate_object(struct image *image, size_t size, uint32_t tt)
{
	uint64_t address = luau_image__allocate(image, size);

	put(image, address, tt, 1);
	return address;
}

uint64_t luau_image__string(struct image *image, const char *text)
{
	size_t length = strlen(text);
	struct ls_luau_string string = {
		.tt = (uint8_t)(image->build.thread - image->layout->string_type),
		.atom = -1,
		.length = (uint32_t)length,
	};
	uint64_t address = luau_image__allocate(image, sizeof(string) + length + 1);

	memory__put_bytes(&image->memory, address, &string, sizeof(string));
	memory__put_bytes(&image->memory, address + sizeof(string), text, length + 1);
	return address;
}

/* A line for each instruction, and one base for all of them, are one allocation. */
static void put_lines(struct image *image, uint64_t proto, uint32_t line)
{
	const struct ls_luau_layout *layout = image->layout;
	uint64_t lines = luau_image__allocate(image, IMAGE_CODE + 4);

	for (uint32_t i = 0; i < IMAGE_CODE; i++)
		put(image, lines + i, 1 + i / 8, 1);
	put(image, lines + IMAGE_CODE, line, 4);
	put_word(image, proto + layout->proto_line_info, lines);
	put_word(image, proto + layout->proto_line_bases, lines + IMAGE_CODE);
	put(image, proto + layout->proto_line_info_size, IMAGE_CODE + 4, 4);
	put(image, proto + layout->proto_line_gap, LINE_GAP, 4);
	put(image, proto + layout->proto_line_defined, line, 4);
}

uint64_t luau_image__proto(struct image *image, const char *source, const char *name, uint32_t line)
{
	const struct ls_luau_layout *layout = image->layout;
	uint64_t address = allocate_object(image, 256, image->build.thread + 1);

	put_word(image, address + image->layout->proto_code,
		 luau_image__allocate(image, 4 * IMAGE_CODE));
	put_word(image, address + layout->proto_source, luau_image__string(image, source));
	put_word(image, address + layout->proto_name, name ? luau_image__string(image, name) : 0);
	put(image, address + layout->proto_code_count, IMAGE_CODE, 4);
	put(image, address + layout->proto_is_vararg, !name, 1);
	put(image, address + layout->proto_is_vararg + 1UL, 8, 1);
	put(image, address + layout->proto_parameters, name ? 2 : 0, 1);
	put_lines(image, address, line);
	return address;
}

static uint64_t make_function(struct image *image, uint64_t function, bool is_c)
{
	uint64_t address =
		allocate_object(image, CLOSURE, image->build.thread - image->layout->function_type);

	put(image, address + LS_LUAU_CLOSURE_IS_C, is_c, 1);
	put_word(image, address + image->layout->closure_function, function);
	return address;
}

uint64_t luau_image__closure(struct image *image, uint64_t proto)
{
	return make_function(image, proto, false);
}

uint64_t luau_image__c_closure(struct image *image, uint64_t function)
{
	return make_function(image, function, true);
}

static uint64_t call_at(const struct image *image, const struct image_thread *thread, size_t index)
{
	return thread->base_ci + index * image->build.ci;
}

static void put_field(struct image *image, const struct image_thread *thread, size_t offset,
		      uint64_t word)
{
	put_word(image, thread->address + offset, word);
}

static void put_state(struct image *image, const struct image_thread *thread)
{
	const struct ls_luau_state state = {
		.tt = (uint8_t)image->build.thread,
		.top = thread->stack + image->build.value,
		.base = thread->stack + image->build.value,
		.global = image->global,
		.ci = thread->base_ci,
		.stack = thread->stack,
		.stack_last = thread->stack + (uint64_t)VALUE_COUNT * image->build.value,
		.stack_size = VALUE_COUNT + LS_LUAU_EXTRA_STACK,
		.base_ci = thread->base_ci,
		.end_ci = call_at(image, thread, IMAGE_CALL_MAX - 1),
		.ci_count = IMAGE_CALL_MAX,
	};

	memory__put_bytes(&image->memory, thread->address, &state, sizeof(state));
}

static size_t add_thread(struct image *image)
{
	struct image_thread *thread = &image->threads[image->thread_count];

	assert_in_range(image->thread_count, 0, IMAGE_THREAD_MAX - 1);
	thread->address =
		allocate_object(image, sizeof(struct ls_luau_state) + 40, image->build.thread);
	thread->stack = luau_image__allocate(image, (VALUE_COUNT + LS_LUAU_EXTRA_STACK) *
							    image->build.value);
	thread->base_ci = luau_image__allocate(image, IMAGE_CALL_MAX * image->build.ci);
	thread->calls = calloc(IMAGE_CALL_MAX, sizeof(*thread->calls));
	assert_non_null(thread->calls);
	put_word(image, thread->base_ci + LS_LUAU_CI_FUNC, thread->stack);
	put_word(image, thread->base_ci + LS_LUAU_CI_BASE, thread->stack + image->build.value);
	put_state(image, thread);
	return image->thread_count++;
}

size_t luau_image__coroutine(struct image *image)
{
	return add_thread(image);
}

void luau_image__start(struct image *image, const struct ls_luau_layout *layout,
		       const struct image_build *build)
{
	*image = (struct image){
		.layout = layout,
		.build = *build,
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
	image->global = luau_image__allocate(image, GLOBAL_SIZE);
	add_thread(image);
	put_word(image, image->global + MAIN_THREAD, image->threads[IMAGE_MAIN].address);
}

void luau_image__end(struct image *image)
{
	for (size_t i = 0; i < image->thread_count; i++)
		free(image->threads[i].calls);
	memory__end(&image->memory);
}

void luau_image__native_frame(struct image *image, uint64_t size)
{
	image->sp -= size;
	for (uint64_t at = 0; at < size; at += 8)
		put_word(image, image->sp + at, 0);
}

struct image_call *luau_image__top(struct image *image, size_t thread)
{
	struct image_thread *of = &image->threads[thread];

	assert_in_range(of->call_count, 1, IMAGE_CALL_MAX);
	return &of->calls[of->call_count - 1];
}

static void put_value(struct image *image, uint64_t address, uint64_t value, uint32_t type)
{
	put_word(image, address, value);
	put(image, address + (image->build.value == 24 ? 16 : 12), type, 4);
}

/* CallInfo.savedpc: the instruction after `pc`. */
static void save_pc(struct image *image, struct image_call *call, uint32_t pc)
{
	if (!call->code)
		return;
	call->pc = pc;
	put_word(image, call->ci + image->build.ci - LS_LUAU_CI_FROM_SAVEDPC,
		 call->code + 4ULL * (pc + 1));
}

static void describe(struct image *image, struct image_call *call, uint64_t closure)
{
	call->function = memory__get(&image->memory, closure + image->layout->closure_function, 8);
	if (memory__get(&image->memory, closure + LS_LUAU_CLOSURE_IS_C, 1)) {
		call->kind = LS_FRAME_C;
		return;
	}
	call->kind = LS_FRAME_LUA;
	call->code = memory__get(&image->memory, call->function + image->layout->proto_code, 8);
}

void luau_image__call(struct image *image, size_t thread, uint64_t closure, uint32_t pc)
{
	struct image_thread *to = &image->threads[thread];
	uint64_t value = image->build.value;
	struct image_call call = {.func = to->stack + 2 * value};

	assert_in_range(to->call_count, 0, IMAGE_CALL_MAX - 2);
	if (to->call_count) {
		save_pc(image, luau_image__top(image, thread), pc);
		call.func = luau_image__top(image, thread)->func + (2 + pc % 4) * value;
	}
	call.ci = call_at(image, to, to->call_count + 1);
	describe(image, &call, closure);
	put_value(image, call.func, closure, image->build.thread - image->layout->function_type);
	put_word(image, call.ci + LS_LUAU_CI_FUNC, call.func);
	put_word(image, call.ci + LS_LUAU_CI_BASE, call.func + value);
	put_word(image, call.ci + LS_LUAU_CI_TOP, call.func + 20 * value);
	put_field(image, to, offsetof(struct ls_luau_state, ci), call.ci);
	put_field(image, to, offsetof(struct ls_luau_state, base), call.func + value);
	put_field(image, to, offsetof(struct ls_luau_state, top), call.func + value);
	to->calls[to->call_count++] = call;
	save_pc(image, luau_image__top(image, thread), 0);
}

void luau_image__hold(struct image *image, size_t thread, size_t held)
{
	const struct image_thread *of = &image->threads[thread];
	uint64_t argument = luau_image__top(image, thread)->func + image->build.value;

	put_value(image, argument, image->threads[held].address, image->build.thread);
	put_field(image, of, offsetof(struct ls_luau_state, top), argument + image->build.value);
}

void luau_image__enter(struct image *image, size_t thread)
{
	const struct image_thread *entered = &image->threads[thread];

	put(image, entered->address + offsetof(struct ls_luau_state, is_active), 1, 1);
	luau_image__native_frame(image, 160);
	put_word(image, image->sp + 40, entered->address);
	put_word(image, image->sp + 56, entered->stack + image->build.value);
}

void luau_image__run(struct image *image, size_t thread, uint32_t pc)
{
	const struct image_call *call = luau_image__top(image, thread);

	save_pc(image, luau_image__top(image, thread), pc);
	luau_image__native_frame(image, 96);
	image->registers[R15] = image->threads[thread].address;
	image->registers[R14] = call->func + image->build.value;
	image->registers[RBX] = call->ci;
}

void luau_image__run_native(struct image *image, size_t thread, uint32_t pc)
{
	struct image_call *call = luau_image__top(image, thread);

	luau_image__run(image, thread, pc);
	put(image, call->ci + image->build.ci - LS_LUAU_CI_FROM_FLAGS, LS_LUAU_FLAG_NATIVE, 4);
	call->is_native = true;
	call->pc = LS_PC_UNKNOWN;
}

void luau_image__move_values(struct image *image, size_t thread)
{
	const struct image_thread *of = &image->threads[thread];
	size_t size = (VALUE_COUNT + LS_LUAU_EXTRA_STACK) * image->build.value;
	uint64_t larger = luau_image__allocate(image, size);
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	memory__get_bytes(&image->memory, of->stack, bytes, size);
	memory__put_bytes(&image->memory, larger, bytes, size);
	free(bytes);
	put_field(image, of, offsetof(struct ls_luau_state, stack), larger);
}
