/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An image of LuaJIT whose VM runs on AArch64: its C frame, its registers. What walks it is the BPF
 * code for AArch64, built for the host here, whichever that is.
 */
#ifndef TEST_ARM64_MACHINE_H
#define TEST_ARM64_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "luajit_calls.h"

/* Registers, as in struct user_pt_regs. */
#define CARG3 2
#define RB    17
#define BASE  19
#define KBASE 20
#define PC    21
#define GL    22
#define L     23
#define FP    29
#define LR    30

#define MACHINE_VM 0x555555500000ULL /* the VM's machine code: a page */

struct machine {
	struct image image;
	struct walker *walker;
	uint64_t closures[3]; /* a main chunk, and two functions */
	uint64_t builtin;
};

/* For cmocka: the main chunk has called closures[2]; the registers hold nonsense. */
int machine__begin(void **state);
int machine__end(void **state);

/* The last call of the main thread. */
struct image_call *machine__top(struct machine *machine);

/* The next instruction after instruction `pc` of a call of a Lua function. */
uint64_t machine__after(const struct image_call *call, uint32_t pc);

/* What KBASE is while the Lua function runs. */
uint64_t machine__constants(const struct machine *machine, uint64_t closure);

/* The value of a function on the stack of values. */
uint64_t machine__value(uint64_t closure);

/* Instruction `pc` of the last call runs, as the registers say; and SP is at the VM's C frame. */
void machine__run(struct machine *machine, uint32_t pc);

/*
 * The VM has called C code, which takes `size` bytes of the native stack; all registers have other
 * values by now.
 */
void machine__leave_vm(struct machine *machine, uint64_t size);

/* Fills the machine code at the pc. Instruction `count`, from 1, stores a call's link; 0: none. */
void machine__put_code(struct machine *machine, uint32_t count);

/* Writes a word of the native stack or of the stack of values. */
void machine__put(struct machine *machine, uint64_t address, uint64_t word);

/* Takes a sample. What it has learned is remembered until machine__forget(). */
void machine__sample(struct machine *machine);
void machine__forget(struct machine *machine);

/* Takes a sample, which has to have all calls of the main thread, or to fail with this error. */
void machine__expect(struct machine *machine);
void machine__expect_error(struct machine *machine, uint8_t error);

/* The base that the last sample has found. */
uint64_t machine__base(const struct machine *machine);

#endif
