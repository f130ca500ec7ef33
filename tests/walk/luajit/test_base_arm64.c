/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where BASE is on AArch64 in the VM itself, at each step of a call and a return. What is not
 * certain has to be refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arm64_machine.h"
#include "walk_error.h"

#define NIL         (~0ULL)
#define FRAME_C     1 /* lj_frame.h */
#define FRAME_PCALL 6

/* Where the function that instruction `pc` of the last call calls has its base. */
static uint64_t base_of_callee(struct machine *machine, uint32_t pc)
{
	return machine__top(machine)->base + 8 * (2 + pc % 32) + 16;
}

static void put_frame(struct machine *machine, uint64_t base, uint64_t value, uint64_t link)
{
	machine__put(machine, base - 16, value);
	machine__put(machine, base - 8, link);
}

static void finds_the_function_that_the_vm_runs(void **state)
{
	struct machine *machine = *state;

	machine__run(machine, 12);
	machine__expect(machine);
	machine__run(machine, 0);
	machine__expect(machine);
}

/* ---- calls */

/* Instruction 9 calls the closure: BASE is the callee's, but the link there is whatever was. */
static void begin_call(struct machine *machine, uint64_t closure, uint64_t link)
{
	uint64_t *registers = machine->image.registers;
	uint64_t base = base_of_callee(machine, 9);

	machine__run(machine, 9);
	put_frame(machine, base, machine__value(closure), link);
	registers[KBASE] = machine__constants(machine, machine->closures[2]);
	registers[CARG3] = closure;
	registers[RB] = registers[BASE];
	registers[BASE] = base;
}

static void finds_the_caller_until_a_call_has_its_link(void **state)
{
	struct machine *machine = *state;
	const uint64_t callees[] = {machine->closures[0], machine->closures[1], machine->builtin};
	const uint64_t links[] = {NIL, 0, 24 | FRAME_C, machine__after(machine__top(machine), 20)};

	for (size_t i = 0; i < sizeof(callees) / sizeof(callees[0]); i++) {
		for (size_t j = 0; j < sizeof(links) / sizeof(links[0]); j++) {
			begin_call(machine, callees[i], links[j]);
			machine__expect(machine);
		}
		begin_call(machine, callees[i], machine->image.registers[PC]);
		machine__expect(machine);
	}
}

/* Older releases (2.1-beta3) move BASE in two steps: first to the slot with the function. */
static void finds_the_caller_before_base_is_the_callees(void **state)
{
	struct machine *machine = *state;
	/* in the slots below; the third is the caller itself */
	const uint64_t values[] = {NIL, machine__value(machine->closures[1]),
				   machine__value(machine->closures[2])};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		/* RB is enough, unless PC is in what is there */
		machine__put_code(machine, i == 2 ? 8 : 0);
		begin_call(machine, machine->closures[1], NIL);
		machine->image.registers[BASE] -= 16;
		put_frame(machine, machine->image.registers[BASE], values[i], NIL);
		machine__expect(machine);
	}
}

/*
 * PC is in the callee as well, so machine code decides. `count` instructions are left until the
 * link is stored; those between where BASE becomes the callee's and that are eight at most.
 */
static void finds_the_caller_that_calls_itself(void **state)
{
	struct machine *machine = *state;
	const uint64_t links[] = {NIL, 24 | FRAME_C, machine__after(machine__top(machine), 20),
				  machine__after(machine__top(machine), 9)};

	for (uint32_t count = 1; count <= 8; count++) {
		for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
			begin_call(machine, machine->closures[2], links[i]);
			machine__put_code(machine, count);
			machine__expect(machine);
		}
	}
}

/* It is about to call in turn, and what called it has left all registers as they would be. */
static void finds_a_function_that_has_called_itself(void **state)
{
	struct machine *machine = *state;
	uint64_t old = machine__top(machine)->base;

	luajit_image__call(&machine->image, IMAGE_MAIN, machine->closures[2], 9);
	machine__run(machine, 9);
	machine->image.registers[RB] = old;
	machine->image.registers[CARG3] = machine->closures[2];
	machine__put_code(machine, 0);
	machine__expect(machine);
	machine__put_code(machine, 9);
	machine__expect(machine);
	/* code that cannot be read tells nothing */
	machine->image.pc = IMAGE_C_FUNCTION;
	machine__expect(machine);
}

