/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Luau prototypes in the target: checks that one is still the sampled one, and reads its text. */
#ifndef LS_PROTOTYPE_LUAU_H
#define LS_PROTOTYPE_LUAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpreter/family.h"
#include "memory/target_memory.h"
#include "offsets_luau.h"

/* As memory_ops.check_prototype() in interpreter/family.h. */
int prototype_luau__check(const struct target_memory *memory, const struct ls_luau_layout *layout,
			  const struct prototype_key *key);

/* As memory_ops.read_source() there. */
int prototype_luau__source(const struct target_memory *memory, const struct ls_luau_layout *layout,
			   uint64_t address, size_t most, char **text, size_t *length);

/* As memory_ops.read_lines() there. */
int prototype_luau__lines(const struct target_memory *memory, const struct ls_luau_layout *layout,
			  uint64_t address, struct line_table **table);

/* The constants of a prototype. */
struct constants_luau {
	const struct target_memory *memory;
	uint64_t address;
	uint32_t count;
	uint8_t string_type;
};

/* Where its code is, and how many instructions it has; what constants it has. 0, or as memory_ops.
 */
int prototype_luau__code(const struct target_memory *memory, const struct ls_luau_layout *layout,
			 uint64_t address, uint64_t *code, uint32_t *count,
			 struct constants_luau *constants);

/*
 * Copies the string that is constant `index`, cut off at size - 1 bytes. 1; 0: it is no string, or
 * one with a NUL in it; -EINVAL: there is no such constant.
 */
int constants_luau__string(const struct constants_luau *constants, uint32_t index, char *to,
			   size_t size);

/*
 * Whether `address` has a prototype under this layout, in a VM with that LUA_TTHREAD and of a
 * closure with that many upvalues: it has lines, uses registers, and its members do not contradict
 * each other.
 */
bool prototype_luau__fits(const struct target_memory *memory, const struct ls_luau_layout *layout,
			  uint8_t thread, uint64_t address, uint8_t upvalues);

/*
 * Whether the tables of lines and their sizes agree in a copy of a Proto, which extends 8 bytes
 * beyond the members.
 */
bool prototype_luau__has_lines(const struct ls_luau_layout *layout, const uint8_t *proto);

/*
 * Whether the small numbers in such a copy (upvalues, parameters, registers) agree with each other
 * and with a closure that has that many upvalues.
 */
bool prototype_luau__has_numbers(const struct ls_luau_layout *layout, const uint8_t *proto,
				 uint8_t upvalues);

#endif
