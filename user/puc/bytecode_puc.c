/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opcodes, fields and which instructions set A come from lopcodes.h and lopcodes.c of 5.1.5,
 * 5.2.4, 5.3.6, 5.4.9 and 5.5.1; where names come from and what is called, from ldebug.c of the
 * same releases. Opcodes never changed within a minor version. Where releases of one minor
 * version name things differently, the rows follow the last: 5.2.0-5.2.2 guess at code behind
 * jumps, 5.4.0-5.4.2 call every comparison "order", 5.4.0-5.4.7 take fields named _ENV for the
 * environment, 5.5.0 does not name fields of vararg tables.
 */
#include "puc/bytecode_puc.h"

#include <string.h>

#define SETS_A(from)     .writes = WRITES_A, .source = (from)
#define SETS_A_EVENT(of) .writes = WRITES_A, .calls = CALLS_EVENT, .event = (of)
#define EVENT(of)        .calls = CALLS_EVENT, .event = (of)
#define CALL             .writes = WRITES_FROM_A, .calls = CALLS_REGISTER, .uses = USES_FROM_A
#define ITERATE          .writes = WRITES_FROM_A_PLUS_2, .calls = CALLS_ITERATOR
#define GETS_FIELD(from, keys)                                                                     \
	.writes = WRITES_A, .source = (from), .key = (keys), .calls = CALLS_EVENT,                 \
	.event = EVENT_INDEX
#define STORES_EVENT(where, keys)                                                                  \
	.stores = (where), .store_key = (keys), .calls = CALLS_EVENT, .event = EVENT_NEWINDEX

static const struct bytecode_op ops_5_1[38] = {
	[0] = {SETS_A(SOURCE_REGISTER)},                                       /* MOVE */
	[1 ... 2] = {SETS_A(SOURCE_NAMELESS)},                                 /* LOADK LOADBOOL */
	[3] = {.writes = WRITES_A_TO_B},                                       /* LOADNIL */
	[4] = {SETS_A(SOURCE_UPVALUE)},                                        /* GETUPVAL */
	[5] = {SETS_A(SOURCE_GLOBAL)},                                         /* GETGLOBAL */
	[6] = {.writes = WRITES_A, .source = SOURCE_TABLE, .key = KEY_EITHER}, /* GETTABLE */
	[7] = {.stores = STORES_GLOBAL},                                       /* SETGLOBAL */
	[8] = {.stores = STORES_UPVALUE},                                      /* SETUPVAL */
	[9] = {.stores = STORES_FIELD, .store_key = KEY_EITHER},               /* SETTABLE */
	[10] = {SETS_A(SOURCE_NAMELESS), .makes = MAKES_TABLE},                /* NEWTABLE */
	[11] = {.writes = WRITES_A_AND_NEXT, .source = SOURCE_METHOD, .key = KEY_EITHER}, /* SELF */
	[12 ... 21] = {SETS_A(SOURCE_NAMELESS)},               /* ADD .. CONCAT */
	[22] = {.flow = FLOW_JUMP},                            /* JMP */
	[26 ... 27] = {SETS_A(SOURCE_NAMELESS)},               /* TEST TESTSET */
	[28 ... 29] = {CALL},                                  /* CALL TAILCALL */
	[30] = {.uses = USES_FROM_A},                          /* RETURN */
	[31 ... 32] = {.writes = WRITES_A, .flow = FLOW_JUMP}, /* FORLOOP FORPREP */
	[33] = {ITERATE},                                      /* TFORLOOP */
	[34] = {.flow = FLOW_COUNT, .uses = USES_ABOVE_A},     /* SETLIST */
	[36] = {.writes = WRITES_A, .flow = FLOW_CAPTURES, .makes = MAKES_FUNCTION}, /* CLOSURE */
	[37] = {SETS_A(SOURCE_NAMELESS)},                                            /* VARARG */
};

