/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_DUMP_THREADS_H
#define LS_DUMP_THREADS_H

#include "dump/dump.h"

/*
 * Reads the stacks of all threads: directly if they stand still, by sampling if not. 0; -ENOENT:
 * the process has ended or has an unknown Lua; other -errno. Reports errors.
 */
int dump_threads__read(struct dump *dump);

#endif
