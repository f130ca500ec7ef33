/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "record.h"

#define HEAP_START   0x555556000000ULL
#define HEAP_SIZE    (48ULL << 20)
#define STACK_HIGH   0x7ffd00400000ULL
#define STACK_SIZE   0x400000ULL
#define VALUE_SIZE   16
#define VALUE_COUNT  30000 /* of each thread's stack */
#define VALUE_EXTRA  5     /* EXTRA_STACK, lstate.h */
#define CI_COUNT     4300  /* of 5.1's arrays */
#define CODE_COUNT   64
#define OP_LOADK     3 /* of 5.4; in no release the opcode of a call */
#define TYPE_STRING  4
#define TYPE_TABLE   5
#define TYPE_THREAD  8
#define GLOBAL_SIZE  1416
#define TAG_STRING   68 /* LUA_TSTRING | BIT_ISCOLLECTABLE */
#define SHORT_LENGTH 40 /* LUAI_MAXSHORTLEN */

/* How many of each a prototype has, all different. */
#define CONSTANT_COUNT 4
#define LOCAL_COUNT    5
#define UPVALUE_COUNT  2
#define NESTED_COUNT   3

#define RESULTS 3 /* of every call */

static void put_word(struct image *image, uint64_t address, uint64_t word)
{
	memory__put(&image->memory, address, word, sizeof(word));
}

static void put_byte(struct image *image, uint64_t address, uint8_t byte)
{
	memory__put(&image->memory, address, byte, 1);
}

static void put_half(struct image *image, uint64_t address, uint32_t half)
{
	memory__put(&image->memory, address, half, sizeof(half));
}

static uint64_t get_word(const struct image *image, uint64_t address)
{
	return memory__get(&image->memory, address, sizeof(uint64_t));
}

uint64_t image__allocate(struct image *image, size_t size)
{
	uint64_t address = image->heap;

	/* As malloc does: 16-byte steps, a header in between. */
	image->heap += (size + 8 + 15) & ~15ULL;
	assert_in_range(image->heap, HEAP_START, image->heap_end);
	return address;
}

/* luaS_hash() up to 5.3, lstring.c; later releases hash every byte. */
static uint32_t hash_of(const char *text, size_t length)
{
	uint32_t hash = (uint32_t)length;
	size_t step = (length >> 5) + 1;

	for (; length >= step; length -= step)
		hash ^= (hash << 5) + (hash >> 2) + (uint8_t)text[length - 1];
	return hash;
}

uint64_t image__string(struct image *image, const char *text, size_t length)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t string = image__allocate(image, layout->string_contents + 8 + length + 1);
	uint64_t text_at = string + layout->string_contents;
	bool is_short = length <= SHORT_LENGTH;

	put_byte(image, string + 9, 1); /* marked: white */
	put_byte(image, string + 8,
		 is_short || layout->minor == 1 ? TYPE_STRING : TYPE_STRING + 16);
	put_half(image, string + 12, hash_of(text, length));
	if (is_short && layout->string_short_length)
		put_byte(image, string + layout->string_short_length, (uint8_t)length);
	else
		put_word(image, string + layout->string_length, length);
	/* LSTRREG, lstring.c of 5.5 */
	if (!is_short && layout->string_long_text) {
		text_at = string + layout->string_long_text + 8;
		put_byte(image, string + layout->string_short_length, 0xff);
		put_word(image, string + layout->string_long_text, text_at);
	}
	memory__put_bytes(&image->memory, text_at, text, length);
	return string;
}

static uint8_t string_tag(const struct image *image, size_t length)
{
	if (image->layout->minor == 1)
		return TYPE_STRING;
	return length > SHORT_LENGTH ? TAG_STRING + 16 : TAG_STRING;
}

static void put_value(struct image *image, uint64_t at, uint64_t value, uint8_t tag)
{
	put_word(image, at, value);
	put_word(image, at + 8, tag);
}

