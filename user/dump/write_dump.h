/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A dump, for people and for programs. */
#ifndef LS_WRITE_DUMP_H
#define LS_WRITE_DUMP_H

#include <stdio.h>

#include "dump.h"

/* With what came from the target made harmless to terminals. 0 or -errno. */
int write_dump__text(const struct dump *dump, FILE *stream);

/*
 * One object: Target, Interpreter, Layout, Threads, each with its Stacks, the running coroutine's
 * first and its resumers' after it, Coroutines (where all were asked for), and the Counts of what
 * is not there. Strings are escaped as in profiles (json_writer.h). 0 or -errno.
 */
int write_dump__json(const struct dump *dump, FILE *stream);

#endif
