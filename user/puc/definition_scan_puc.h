/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the code of a prototype stores the functions that it makes. One pass over the instructions
 * follows what is in each register, as compilers use registers: a temporary one is written, then
 * used once. Nothing but the prototype's arrays is read; names are left for later.
 */
#ifndef LS_DEFINITION_SCAN_PUC_H
#define LS_DEFINITION_SCAN_PUC_H

#include <stdint.h>

#include "puc/bytecode_puc.h"
#include "puc/proto_puc.h"

/* A value that the code loads or makes. */
enum definition_node_kind {
	NODE_UNKNOWN,
	NODE_NAMELESS, /* the result of a call, or what an argument is stored in */
	NODE_LOCAL,
	NODE_UPVALUE,
	NODE_GLOBAL, /* 5.1; elsewhere a field of _ENV */
	NODE_CONSTANT,
	NODE_FIELD,
	NODE_TABLE,
	NODE_FUNCTION,
};

#define UNKNOWN  0 /* these nodes there are always */
#define NAMELESS 1

struct definition_node {
	enum definition_node_kind kind;
	uint32_t index;  /* of a local variable, upvalue, constant or nested prototype */
	uint32_t around; /* node: FIELD: its table; TABLE, FUNCTION: what it is stored as */
	uint32_t key;    /* node: of FIELD */
	uint32_t pc;     /* FUNCTION: of the instruction that stores it */
};

#define SCAN_REGISTERS 256

struct definition_scan {
	struct proto_puc *proto;
	const struct bytecode_puc *bytecode;
	struct local_var_puc *locals;  /* those of the prototype, */
	uint32_t next_local;           /* the first that has not begun, */
	uint32_t live[SCAN_REGISTERS]; /* and those that live, by register */
	uint32_t live_count;
	uint32_t
		*jumped_from; /* by pc: one more than the first that jumps forward to it; 0: none */
	struct definition_node *nodes;
	uint32_t node_count, node_room;
	uint32_t registers[SCAN_REGISTERS]; /* nodes, of temporary registers */
	uint32_t written[SCAN_REGISTERS];   /* pc */
	uint32_t used;                      /* registers that were ever written */
	uint32_t *
		functions; /* by index of the nested prototype: nodes; no FUNCTION: none, several */
	uint32_t pc;
	int error;
};

/*
 * Scans a prototype that was opened as a whole and has at most NESTED_DEFINITIONS_MAX nested ones.
 * 0; -ENOMEM; -EFAULT: cannot be read; -EINVAL: inconsistent (torn or hostile). Close it in any
 * case.
 */
int definition_scan__run(struct definition_scan *scan, struct proto_puc *proto,
			 const struct bytecode_puc *bytecode);
void definition_scan__close(struct definition_scan *scan);

#endif
