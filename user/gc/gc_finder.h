/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the garbage collector's code in a file that contains an interpreter, without symbols: it
 * may be static, stripped, and inlined as the compiler saw fit. gc_finder.c describes the evidence.
 * Code in doubt counts as unknown: a wrong range would be worse than none.
 */
#ifndef LS_GC_FINDER_H
#define LS_GC_FINDER_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "gc/gc_code.h"

#define GC_SIGNS_MAX 8
#define GC_STATE_MAX 15

/* What tells a VM's code. Values and bits are the same on all machines. */
struct gc_signs {
	uint16_t state_offset;     /* of the byte gcstate in global_State */
	uint8_t last_state;        /* gcstate is at most so much, GC_STATE_MAX at most */
	uint8_t states_needed;     /* values, written by functions that call each other */
	uint8_t executors;         /* variants of the executor in one program, at most */
	uint8_t operand_shifts[2]; /* right shifts that extract two operands of an instruction */
};

/*
 * The file's VM has one of `count` signs, GC_SIGNS_MAX at most. Returns 0, whether or not the code
 * was found, or -ENOMEM.
 */
int gc_finder__find(const struct elf_file *file, const struct gc_signs *signs, size_t count,
		    struct gc_code *gc);

#endif
