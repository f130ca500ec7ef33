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

#define LOAD_DISTANCE 16 /* bytes from the load of a constant to what uses it, at most */

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

/*
 * Whether the instruction at `at`, which ends before `end`, loads register `number`, 0 to 15, with
 * a constant, which it leaves in *value: MOV r8, imm8 (B0+r), MOV r32, imm32 (B8+r), and XOR r32,
 * r32 (31 /r) of a register with itself.
 */
static bool is_load(const uint8_t *code, size_t at, size_t end, uint8_t number, int *value)
{
	uint8_t low = number & 7, prefix = at && is_rex(code[at - 1]) ? code[at - 1] : 0;
	int32_t wide;

	if ((prefix & 1) != number >> 3)
		return false;
	*value = 0;
	if (code[at] == 0x31)
		return code[at + 1] == (0xc0 | low << 3 | low) && (prefix >> 2 & 1) == number >> 3;
	*value = code[at + 1];
	if (code[at] == (0xb0 | low))
		return low == number ? low < 4 || prefix : true;
	if (code[at] != (0xb8 | low) || end - at < 1 + sizeof(wide))
		return false;
	memcpy(&wide, code + at + 1, sizeof(wide));
	*value = wide;
	return wide >= 0 && wide <= UINT8_MAX;
}

/* The constant that is in register `number` at `at`, by what was last loaded; -1: unknown. */
static int constant_before(const struct reading *reading, size_t at, uint8_t number)
{
	int value;

	for (size_t back = 2; back <= LOAD_DISTANCE && back <= at; back++)
		if (is_load(reading->code, at - back, at, number, &value))
			return value;
	return -1;
}

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
 * r/m 4 means that a SIB byte follows. Its register is what it was at `from`.
 */
static void read_store(const struct reading *reading, size_t at, size_t from)
{
	const uint8_t *code = reading->code;
	uint8_t modrm = code[at + 1], prefix = at && is_rex(code[at - 1]) ? code[at - 1] : 0;
	size_t offset = at + 2 + ((modrm & 7) == 4);
	bool is_constant = code[at] == 0xc6;

	if ((modrm & 0xc0) != 0x40 || (is_constant && modrm & 0x38) ||
	    offset + is_constant >= reading->size)
		return;
	tell(reading, MACHINE_STORE, code[offset],
	     is_constant ? code[offset + 1]
			 : constant_before(reading, from, (modrm >> 3 & 7) | (prefix & 4) << 1));
}

/*
 * A jump to a store that several paths share: each of them loads its own constant before it. The
 * displacement, of `size` bytes, is at `at`; the jump begins at `from`.
 */
static void read_shared_store(const struct reading *reading, size_t from, size_t at, size_t size)
{
	const uint8_t *code = reading->code;
	int32_t distance;
	uint64_t target;

	if (at + size > reading->size)
		return;
	if (size == 1)
		distance = (int8_t)code[at];
	else
		memcpy(&distance, code + at, sizeof(distance));
	target = at + size + (uint64_t)(int64_t)distance;
	if (target < reading->size && is_rex(code[target]))
		target++;
	if (target < reading->size - 2 && code[target] == 0x88)
		read_store(reading, target, from);
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
			read_shared_store(reading, at, at + 1, 4);
			break;
		case 0x0f: /* Jcc rel32 */
			if ((code[at + 1] & 0xf0) == 0x80) {
				read_relative(reading, MACHINE_JUMP, at + 2);
				read_shared_store(reading, at, at + 2, 4);
			}
			break;
		case 0xc1: /* SHR r32, imm8 */
			if ((code[at + 1] & 0xf8) == 0xe8)
				tell(reading, MACHINE_SHIFT, code[at + 2], 0);
			break;
		case 0x70 ... 0x7f: /* Jcc rel8 */
		case 0xeb:          /* JMP rel8 */
			read_shared_store(reading, at, at + 1, 1);
			break;
		case 0x88:
		case 0xc6:
			read_store(reading, at, at);
			break;
		}
	}
}

/* The signed constant of `size` bytes, 4 or 8, there. */
static uint64_t constant_at(const uint8_t *code, size_t size)
{
	int64_t wide;
	int32_t narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, code, sizeof(wide));
		return (uint64_t)wide;
	}
	memcpy(&narrow, code, sizeof(narrow));
	return (uint64_t)(int64_t)narrow;
}

/*
 * LEA r64, [rip + disp32] (REX.W 8D /r); and, in a program that is not PIE, MOV r32, imm32 (B8+r),
 * MOV r64, imm32 (REX.W C7 /0) and MOV r64, imm64 (REX.W B8+r).
 */
static void visit_addresses_x86(const uint8_t *code, size_t size, uint64_t address,
				void (*visit)(void *context, uint64_t address), void *context)
{
	for (size_t at = 0; at + 6 <= size; at++) {
		bool is_wide = at && (code[at - 1] & 0xf8) == 0x48;

		if (is_wide && code[at] == 0x8d && (code[at + 1] & 0xc7) == 0x05)
			visit(context, address + at + 6 + constant_at(code + at + 2, 4));
		else if (is_wide && code[at] == 0xc7 && (code[at + 1] & 0xf8) == 0xc0)
			visit(context, constant_at(code + at + 2, 4));
		else if (is_wide && (code[at] & 0xf8) == 0xb8 && at + 9 <= size)
			visit(context, constant_at(code + at + 1, 8));
		else if ((code[at] & 0xf8) == 0xb8)
			visit(context, (uint32_t)constant_at(code + at + 1, 4));
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

/* ADR and ADRP: 21 bits, the lowest two apart from the others. */
static uint64_t page_offset(uint32_t word)
{
	uint64_t bits = (uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);

	return (bits ^ 1U << 20) - (1U << 20);
}

/* ADR; ADRP, and ADD (immediate) to what it gave. */
static void visit_addresses_arm64(const uint8_t *code, size_t size, uint64_t address,
				  void (*visit)(void *context, uint64_t address), void *context)
{
	uint64_t pages[32] = {};

	for (size_t at = 0; at + 4 <= size; at += 4) {
		uint64_t here = address + at;
		uint32_t word;

		memcpy(&word, code + at, sizeof(word));
		if ((word & 0x9f000000) == 0x10000000) /* ADR */
			visit(context, here + page_offset(word));
		else if ((word & 0x9f000000) == 0x90000000) /* ADRP */
			pages[word & 31] = (here & ~UINT64_C(0xfff)) + (page_offset(word) << 12);
		else if ((word & 0xffc00000) == 0x91000000 && pages[word >> 5 & 31]) /* ADD */
			visit(context, pages[word >> 5 & 31] + (word >> 10 & 0xfff));
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

void machine_code__visit_addresses(uint16_t machine, const uint8_t *code, size_t size,
				   uint64_t address, void (*visit)(void *context, uint64_t address),
				   void *context)
{
	if (machine == EM_X86_64)
		visit_addresses_x86(code, size, address, visit, context);
	else if (machine == EM_AARCH64)
		visit_addresses_arm64(code, size, address, visit, context);
}
