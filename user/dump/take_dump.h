/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_TAKE_DUMP_H
#define LS_TAKE_DUMP_H

#include "dump/dump.h"

/*
 * Reads the stacks of the process: directly if a thread stands still, by sampling briefly if it
 * runs. Reports an error in one line. 0; -ENOENT: there is no such process, no Lua in it, or an
 * unknown one; other -errno. Free with dump__free() in every case.
 */
int dump__take(const struct dump_options *options, struct dump *dump);
void dump__free(struct dump *dump);

#endif
