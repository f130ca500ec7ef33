/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LuaJIT's traces on AArch64, which do not say their number: where a trace is while it runs itself,
 * and where it has called C code, whose return address may be anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "arm64_machine.h"
#include "walk_error.h"

#define NUMBER    3
#define BLR       0xd63f0100U /* BLR x8 */
#define SNAPSHOTS 4           /* whose machine code, in units of four bytes, the trace has */
#define CALLED    320         /* bytes of native stack that C code takes */

/* A place in the trace's machine code: that of a snapshot, and so many bytes on. */
static uint64_t place(uint32_t snapshot, uint32_t bytes)
{
	return IMAGE_MACHINE_CODE + NUMBER * IMAGE_TRACE_BYTES +
	       snapshot * (IMAGE_TRACE_BYTES / SNAPSHOTS) + bytes;
}

/* Returns the address of its header. */
static uint64_t add_trace(struct machine *machine, uint32_t number)
{
	const uint64_t inlined[] = {machine->closures[1], machine->closures[0]};

	return luajit_image__add_trace(&machine->image, number, machine->closures[2], inlined, 2,
				       5);
}

/* The trace, called from the last function, is at a snapshot, which inlines as many functions. */
static uint64_t run_trace(struct machine *machine, uint32_t snapshot)
{
	struct image *image = &machine->image;
	uint64_t header = add_trace(machine, NUMBER);

	machine__run(machine, 0);
	luajit_image__run_trace(image, IMAGE_MAIN, NUMBER, snapshot, false);
	luajit_image__set_vm_state(image, LS_LUAJIT_IN_INTERPRETER);
	image->pc = place(snapshot, 8);
	return header;
}

/* The trace has called C code at that place, by an instruction right before it. */
static void put_call(struct machine *machine, uint64_t address)
{
	memory__put(&machine->image.memory, address - 4, BLR, 4);
}

static void call_c(struct machine *machine)
{
	machine__leave_vm(machine, CALLED);
	machine->image.pc = IMAGE_C_FUNCTION + 8;
}

static void put_on_stack(struct machine *machine, uint32_t at, uint64_t word)
{
	machine__put(machine, machine->image.sp + 8ULL * at, word);
}

static void shows_the_functions_of_each_snapshot(void **state)
{
	struct machine *machine = *state;
	struct image *image = &machine->image;
	size_t count = image->threads[IMAGE_MAIN].call_count;

	for (uint32_t snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
		image->threads[IMAGE_MAIN].call_count = count;
		run_trace(machine, snapshot);
		machine__expect(machine);
		image->pc = place(snapshot + 1, 0) - 4;
		machine__expect(machine);
	}
}

/* Nothing tells a number: each place is tried until a trace there says which it is. */
static void finds_the_array_of_traces_wherever_it_is(void **state)
{
	struct machine *machine = *state;
	struct image *image = &machine->image;
	const uint16_t *at = image->layout->global_traces;
	size_t places = 0;

	while (places < LS_LUAJIT_TRACE_PLACES && at[places])
		places++;
	assert_in_range(places, 3, LS_LUAJIT_TRACE_PLACES);
	run_trace(machine, 2);
	for (size_t i = 0; i < places; i++) {
		for (size_t j = 0; j < places; j++)
			luajit_image__set_global(image, at[j], 0, 8);
		luajit_image__set_global(image, at[i], image->traces, 8);
		luajit_image__set_global(image, at[i] + 12, IMAGE_TRACE_MAX, 4);
		machine__forget(machine);
		machine__expect(machine);
	}
	luajit_image__set_global(image, at[places - 1], 0, 8);
	machine__forget(machine);
	machine__expect_error(machine, LS_WALK_TRACE);
}

/* The first sample may only find out where machine code is. */
static void expect_soon(struct machine *machine)
{
	machine__sample(machine);
	machine__expect(machine);
}

static void finds_the_place_by_the_link_register(void **state)
{
	struct machine *machine = *state;

	run_trace(machine, 2);
	call_c(machine);
	put_call(machine, place(2, 8));
	machine->image.registers[LR] = place(2, 8);
	expect_soon(machine);
	/* where the code has no record yet, or was built without and has called a leaf */
	machine->image.registers[FP] = machine->image.threads[IMAGE_MAIN].cframe + 192;
	machine__expect(machine);
	machine->image.registers[LR] = IMAGE_C_FUNCTION + 64;
	put_on_stack(machine, 7, place(2, 8));
	machine__expect(machine);
}

static void finds_the_place_on_the_stack(void **state)
{
	struct machine *machine = *state;

	run_trace(machine, 2);
	call_c(machine);
	put_call(machine, place(2, 8));
	for (uint32_t at = 0; at < CALLED / 8; at += 3) {
		put_on_stack(machine, at, place(2, 8));
		expect_soon(machine);
		put_on_stack(machine, at, 0);
		machine__expect_error(machine, LS_WALK_TRACE);
	}
	/* with a pointer authentication code */
	put_on_stack(machine, 11, place(2, 8) | 0x2aULL << 48);
	machine__expect(machine);
}

