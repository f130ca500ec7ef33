/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* VMs of Luau in this process's memory, as their allocator would have them, and worse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpreter/walker.h"
#include "luau/coroutines_luau.h"
#include "luau/layout_luau.h"
#include "luau/main_thread_luau.h"

#define THREAD 10 /* LUA_TTHREAD */
#define PROTO  15

#define PAGE_BYTES  16360
#define PAGE_HEAD   64 /* lua_Page, with padding */
#define STATE_BYTES 128
#define STATES      ((PAGE_BYTES - PAGE_HEAD) / STATE_BYTES)
#define PAGES       3
#define ROUNDS      20000

/* lua_Page, lmem.cpp. */
struct page {
	struct page *free_previous, *free_next, *previous, *next;
	int32_t size, object_size;
	uint64_t free_list;
	int32_t free_next_at, used;
	uint64_t padding;
	uint8_t objects[PAGE_BYTES - PAGE_HEAD];
};
_Static_assert(offsetof(struct page, objects) == PAGE_HEAD, "lua_Page");

struct vm {
	struct ls_luau_state main;
	uint8_t rest[STATE_BYTES - sizeof(struct ls_luau_state)];
	uint64_t global[512];
	struct page pages[PAGES];
	uint64_t values[64], calls[64];
	struct ls_luau_string text;
	_Alignas(8) uint8_t proto[256];
};

static const struct target_memory *own_memory(void)
{
	static struct target_memory memory;

	memory.pid = getpid();
	return &memory;
}

static void fill_state(const struct vm *vm, struct ls_luau_state *state)
{
	*state = (struct ls_luau_state){
		.tt = THREAD,
		.global = (uintptr_t)vm->global,
		.stack = (uintptr_t)vm->values,
		.base = (uintptr_t)(vm->values + 2),
		.top = (uintptr_t)(vm->values + 2),
		.base_ci = (uintptr_t)vm->calls,
		.ci = (uintptr_t)vm->calls,
		.end_ci = (uintptr_t)(vm->calls + 48),
	};
}

/* The newest page first, as the allocator links them. */
static void fill_pages(struct vm *vm, int32_t object_size)
{
	for (int i = 0; i < PAGES; i++) {
		int32_t count = (PAGE_BYTES - PAGE_HEAD) / object_size;

		vm->pages[i] = (struct page){
			.previous = i ? &vm->pages[i - 1] : NULL,
			.next = i + 1 < PAGES ? &vm->pages[i + 1] : NULL,
			.size = PAGE_BYTES,
			.object_size = object_size,
			.free_next_at = -object_size,
			.used = count,
		};
	}
	vm->global[90] = (uintptr_t)&vm->pages[0];
}

static int set_up(void **state)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	assert_non_null(vm);
	fill_state(vm, &vm->main);
	vm->global[95] = (uintptr_t)vm;
	fill_pages(vm, STATE_BYTES);
	*state = vm;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

/* Puts a state there; objects are handed out from the end of a page on. */
static struct ls_luau_state *put_state(struct vm *vm, int page, int at)
{
	struct ls_luau_state *state =
		(void *)(vm->pages[page].objects + (size_t)(STATES - 1 - at) * STATE_BYTES);

	fill_state(vm, state);
	return state;
}

static void read_vm(const struct vm *vm, struct coroutines *coroutines)
{
	assert_int_equal(coroutines_luau__read(own_memory(), NULL, (uintptr_t)vm, coroutines), 0);
}