static void put_constants(struct image *image, uint64_t proto)
{
	static const char *const texts[] = {
		"print",
		"a constant",
		"of some more than forty bytes, which is a long string",
	};
	uint64_t constants = image__allocate(image, CONSTANT_COUNT * VALUE_SIZE);

	put_word(image, proto + image->layout->proto_constants, constants);
	put_half(image, proto + image->layout->proto_constant_count, CONSTANT_COUNT);
	for (size_t i = 0; i < 3; i++)
		put_value(image, constants + i * VALUE_SIZE,
			  image__string(image, texts[i], strlen(texts[i])),
			  string_tag(image, strlen(texts[i])));
	put_value(image, constants + 3 * VALUE_SIZE, 0x4045000000000000, 3);
}

void image__set_constant(struct image *image, uint64_t proto, size_t at, uint64_t string)
{
	uint64_t constants = get_word(image, proto + image->layout->proto_constants);

	put_word(image, constants + at * VALUE_SIZE, string);
}

/* An object of which only the type is read. */
static uint64_t object_of(struct image *image, size_t size, uint8_t type)
{
	uint64_t object = image__allocate(image, size);

	put_byte(image, object + 8, type);
	put_byte(image, object + 9, 1);
	return object;
}

/* Each instruction's line; from 5.4 on, the difference from the one before. */
static void put_lines(struct image *image, uint64_t proto, uint32_t line)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t lines = image__allocate(image, CODE_COUNT * 4), pairs;

	put_word(image, proto + layout->proto_line_info, lines);
	put_half(image, proto + layout->proto_line_info_count, CODE_COUNT);
	if (!layout->proto_abs_line_info) {
		for (uint32_t i = 0; i < CODE_COUNT; i++)
			put_half(image, lines + i * 4, line + 1 + i / 8);
		return;
	}
	for (uint32_t i = 0; i < CODE_COUNT; i += 8)
		put_byte(image, lines + i, 1);
	/* Only some functions are long enough to have absolute lines. */
	if (line < 15)
		return;
	pairs = image__allocate(image, 8);
	put_half(image, pairs, CODE_COUNT / 2);
	put_half(image, pairs + 4, line + 1 + CODE_COUNT / 16);
	put_word(image, proto + layout->proto_abs_line_info, pairs);
	put_half(image, proto + layout->proto_abs_line_info_count, 1);
}

static void put_locals(struct image *image, uint64_t proto)
{
	static const char *const names[LOCAL_COUNT] = {"self", "i", "count", "value", "last"};
	uint64_t locals = image__allocate(image, LOCAL_COUNT * 16);

	put_word(image, proto + image->layout->proto_local_vars, locals);
	put_half(image, proto + image->layout->proto_local_var_count, LOCAL_COUNT);
	for (uint32_t i = 0; i < LOCAL_COUNT; i++) {
		put_word(image, locals + i * 16, image__string(image, names[i], strlen(names[i])));
		put_half(image, locals + i * 16 + 8, i * 2);
		put_half(image, locals + i * 16 + 12, CODE_COUNT - i);
	}
}

static void put_upvalues(struct image *image, uint64_t proto)
{
	uint64_t size = image->layout->minor == 1 ? 8 : 16;
	uint64_t upvalues = image__allocate(image, UPVALUE_COUNT * size);

	put_word(image, proto + image->layout->proto_upvalues, upvalues);
	put_half(image, proto + image->layout->proto_upvalue_count, UPVALUE_COUNT);
	for (uint32_t i = 0; i < UPVALUE_COUNT; i++)
		put_word(image, upvalues + i * size, image__string(image, "_ENV", 4));
}

static void put_nested(struct image *image, uint64_t proto)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t nested = image__allocate(image, NESTED_COUNT * 8);

	put_word(image, proto + layout->proto_nested, nested);
	put_half(image, proto + layout->proto_nested_count, NESTED_COUNT);
	for (uint32_t i = 0; i < NESTED_COUNT; i++)
		put_word(image, nested + i * 8,
			 object_of(image, layout->proto_size, layout->proto_tag));
}

