/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of a Luau VM, from which calibration_luau.h derives its layout: closures from the stack
 * of a state and from the garbage collector's pages, the prototypes that they may have, and the
 * calls of states. Only the head of lua_State is known yet, so nothing here is certain.
 */
#ifndef LS_SPECIMENS_LUAU_H
#define LS_SPECIMENS_LUAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/target_memory.h"
#include "offsets_luau.h"

#define CLOSURES_MAX   1024
#define PROTOTYPES_MAX 128
#define CALLS_MAX      64

#define CLOSURE_WORDS 8   /* read of a closure */
#define PROTO_BYTES   224 /* read of a Proto: more than any release has */

struct closure_specimen {
	uint64_t address;
	uint64_t words[CLOSURE_WORDS];
};

struct proto_specimen {
	uint64_t address;
	int upvalues; /* of a closure with this prototype; -1: no such closure is known */
	int parent;   /* index of its parent's specimen; -1: unknown */
	uint8_t bytes[PROTO_BYTES + 8];
};

/* A call of a Lua function and the address of the instruction at which it resumes. */
struct call_specimen {
	uint64_t closure, pc;
};

struct specimens {
	const struct target_memory *memory;
	struct ls_luau_state state;
	uint32_t value; /* bytes of a TValue */
	uint8_t function_type, string_type;
	struct closure_specimen closures[CLOSURES_MAX];
	size_t closure_count;
	struct call_specimen calls[CALLS_MAX];
	size_t call_count;
	size_t calls_read; /* including those that were rejected */
	struct proto_specimen protos[PROTOTYPES_MAX];
	size_t proto_count;
};

/*
 * Reads the types of a VM, its closures and its calls, but no prototypes. `state` is the address of
 * a lua_State. 0; -ENODATA: *missing says what was not found; -EFAULT and other -errno.
 */
int specimens_luau__read(struct specimens *specimens, const struct target_memory *memory,
			 uint64_t state, const char **missing);

/* Reads the prototypes: objects of that type to which closures point at that offset. */
void specimens_luau__read_protos(struct specimens *specimens, size_t closure_offset, uint8_t type);

/* Adds the children of prototypes, whose array is at that offset, and their children. */
void specimens_luau__add_children(struct specimens *specimens, size_t children_offset);

/* The type of the object at that address; 0: none is there. */
uint8_t specimens_luau__type_at(const struct specimens *specimens, uint64_t address);

/* Whether a TString is there. */
bool specimens_luau__is_string(const struct specimens *specimens, uint64_t address);

uint64_t proto_specimen__word(const struct proto_specimen *proto, size_t offset);
uint32_t proto_specimen__half(const struct proto_specimen *proto, size_t offset);

#endif
