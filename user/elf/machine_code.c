/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/machine_code.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

struct reading {
	const uint8_t *code;
	size_t size;
	uint64_t address;
	machine_visitor visit;
	void *context;
};

static void tell(const struct reading *reading, enum machine_event_kind kind, uint32_t offset,
		 int value)
{
	const struct machine_event event = {.kind = kind, .offset = offset, .value = value};

	reading->visit(reading->context, &event);
}

static void tell_branch(const struct reading *reading, enum machine_event_kind kind,
			uint64_t target)
{
	const struct machine_event event = {.kind = kind, .target = target};

	reading->visit(reading->context, &event);
}

/* ---- x86-64: Intel 64 manual, volume 2 */

/* Reads a displacement of 32 bits at `at`, relative to its own end. */
static void read_relative(const struct reading *reading, enum machine_event_kind kind, size_t at)
{
	int32_t distance;

	if (at + sizeof(distance) > reading->size)
		return;
	memcpy(&distance, reading->code + at, sizeof(distance));
	tell_branch(reading, kind,
		    reading->address + at + sizeof(distance) + (uint64_t)(int64_t)distance);
}

/*
 * MOV r/m8, imm8 (C6 /0) and MOV r/m8, r8 (88 /r) with a displacement of 8 bits: mod is 1, and
 * r/m 4 means that a SIB byte follows.
 */
static void read_store(const struct reading *reading, size_t at)
{
	const uint8_t *code = reading->code;
	uint8_t modrm = code[at + 1];
	size_t offset = at + 2 + ((modrm & 7) == 4);
	bool is_constant = code[at] == 0xc6;

	if ((modrm & 0xc0) != 0x40 || (is_constant && modrm & 0x38) ||
	    offset + is_constant >= reading->size)
		return;
	tell(reading, MACHINE_STORE, code[offset], is_constant ? code[offset + 1] : -1);
}

static void visit_x86(const struct reading *reading)
{
	const uint8_t *code = reading->code;

	for (size_t at = 0; at + 2 < reading->size; at++) {
		switch (code[at]) {
		case 0xe8: /* CALL rel32 */
			read_relative(reading, MACHINE_CALL, at + 1);
			break;
		case 0xe9: /* JMP rel32 */
			read_relative(reading, MACHINE_JUMP, at + 1);
			break;
		case 0x0f: /* Jcc rel32 */
			if ((code[at + 1] & 0xf0) == 0x80)
				read_relative(reading, MACHINE_JUMP, at + 2);
			break;
		case 0xc1: /* SHR r32, imm8 */
			if ((code[at + 1] & 0xf8) == 0xe8)
				tell(reading, MACHINE_SHIFT, code[at + 2], 0);
			break;
		case 0x88:
		case 0xc6:
			read_store(reading, at);
			break;
		}
	}
}

/* ---- AArch64: Arm Architecture Reference Manual, C4.1 */

/* The signed number in `bits` bits of `word` from bit `low` on, times 4. */
static uint64_t branch_offset(uint32_t word, int low, int bits)
{
	int64_t shifted = (int64_t)((uint64_t)word << (64 - low - bits));

	return (uint64_t)(shifted >> (64 - bits)) * 4;
}

static void visit_arm64(const struct reading *reading)
{
	int values[32];

	memset(values, -1, sizeof(values));
	values[31] = 0; /* WZR */
	for (size_t at = 0; at + 4 <= reading->size; at += 4) {
		uint64_t here = reading->address + at;
		uint32_t word;

		memcpy(&word, reading->code + at, sizeof(word));
		if ((word & 0xfc000000) == 0x94000000) /* BL */
			tell_branch(reading, MACHINE_CALL, here + branch_offset(word, 0, 26));
		else if ((word & 0xfc000000) == 0x14000000) /* B */
			tell_branch(reading, MACHINE_JUMP, here + branch_offset(word, 0, 26));
		else if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
			/* B.cond, CBZ, CBNZ */
			tell_branch(reading, MACHINE_JUMP, here + branch_offset(word, 5, 19));
		else if ((word & 0x7e000000) == 0x36000000) /* TBZ, TBNZ */
			tell_branch(reading, MACHINE_JUMP, here + branch_offset(word, 5, 14));
		else if ((word & 0xffc00000) == 0x39000000) /* STRB, unsigned offset */
			tell(reading, MACHINE_STORE, word >> 10 & 0xfff, values[word & 31]);
		else if ((word & 0xffe00000) == 0x52800000 && (word & 31) != 31) /* MOVZ, 32 bits */
			values[word & 31] = word >> 5 & 0xffff;
		else if (((word & 0xffc00000) == 0x53000000 || (word & 0xffc00000) == 0xd3400000) &&
			 (word >> 16 & 63) <= (word >> 10 & 63)) /* UBFM: LSR, UBFX, not LSL */
			tell(reading, MACHINE_SHIFT, word >> 16 & 63, 0);
	}
}

void machine_code__visit(uint16_t machine, const uint8_t *code, size_t size, uint64_t address,
			 machine_visitor visit, void *context)
{
	const struct reading reading = {code, size, address, visit, context};

	if (machine == EM_X86_64)
		visit_x86(&reading);
	else if (machine == EM_AARCH64)
		visit_arm64(&reading);
}
