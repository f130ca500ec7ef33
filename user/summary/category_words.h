/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the categories of a profile are: processes, threads, users ... */
#ifndef LS_CATEGORY_WORDS_H
#define LS_CATEGORY_WORDS_H

#include "recording/category.h"
#include "recording/grouping.h"

struct category_words {
	const char *one, *many; /* "process", "processes" */
};

/* `merge_by` goes first: groups of processes are the categories then. */
const struct category_words *category_words__of(enum category_kind category,
						enum grouping_kind merge_by);

#endif
