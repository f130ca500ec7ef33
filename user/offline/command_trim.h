/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_COMMAND_TRIM_H
#define LS_COMMAND_TRIM_H

#include "options/options.h"

/* luaspy trim. Returns the exit status. */
int command_trim__run(const struct trim_options *options);

#endif