/* About to store the link of its own call: RB is the base of the one that runs. */
static void finds_a_function_that_begins_a_call(void **state)
{
	struct machine *machine = *state;

	machine__run(machine, 9);
	machine->image.registers[RB] = machine__top(machine)->base;
	machine__put_code(machine, 8);
	machine__expect(machine);
}

/* ---- returns */

/* Instruction 9 has called the closure, which returns: PC is the caller's already. */
static void begin_return(struct machine *machine, uint64_t closure)
{
	struct image *image = &machine->image;
	uint64_t link = machine__after(machine__top(machine), 9);

	luajit_image__call(image, IMAGE_MAIN, closure, 9);
	machine__run(machine, LS_PC_UNKNOWN);
	image->registers[PC] = link;
}

/* What has been called is no longer there, as far as its caller is concerned. */
static void drop_callee(struct machine *machine)
{
	machine->image.threads[IMAGE_MAIN].call_count--;
}

static void finds_the_caller_while_results_are_copied(void **state)
{
	struct machine *machine = *state;
	uint64_t *registers = machine->image.registers, base;
	/* the third is the caller itself, whose code PC is in */
	const uint64_t results[] = {NIL, machine__value(machine->closures[1]),
				    machine__value(machine->closures[2])};

	begin_return(machine, machine->closures[1]);
	base = machine__top(machine)->base;
	drop_callee(machine);
	registers[KBASE] = machine__constants(machine, machine->closures[1]);
	registers[CARG3] = base - 16;
	for (uint64_t copied = 1; copied < 40; copied++) {
		machine__put(machine, base - 24 + 8 * copied, NIL);
		registers[BASE] = base + 8 * copied;
		for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
			machine__put(machine, base - 16 + 8 * copied, results[i]);
			machine__expect(machine);
		}
	}
}

static void finds_a_function_that_is_about_to_return(void **state)
{
	struct machine *machine = *state;

	begin_return(machine, machine->closures[1]);
	machine->image.registers[KBASE] = machine__constants(machine, machine->closures[1]);
	machine__expect(machine);
	/* where it would have its results copied to */
	machine->image.registers[CARG3] = machine__top(machine)->base - 16;
	machine__expect(machine);
}

/* A leftover, perhaps: it would return to elsewhere. */
static void does_not_take_a_function_with_another_link_for_one_that_returns(void **state)
{
	struct machine *machine = *state;

	begin_return(machine, machine->closures[1]);
	machine->image.registers[KBASE] = machine__constants(machine, machine->closures[1]);
	machine__put(machine, machine__top(machine)->base - 8,
		     machine__after(&machine__top(machine)[-1], 20));
	drop_callee(machine);
	machine__expect(machine);
}

/* Its successor has taken its place, but not yet begun. */
static void does_not_take_a_tail_called_function_for_one_that_runs(void **state)
{
	struct machine *machine = *state;

	begin_return(machine, machine->closures[1]);
	machine->image.registers[KBASE] = machine__constants(machine, machine->closures[1]);
	machine__put(machine, machine__top(machine)->base - 16,
		     machine__value(machine->closures[0]));
	drop_callee(machine);
	machine__expect(machine);
}

static void does_not_take_a_result_for_a_function_that_runs(void **state)
{
	struct machine *machine = *state;

	begin_return(machine, machine->builtin);
	machine->image.registers[KBASE] = machine__constants(machine, machine->closures[2]);
	machine__put(machine, machine__top(machine)->base - 16,
		     machine__value(machine->closures[1]));
	drop_callee(machine);
	machine__expect(machine);
}

/* ---- calls from C code, or from a builtin: PC is a distance */

static void finds_the_builtin_that_calls_by_a_distance(void **state)
{
	struct machine *machine = *state;
	uint64_t *registers = machine->image.registers, builtin;

	luajit_image__call(&machine->image, IMAGE_MAIN, machine->builtin, 9);
	machine__run(machine, 0);
	builtin = machine__top(machine)->base;
	registers[RB] = builtin;
	registers[BASE] = builtin + 16;
	registers[PC] = 16 | FRAME_PCALL;
	put_frame(machine, builtin + 16, machine__value(machine->closures[1]), NIL);
	machine__expect(machine);
	machine__put(machine, builtin + 8, 24 | FRAME_PCALL);
	machine__expect(machine);
}