uint64_t image__proto(struct image *image, const char *source, uint32_t line)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t proto = object_of(image, layout->proto_size, layout->proto_tag);
	uint64_t code = image__allocate(image, CODE_COUNT * 4);

	put_word(image, proto + layout->proto_code, code);
	put_half(image, proto + layout->proto_code_count, CODE_COUNT);
	for (uint32_t i = 0; i < CODE_COUNT; i++)
		put_half(image, code + i * 4, (line * 1000 + i) << 7 | OP_LOADK);
	put_constants(image, proto);
	put_upvalues(image, proto);
	put_half(image, proto + layout->proto_line_defined, line);
	put_half(image, proto + layout->proto_last_line_defined, line ? line + 10 : 0);
	if (!source)
		return proto;
	put_word(image, proto + layout->proto_source, image__string(image, source, strlen(source)));
	put_lines(image, proto, line);
	put_locals(image, proto);
	put_nested(image, proto);
	return proto;
}

uint64_t image__lua_closure(struct image *image, uint64_t proto)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t closure = object_of(image, layout->closure_proto + 8 + UPVALUE_COUNT * 8,
				     layout->tag_lua_function & 63);

	put_byte(image, closure + (layout->closure_is_c ? 11 : 10), UPVALUE_COUNT);
	put_word(image, closure + layout->closure_proto, proto);
	for (size_t i = 0; i < UPVALUE_COUNT; i++)
		put_word(image, closure + layout->closure_proto + 8 + i * 8, image->upvalue);
	return closure;
}

uint64_t image__c_closure(struct image *image, uint64_t function)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t closure =
		object_of(image, layout->closure_function + 24, layout->tag_c_function & 63);

	put_byte(image, closure + (layout->closure_is_c ? 11 : 10), 1);
	put_value(image, closure + layout->closure_function + 8, object_of(image, 56, TYPE_TABLE),
		  TYPE_TABLE);
	if (layout->closure_is_c)
		put_byte(image, closure + layout->closure_is_c, 1);
	put_word(image, closure + layout->closure_function, function);
	return closure;
}

/* Fills lua_State between the layout's fields, after lstate.h of each release. */
static void put_neighbours(struct image *image, const struct image_thread *thread)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t object = object_of(image, 64, TYPE_TABLE), error_jump;

	/* gclist is an object; since 5.3 twups, which points to its own thread, follows it. */
	error_jump = thread->address + layout->state_error_jump;
	put_word(image, error_jump - (layout->minor < 3 ? 8 : 16), object);
	if (layout->minor >= 3)
		put_word(image, error_jump - 8, thread->address);
	if (layout->minor == 1) {
		put_word(image, thread->address + 24, thread->stack + VALUE_SIZE); /* base */
		put_word(image, thread->address + 72, thread->base_ci + 40 * (CI_COUNT - 1));
		put_half(image, thread->address + 92, CI_COUNT);
		put_value(image, thread->address + 120, object, TYPE_TABLE);
	}
}

static size_t add_thread(struct image *image)
{
	const struct ls_puc_layout *layout = image->layout;
	struct image_thread *thread = &image->threads[image->thread_count];
	size_t values = (VALUE_COUNT + VALUE_EXTRA + 1) * VALUE_SIZE;
	bool is_embedded = layout->main_thread_is_embedded && !image->thread_count;

	assert_in_range(image->thread_count, 0, IMAGE_THREAD_MAX - 1);
	thread->address = is_embedded ? image->global + layout->global_main_thread
				      : image__allocate(image, layout->state_size);
	thread->stack = image__allocate(image, values);
	thread->stack_last = thread->stack + VALUE_COUNT * VALUE_SIZE;
	thread->next_value = thread->stack + VALUE_SIZE;
	thread->base_ci = thread->address + layout->state_base_ci;
	put_byte(image, thread->address + 8, TYPE_THREAD);
	if (layout->ci_is_array) {
		thread->base_ci = image__allocate(image, CI_COUNT * layout->ci_size);
		put_word(image, thread->address + layout->state_base_ci, thread->base_ci);
	}
	put_neighbours(image, thread);
	put_word(image, thread->address + layout->state_global, image->global);
	put_word(image, thread->address + layout->state_stack, thread->stack);
	put_word(image, thread->address + layout->state_stack_last, thread->stack_last);
	put_word(image, thread->address + layout->state_top, thread->next_value);
	put_word(image, thread->address + layout->state_ci, thread->base_ci);
	put_byte(image, thread->address + 9, 1);
	put_byte(image, thread->address + layout->state_allow_hook, 1);
	if (layout->state_stack_size)
		put_half(image, thread->address + layout->state_stack_size,
			 VALUE_COUNT + layout->state_stack_spare);
	memory__put(&image->memory, thread->base_ci + layout->ci_status, layout->status_c,
		    layout->ci_status_size);
	put_word(image, thread->base_ci + layout->ci_func, thread->stack);
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
		put_word(image, image->global + at, object);
	put_value(image, image->global + layout->global_registry, object_of(image, 64, TYPE_TABLE),
		  TYPE_TABLE);
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
	image->upvalue = object_of(image, 40, layout->minor >= 4 ? 9 : 10); /* LUA_TUPVAL */
	add_thread(image);
	if (!layout->main_thread_is_embedded)
		put_word(image, image->global + layout->global_main_thread,
			 image->threads[0].address);
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
	next = get_word(image, ci + layout->ci_next);
	if (next)
		return next;
	next = image__allocate(image, layout->ci_size);
	put_word(image, ci + layout->ci_next, next);
	put_word(image, next + layout->ci_previous, ci);
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
		memory__put(&image->memory, ci + layout->ci_results, RESULTS,
			    layout->ci_results_size);
	memory__put(&image->memory, ci + layout->ci_status, status, layout->ci_status_size);
}

