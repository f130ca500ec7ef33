/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On AArch64, frame records show who called whom, and with that whether the garbage collector runs.
 * The BPF code for AArch64 is built for the host here, whichever that is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "memory.h"

#ifndef __TARGET_ARCH_arm64
#define __TARGET_ARCH_arm64
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "puc/find_state_puc.bpf.h"
#include "gc.bpf.h"
#pragma GCC diagnostic pop

#define CODE      0xaaaad0000000ULL
#define COLLECTOR (CODE + 0x1000)
#define OUTER     (CODE + 0x2000)
#define LIBRARY   (CODE + 0x90000)
#define STACK     0xfffff0000000ULL
#define STACK_END (STACK + 0x4000)
#define SIGNATURE (0x2aULL << 48) /* of pointer authentication */

struct stack {
	struct memory memory;
	struct ls_scratch *scratch;
};

static const struct ls_image target = {
	.code = {{CODE, CODE + 0x10000}},
	.map_count = 2,
	.map = {{COLLECTOR, 0x100, LS_CODE_COLLECTOR}, {OUTER, 0x100, LS_CODE_OUTER}},
};

/* Starts in a library function whose frame is at the bottom of the stack. */
static int begin(void **state)
{
	struct stack *stack = calloc(1, sizeof(*stack));

	assert_non_null(stack);
	stack->scratch = calloc(1, sizeof(*stack->scratch));
	assert_non_null(stack->scratch);
	memory__start(&stack->memory);
	memory__map(&stack->memory, CODE, 0x20000);
	memory__map(&stack->memory, STACK, STACK_END - STACK);
	stack->scratch->sp = STACK;
	stack->scratch->pc = LIBRARY;
	stack->scratch->search.high = STACK_END;
	stack->scratch->register_count = LS_REGISTER_COUNT;
	stack->scratch->registers[29] = STACK;
	stack->scratch->registers[30] = LIBRARY + 8;
	*state = stack;
	return 0;
}

static int end(void **state)
{
	struct stack *stack = *state;

	memory__end(&stack->memory);
	free(stack->scratch);
	free(stack);
	return 0;
}

static void put(struct stack *stack, uint32_t at, uint64_t word)
{
	memory__put(&stack->memory, STACK + 8ULL * at, word, 8);
}

/* Puts a frame record at word `at`; its caller's is at word `next`. */
static void put_record(struct stack *stack, uint32_t at, uint32_t next, uint64_t place)
{
	put(stack, at, STACK + 8ULL * next);
	put(stack, at + 1, place);
}

/* Puts a BL to `callee` right before `place`. */
static void put_call(struct stack *stack, uint64_t place, uint64_t callee)
{
	uint64_t distance = (callee - (place - 4)) / 4 & 0x3ffffff;

	memory__put(&stack->memory, place - 4, 0x94000000 | distance, 4);
}

static int decide(struct stack *stack)
{
	return is_in_gc(stack->scratch, &target);
}

static void goes_from_record_to_record(void **state)
{
	struct stack *stack = *state;

	put_record(stack, 0, 10, LIBRARY + 0x40);
	put_record(stack, 10, 600, COLLECTOR + 8);
	assert_int_equal(decide(stack), 1);
	/* Far beyond what is searched word by word. */
	put(stack, 11, LIBRARY + 0x80);
	assert_int_equal(decide(stack), 0);
	put_record(stack, 600, 700, COLLECTOR + 8);
	assert_int_equal(decide(stack), 1);
	put_record(stack, 600, 700, OUTER + 8);
	put_record(stack, 700, 800, COLLECTOR + 8);
	assert_int_equal(decide(stack), 0);
}

static void ignores_what_lies_between_records(void **state)
{
	struct stack *stack = *state;

	put_record(stack, 0, 10, LIBRARY + 0x40);
	put_record(stack, 4, 10, COLLECTOR + 8);
	put_record(stack, 10, 20, OUTER + 8);
	assert_int_equal(decide(stack), 0);
	put_record(stack, 4, 10, OUTER + 8);
	put_record(stack, 10, 20, COLLECTOR + 8);
	assert_int_equal(decide(stack), 1);
}

static void takes_the_signature_off_a_return_address(void **state)
{
	struct stack *stack = *state;

	put_record(stack, 0, 10, LIBRARY + 0x40);
	put_record(stack, 10, 20, (COLLECTOR + 8) | SIGNATURE);
	assert_int_equal(decide(stack), 1);
}

/* A leaf function makes no frame record: x29 is still its caller's. */
static void goes_by_the_link_register_first(void **state)
{
	struct stack *stack = *state;

	put_record(stack, 0, 10, OUTER + 8);
	stack->scratch->registers[30] = (COLLECTOR + 8) | SIGNATURE;
	assert_int_equal(decide(stack), 1);
	put_record(stack, 0, 10, COLLECTOR + 8);
	stack->scratch->registers[30] = OUTER + 8;
	assert_int_equal(decide(stack), 0);
}