static void tells_what_coroutine_status_would(void **state)
{
	struct vm *vm = *state;
	static const enum coroutine_status expected[] = {
		COROUTINE_FINISHED, COROUTINE_NOT_STARTED, COROUTINE_SUSPENDED, COROUTINE_FAILED,
		COROUTINE_ACTIVE,   COROUTINE_ACTIVE,      COROUTINE_ACTIVE};
	const size_t count = sizeof(expected) / sizeof(expected[0]);
	struct ls_luau_state *states[sizeof(expected) / sizeof(expected[0])];
	struct coroutines coroutines;

	/* The oldest are in the last page. */
	for (size_t i = 0; i < count; i++)
		states[i] = put_state(vm, i < 3 ? 2 : 0, (int)i % 3 + (int)i / 6);
	states[6] = put_state(vm, 0, 5);
	states[1]->top += 16;
	states[2]->status = 1;
	states[3]->status = 2;
	states[4]->status = 6;
	states[5]->is_active = 1;
	states[6]->ci += 40;
	read_vm(vm, &coroutines);
	assert_int_equal(coroutines.count, count);
	assert_false(coroutines.is_cut_short);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(coroutines.items[i].state, (uintptr_t)states[i]);
		assert_int_equal(coroutines.items[i].status, expected[i]);
	}
	free(coroutines.items);
}

static void leaves_out_what_is_no_coroutine_of_the_vm(void **state)
{
	struct vm *vm = *state;
	struct coroutines coroutines;

	put_state(vm, 1, 0)->tt = 0; /* freed */
	put_state(vm, 1, 1)->global += 8;
	put_state(vm, 1, 2)->is_active = 3;
	put_state(vm, 1, STATES - 1); /* never used yet */
	vm->pages[1].free_next_at = 0;
	vm->pages[1].used--;
	put_state(vm, 1, 3);
	read_vm(vm, &coroutines);
	assert_int_equal(coroutines.count, 1);
	assert_false(coroutines.is_cut_short);
	free(coroutines.items);
}

static void says_where_the_list_breaks_off(void **state)
{
	struct vm *vm = *state;
	struct page *const bad[] = {(struct page *)8, &vm->pages[1], &vm->pages[0],
				    (struct page *)&vm->global[2]};
	struct coroutines coroutines;

	put_state(vm, 0, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		vm->pages[1].next = bad[i];
		read_vm(vm, &coroutines);
		assert_int_equal(coroutines.count, 1);
		assert_true(coroutines.is_cut_short);
		free(coroutines.items);
	}
	vm->global[90] = 0;
	read_vm(vm, &coroutines);
	assert_int_equal(coroutines.count, 0);
	assert_true(coroutines.is_cut_short);
	free(coroutines.items);
}

/* The head is stale, another list comes first, and a page with room leads to the middle. */
static void finds_the_list_by_any_of_its_pages(void **state)
{
	struct vm *vm = *state;
	struct coroutines coroutines;
	struct page *others = calloc(2, sizeof(*others));

	assert_non_null(others);
	others[0] = vm->pages[0];
	others[0].next = &others[1];
	others[1] = vm->pages[PAGES - 1];
	others[1].previous = &others[0];
	vm->global[60] = (uintptr_t)others;
	vm->global[70] = (uintptr_t)&vm->pages[1];
	vm->global[90] = (uintptr_t)vm->values;
	for (int i = 0; i < PAGES; i++)
		put_state(vm, i, 0);
	read_vm(vm, &coroutines);
	assert_int_equal(coroutines.count, PAGES);
	assert_int_equal(coroutines.objects, (PAGES + 2) * STATES);
	assert_false(coroutines.is_cut_short);
	free(coroutines.items);
	free(others);
}

static uint32_t find_layout(const struct vm *vm)
{
	uint64_t at = 0;
	uint32_t slot = UINT32_MAX;

	if (!main_thread_luau__find(own_memory(), (uint16_t)((1U << layouts_luau_count) - 1),
				    (const uint8_t *)vm, STATE_BYTES, (uintptr_t)vm, &at, &slot))
		return UINT32_MAX;
	assert_int_equal(at, 0);
	return slot;
}

static void set_word(uint8_t *bytes, size_t at, const void *pointer)
{
	memcpy(bytes + at, &pointer, sizeof(pointer));
}

static void set_half(uint8_t *bytes, size_t at, uint32_t half)
{
	memcpy(bytes + at, &half, sizeof(half));
}