static const struct bytecode_op ops_5_2[40] = {
	[0] = {SETS_A(SOURCE_REGISTER)},                           /* MOVE */
	[1] = {SETS_A(SOURCE_CONSTANT)},                           /* LOADK */
	[2] = {SETS_A(SOURCE_EXTRA_CONSTANT)},                     /* LOADKX */
	[3] = {SETS_A(SOURCE_NAMELESS)},                           /* LOADBOOL */
	[4] = {.writes = WRITES_A_PLUS_B},                         /* LOADNIL */
	[5] = {SETS_A(SOURCE_UPVALUE)},                            /* GETUPVAL */
	[6] = {GETS_FIELD(SOURCE_UPVALUE_TABLE, KEY_EITHER)},      /* GETTABUP */
	[7] = {GETS_FIELD(SOURCE_TABLE, KEY_EITHER)},              /* GETTABLE */
	[8] = {STORES_EVENT(STORES_UPVALUE_FIELD, KEY_EITHER)},    /* SETTABUP */
	[9] = {.stores = STORES_UPVALUE},                          /* SETUPVAL */
	[10] = {STORES_EVENT(STORES_FIELD, KEY_EITHER)},           /* SETTABLE */
	[11] = {SETS_A(SOURCE_NAMELESS), .makes = MAKES_TABLE},    /* NEWTABLE */
	[12] = {GETS_FIELD(SOURCE_METHOD, KEY_EITHER)},            /* SELF */
	[13] = {SETS_A_EVENT(EVENT_ADD)},                          /* ADD */
	[14] = {SETS_A_EVENT(EVENT_SUB)},                          /* SUB */
	[15] = {SETS_A_EVENT(EVENT_MUL)},                          /* MUL */
	[16] = {SETS_A_EVENT(EVENT_DIV)},                          /* DIV */
	[17] = {SETS_A_EVENT(EVENT_MOD)},                          /* MOD */
	[18] = {SETS_A_EVENT(EVENT_POW)},                          /* POW */
	[19] = {SETS_A_EVENT(EVENT_UNM)},                          /* UNM */
	[20] = {SETS_A(SOURCE_NAMELESS)},                          /* NOT */
	[21] = {SETS_A_EVENT(EVENT_LEN)},                          /* LEN */
	[22] = {SETS_A_EVENT(EVENT_CONCAT)},                       /* CONCAT */
	[23] = {.flow = FLOW_JUMP},                                /* JMP */
	[24] = {EVENT(EVENT_EQ)},                                  /* EQ */
	[25] = {EVENT(EVENT_LT)},                                  /* LT */
	[26] = {EVENT(EVENT_LE)},                                  /* LE */
	[27 ... 28] = {SETS_A(SOURCE_NAMELESS)},                   /* TEST TESTSET */
	[29 ... 30] = {CALL},                                      /* CALL TAILCALL */
	[31] = {.uses = USES_FROM_A},                              /* RETURN */
	[32 ... 33] = {SETS_A(SOURCE_NAMELESS)},                   /* FORLOOP FORPREP */
	[34] = {ITERATE},                                          /* TFORCALL */
	[35] = {SETS_A(SOURCE_NAMELESS)},                          /* TFORLOOP */
	[36] = {.uses = USES_ABOVE_A},                             /* SETLIST */
	[37] = {SETS_A(SOURCE_NAMELESS), .makes = MAKES_FUNCTION}, /* CLOSURE */
	[38] = {SETS_A(SOURCE_NAMELESS)},                          /* VARARG */
	[39] = {.writes = WRITES_NOTHING},                         /* EXTRAARG */
};

