/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where BASE is on AArch64 while the VM has called C code, or a helper, which may save its
 * registers. What is not certain has to be refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arm64_machine.h"
#include "walk_error.h"

static void save_base(struct machine *machine, uint64_t base)
{
	machine__put(machine,
		     machine->image.threads[IMAGE_MAIN].address +
			     offsetof(struct ls_luajit_state, base),
		     base);
}

static void believes_the_state_about_c_code(void **state)
{
	struct machine *machine = *state;
	uint64_t caller = machine__top(machine)->base;

	luajit_image__call(&machine->image, IMAGE_MAIN, machine->builtin, 9);
	machine__run(machine, 0);
	save_base(machine, machine__top(machine)->base);
	luajit_image__set_vm_state(&machine->image, LS_LUAJIT_IN_C);
	/* as results are moved down */
	machine->image.registers[BASE] = caller;
	machine__expect(machine);
	machine__leave_vm(machine, 160);
	machine__expect(machine);
}

#define HELPER 320 /* bytes of native stack that helpers take */
#define NEAR   40  /* words: the place of a frame record next to the VM's C frame */

static uint64_t word_at(const struct machine *machine, uint32_t at)
{
	return machine->image.sp + 8ULL * at;
}

/* Puts a frame record at word `at` of the helpers' stack, linked to another. */
static void put_record(struct machine *machine, uint32_t at, uint64_t next)
{
	machine__put(machine, word_at(machine, at), next);
	machine__put(machine, word_at(machine, at) + 8, IMAGE_C_FUNCTION + 0x40);
}

/* A helper of the running instruction 12 was built with frame records, or not. */
static void call_helper(struct machine *machine)
{
	machine__run(machine, 12);
	machine__leave_vm(machine, HELPER);
}

/* Puts BASE and PC of a call at two words of the helpers' stack. */
static void save_pair(struct machine *machine, uint32_t at, const struct image_call *call)
{
	machine__put(machine, word_at(machine, at), call->base);
	machine__put(machine, word_at(machine, at + 2), machine__after(call, call->pc));
}

static uint64_t record_of_vm(const struct machine *machine)
{
	return machine->image.threads[IMAGE_MAIN].cframe + 192;
}

static void believes_registers_that_a_helper_left_alone(void **state)
{
	struct machine *machine = *state;
	const struct image_call *calls = machine->image.threads[IMAGE_MAIN].calls;

	call_helper(machine);
	save_pair(machine, 4, &calls[0]);
	machine->image.registers[BASE] = calls[1].base;
	machine->image.registers[PC] = machine__after(&calls[1], 12);
	machine__expect(machine);
}

/* What other helpers have left behind elsewhere does not matter. */
static void finds_what_is_saved_behind_a_frame_record(void **state)
{
	struct machine *machine = *state;
	const struct image_call *calls = machine->image.threads[IMAGE_MAIN].calls;

	call_helper(machine);
	machine->image.registers[FP] = word_at(machine, 6);
	put_record(machine, 6, word_at(machine, 20));
	put_record(machine, 20, record_of_vm(machine));
	save_pair(machine, 24, &calls[1]);
	save_pair(machine, 8, &calls[0]);
	machine__expect(machine);
	/* beyond what a function can have saved */
	put_record(machine, 0, record_of_vm(machine));
	machine->image.registers[FP] = word_at(machine, 0);
	save_pair(machine, 8, &calls[1]);
	save_pair(machine, 36, &calls[0]);
	machine__expect(machine);
}

static void finds_what_is_saved_without_frame_records(void **state)
{
	struct machine *machine = *state;
	const struct image_call *calls = machine->image.threads[IMAGE_MAIN].calls;

	for (uint32_t at = 0; at < 38; at++) {
		machine->image.sp = record_of_vm(machine) - 192;
		call_helper(machine);
		save_pair(machine, at, &calls[1]);
		machine__expect(machine);
	}
	/* saved twice, by one that the helper has called in turn */
	save_pair(machine, 3, &calls[1]);
	machine__expect(machine);
}

/* A helper that uses one register only has saved no more than that. */
static void joins_a_register_with_a_saved_one(void **state)
{
	struct machine *machine = *state;
	const struct image_call *call = machine__top(machine);

	call_helper(machine);
	machine__put(machine, word_at(machine, 7), call->base);
	machine->image.registers[PC] = machine__after(call, 12);
	machine__expect(machine);
	call_helper(machine);
	machine__put(machine, word_at(machine, 7), machine__after(call, 12));
	machine->image.registers[BASE] = call->base;
	machine__expect(machine);
}

static void does_not_guess_which_of_two_was_saved(void **state)
{
	struct machine *machine = *state;
	const struct image_call *calls = machine->image.threads[IMAGE_MAIN].calls;

	call_helper(machine);
	save_pair(machine, 4, &calls[0]);
	save_pair(machine, 9, &calls[1]);
	machine__expect_error(machine, LS_WALK_CALL_CHAIN);
	save_pair(machine, 14, &calls[0]);
	machine__expect_error(machine, LS_WALK_CALL_CHAIN);
}

/* It needs neither, but has had the VM save BASE. */
static void believes_the_state_where_nothing_was_saved(void **state)
{
	struct machine *machine = *state;

	call_helper(machine);
	save_base(machine, machine__top(machine)->base);
	machine__put(machine, machine->image.threads[IMAGE_MAIN].cframe + 8,
		     machine__after(machine__top(machine), 12));
	machine__expect(machine);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, machine__begin, machine__end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(believes_the_state_about_c_code),
		TEST(believes_registers_that_a_helper_left_alone),
		TEST(finds_what_is_saved_behind_a_frame_record),
		TEST(finds_what_is_saved_without_frame_records),
		TEST(joins_a_register_with_a_saved_one),
		TEST(does_not_guess_which_of_two_was_saved),
		TEST(believes_the_state_where_nothing_was_saved),
	};

	return cmocka_run_group_tests_name("BASE of LuaJIT on AArch64, saved", tests, NULL, NULL);
}