/* A function of five instructions on one line. The tables of lines follow each other. */
static void put_function(struct vm *vm, const struct ls_luau_layout *layout)
{
	static _Alignas(8) uint8_t tables[12];
	uint8_t *closure = vm->pages[1].objects;

	memset(vm->proto, 0, sizeof(vm->proto));
	memset(closure, 0, 64);
	vm->text.tt = THREAD - layout->string_type;
	vm->proto[0] = PROTO;
	set_word(vm->proto, layout->proto_source, &vm->text);
	set_word(vm->proto, layout->proto_line_info, tables);
	set_word(vm->proto, layout->proto_line_bases, tables + 8);
	set_half(vm->proto, layout->proto_code_count, 5);
	set_half(vm->proto, layout->proto_line_info_size, sizeof(tables));
	set_half(vm->proto, layout->proto_line_gap, 24);
	vm->proto[layout->proto_is_vararg + 1] = 2;
	closure[0] = THREAD - layout->function_type;
	set_word(closure, layout->closure_function, vm->proto);
}

/* The word before a function may look like the head of one, whose prototype is elsewhere. */
static void is_not_misled_by_what_is_next_to_a_function(void **state)
{
	struct vm *vm = *state;
	const int usage = layout_luau__find("luau-usage");

	assert_true(usage > 0);
	assert_int_equal(layouts_luau[usage].offsets.closure_function,
			 layouts_luau[0].offsets.closure_function + 8);
	fill_pages(vm, 64);
	put_function(vm, &layouts_luau[0].offsets);
	for (int i = 1; i < 4; i++)
		memcpy(vm->pages[1].objects + (size_t)i * 64, vm->pages[1].objects, 64);
	vm->pages[1].objects[120] = THREAD - layouts_luau[0].offsets.function_type;
	assert_int_equal(find_layout(vm), 0);
}

static void decides_the_layout_by_functions(void **state)
{
	struct vm *vm = *state;

	fill_pages(vm, 64);
	assert_int_equal(find_layout(vm), LS_LAYOUT_MAX);
	for (uint32_t i = 0; i < layouts_luau_count; i++) {
		put_function(vm, &layouts_luau[i].offsets);
		assert_int_equal(find_layout(vm), i);
	}
	vm->pages[1].objects[LS_LUAU_CLOSURE_IS_C] = 1;
	assert_int_equal(find_layout(vm), LS_LAYOUT_MAX);
	vm->global[95] = 0;
	assert_int_equal(find_layout(vm), UINT32_MAX);
}

static void survives_whatever_is_there(void **state)
{
	struct vm *vm = *state;
	struct vm *copy = malloc(sizeof(*copy));

	assert_non_null(copy);
	put_function(vm, &layouts_luau[0].offsets);
	for (int i = 0; i < 40; i++)
		put_state(vm, i % 3, i / 3)->status = (uint8_t)(i % 8);
	srand(1);
	memcpy(copy, vm, sizeof(*copy));
	for (int i = 0; i < ROUNDS; i++) {
		struct page *page = &vm->pages[rand() % PAGES];
		struct coroutines coroutines;

		((uint8_t *)page)[rand() % PAGE_HEAD] ^= (uint8_t)(1 << rand() % 8);
		vm->proto[(size_t)rand() % sizeof(vm->proto)] = (uint8_t)rand();
		coroutines_luau__read(own_memory(), NULL, (uintptr_t)vm, &coroutines);
		free(coroutines.items);
		find_layout(vm);
		if (i % 4 == 3)
			memcpy(vm, copy, sizeof(*vm));
	}
	free(copy);
}

#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(tells_what_coroutine_status_would),
		test(leaves_out_what_is_no_coroutine_of_the_vm),
		test(says_where_the_list_breaks_off),
		test(finds_the_list_by_any_of_its_pages),
		test(decides_the_layout_by_functions),
		test(is_not_misled_by_what_is_next_to_a_function),
		test(survives_whatever_is_there),
	};

	return cmocka_run_group_tests_name("VMs of Luau", tests, NULL, NULL);
}
