/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layouts of PUC Lua, one per class of releases whose structs are equal. */
#ifndef LS_LAYOUT_PUC_H
#define LS_LAYOUT_PUC_H

#include <stddef.h>

#include "offsets_puc.h"
#include "target.h"

struct layout_puc {
	const char *name; /* "5.4.3-5.4.9" */
	int minor;        /* 4 */
	int first_patch;  /* 3 */
	int last_patch;   /* 9; later ones are tried with all layouts of the minor version */
	/* 1: a walk cannot tell it from another class, so only a file's release chooses it */
	int only_by_release;
	struct ls_puc_layout offsets;
};

extern const struct layout_puc layouts_puc[];
extern const size_t layouts_puc_count; /* at most LS_LAYOUT_MAX */

/* The index of the layout of that name, or of that release ("5.4.6"); -ENOENT: none. */
int layout_puc__find(const char *name);

#endif
