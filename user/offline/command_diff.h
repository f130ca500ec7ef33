/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_COMMAND_DIFF_H
#define LS_COMMAND_DIFF_H

#include "options/options.h"

/* luaspy diff. Returns the exit status. */
int command_diff__run(const struct diff_options *options);

#endif
