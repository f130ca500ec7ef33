/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All Lua files that this machine has, and what their texts define. */
#ifndef TEST_CORPUS_H
#define TEST_CORPUS_H

#include "source/definitions.h"

/* Writes the names of all files into `list`, one a line. */
void corpus__list(const char *list);

/* Those in a file; NULL: it cannot be read, or is no Lua. */
struct definitions *corpus__definitions(const char *file);

#endif
