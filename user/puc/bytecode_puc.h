/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PUC Lua's instruction set, as far as naming functions needs it: one row per opcode. */
#ifndef LS_BYTECODE_PUC_H
#define LS_BYTECODE_PUC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which registers an instruction changes, as findsetreg in ldebug.c sees it. */
enum bytecode_writes {
	WRITES_NOTHING,
	WRITES_A,
	WRITES_A_AND_NEXT,
	WRITES_A_TO_B,
	WRITES_A_PLUS_B,
	WRITES_FROM_A,
	WRITES_FROM_A_PLUS_2,
};

/* Where the value that it writes to register A comes from; other values have no name. */
enum bytecode_source {
	SOURCE_NAMELESS,
	SOURCE_REGISTER,       /* B */
	SOURCE_CONSTANT,       /* Bx */
	SOURCE_EXTRA_CONSTANT, /* Ax of the instruction that follows */
	SOURCE_GLOBAL,         /* Bx is its name: 5.1 */
	SOURCE_UPVALUE,        /* B */
	SOURCE_UPVALUE_TABLE,  /* a field of upvalue B */
	SOURCE_TABLE,          /* a field of register B */
	SOURCE_METHOD,
};

/* Where an instruction that loads a field has the field's key. */
enum bytecode_key {
	KEY_NONE,
	KEY_CONSTANT, /* C */
	KEY_REGISTER, /* C */
	KEY_EITHER,   /* C; a bit says which of the two */
	KEY_INTEGER,
};

enum bytecode_flow {
	FLOW_NEXT,
	FLOW_JUMP,
	FLOW_COUNT,    /* if C is 0, the next word is not an instruction: 5.1 */
	FLOW_CAPTURES, /* one pseudo-instruction per upvalue follows: 5.1 */
};

enum bytecode_calls {
	CALLS_NOTHING,
	CALLS_REGISTER, /* A */
	CALLS_ITERATOR, /* A */
	CALLS_EVENT,
	CALLS_EVENT_C, /* C is the event's number */
};

/* Where an instruction stores a value. */
enum bytecode_stores {
	STORES_NOTHING,
	STORES_GLOBAL,        /* value A; Bx is its name: 5.1 */
	STORES_UPVALUE,       /* value A, upvalue B */
	STORES_UPVALUE_FIELD, /* value C, upvalue A, key B */
	STORES_FIELD,         /* value C, register A, key B */
};

/* Which temporary registers are used up: those of arguments, results and items of lists. */
enum bytecode_uses {
	USES_NOTHING,
	USES_FROM_A,
	USES_ABOVE_A,
};

enum bytecode_makes {
	MAKES_NOTHING,
	MAKES_TABLE,
	MAKES_FUNCTION, /* nested prototype Bx */
};

/* In the order of TMS in ltm.h of 5.3, 5.4 and 5.5, from 1. */
enum bytecode_event {
	EVENT_NONE,
	EVENT_INDEX,
	EVENT_NEWINDEX,
	EVENT_GC,
	EVENT_MODE,
	EVENT_LEN,
	EVENT_EQ,
	EVENT_ADD,
	EVENT_SUB,
	EVENT_MUL,
	EVENT_MOD,
	EVENT_POW,
	EVENT_DIV,
	EVENT_IDIV,
	EVENT_BAND,
	EVENT_BOR,
	EVENT_BXOR,
	EVENT_SHL,
	EVENT_SHR,
	EVENT_UNM,
	EVENT_BNOT,
	EVENT_LT,
	EVENT_LE,
	EVENT_CONCAT,
	EVENT_CALL,
	EVENT_CLOSE,
	EVENT_COUNT,
};

struct bytecode_op {
	uint8_t writes; /* enum bytecode_writes; the others likewise */
	uint8_t source;
	uint8_t key;
	uint8_t flow;
	uint8_t calls;
	uint8_t event;
	uint8_t stores;
	uint8_t store_key; /* enum bytecode_key, but in B */
	uint8_t uses;
	uint8_t makes;
};

struct bytecode_field {
	uint8_t position;
	uint8_t size;
};

/* Which tables are the environment, so that their fields are globals. */
enum bytecode_environment {
	ENVIRONMENT_NONE,
	ENVIRONMENT_LOCAL,    /* an upvalue _ENV, or a register that is a local _ENV */
	ENVIRONMENT_VARIABLE, /* also a register that was loaded from one of these */
};

struct bytecode_puc {
	const struct bytecode_op *ops;
	size_t op_count;
	struct bytecode_field op, a, b, c, bx, ax;
	struct bytecode_field jump;
	struct bytecode_field key_is_constant; /* C, for KEY_EITHER; its low byte is the index */
	struct bytecode_field b_is_constant;   /* B, likewise, up to 5.3 */
	uint32_t jump_zero;                    /* value of the jump field for a distance of 0 */
	enum bytecode_environment environment;
	bool follows_jumps;       /* ignores code that a forward jump skips; else distrusts it */
	bool names_moves_at_call; /* names a MOVE's source as of the call, not as of the MOVE */
	bool strips_event_prefix; /* "index", not "__index" */
};

/* The instructions of Lua 5.`minor`; NULL: unknown version. */
const struct bytecode_puc *bytecode_puc__of(int minor);

/* The row of an instruction; NULL: no such opcode. */
const struct bytecode_op *bytecode_puc__op(const struct bytecode_puc *bytecode, uint32_t word);

/* The name of a metamethod as debug.getinfo reports it; NULL: no such event. */
const char *bytecode_puc__event(const struct bytecode_puc *bytecode, uint32_t event);

static inline uint32_t bytecode_field__get(struct bytecode_field field, uint32_t word)
{
	return (word >> field.position) & ((1U << field.size) - 1);
}

#endif
