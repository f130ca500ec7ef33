/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/specimens_luau.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "luau/gc_pages_luau.h"
#include "system/processor_speed.h"

#define TIME_MAX_NS 50000000ULL /* CPU time for the pages of the garbage collector */

#define CLOSURE_BYTES_MIN 32 /* without upvalues */
#define CLOSURE_BYTES_MAX 96 /* with several, in any release */
#define STATE_BYTES_MAX   192

_Static_assert(sizeof(struct ls_luau_state) <= GC_PAGE_LUAU_SLACK &&
		       CLOSURE_WORDS * 8 <= GC_PAGE_LUAU_SLACK,
	       "what begins in a page is readable");

#define STACK_VALUES_MAX 4096
#define CHILDREN_MAX     32   /* of a prototype, that are added */
#define GLOBAL_WORDS     512  /* of global_State */
#define CALLS_READ_MAX   1024 /* in all states, whatever their sizes claim */
#define TYPE_NAME_MAX    16

uint64_t proto_specimen__word(const struct proto_specimen *proto, size_t offset)
{
	uint64_t word;

	memcpy(&word, proto->bytes + offset, sizeof(word));
	return word;
}

uint32_t proto_specimen__half(const struct proto_specimen *proto, size_t offset)
{
	uint32_t half;

	memcpy(&half, proto->bytes + offset, sizeof(half));
	return half;
}

static bool read_exactly(const struct specimens *specimens, uint64_t address, void *to, size_t size)
{
	return !target_memory__read(specimens->memory, address, to, size);
}

static bool is_address(uint64_t word)
{
	return word >= 4096 && !(word & 7) && word < 1ULL << 56;
}

uint8_t specimens_luau__type_at(const struct specimens *specimens, uint64_t address)
{
	uint8_t type;

	return is_address(address) && read_exactly(specimens, address, &type, 1) ? type : 0;
}

bool specimens_luau__is_string(const struct specimens *specimens, uint64_t address)
{
	struct ls_luau_string string;
	char last;

	return is_address(address) && read_exactly(specimens, address, &string, sizeof(string)) &&
	       string.tt == specimens->string_type &&
	       read_exactly(specimens, address + sizeof(string) + string.length, &last, 1) && !last;
}

/* ---- types */

/* Whether the TString at that address has that text. Its type is not known yet. */
static bool has_text(const struct specimens *specimens, uint64_t address, const char *text)
{
	struct ls_luau_string string;
	char read[TYPE_NAME_MAX];
	size_t size = strlen(text) + 1;

	return is_address(address) && read_exactly(specimens, address, &string, sizeof(string)) &&
	       string.length == size - 1 &&
	       read_exactly(specimens, address + sizeof(string), read, size) &&
	       !memcmp(read, text, size);
}

/* The index of `name` in a list of the names of types; 0: not in the list. */
static uint8_t type_of(const struct specimens *specimens, const uint64_t *names, size_t count,
		       const char *name)
{
	for (size_t i = 1; i < count && i < LS_LUAU_TYPES_MAX; i++)
		if (has_text(specimens, names[i], name))
			return (uint8_t)i;
	return 0;
}

/* global_State.ttname (lstate.h) lists the names of types by their numbers. */
static int read_types(struct specimens *specimens, const char **missing)
{
	uint64_t words[GLOBAL_WORDS] = {};
	ssize_t size = target_memory__read_some(specimens->memory, specimens->state.global, words,
						sizeof(words));
	size_t count = size > 0 ? (size_t)size / 8 : 0, at = 0;

	while (at + 1 < count && !(has_text(specimens, words[at], "nil") &&
				   has_text(specimens, words[at + 1], "boolean")))
		at++;
	*missing = "its list of the names of types was not found";
	if (at + 1 >= count)
		return -ENODATA;
	specimens->string_type = type_of(specimens, words + at, count - at, "string");
	specimens->function_type = type_of(specimens, words + at, count - at, "function");
	*missing = "its list of the names of types does not have threads where they are";
	if (type_of(specimens, words + at, count - at, "thread") != specimens->state.tt ||
	    !specimens->string_type || !specimens->function_type ||
	    specimens->string_type > specimens->state.tt ||
	    specimens->function_type > specimens->state.tt)
		return -ENODATA;
	return 0;
}

/* ---- closures and calls */

