/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the functions of an ELF file begin and end, by its unwind tables (.eh_frame), which
 * programs keep when they are stripped: the part of a function that the compiler moved away
 * (".cold") has an entry of its own.
 */
#ifndef LS_FUNCTION_TABLE_H
#define LS_FUNCTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

/*
 * Addresses as the file has them. `frame`: while the function runs what it called, from one return
 * address to that of its own caller, in bytes, at most places in it; 0: not known, because it has a
 * frame pointer. Always 0 on AArch64: a return address lies at the lower end of its callee's frame
 * there, so no size tells where the next one is, but frame records do.
 */
struct function_range {
	uint64_t start, end;
	uint32_t frame;
};

/*
 * The functions in order of address; none overlaps another. 0; -ENOENT: it has no such tables;
 * -ENOMEM. *functions is malloc()ed, NULL on error.
 */
int function_table__read(const struct elf_file *file, struct function_range **functions,
			 size_t *count);

/* The index of the function that covers `address`; SIZE_MAX: none. */
size_t function_table__find(const struct function_range *functions, size_t count, uint64_t address);

#endif
