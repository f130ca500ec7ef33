/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prototypes and strings of LuaJIT in the target. */
#ifndef LS_PROTOTYPE_LUAJIT_H
#define LS_PROTOTYPE_LUAJIT_H

#include <stddef.h>
#include <stdint.h>

#include "interpreter/family.h"
#include "memory/target_memory.h"
#include "offsets_luajit.h"

/* Copies the header of the prototype at `address`. 0; -EINVAL: no prototype; -errno: unreadable. */
int prototype_luajit__read(const struct target_memory *memory, uint64_t address,
			   struct ls_luajit_proto *proto);

/* 0; -ESTALE: the prototype is gone or replaced by another; -ESRCH: the process is gone. */
int prototype_luajit__check(const struct target_memory *memory,
			    const struct ls_luajit_layout *layout, const struct prototype_key *key);

/*
 * Sets *length to the length of the string at `address` and *text to the address of its text. 0;
 * -EINVAL: no string; -errno: unreadable.
 */
int prototype_luajit__string(const struct target_memory *memory,
			     const struct ls_luajit_layout *layout, uint64_t address,
			     uint32_t *length, uint64_t *text);

/* As memory_ops.read_source() in interpreter/family.h. */
int prototype_luajit__source(const struct target_memory *memory,
			     const struct ls_luajit_layout *layout, uint64_t address, size_t most,
			     char **text, size_t *length);

/* As memory_ops.read_lines() there. */
int prototype_luajit__lines(const struct target_memory *memory, uint64_t address,
			    struct line_table **table);

/* Whether the fingerprint covers instruction `pc` and object constant `index`, a string. */
bool prototype_luajit__covers(uint32_t pc, uint32_t index);

#endif
