/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the garbage collector's code lies in a file that holds PUC Lua, without symbols: static,
 * stripped, inlined as the compiler liked. The .c file says by which evidence. What is in doubt is
 * not known: a wrong range would be worse than none.
 */
#ifndef LS_COLLECTOR_PUC_H
#define LS_COLLECTOR_PUC_H

#include <stdbool.h>
#include <stdint.h>

#include "elf_file.h"
#include "target.h"

#define COLLECTOR_MAP_MAX (LS_CODE_MAP_MAX / 2)

struct collector_puc {
	/* As in struct ls_target; the file's own addresses, until collector_puc__move(). */
	struct ls_code map[COLLECTOR_MAP_MAX];
	uint32_t map_count;
	bool is_known;
	char how[128]; /* how it was found, or why it is not known */
};

/*
 * `layouts` has a bit per entry of layouts_puc[] that the file's Lua may have. 0, known or not, or
 * -ENOMEM.
 */
int collector_puc__find(const struct elf_file *file, uint16_t layouts,
			struct collector_puc *collector);

/* Adds to all addresses what a process has the file mapped at. */
void collector_puc__move(struct collector_puc *collector, uint64_t distance);

#endif