static void follows_no_record_twice(void **state)
{
	struct stack *stack = *state;

	put_record(stack, 0, 10, LIBRARY + 0x40);
	put_record(stack, 10, 0, LIBRARY + 0x80);
	assert_int_equal(decide(stack), 0);
	assert_in_range(stack->memory.reads, 2, 8);
}

static void looks_no_further_than_the_protected_call(void **state)
{
	struct stack *stack = *state;

	put_record(stack, 0, 30, LIBRARY + 0x40);
	put_record(stack, 30, 40, COLLECTOR + 8);
	assert_int_equal(decide(stack), 1);
	stack->scratch->chain_count = 1;
	stack->scratch->chain[0].anchor = STACK + 20 * 8;
	assert_int_equal(decide(stack), 0);
}

/* Built with -fomit-frame-pointer: x29 holds any number. */
static void searches_the_stack_without_records(void **state)
{
	struct stack *stack = *state;

	stack->scratch->registers[29] = 42;
	put_call(stack, COLLECTOR + 8, CODE + 0x3000);
	put_call(stack, OUTER + 8, CODE + 0x3000);
	put(stack, 5, COLLECTOR + 8);
	assert_int_equal(decide(stack), 1);
	stack->scratch->registers[29] = STACK + 0x1003;
	assert_int_equal(decide(stack), 1);
	put(stack, 3, OUTER + 8);
	assert_int_equal(decide(stack), 0);
}

/* All that `luaspy dump` knows of a sleeping thread: SP and the pc. */
static void searches_the_stack_without_registers(void **state)
{
	struct stack *stack = *state;

	stack->scratch->register_count = 0;
	put_call(stack, COLLECTOR + 8, CODE + 0x3000);
	put_record(stack, 4, 10, COLLECTOR + 8);
	put_call(stack, OUTER + 0x20, COLLECTOR);
	put_record(stack, 10, 20, OUTER + 0x20);
	put_call(stack, CODE + 0x5000, OUTER);
	put_record(stack, 20, 30, CODE + 0x5000);
	assert_int_equal(decide(stack), 1);
	/* Stale: where its record says, something else has been called since. */
	put_call(stack, OUTER + 0x20, CODE + 0x3000);
	assert_int_equal(decide(stack), 0);
}

/* The executor called a C function of a library through a stub. */
static void knows_stubs(void **state)
{
	static const uint32_t stubs[][4] = {
		{0x90000010, 0xf9400e11, 0x91006210, 0xd61f0220}, /* adrp, ldr, add, br x17 */
		{0xd503245f, 0xb0000090, 0xf947f611, 0x913fa210}, /* bti c in front */
	};
	static const uint64_t pointers[] = {CODE + 0x4018, CODE + 0x15fe8};
	struct stack *stack = *state;

	stack->scratch->register_count = 0;
	put_call(stack, COLLECTOR + 8, CODE + 0x3000);
	put_call(stack, OUTER + 0x20, CODE + 0x3000);
	put_call(stack, OUTER + 0x40, CODE + 0x4000);
	put_record(stack, 4, 10, OUTER + 0x20);
	put_record(stack, 10, 20, OUTER + 0x40);
	put_record(stack, 14, 300, COLLECTOR + 8);
	assert_int_equal(decide(stack), 1);
	for (size_t i = 0; i < 2; i++) {
		memory__put_bytes(&stack->memory, CODE + 0x4000, stubs[i], sizeof(stubs[i]));
		memory__put(&stack->memory, pointers[i], OUTER, 8);
		assert_int_equal(decide(stack), 0);
		memory__put(&stack->memory, pointers[i], CODE + 0x4100, 8); /* not resolved yet */
		assert_int_equal(decide(stack), 0);
		memory__put(&stack->memory, pointers[i], LIBRARY, 8);
		assert_int_equal(decide(stack), 1);
	}
}

/* Addresses have 48 bits, or 52 if a program asks for them; heaps lie at 0xaaaa.... */
static void takes_high_addresses_for_pointers(void **state)
{
	(void)state;
	assert_true(is_pointer(0xaaaaaaaa0000ULL));
	assert_true(is_pointer(0xfffffffff000ULL));
	assert_true(is_pointer(1ULL << 51));
	assert_false(is_pointer(1ULL << 52));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(goes_from_record_to_record),
		TEST(ignores_what_lies_between_records),
		TEST(takes_the_signature_off_a_return_address),
		TEST(goes_by_the_link_register_first),
		TEST(follows_no_record_twice),
		TEST(looks_no_further_than_the_protected_call),
		TEST(searches_the_stack_without_records),
		TEST(searches_the_stack_without_registers),
		TEST(knows_stubs),
		cmocka_unit_test(takes_high_addresses_for_pointers),
	};

	return cmocka_run_group_tests_name("frame_records", tests, NULL, NULL);
}
