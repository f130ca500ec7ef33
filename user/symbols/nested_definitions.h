/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a prototype calls the functions that it defines, as its instructions store them. */
#ifndef LS_NESTED_DEFINITIONS_H
#define LS_NESTED_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/definitions.h"

#define NESTED_DEFINITIONS_MAX 2048 /* of one prototype; further ones get no name from it */

struct nested_definition {
	uint64_t address, fingerprint;   /* of the nested prototype */
	char name[DEFINITION_NAME_SIZE]; /* "M.run", as the definition in the source text has it */
};

/* Zeroed: empty. Free items with free(). */
struct nested_definitions {
	struct nested_definition *items;
	size_t count;
	bool is_covered; /* the fingerprint covers everything that was read to find the names */
};

#endif
