/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Storage of the definitions that the parser finds; for definitions*.c only. */
#ifndef LS_DEFINITION_LIST_H
#define LS_DEFINITION_LIST_H

#include <stddef.h>
#include <stdint.h>

#define NAMES_MAX (8 << 20) /* bytes of all names */

struct definition {
	uint32_t line, open_line, last_line;
	uint32_t name; /* offset in the names; 0: none */
};

struct definitions {
	struct definition *items; /* in order of their last lines */
	uint32_t count, room;
	char *names; /* one after the other, each with its NUL; the first is empty */
	size_t names_size, names_room;
};

/* Adds a definition. 0; -E2BIG; -ENOMEM. */
int definition_list__add(struct definitions *definitions, const struct definition *definition);

/* Adds a name: *offset is where it is. Likewise. */
int definition_list__add_name(struct definitions *definitions, const char *name, uint32_t *offset);

#endif
