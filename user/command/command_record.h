/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command `luaspy record`. */
#ifndef LS_COMMAND_RECORD_H
#define LS_COMMAND_RECORD_H

#include "options/options.h"

/*
 * Runs it; any failure was reported when it returns. Returns the exit status: luaspy's, or that of
 * the command that it started.
 */
int command_record__run(const struct record_options *options);

#endif
