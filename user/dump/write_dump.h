/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A dump, for people and for programs. */
#ifndef LS_WRITE_DUMP_H
#define LS_WRITE_DUMP_H

#include <stdio.h>

#include "dump/dump.h"

/* Text from the target is escaped for terminals. 0 or -errno. */
int write_dump__text(const struct dump *dump, FILE *stream);

/*
 * One object: Target, Interpreter, Layout, TimeMs, Threads, each with its Stacks (that of the
 * running coroutine first, then those of its resumers), Coroutines (only if all were requested),
 * and Counts, mostly of what is missing. Strings are escaped as in profiles (json_writer.h). 0 or
 * -errno.
 */
int write_dump__json(const struct dump *dump, FILE *stream);

#endif
