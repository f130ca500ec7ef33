/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>

#include "objects.h"
#include "record.h"

#define HEAP_START  0x555556000000ULL
#define HEAP_SIZE   (48ULL << 20)
#define STACK_HIGH  0x7ffd00400000ULL
#define STACK_SIZE  0x400000ULL
#define VALUE_COUNT 30000 /* of each thread's stack */
#define VALUE_EXTRA 5     /* EXTRA_STACK, lstate.h */
#define CI_COUNT    4300  /* of 5.1's arrays */
#define TYPE_THREAD 8
#define GLOBAL_SIZE 1416

#define RESULTS 3 /* of every call */

void image__put(struct image *image, uint64_t address, uint64_t number, size_t size)
{
	memory__put(&image->memory, address, number, size);
}

uint64_t image__get(const struct image *image, uint64_t address)
{
	return memory__get(&image->memory, address, sizeof(uint64_t));
}

void image__put_value(struct image *image, uint64_t at, uint64_t value, uint8_t tag)
{
	image__put(image, at, value, 8);
	image__put(image, at + 8, tag, 8);
}

uint64_t image__allocate(struct image *image, size_t size)
{
	uint64_t address = image->heap;

	/* As malloc does: 16-byte steps, a header in between. */
	image->heap += (size + 8 + 15) & ~15ULL;
	assert_in_range(image->heap, HEAP_START, image->heap_end);
	return address;
}

/* Fills lua_State between the layout's fields, after lstate.h of each release. */
static void put_neighbours(struct image *image, const struct image_thread *thread)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t object = image__object(image, 64, IMAGE_TABLE), error_jump;

	/* gclist is an object; since 5.3 twups, which points to its own thread, follows it. */
	error_jump = thread->address + layout->state_error_jump;
	image__put(image, error_jump - (layout->minor < 3 ? 8 : 16), object, 8);
	if (layout->minor >= 3)
		image__put(image, error_jump - 8, thread->address, 8);
	if (layout->minor == 1) {
		/* base */
		image__put(image, thread->address + 24, thread->stack + IMAGE_VALUE_SIZE, 8);
		image__put(image, thread->address + 72, thread->base_ci + 40 * (CI_COUNT - 1), 8);
		image__put(image, thread->address + 92, CI_COUNT, 4);
		image__put_value(image, thread->address + 120, object, IMAGE_TABLE);
	}
}

static size_t add_thread(struct image *image)
{
	const struct ls_puc_layout *layout = image->layout;
	struct image_thread *thread = &image->threads[image->thread_count];
	size_t values = (VALUE_COUNT + VALUE_EXTRA + 1) * IMAGE_VALUE_SIZE;
	bool is_embedded = layout->main_thread_is_embedded && !image->thread_count;

	assert_in_range(image->thread_count, 0, IMAGE_THREAD_MAX - 1);
	thread->address = is_embedded ? image->global + layout->global_main_thread
				      : image__allocate(image, layout->state_size);
	thread->stack = image__allocate(image, values);
	thread->stack_last = thread->stack + VALUE_COUNT * IMAGE_VALUE_SIZE;
	thread->next_value = thread->stack + IMAGE_VALUE_SIZE;
	thread->base_ci = thread->address + layout->state_base_ci;
	image__put(image, thread->address + 8, TYPE_THREAD, 1);
	if (layout->ci_is_array) {
		thread->base_ci = image__allocate(image, CI_COUNT * layout->ci_size);
		image__put(image, thread->address + layout->state_base_ci, thread->base_ci, 8);
	}
	put_neighbours(image, thread);
	image__put(image, thread->address + layout->state_global, image->global, 8);
	image__put(image, thread->address + layout->state_stack, thread->stack, 8);
	image__put(image, thread->address + layout->state_stack_last, thread->stack_last, 8);
	image__put(image, thread->address + layout->state_top, thread->next_value, 8);
	image__put(image, thread->address + layout->state_ci, thread->base_ci, 8);
	image__put(image, thread->address + 9, 1, 1);
	image__put(image, thread->address + layout->state_allow_hook, 1, 1);
	if (layout->state_stack_size)
		image__put(image, thread->address + layout->state_stack_size,
			   VALUE_COUNT + layout->state_stack_spare, 4);
	image__put(image, thread->base_ci + layout->ci_status, layout->status_c,
		   layout->ci_status_size);
	image__put(image, thread->base_ci + layout->ci_func, thread->stack, 8);
	return image->thread_count++;
}

size_t image__coroutine(struct image *image)
{
	return add_thread(image);
}