/* Adds a closure of a Lua function, once. */
static void add_closure(struct specimens *specimens, uint64_t address, const uint8_t *bytes)
{
	struct closure_specimen *closure;

	if (specimens->closure_count == CLOSURES_MAX || bytes[0] != specimens->function_type ||
	    bytes[LS_LUAU_CLOSURE_IS_C])
		return;
	for (size_t i = 0; i < specimens->closure_count; i++)
		if (specimens->closures[i].address == address)
			return;
	closure = &specimens->closures[specimens->closure_count++];
	closure->address = address;
	memcpy(closure->words, bytes, sizeof(closure->words));
}

static void add_closure_at(struct specimens *specimens, uint64_t address)
{
	uint8_t bytes[CLOSURE_WORDS * 8] = {};
	ssize_t count;

	if (!is_address(address))
		return;
	count = target_memory__read_some(specimens->memory, address, bytes, sizeof(bytes));
	if (count >= CLOSURE_BYTES_MIN)
		add_closure(specimens, address, bytes);
}

/* Values on the stack carry their types, so these closures are certain. */
static void read_stack(struct specimens *specimens)
{
	const struct ls_luau_state *state = &specimens->state;
	uint64_t value[LS_LUAU_VALUE_MAX / 8];
	uint32_t type;

	for (uint32_t i = 0; i < STACK_VALUES_MAX; i++) {
		uint64_t address = state->stack + (uint64_t)i * specimens->value;

		if (address >= state->top ||
		    !read_exactly(specimens, address, value, specimens->value))
			break;
		memcpy(&type,
		       (uint8_t *)value + specimens->value - (specimens->value == 24 ? 8 : 4),
		       sizeof(type));
		if (type == specimens->function_type)
			add_closure_at(specimens, value[0]);
	}
}

/* Bypasses the cache, whose pages may be older. */
static bool read_now(const struct specimens *specimens, uint64_t address, void *to, size_t size)
{
	return target_memory__read_some(specimens->memory, address, to, size) == (ssize_t)size;
}

/* Adds a call unless it changed while its function was read. */
static void read_call(struct specimens *specimens, uint64_t ci, uint64_t size)
{
	struct call_specimen *call = &specimens->calls[specimens->call_count];
	uint8_t bytes[LS_LUAU_CI_MAX], again[LS_LUAU_CI_MAX];
	uint64_t func;

	if (!read_now(specimens, ci, bytes, size))
		return;
	memcpy(&func, bytes + LS_LUAU_CI_FUNC, sizeof(func));
	memcpy(&call->pc, bytes + size - LS_LUAU_CI_FROM_SAVEDPC, sizeof(call->pc));
	if (call->pc && read_now(specimens, func, &call->closure, sizeof(call->closure)) &&
	    read_now(specimens, ci, again, size) && !memcmp(bytes, again, size))
		specimens->call_count++;
}

static void read_calls(struct specimens *specimens, const struct ls_luau_state *state)
{
	uint32_t count = state->ci_count - 1;
	uint64_t size = count ? (state->end_ci - state->base_ci) / count : 0;

	if (size != LS_LUAU_CI_MAX && size != LS_LUAU_CI_MAX - 8)
		return;
	for (uint64_t ci = state->base_ci + size; ci <= state->ci; ci += size) {
		if (specimens->call_count == CALLS_MAX || specimens->calls_read == CALLS_READ_MAX)
			break;
		specimens->calls_read++;
		read_call(specimens, ci, size);
	}
}

/* Reads the calls of the state in these bytes, if it is one. Suspended states do not change. */
static void read_calls_of(struct specimens *specimens, const uint8_t *bytes)
{
	struct ls_luau_state state;

	memcpy(&state, bytes, sizeof(state));
	if (state.tt == specimens->state.tt && state.global == specimens->state.global &&
	    state.ci > state.base_ci && state.ci <= state.end_ci)
		read_calls(specimens, &state);
}

/* Objects begin after the head of a page or after the padding that follows it. */
static int visit_page(void *context, const struct gc_page_luau *page)
{
	struct specimens *specimens = context;

	for (uint32_t padding = 0; padding <= 8; padding += 8)
		for (uint64_t at = padding; at < page->size; at += page->object_size) {
			if (page->object_size <= CLOSURE_BYTES_MAX)
				add_closure(specimens, page->address + at, page->bytes + at);
			if (page->object_size >= sizeof(struct ls_luau_state))
				read_calls_of(specimens, page->bytes + at);
		}
	return specimens->closure_count == CLOSURES_MAX && specimens->call_count == CALLS_MAX;
}

