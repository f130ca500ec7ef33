/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/bytecode_luau.h"

#include <stddef.h>

#define NOTHING(words)                                                                             \
	{                                                                                          \
		words, LUAU_WRITES_NOTHING, LUAU_JUMPS_NOWHERE                                     \
	}
#define SETS_A(words)                                                                              \
	{                                                                                          \
		words, LUAU_WRITES_A, LUAU_JUMPS_NOWHERE                                           \
	}
#define SETS_NEXT(words)                                                                           \
	{                                                                                          \
		words, LUAU_WRITES_A_AND_NEXT, LUAU_JUMPS_NOWHERE                                  \
	}
#define SETS_FROM(words)                                                                           \
	{                                                                                          \
		words, LUAU_WRITES_FROM_A, LUAU_JUMPS_NOWHERE                                      \
	}
#define JUMP(words)                                                                                \
	{                                                                                          \
		words, LUAU_WRITES_NOTHING, LUAU_JUMPS_BY_D                                        \
	}
#define LOOP(words)                                                                                \
	{                                                                                          \
		words, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D                                         \
	}

/* An operand follows where getOpLength() says so (Common/include/Luau/BytecodeUtils.h). */
static const struct bytecode_op_luau ops[] = {
	[0] = NOTHING(1),                          /* NOP */
	[1] = NOTHING(1),                          /* BREAK */
	[2] = SETS_A(1),                           /* LOADNIL */
	[3] = {1, LUAU_WRITES_A, LUAU_JUMPS_BY_C}, /* LOADB */
	[4] = SETS_A(1),                           /* LOADN */
	[5] = SETS_A(1),                           /* LOADK */
	[LUAU_MOVE] = SETS_A(1),
	[LUAU_GETGLOBAL] = SETS_A(2),
	[8] = NOTHING(2),  /* SETGLOBAL */
	[9] = SETS_A(1),   /* GETUPVAL */
	[10] = NOTHING(1), /* SETUPVAL */
	[11] = NOTHING(1), /* CLOSEUPVALS */
	[LUAU_GETIMPORT] = SETS_A(2),
	[13] = SETS_A(1),  /* GETTABLE */
	[14] = NOTHING(1), /* SETTABLE */
	[LUAU_GETTABLEKS] = SETS_A(2),
	[16] = NOTHING(2), /* SETTABLEKS */
	[17] = SETS_A(1),  /* GETTABLEN */
	[18] = NOTHING(1), /* SETTABLEN */
	[19] = SETS_A(1),  /* NEWCLOSURE */
	[LUAU_NAMECALL] = SETS_NEXT(2),
	[LUAU_CALL] = SETS_FROM(1),
	[22] = NOTHING(1),       /* RETURN */
	[23] = JUMP(1),          /* JUMP */
	[24] = JUMP(1),          /* JUMPBACK */
	[25 ... 26] = JUMP(1),   /* JUMPIF, JUMPIFNOT */
	[27 ... 32] = JUMP(2),   /* JUMPIFEQ to JUMPIFNOTLT */
	[33 ... 44] = SETS_A(1), /* ADD to POWK */
	[45 ... 48] = SETS_A(1), /* AND to ORK */
	[49 ... 52] = SETS_A(1), /* CONCAT to LENGTH */
	[53] = SETS_A(2),        /* NEWTABLE */
	[54] = SETS_A(1),        /* DUPTABLE */
	[55] = NOTHING(2),       /* SETLIST */
	[56] = LOOP(1),          /* FORNPREP */
	[57] = LOOP(1),          /* FORNLOOP */
	[LUAU_FORGLOOP] = LOOP(2),
	[LUAU_FORGPREP_INEXT] = LOOP(1),
	[60] = NOTHING(2), /* FASTCALL3 */
	[LUAU_FORGPREP_NEXT] = LOOP(1),
	[62] = NOTHING(1),                                /* NATIVECALL */
	[63] = SETS_FROM(1),                              /* GETVARARGS */
	[64] = SETS_A(1),                                 /* DUPCLOSURE */
	[65] = NOTHING(1),                                /* PREPVARARGS */
	[66] = SETS_A(2),                                 /* LOADKX */
	[67] = {1, LUAU_WRITES_NOTHING, LUAU_JUMPS_BY_E}, /* JUMPX */
	[68] = NOTHING(1),        /* FASTCALL: the call that follows has its results */
	[69] = NOTHING(1),        /* COVERAGE */
	[70] = NOTHING(1),        /* CAPTURE */
	[71 ... 72] = SETS_A(1),  /* SUBRK, DIVRK */
	[73] = NOTHING(1),        /* FASTCALL1 */
	[74 ... 75] = NOTHING(2), /* FASTCALL2, FASTCALL2K */
	[LUAU_FORGPREP] = LOOP(1),
	[77 ... 80] = JUMP(2),   /* JUMPXEQKNIL to JUMPXEQKS */
	[81 ... 82] = SETS_A(1), /* IDIV, IDIVK */
	[LUAU_GETUDATAKS] = SETS_A(2),
	[84] = NOTHING(2), /* SETUDATAKS */
	[LUAU_NAMECALLUDATA] = SETS_NEXT(2),
	[86] = NOTHING(2), /* NEWCLASSMEMBER */
	[LUAU_CALLFB] = SETS_FROM(2),
	[88] = JUMP(2),    /* CMPPROTO */
	[89] = NOTHING(1), /* FASTPCALL */
	[90] = SETS_A(2),  /* NEWCLASS */
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

static const struct bytecode_op_luau none = {};
static const struct bytecode_op_luau old_loop = LOOP(1);       /* FORGLOOP_INEXT, FORGLOOP_NEXT */
static const struct bytecode_op_luau old_comparison = JUMP(2); /* JUMPIFEQK, JUMPIFNOTEQK */

bool bytecode_luau__is_ambiguous(uint32_t word)
{
	uint8_t opcode = bytecode_luau__opcode(word);

	return opcode == 60 || opcode == 62 || opcode == 71 || opcode == 72;
}

const struct bytecode_op_luau *bytecode_luau__op(uint32_t word, bool is_old)
{
	uint8_t opcode = bytecode_luau__opcode(word);

	if (opcode >= OPS)
		return &none;
	if (is_old && bytecode_luau__is_ambiguous(word))
		return opcode < 70 ? &old_loop : &old_comparison;
	return &ops[opcode];
}

int32_t bytecode_luau__jump(const struct bytecode_op_luau *op, uint32_t word)
{
	switch ((enum luau_jumps)op->jumps) {
	case LUAU_JUMPS_BY_C:
		return (int32_t)(word >> 24);
	case LUAU_JUMPS_BY_D:
		return (int32_t)word >> 16;
	case LUAU_JUMPS_BY_E:
		return (int32_t)word >> 8;
	default:
		return 0;
	}
}