static void start_global(struct image *image)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t object;

	image->global = image__allocate(image, GLOBAL_SIZE + layout->state_size);
	object = image__string(image, "__index", 7);
	for (uint64_t at = 0; at < GLOBAL_SIZE; at += 8)
		image__put(image, image->global + at, object, 8);
	image__put_value(image, image->global + layout->global_registry,
			 image__object(image, 64, IMAGE_TABLE), IMAGE_TABLE);
}

void image__start(struct image *image, const struct ls_puc_layout *layout)
{
	*image = (struct image){
		.layout = layout,
		.tgid = 4242,
		.heap = HEAP_START + 0x10,
		.heap_end = HEAP_START + HEAP_SIZE,
		.stack_low = STACK_HIGH - STACK_SIZE,
		.stack_high = STACK_HIGH,
		.sp = STACK_HIGH,
		.own_stack = true,
		.register_count = 15,
	};
	memory__start(&image->memory);
	memory__map(&image->memory, HEAP_START, HEAP_SIZE);
	memory__map(&image->memory, image->stack_low, STACK_SIZE);
	start_global(image);
	image->upvalue = image__object(image, 40, layout->minor >= 4 ? 9 : 10); /* LUA_TUPVAL */
	add_thread(image);
	if (!layout->main_thread_is_embedded)
		image__put(image, image->global + layout->global_main_thread,
			   image->threads[0].address, 8);
	image__native_frame(image, 0x450);
}

void image__end(struct image *image)
{
	for (size_t i = 0; i < image->thread_count; i++)
		free(image->threads[i].calls);
	memory__end(&image->memory);
}

/* As luaE_extendCI(), or the CallInfo of an earlier call; as inc_ci() in 5.1. */
static uint64_t next_ci(struct image *image, uint64_t ci)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t next;

	if (layout->ci_is_array)
		return ci + layout->ci_size;
	next = image__get(image, ci + layout->ci_next);
	if (next)
		return next;
	next = image__allocate(image, layout->ci_size);
	image__put(image, ci + layout->ci_next, next, 8);
	image__put(image, next + layout->ci_previous, ci, 8);
	return next;
}

static struct image_call *add_call(struct image_thread *thread)
{
	if (thread->call_count == thread->call_room) {
		size_t room = thread->call_room ? thread->call_room * 2 : 16;
		struct image_call *calls = realloc(thread->calls, room * sizeof(*calls));

		assert_non_null(calls);
		thread->calls = calls;
		thread->call_room = room;
	}
	return &thread->calls[thread->call_count++];
}

/* Sets the status of a call, of a Lua or a C function, that wants RESULTS results. */
static void put_status(struct image *image, uint64_t ci, bool is_lua)
{
	const struct ls_puc_layout *layout = image->layout;
	uint32_t status = is_lua ? layout->status_lua : layout->status_c;

	if (layout->ci_results == layout->ci_status)
		status |= RESULTS + 1;
	else
		image__put(image, ci + layout->ci_results, RESULTS, layout->ci_results_size);
	image__put(image, ci + layout->ci_status, status, layout->ci_status_size);
}

/* Adds a call of the function `value`, which it puts on top of the value stack. */
static struct image_call *push(struct image *image, size_t index, uint64_t value, uint8_t tag,
			       uint8_t kind, uint32_t slots)
{
	const struct ls_puc_layout *layout = image->layout;
	struct image_thread *thread = &image->threads[index];
	uint64_t before = image__get(image, thread->address + layout->state_ci);
	uint64_t ci = next_ci(image, before);
	struct image_call *call = add_call(thread);

	/* luaD_precall(), 5.1: the caller's pc moves from L->savedpc to its CallInfo */
	if (layout->state_savedpc)
		image__put(image, before + layout->ci_savedpc,
			   image__get(image, thread->address + layout->state_savedpc), 8);
	*call = (struct image_call){.ci = ci, .value = thread->next_value};
	image__put_value(image, call->value, value, tag);
	thread->next_value += slots * IMAGE_VALUE_SIZE;
	assert_in_range(thread->next_value, thread->stack, thread->stack_last);
	image__put(image, ci + layout->ci_func, call->value, 8);
	image__put(image, ci + layout->ci_top, thread->next_value, 8);
	if (layout->ci_has_base)
		image__put(image, ci + layout->ci_base, call->value + IMAGE_VALUE_SIZE, 8);
	image__put(image, thread->address + layout->state_top, thread->next_value, 8);
	image__put(image, thread->address + layout->state_ci, ci, 8);
	put_status(image, ci, tag == layout->tag_lua_function && kind == LS_FRAME_LUA);
	call->kind = kind;
	return call;
}