static const struct bytecode_op ops_5_3[47] = {
	[0] = {SETS_A(SOURCE_REGISTER)},                           /* MOVE */
	[1] = {SETS_A(SOURCE_CONSTANT)},                           /* LOADK */
	[2] = {SETS_A(SOURCE_EXTRA_CONSTANT)},                     /* LOADKX */
	[3] = {SETS_A(SOURCE_NAMELESS)},                           /* LOADBOOL */
	[4] = {.writes = WRITES_A_PLUS_B},                         /* LOADNIL */
	[5] = {SETS_A(SOURCE_UPVALUE)},                            /* GETUPVAL */
	[6] = {GETS_FIELD(SOURCE_UPVALUE_TABLE, KEY_EITHER)},      /* GETTABUP */
	[7] = {GETS_FIELD(SOURCE_TABLE, KEY_EITHER)},              /* GETTABLE */
	[8] = {STORES_EVENT(STORES_UPVALUE_FIELD, KEY_EITHER)},    /* SETTABUP */
	[9] = {.stores = STORES_UPVALUE},                          /* SETUPVAL */
	[10] = {STORES_EVENT(STORES_FIELD, KEY_EITHER)},           /* SETTABLE */
	[11] = {SETS_A(SOURCE_NAMELESS), .makes = MAKES_TABLE},    /* NEWTABLE */
	[12] = {GETS_FIELD(SOURCE_METHOD, KEY_EITHER)},            /* SELF */
	[13] = {SETS_A_EVENT(EVENT_ADD)},                          /* ADD */
	[14] = {SETS_A_EVENT(EVENT_SUB)},                          /* SUB */
	[15] = {SETS_A_EVENT(EVENT_MUL)},                          /* MUL */
	[16] = {SETS_A_EVENT(EVENT_MOD)},                          /* MOD */
	[17] = {SETS_A_EVENT(EVENT_POW)},                          /* POW */
	[18] = {SETS_A_EVENT(EVENT_DIV)},                          /* DIV */
	[19] = {SETS_A_EVENT(EVENT_IDIV)},                         /* IDIV */
	[20] = {SETS_A_EVENT(EVENT_BAND)},                         /* BAND */
	[21] = {SETS_A_EVENT(EVENT_BOR)},                          /* BOR */
	[22] = {SETS_A_EVENT(EVENT_BXOR)},                         /* BXOR */
	[23] = {SETS_A_EVENT(EVENT_SHL)},                          /* SHL */
	[24] = {SETS_A_EVENT(EVENT_SHR)},                          /* SHR */
	[25] = {SETS_A_EVENT(EVENT_UNM)},                          /* UNM */
	[26] = {SETS_A_EVENT(EVENT_BNOT)},                         /* BNOT */
	[27] = {SETS_A(SOURCE_NAMELESS)},                          /* NOT */
	[28] = {SETS_A_EVENT(EVENT_LEN)},                          /* LEN */
	[29] = {SETS_A_EVENT(EVENT_CONCAT)},                       /* CONCAT */
	[30] = {.flow = FLOW_JUMP},                                /* JMP */
	[31] = {EVENT(EVENT_EQ)},                                  /* EQ */
	[32] = {EVENT(EVENT_LT)},                                  /* LT */
	[33] = {EVENT(EVENT_LE)},                                  /* LE */
	[35] = {SETS_A(SOURCE_NAMELESS)},                          /* TESTSET */
	[36 ... 37] = {CALL},                                      /* CALL TAILCALL */
	[38] = {.uses = USES_FROM_A},                              /* RETURN */
	[39 ... 40] = {SETS_A(SOURCE_NAMELESS)},                   /* FORLOOP FORPREP */
	[41] = {ITERATE},                                          /* TFORCALL */
	[42] = {SETS_A(SOURCE_NAMELESS)},                          /* TFORLOOP */
	[43] = {.uses = USES_ABOVE_A},                             /* SETLIST */
	[44] = {SETS_A(SOURCE_NAMELESS), .makes = MAKES_FUNCTION}, /* CLOSURE */
	[45] = {SETS_A(SOURCE_NAMELESS)},                          /* VARARG */
	[46] = {.writes = WRITES_NOTHING},                         /* EXTRAARG */
};

