/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/bytecode_luau.h"

#include <stddef.h>

/* An operand follows where getOpLength() says so (Common/include/Luau/BytecodeUtils.h). */
static const struct bytecode_op_luau ops[] = {
	[0] = {.words = 1},                          /* NOP */
	[1] = {.words = 1},                          /* BREAK */
	[2] = {.words = 1, .writes = LUAU_WRITES_A}, /* LOADNIL */
	[3] = {1, LUAU_WRITES_A, LUAU_JUMPS_BY_C},   /* LOADB */
	[4] = {.words = 1, .writes = LUAU_WRITES_A}, /* LOADN */
	[5] = {.words = 1, .writes = LUAU_WRITES_A}, /* LOADK */
	[LUAU_MOVE] = {.words = 1, .writes = LUAU_WRITES_A},
	[LUAU_GETGLOBAL] = {.words = 2, .writes = LUAU_WRITES_A},
	[8] = {.words = 2},                          /* SETGLOBAL */
	[9] = {.words = 1, .writes = LUAU_WRITES_A}, /* GETUPVAL */
	[10] = {.words = 1},                         /* SETUPVAL */
	[11] = {.words = 1},                         /* CLOSEUPVALS */
	[LUAU_GETIMPORT] = {.words = 2, .writes = LUAU_WRITES_A},
	[13] = {.words = 1, .writes = LUAU_WRITES_A}, /* GETTABLE */
	[14] = {.words = 1},                          /* SETTABLE */
	[LUAU_GETTABLEKS] = {.words = 2, .writes = LUAU_WRITES_A},
	[16] = {.words = 2},                          /* SETTABLEKS */
	[17] = {.words = 1, .writes = LUAU_WRITES_A}, /* GETTABLEN */
	[18] = {.words = 1},                          /* SETTABLEN */
	[19] = {.words = 1, .writes = LUAU_WRITES_A}, /* NEWCLOSURE */
	[LUAU_NAMECALL] = {.words = 2, .writes = LUAU_WRITES_A_AND_NEXT},
	[LUAU_CALL] = {.words = 1, .writes = LUAU_WRITES_FROM_A},
	[22] = {.words = 1},                                  /* RETURN */
	[23] = {.words = 1, .jumps = LUAU_JUMPS_BY_D},        /* JUMP */
	[24] = {.words = 1, .jumps = LUAU_JUMPS_BY_D},        /* JUMPBACK */
	[25 ... 26] = {.words = 1, .jumps = LUAU_JUMPS_BY_D}, /* JUMPIF, JUMPIFNOT */
	[27 ... 32] = {.words = 2, .jumps = LUAU_JUMPS_BY_D}, /* JUMPIFEQ to JUMPIFNOTLT */
	[33 ... 44] = {.words = 1, .writes = LUAU_WRITES_A},  /* ADD to POWK */
	[45 ... 48] = {.words = 1, .writes = LUAU_WRITES_A},  /* AND to ORK */
	[49 ... 52] = {.words = 1, .writes = LUAU_WRITES_A},  /* CONCAT to LENGTH */
	[53] = {.words = 2, .writes = LUAU_WRITES_A},         /* NEWTABLE */
	[54] = {.words = 1, .writes = LUAU_WRITES_A},         /* DUPTABLE */
	[55] = {.words = 2},                                  /* SETLIST */
	[56] = {1, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D},      /* FORNPREP */
	[57] = {1, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D},      /* FORNLOOP */
	[LUAU_FORGLOOP] = {2, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D},
	[LUAU_FORGPREP_INEXT] = {1, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D},
	[60] = {.words = 2}, /* FASTCALL3 */
	[LUAU_FORGPREP_NEXT] = {1, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D},
	[62] = {.words = 1},                               /* NATIVECALL */
	[63] = {.words = 1, .writes = LUAU_WRITES_FROM_A}, /* GETVARARGS */
	[64] = {.words = 1, .writes = LUAU_WRITES_A},      /* DUPCLOSURE */
	[65] = {.words = 1},                               /* PREPVARARGS */
	[66] = {.words = 2, .writes = LUAU_WRITES_A},      /* LOADKX */
	[67] = {.words = 1, .jumps = LUAU_JUMPS_BY_E},     /* JUMPX */
	[68] = {.words = 1}, /* FASTCALL: the call that follows has its results */
	[69] = {.words = 1}, /* COVERAGE */
	[70] = {.words = 1}, /* CAPTURE */
	[71 ... 72] = {.words = 1, .writes = LUAU_WRITES_A}, /* SUBRK, DIVRK */
	[73] = {.words = 1},                                 /* FASTCALL1 */
	[74 ... 75] = {.words = 2},                          /* FASTCALL2, FASTCALL2K */
	[LUAU_FORGPREP] = {1, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D},
	[77 ... 80] = {.words = 2, .jumps = LUAU_JUMPS_BY_D}, /* JUMPXEQKNIL to JUMPXEQKS */
	[81 ... 82] = {.words = 1, .writes = LUAU_WRITES_A},  /* IDIV, IDIVK */
	[LUAU_GETUDATAKS] = {.words = 2, .writes = LUAU_WRITES_A},
	[84] = {.words = 2}, /* SETUDATAKS */
	[LUAU_NAMECALLUDATA] = {.words = 2, .writes = LUAU_WRITES_A_AND_NEXT},
	[86] = {.words = 2}, /* NEWCLASSMEMBER */
	[LUAU_CALLFB] = {.words = 2, .writes = LUAU_WRITES_FROM_A},
	[88] = {.words = 2, .jumps = LUAU_JUMPS_BY_D}, /* CMPPROTO */
	[89] = {.words = 1},                           /* FASTPCALL */
	[90] = {.words = 2, .writes = LUAU_WRITES_A},  /* NEWCLASS */
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

static const struct bytecode_op_luau none = {};
static const struct bytecode_op_luau old_loop = {
	1, LUAU_WRITES_FROM_A, LUAU_JUMPS_BY_D}; /* FORGLOOP_INEXT, FORGLOOP_NEXT */
static const struct bytecode_op_luau old_comparison = {
	2, LUAU_WRITES_NOTHING, LUAU_JUMPS_BY_D}; /* JUMPIFEQK, JUMPIFNOTEQK */

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