/* Adds a call of the function `value`, which it puts on top of the value stack. */
static struct image_call *push(struct image *image, size_t index, uint64_t value, uint8_t tag,
			       uint8_t kind, uint32_t slots)
{
	const struct ls_puc_layout *layout = image->layout;
	struct image_thread *thread = &image->threads[index];
	uint64_t before = get_word(image, thread->address + layout->state_ci);
	uint64_t ci = next_ci(image, before);
	struct image_call *call = add_call(thread);

	/* luaD_precall(), 5.1: the caller's pc moves from L->savedpc to its CallInfo */
	if (layout->state_savedpc)
		put_word(image, before + layout->ci_savedpc,
			 get_word(image, thread->address + layout->state_savedpc));
	*call = (struct image_call){.ci = ci, .value = thread->next_value};
	put_value(image, call->value, value, tag);
	thread->next_value += slots * VALUE_SIZE;
	assert_in_range(thread->next_value, thread->stack, thread->stack_last);
	put_word(image, ci + layout->ci_func, call->value);
	put_word(image, ci + layout->ci_top, thread->next_value);
	if (layout->ci_has_base)
		put_word(image, ci + layout->ci_base, call->value + VALUE_SIZE);
	put_word(image, thread->address + layout->state_top, thread->next_value);
	put_word(image, thread->address + layout->state_ci, ci);
	put_status(image, ci, tag == layout->tag_lua_function && kind == LS_FRAME_LUA);
	call->kind = kind;
	return call;
}

static void call_closure(struct image *image, size_t thread, uint64_t closure, uint64_t proto,
			 uint32_t pc, uint32_t slots)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t saved_pc = get_word(image, proto + layout->proto_code) + (pc + 1) * 4;
	struct image_call *call =
		push(image, thread, closure, layout->tag_lua_function, LS_FRAME_LUA, slots);

	call->closure = closure;
	call->function = proto;
	call->pc = pc;
	if (layout->state_savedpc)
		image__set_field(image, thread, layout->state_savedpc, saved_pc, 8);
	else
		put_word(image, call->ci + layout->ci_savedpc, saved_pc);
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
				 get_word(image, ci + layout->ci_savedpc), 8);
}

void image__set_call(struct image *image, const struct image_call *call, uint32_t distance)
{
	const struct ls_puc_layout *layout = image->layout;
	uint64_t code = get_word(image, call->function + layout->proto_code);

	put_half(image, code + call->pc * 4,
		 (RESULTS + 1) << layout->op_results | (distance - 1) << layout->op_bits |
			 layout->op_call);
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
	put_word(image, image->sp + offset, word);
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
	return get_word(image, image->threads[thread].address + offset);
}

void image__set_field(struct image *image, size_t thread, size_t offset, uint64_t number,
		      size_t size)
{
	memory__put(&image->memory, image->threads[thread].address + offset, number, size);
}