/* Opcodes 0 .. 19 and 21 .. 80 of 5.4 and 5.5: one text, so that they cannot drift apart. */
#define OPS_SINCE_5_4                                                                              \
	[0] = {SETS_A(SOURCE_REGISTER)},               /* MOVE */                                  \
		[1 ... 2] = {SETS_A(SOURCE_NAMELESS)}, /* LOADI LOADF */                           \
		[3] = {SETS_A(SOURCE_CONSTANT)},       /* LOADK */                                 \
		[4] = {SETS_A(SOURCE_EXTRA_CONSTANT)}, /* LOADKX */                                \
		[5 ... 7] = {SETS_A(SOURCE_NAMELESS)}, /* LOADFALSE LFALSESKIP LOADTRUE */         \
		[8] = {.writes = WRITES_A_PLUS_B},     /* LOADNIL */                               \
		[9] = {SETS_A(SOURCE_UPVALUE)},        /* GETUPVAL */                              \
		[11] = {GETS_FIELD(SOURCE_UPVALUE_TABLE, KEY_CONSTANT)},   /* GETTABUP */          \
		[12] = {GETS_FIELD(SOURCE_TABLE, KEY_REGISTER)},           /* GETTABLE */          \
		[13] = {GETS_FIELD(SOURCE_TABLE, KEY_INTEGER)},            /* GETI */              \
		[14] = {GETS_FIELD(SOURCE_TABLE, KEY_CONSTANT)},           /* GETFIELD */          \
		[10] = {.stores = STORES_UPVALUE},                         /* SETUPVAL */          \
		[15] = {STORES_EVENT(STORES_UPVALUE_FIELD, KEY_CONSTANT)}, /* SETTABUP */          \
		[16] = {STORES_EVENT(STORES_FIELD, KEY_REGISTER)},         /* SETTABLE */          \
		[17] = {STORES_EVENT(STORES_FIELD, KEY_INTEGER)},          /* SETI */              \
		[18] = {STORES_EVENT(STORES_FIELD, KEY_CONSTANT)},         /* SETFIELD */          \
		[19] = {SETS_A(SOURCE_NAMELESS), .makes = MAKES_TABLE},    /* NEWTABLE */          \
		[21 ... 45] = {SETS_A(SOURCE_NAMELESS)},                   /* ADDI .. SHR */       \
		[46 ... 48] = {.calls = CALLS_EVENT_C},           /* MMBIN MMBINI MMBINK */        \
		[49] = {SETS_A_EVENT(EVENT_UNM)},                 /* UNM */                        \
		[50] = {SETS_A_EVENT(EVENT_BNOT)},                /* BNOT */                       \
		[51] = {SETS_A(SOURCE_NAMELESS)},                 /* NOT */                        \
		[52] = {SETS_A_EVENT(EVENT_LEN)},                 /* LEN */                        \
		[53] = {SETS_A_EVENT(EVENT_CONCAT)},              /* CONCAT */                     \
		[54] = {EVENT(EVENT_CLOSE)},                      /* CLOSE */                      \
		[56] = {.flow = FLOW_JUMP},                       /* JMP */                        \
		[57] = {EVENT(EVENT_EQ)},                         /* EQ */                         \
		[58] = {EVENT(EVENT_LT)},                         /* LT */                         \
		[59] = {EVENT(EVENT_LE)},                         /* LE */                         \
		[62] = {EVENT(EVENT_LT)},                         /* LTI */                        \
		[63] = {EVENT(EVENT_LE)},                         /* LEI */                        \
		[64] = {EVENT(EVENT_LT)},                         /* GTI */                        \
		[65] = {EVENT(EVENT_LE)},                         /* GEI */                        \
		[67] = {SETS_A(SOURCE_NAMELESS)},                 /* TESTSET */                    \
		[68 ... 69] = {CALL},                             /* CALL TAILCALL */              \
		[70] = {EVENT(EVENT_CLOSE), .uses = USES_FROM_A}, /* RETURN */                     \
		[72] = {.uses = USES_FROM_A},                     /* RETURN1 */                    \
		[73 ... 74] = {SETS_A(SOURCE_NAMELESS)},          /* FORLOOP FORPREP */            \
		[76] = {ITERATE},                                 /* TFORCALL */                   \
		[77] = {SETS_A(SOURCE_NAMELESS)},                 /* TFORLOOP */                   \
		[78] = {.uses = USES_ABOVE_A},                    /* SETLIST */                    \
		[79] = {SETS_A(SOURCE_NAMELESS), .makes = MAKES_FUNCTION}, /* CLOSURE */           \
		[80] = {SETS_A(SOURCE_NAMELESS)}                           /* VARARG */

static const struct bytecode_op ops_5_4[83] = {
	OPS_SINCE_5_4, [20] = {GETS_FIELD(SOURCE_METHOD, KEY_EITHER)}, /* SELF */
	[81] = {SETS_A(SOURCE_NAMELESS)},                              /* VARARGPREP */
	[82] = {.writes = WRITES_NOTHING},                             /* EXTRAARG */
};

