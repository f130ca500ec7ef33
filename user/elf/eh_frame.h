/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The start and end of each function of an ELF file, from its unwind tables (.eh_frame), which
 * survive stripping. The part of a function that the compiler moved away (".cold") has an entry of
 * its own.
 */
#ifndef LS_EH_FRAME_H
#define LS_EH_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/*
 * Virtual addresses of the file. `frame`: while the function calls another, the distance on the
 * stack from the return address of that call to the function's own, in bytes, for most of its code;
 * EH_FRAME_POINTER: it has a frame pointer instead, which points to the caller's, with its return
 * address above; 0: unknown. Always 0 on AArch64: there, a return address lies at the lower end of
 * the callee's frame, so only frame records, and no size, tell where the next is.
 */
#define EH_FRAME_POINTER 1

struct function_range {
	uint64_t start, end;
	uint32_t frame;
};

/*
 * Reads the functions, in order of address and without overlaps. 0; -ENOENT: the file has no such
 * tables; -ENOMEM. *functions is malloc()ed, NULL on error.
 */
int eh_frame__read(const struct elf_file *file, struct function_range **functions, size_t *count);

/* The index of the function that covers `address`; SIZE_MAX: none. */
size_t eh_frame__find(const struct function_range *functions, size_t count, uint64_t address);

#endif