static void finds_the_callee_once_a_distance_is_its_link(void **state)
{
	struct machine *machine = *state;
	uint64_t *registers = machine->image.registers, builtin;

	luajit_image__call(&machine->image, IMAGE_MAIN, machine->builtin, 9);
	builtin = machine__top(machine)->base;
	luajit_image__pcall(&machine->image, IMAGE_MAIN, machine->closures[1]);
	machine__run(machine, LS_PC_UNKNOWN);
	registers[RB] = builtin;
	registers[PC] = 16 | FRAME_PCALL;
	machine__expect(machine);
	/* as well where nothing tells who has called it */
	registers[RB] = NIL;
	machine__expect(machine);
}

/* The frame's function and its link are overwritten by results; the caller is at a distance. */
static void finds_the_builtin_that_a_function_returns_to(void **state)
{
	struct machine *machine = *state;
	uint64_t *registers = machine->image.registers, builtin, base;

	luajit_image__call(&machine->image, IMAGE_MAIN, machine->builtin, 9);
	machine__run(machine, 0);
	builtin = machine__top(machine)->base;
	base = builtin + 64;
	registers[RB] = builtin;
	registers[PC] = 64 | FRAME_C;
	registers[BASE] = base;
	put_frame(machine, base, NIL, 64 | FRAME_C);
	machine__expect(machine);
	registers[BASE] = base - 16;
	machine__put(machine, base - 32, NIL);
	machine__expect(machine);
	/* a result is a function, where BASE has come to */
	machine__put(machine, base - 32, machine__value(machine->closures[1]));
	machine__expect(machine);
}

/* RB is needed for more than the old BASE: it has to be as far away as PC says. */
static void does_not_take_whatever_is_in_rb_for_the_caller(void **state)
{
	struct machine *machine = *state;
	const struct image_call *calls = machine->image.threads[IMAGE_MAIN].calls;
	uint64_t *registers = machine->image.registers;

	machine__run(machine, 0);
	registers[RB] = calls[0].base;
	registers[BASE] = calls[1].base + 64;
	registers[PC] = 64 | FRAME_C;
	put_frame(machine, registers[BASE], machine__value(machine->closures[1]), NIL);
	machine__expect_error(machine, LS_WALK_CALL_CHAIN);
}

/* C code calls the first function of a state, on which nothing has run yet. */
static void finds_the_bottom_of_the_stack(void **state)
{
	struct machine *machine = *state;
	const struct image_thread *thread = &machine->image.threads[IMAGE_MAIN];
	uint64_t *registers = machine->image.registers, base = thread->calls[0].base;

	machine__run(machine, 0);
	registers[BASE] = base;
	registers[RB] = thread->stack + 16;
	registers[PC] = 64 | FRAME_C;
	machine__put(machine, base - 8, NIL);
	machine__expect_error(machine, LS_WALK_NO_SCRIPT);
	assert_int_equal(machine__base(machine), thread->stack + 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, machine__begin, machine__end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_the_function_that_the_vm_runs),
		TEST(finds_the_caller_until_a_call_has_its_link),
		TEST(finds_the_caller_before_base_is_the_callees),
		TEST(finds_the_caller_that_calls_itself),
		TEST(finds_a_function_that_has_called_itself),
		TEST(finds_a_function_that_begins_a_call),
		TEST(finds_the_caller_while_results_are_copied),
		TEST(finds_a_function_that_is_about_to_return),
		TEST(does_not_take_a_function_with_another_link_for_one_that_returns),
		TEST(does_not_take_a_tail_called_function_for_one_that_runs),
		TEST(does_not_take_a_result_for_a_function_that_runs),
		TEST(finds_the_builtin_that_calls_by_a_distance),
		TEST(finds_the_callee_once_a_distance_is_its_link),
		TEST(finds_the_builtin_that_a_function_returns_to),
		TEST(does_not_take_whatever_is_in_rb_for_the_caller),
		TEST(finds_the_bottom_of_the_stack),
	};

	return cmocka_run_group_tests_name("BASE of LuaJIT on AArch64", tests, NULL, NULL);
}