static const struct bytecode_op ops_5_5[85] = {
	OPS_SINCE_5_4, [20] = {GETS_FIELD(SOURCE_METHOD, KEY_CONSTANT)},          /* SELF */
	[81] = {.writes = WRITES_A, .source = SOURCE_TABLE, .key = KEY_REGISTER}, /* GETVARG */
	[84] = {.writes = WRITES_NOTHING}, /* ERRNNIL VARARGPREP EXTRAARG */
};

#define FIELDS_BEFORE_5_4                                                                          \
	.op = {0, 6}, .a = {6, 8}, .b = {23, 9}, .c = {14, 9}, .bx = {14, 18}, .ax = {6, 26},      \
	.jump = {14, 18}, .jump_zero = 131071, .key_is_constant = {22, 1},                         \
	.b_is_constant = {31, 1}

#define FIELDS_SINCE_5_4                                                                           \
	.op = {0, 7}, .a = {7, 8}, .b = {16, 8}, .c = {24, 8}, .bx = {15, 17}, .ax = {7, 25},      \
	.jump = {7, 25}, .jump_zero = 16777215, .key_is_constant = {15, 1}

#define OPS(array) .ops = (array), .op_count = sizeof(array) / sizeof((array)[0])

static const struct bytecode_puc bytecodes[] = {
	[1] =
		{
			OPS(ops_5_1),
			FIELDS_BEFORE_5_4,
			.environment = ENVIRONMENT_NONE,
			.follows_jumps = true,
			.names_moves_at_call = true,
		},
	[2] =
		{
			OPS(ops_5_2),
			FIELDS_BEFORE_5_4,
			.environment = ENVIRONMENT_LOCAL,
		},
	[3] =
		{
			OPS(ops_5_3),
			FIELDS_BEFORE_5_4,
			.environment = ENVIRONMENT_LOCAL,
		},
	[4] =
		{
			OPS(ops_5_4),
			FIELDS_SINCE_5_4,
			.environment = ENVIRONMENT_VARIABLE,
			.strips_event_prefix = true,
		},
	[5] =
		{
			OPS(ops_5_5),
			FIELDS_SINCE_5_4,
			.environment = ENVIRONMENT_VARIABLE,
			.strips_event_prefix = true,
		},
};

static const char *const event_names[EVENT_COUNT] = {
	[EVENT_INDEX] = "__index", [EVENT_NEWINDEX] = "__newindex", [EVENT_GC] = "__gc",
	[EVENT_MODE] = "__mode",   [EVENT_LEN] = "__len",           [EVENT_EQ] = "__eq",
	[EVENT_ADD] = "__add",     [EVENT_SUB] = "__sub",           [EVENT_MUL] = "__mul",
	[EVENT_MOD] = "__mod",     [EVENT_POW] = "__pow",           [EVENT_DIV] = "__div",
	[EVENT_IDIV] = "__idiv",   [EVENT_BAND] = "__band",         [EVENT_BOR] = "__bor",
	[EVENT_BXOR] = "__bxor",   [EVENT_SHL] = "__shl",           [EVENT_SHR] = "__shr",
	[EVENT_UNM] = "__unm",     [EVENT_BNOT] = "__bnot",         [EVENT_LT] = "__lt",
	[EVENT_LE] = "__le",       [EVENT_CONCAT] = "__concat",     [EVENT_CALL] = "__call",
	[EVENT_CLOSE] = "__close",
};

const struct bytecode_puc *bytecode_puc__of(int minor)
{
	if (minor < 1 || minor >= (int)(sizeof(bytecodes) / sizeof(bytecodes[0])))
		return NULL;
	return &bytecodes[minor];
}

const struct bytecode_op *bytecode_puc__op(const struct bytecode_puc *bytecode, uint32_t word)
{
	uint32_t number = bytecode_field__get(bytecode->op, word);

	return number < bytecode->op_count ? &bytecode->ops[number] : NULL;
}

const char *bytecode_puc__event(const struct bytecode_puc *bytecode, uint32_t event)
{
	if (event == EVENT_NONE || event >= EVENT_COUNT)
		return NULL;
	return event_names[event] + (bytecode->strips_event_prefix ? strlen("__") : 0);
}