static uint32_t measure_value(const struct ls_luau_state *state)
{
	uint64_t bytes = state->stack_last - state->stack;

	/* Releases up to 2022 kept one more value free at the end. */
	for (uint32_t spare = LS_LUAU_EXTRA_STACK; spare <= LS_LUAU_EXTRA_STACK + 1; spare++)
		for (uint32_t size = 16; size <= LS_LUAU_VALUE_MAX; size += 8)
			if (bytes == (uint64_t)size * (state->stack_size - spare))
				return size;
	return 0;
}

int specimens_luau__read(struct specimens *specimens, const struct target_memory *memory,
			 uint64_t state, const char **missing)
{
	const struct gc_page_visitor_luau visitor = {
		.context = specimens,
		.object_min = CLOSURE_BYTES_MIN,
		.object_max = STATE_BYTES_MAX,
		.visit = visit_page,
	};
	int error;

	specimens->memory = memory;
	specimens->closure_count = 0;
	specimens->call_count = 0;
	specimens->calls_read = 0;
	specimens->proto_count = 0;
	error = target_memory__read(memory, state, &specimens->state, sizeof(specimens->state));
	if (error)
		return error;
	specimens->value = measure_value(&specimens->state);
	*missing = "its stack has no whole number of values";
	if (!specimens->value)
		return -ENODATA;
	error = read_types(specimens, missing);
	if (error)
		return error;
	read_calls(specimens, &specimens->state);
	read_stack(specimens);
	/* If the pages cannot be read, the closures on the stack must suffice. */
	gc_pages_luau__visit(
		memory, specimens->state.global,
		clock_ns(CLOCK_THREAD_CPUTIME_ID) + processor_speed__scale(TIME_MAX_NS), &visitor);
	return 0;
}

/* ---- prototypes */

/* Returns the index of the prototype at that address, adding it if new; -1: none, or no room. */
static int add_proto(struct specimens *specimens, uint64_t address, uint8_t type)
{
	struct proto_specimen *proto;
	ssize_t count;

	if (!is_address(address))
		return -1;
	for (size_t i = 0; i < specimens->proto_count; i++)
		if (specimens->protos[i].address == address)
			return (int)i;
	if (specimens->proto_count == PROTOTYPES_MAX)
		return -1;
	proto = &specimens->protos[specimens->proto_count];
	*proto = (struct proto_specimen){.address = address, .upvalues = -1, .parent = -1};
	count = target_memory__read_some(specimens->memory, address, proto->bytes, PROTO_BYTES);
	if (count <= 0 || proto->bytes[0] != type)
		return -1;
	return (int)specimens->proto_count++;
}

void specimens_luau__read_protos(struct specimens *specimens, size_t closure_offset, uint8_t type)
{
	specimens->proto_count = 0;
	for (size_t i = 0; i < specimens->closure_count; i++) {
		const struct closure_specimen *closure = &specimens->closures[i];
		int at = add_proto(specimens, closure->words[closure_offset / 8], type);

		if (at >= 0)
			specimens->protos[at].upvalues =
				((const uint8_t *)closure->words)[LS_LUAU_CLOSURE_UPVALUES];
	}
}

/*
 * Adds the prototypes at the start of `array`. Its length is not known yet, so only the first one
 * is certain to be a child of `parent`.
 */
static void add_children_of(struct specimens *specimens, size_t parent, uint64_t array)
{
	uint8_t type = specimens->protos[parent].bytes[0];
	uint64_t children[CHILDREN_MAX] = {};
	ssize_t size =
		target_memory__read_some(specimens->memory, array, children, sizeof(children));

	for (ssize_t i = 0; i < size / (ssize_t)sizeof(children[0]); i++) {
		int at = add_proto(specimens, children[i], type);

		if (at < 0)
			break;
		if (!i)
			specimens->protos[at].parent = (int)parent;
	}
}

void specimens_luau__add_children(struct specimens *specimens, size_t children_offset)
{
	/* New ones come last, so the loop adds their children, too. */
	for (size_t i = 0; i < specimens->proto_count; i++) {
		uint64_t array = proto_specimen__word(&specimens->protos[i], children_offset);

		if (is_address(array))
			add_children_of(specimens, i, array);
	}
}
