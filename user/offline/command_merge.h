/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_COMMAND_MERGE_H
#define LS_COMMAND_MERGE_H

#include "options/options.h"

/* luaspy merge. Returns the exit status. */
int command_merge__run(const struct merge_options *options);

#endif
