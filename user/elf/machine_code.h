/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds direct branches, byte stores into structs, shifts by constants, and addresses in machine
 * code, without a disassembler. The instruction boundaries of x86-64 code are unknown, so every
 * byte may begin an instruction: some reported events do not exist. No event is missed, provided
 * that the compiler writes it in one of the forms that the .c file names.
 */
#ifndef LS_MACHINE_CODE_H
#define LS_MACHINE_CODE_H

#include <stddef.h>
#include <stdint.h>

enum machine_event_kind {
	MACHINE_CALL,  /* to `target` */
	MACHINE_JUMP,  /* conditional or not, to `target` */
	MACHINE_STORE, /* one byte, to `offset` from a register; `value`, or -1 if unknown */
	MACHINE_SHIFT, /* to the right, by `offset` bits */
};

struct machine_event {
	enum machine_event_kind kind;
	uint64_t target;
	uint32_t offset;
	int value;
};

typedef void (*machine_visitor)(void *context, const struct machine_event *event);

/*
 * Calls `visit` for each event in `code`, which lies at `address`. `machine` is an ELF file's
 * e_machine: EM_X86_64, EM_AARCH64; others yield no events.
 */
void machine_code__visit(uint16_t machine, const uint8_t *code, size_t size, uint64_t address,
			 machine_visitor visit, void *context);

/*
 * Calls `visit` for each address that the code loads into a register, by one instruction or by two;
 * as with events, some of these loads do not exist. The other parameters are those of
 * machine_code__visit().
 */
void machine_code__visit_addresses(uint16_t machine, const uint8_t *code, size_t size,
				   uint64_t address, void (*visit)(void *context, uint64_t address),
				   void *context);

#endif
