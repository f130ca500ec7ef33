/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arrays in an ELF file by which a program registers functions: a name and a function each, up to a
 * NULL, such as those of luaL_Reg (lauxlib.h). The file's content may be hostile.
 */
#ifndef LS_FUNCTION_ARRAYS_H
#define LS_FUNCTION_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define FUNCTION_ARRAY_MOST      64 /* entries; a longer array is left out */
#define FUNCTION_ARRAY_NAME_SIZE 16 /* an array with a longer name is left out */

struct function_array {
	uint64_t functions[FUNCTION_ARRAY_MOST]; /* at the file's own addresses; 0: NULL */
	char names[FUNCTION_ARRAY_MOST][FUNCTION_ARRAY_NAME_SIZE];
	size_t count;
};

/*
 * Calls visit() for each run of words that looks like an array once the program loader has
 * relocated it. A run may be the rest of an array. If visit() returns true, it has recognised the
 * array, whose other words are then skipped. 0, or -ENOMEM.
 */
int function_arrays__visit(const struct elf_file *elf,
			   bool (*visit)(void *context, const struct function_array *array),
			   void *context);

#endif
