/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy open: a recording in the browser. */
#ifndef LS_COMMAND_OPEN_H
#define LS_COMMAND_OPEN_H

#include "options/options.h"

/* Does what `options` says. Returns an exit status. */
int command_open__run(const struct open_options *options);

#endif