static void call_closure(struct image *image, size_t thread, uint64_t closure, uint64_t proto,
			 uint32_t pc, uint32_t slots)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t saved_pc = image__get(image, proto + layout->proto_code) + (pc + 1) * 4;
	struct image_call *call =
		push(image, thread, closure, layout->tag_lua_function, LS_FRAME_LUA, slots);

	call->closure = closure;
	call->function = proto;
	call->pc = pc;
	if (layout->state_savedpc)
		image__set_field(image, thread, layout->state_savedpc, saved_pc, 8);
	else
		image__put(image, call->ci + layout->ci_savedpc, saved_pc, 8);
}

void image__call_lua(struct image *image, size_t thread, uint64_t proto, uint32_t pc,
		     uint32_t slots)
{
	call_closure(image, thread, image__lua_closure(image, proto), proto, pc, slots);
}

void image__recurse(struct image *image, size_t thread, uint32_t pc, uint32_t slots)
{
	struct image_call top = *image__top(image, thread);

	call_closure(image, thread, top.closure, top.function, pc, slots);
}

void image__call_c(struct image *image, size_t thread, uint64_t function, uint32_t slots)
{
	uint64_t closure = image__c_closure(image, function);
	struct image_call *call =
		push(image, thread, closure, image->layout->tag_c_function, LS_FRAME_C, slots);

	call->closure = closure;
	call->function = function;
}

void image__call_light(struct image *image, size_t thread, uint64_t function, uint32_t slots)
{
	struct image_call *call;

	if (!image->layout->tag_light_function) {
		image__call_c(image, thread, function, slots);
		return;
	}
	call = push(image, thread, function, image->layout->tag_light_function, LS_FRAME_C, slots);
	call->function = function;
}

void image__return(struct image *image, size_t index)
{
	const struct ls_puc_layout *layout = image->layout;
	struct image_thread *thread = &image->threads[index];
	uint64_t ci = thread->base_ci;

	assert_in_range(thread->call_count, 1, SIZE_MAX);
	thread->call_count--;
	thread->next_value = thread->calls[thread->call_count].value;
	if (thread->call_count)
		ci = thread->calls[thread->call_count - 1].ci;
	image__set_field(image, index, layout->state_ci, ci, 8);
	if (layout->state_savedpc)
		image__set_field(image, index, layout->state_savedpc,
				 image__get(image, ci + layout->ci_savedpc), 8);
}

void image__set_call(struct image *image, const struct image_call *call, uint32_t distance)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t code = image__get(image, call->function + layout->proto_code);

	image__put(image, code + call->pc * 4,
		   (RESULTS + 1) << layout->op_results | (distance - 1) << layout->op_bits |
			   layout->op_call,
		   4);
}

struct image_call *image__top(struct image *image, size_t thread)
{
	assert_in_range(image->threads[thread].call_count, 1, SIZE_MAX);
	return &image->threads[thread].calls[image->threads[thread].call_count - 1];
}

void image__native_frame(struct image *image, uint64_t size)
{
	image->sp -= size;
	assert_in_range(image->sp, image->stack_low, image->stack_high);
}

void image__native_word(struct image *image, uint64_t offset, uint64_t word)
{
	image__put(image, image->sp + offset, word, 8);
}

void image__protect_hidden(struct image *image, size_t thread)
{
	image__native_frame(image, 0x120);
	image__set_error_jump(image, thread, image->sp + 0x20);
	image__set_status(image, thread, 0);
	image__native_frame(image, 0x60);
}

void image__protect(struct image *image, size_t thread)
{
	image__protect_hidden(image, thread);
	image__native_word(image, 0x28, image->threads[thread].address);
}

void image__execute(struct image *image, size_t thread)
{
	image__native_frame(image, 0x40);
	image__native_word(image, 0x18, image__top(image, thread)->closure);
	image__native_word(image, 0x28, image->threads[thread].address);
}

void image__set_error_jump(struct image *image, size_t thread, uint64_t address)
{
	image__set_field(image, thread, image->layout->state_error_jump, address, 8);
}

void image__set_status(struct image *image, size_t thread, uint8_t status)
{
	image__set_field(image, thread, image->layout->state_status, status, 1);
}

void image__suspend(struct image *image, size_t thread)
{
	image__set_error_jump(image, thread, 0);
	image__set_status(image, thread, 1);
}

uint64_t image__field(const struct image *image, size_t thread, size_t offset)
{
	return image__get(image, image->threads[thread].address + offset);
}

void image__set_field(struct image *image, size_t thread, size_t offset, uint64_t number,
		      size_t size)
{
	image__put(image, image->threads[thread].address + offset, number, size);
}