/* What earlier calls have left behind does not matter then. */
static void finds_the_place_by_frame_records(void **state)
{
	struct machine *machine = *state;
	uint64_t record = machine->image.threads[IMAGE_MAIN].cframe + 192;

	run_trace(machine, 2);
	call_c(machine);
	put_call(machine, place(0, 8));
	put_on_stack(machine, 5, place(0, 8));
	put_on_stack(machine, 10, machine->image.sp + 20 * 8ULL);
	put_on_stack(machine, 11, IMAGE_C_FUNCTION + 64);
	put_on_stack(machine, 20, record);
	put_on_stack(machine, 21, place(2, 8));
	put_on_stack(machine, 30, place(0, 8));
	machine->image.registers[FP] = machine->image.sp + 10 * 8ULL;
	expect_soon(machine);
}

static void takes_no_word_that_follows_no_call(void **state)
{
	struct machine *machine = *state;

	run_trace(machine, 2);
	call_c(machine);
	put_call(machine, place(2, 8));
	put_on_stack(machine, 7, place(2, 8));
	put_on_stack(machine, 3, place(0, 8));
	put_call(machine, place(1, 6)); /* no instruction is there */
	put_on_stack(machine, 5, place(1, 6));
	put_on_stack(machine, 9, place(2, 8) + 1);
	expect_soon(machine);
}

static void takes_several_places_of_one_snapshot(void **state)
{
	struct machine *machine = *state;

	run_trace(machine, 2);
	call_c(machine);
	for (uint32_t i = 0; i < 4; i++) {
		put_call(machine, place(2, 8 + 24 * i));
		put_on_stack(machine, 3 + 5 * i, place(2, 8 + 24 * i));
		put_on_stack(machine, 4 + 5 * i, place(2, 8)); /* again */
		expect_soon(machine);
	}
	/* more than are remembered */
	put_call(machine, place(2, 200));
	put_on_stack(machine, 30, place(2, 200));
	machine__expect_error(machine, LS_WALK_TRACE);
}

static void does_not_guess_between_snapshots(void **state)
{
	struct machine *machine = *state;

	run_trace(machine, 2);
	call_c(machine);
	put_call(machine, place(2, 8));
	put_on_stack(machine, 7, place(2, 8));
	expect_soon(machine);
	for (uint32_t other = 0; other < SNAPSHOTS; other++) {
		if (other == 2)
			continue;
		put_call(machine, place(other, 16));
		put_on_stack(machine, 12, place(other, 16));
		machine__expect_error(machine, LS_WALK_TRACE);
		/* the last of several is as much of a doubt */
		put_call(machine, place(2, 40));
		put_on_stack(machine, 9, place(2, 40));
		machine__expect_error(machine, LS_WALK_TRACE);
		put_on_stack(machine, 9, 0);
	}
}

/* The places are in two traces, behind the last snapshot of each. */
static void does_not_guess_between_traces(void **state)
{
	struct machine *machine = *state;
	uint64_t header, other = place(2, 8) + IMAGE_TRACE_BYTES;

	add_trace(machine, NUMBER + 1);
	header = run_trace(machine, 2);
	memory__put(&machine->image.memory,
		    header + offsetof(struct ls_luajit_trace, snapshot_count), 3, 2);
	call_c(machine);
	put_call(machine, place(2, 8));
	put_call(machine, other);
	put_on_stack(machine, 7, place(2, 8));
	expect_soon(machine);
	put_on_stack(machine, 12, other);
	machine__expect_error(machine, LS_WALK_TRACE);
}

/* A new trace has code below that of the others, one of which has left a return address behind. */
static void does_not_take_an_old_trace_for_a_new_one(void **state)
{
	struct machine *machine = *state;
	struct image *image = &machine->image;
	uint64_t header = run_trace(machine, 2), slot = image->traces + 8 * NUMBER;
	uint64_t other = place(2, 8) + IMAGE_TRACE_BYTES;

	add_trace(machine, NUMBER + 1);
	machine__put(machine, slot, 0);
	image->pc = other;
	machine__sample(machine);
	machine__put(machine, slot, header);
	call_c(machine);
	put_call(machine, place(2, 8));
	put_call(machine, other);
	put_on_stack(machine, 7, place(2, 8));
	put_on_stack(machine, 9, other);
	machine__expect_error(machine, LS_WALK_TRACE);
	put_on_stack(machine, 9, 0);
	machine__expect(machine);
}

/* Where the trace itself runs, what earlier calls of it have left behind is no doubt. */
static void believes_the_pc_before_the_stack(void **state)
{
	struct machine *machine = *state;

	run_trace(machine, 2);
	machine__leave_vm(machine, CALLED);
	put_call(machine, place(0, 8));
	put_call(machine, place(1, 8));
	put_on_stack(machine, 7, place(0, 8));
	put_on_stack(machine, 9, place(1, 8));
	expect_soon(machine);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, machine__begin, machine__end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(shows_the_functions_of_each_snapshot),
		TEST(finds_the_array_of_traces_wherever_it_is),
		TEST(finds_the_place_by_the_link_register),
		TEST(finds_the_place_on_the_stack),
		TEST(finds_the_place_by_frame_records),
		TEST(takes_no_word_that_follows_no_call),
		TEST(takes_several_places_of_one_snapshot),
		TEST(does_not_guess_between_snapshots),
		TEST(does_not_guess_between_traces),
		TEST(does_not_take_an_old_trace_for_a_new_one),
		TEST(believes_the_pc_before_the_stack),
	};

	return cmocka_run_group_tests_name("traces of LuaJIT on AArch64", tests, NULL, NULL);
}
