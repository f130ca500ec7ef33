/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command `luaspy check`: what this machine, these privileges and one process allow. */
#ifndef LS_COMMAND_CHECK_H
#define LS_COMMAND_CHECK_H

#include "options/options.h"

/*
 * Prints one line for each thing that luaspy depends on, to standard output, with a remedy for what
 * is wrong. Returns the exit status: 0, a recording would work; 1, it would not; 3, the process has
 * no Lua.
 */
int command_check__run(const struct check_options *options);

#endif
