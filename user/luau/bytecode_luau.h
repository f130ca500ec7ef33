/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Luau's instruction set, as far as naming functions needs it: one row per opcode. The numbers are
 * those of enum LuauOpcode (Common/include/Luau/Bytecode.h), which grows at its end. Only the
 * opcodes that older compilers had for loops over arrays and tables (60 and 62), and for
 * comparisons with constants (71 and 72), were given to other instructions later.
 */
#ifndef LS_BYTECODE_LUAU_H
#define LS_BYTECODE_LUAU_H

#include <stdbool.h>
#include <stdint.h>

enum bytecode_luau_opcode {
	LUAU_MOVE = 6,
	LUAU_GETGLOBAL = 7,
	LUAU_GETIMPORT = 12,
	LUAU_GETTABLEKS = 15,
	LUAU_NAMECALL = 20,
	LUAU_CALL = 21,
	LUAU_FORGLOOP = 58,
	LUAU_FORGPREP_INEXT = 59,
	LUAU_FORGPREP_NEXT = 61,
	LUAU_FORGPREP = 76,
	LUAU_GETUDATAKS = 83,
	LUAU_NAMECALLUDATA = 85,
	LUAU_CALLFB = 87,
};

/* Which registers an instruction changes. */
enum luau_writes {
	LUAU_WRITES_NOTHING,
	LUAU_WRITES_A,
	LUAU_WRITES_A_AND_NEXT,
	LUAU_WRITES_FROM_A,
};

/* Where it may jump to, counted from the next word. */
enum luau_jumps {
	LUAU_JUMPS_NOWHERE,
	LUAU_JUMPS_BY_D,
	LUAU_JUMPS_BY_C,
	LUAU_JUMPS_BY_E,
};

struct bytecode_op_luau {
	uint8_t words; /* 2: an operand follows; 0: there is no such opcode */
	uint8_t writes;
	uint8_t jumps;
};

/* The row of an instruction, as the older or the newer compilers mean it. */
const struct bytecode_op_luau *bytecode_luau__op(uint32_t word, bool is_old);

/* Whether older and newer compilers mean different instructions by its opcode. */
bool bytecode_luau__is_ambiguous(uint32_t word);

/* The fields of an instruction: LUAU_INSN_OP and the like, there. */
static inline uint8_t bytecode_luau__opcode(uint32_t word)
{
	return (uint8_t)word;
}

static inline uint8_t bytecode_luau__a(uint32_t word)
{
	return (uint8_t)(word >> 8);
}

static inline uint8_t bytecode_luau__b(uint32_t word)
{
	return (uint8_t)(word >> 16);
}

/* By how many words it jumps if it does, from the next word on. */
int32_t bytecode_luau__jump(const struct bytecode_op_luau *op, uint32_t word);

#endif
