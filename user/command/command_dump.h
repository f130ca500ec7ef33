/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy dump: the stacks of a process right now. */
#ifndef LS_COMMAND_DUMP_H
#define LS_COMMAND_DUMP_H

#include "options/options.h"

/* Does what `options` says. Returns an exit status. */
int command_dump__run(const struct dump_command_options *options);

#endif
