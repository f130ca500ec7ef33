/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy list: the processes that run Lua. */
#ifndef LS_COMMAND_LIST_H
#define LS_COMMAND_LIST_H

#include "options/options.h"

/* Does what `options` says. Returns an exit status. */
int command_list__run(const struct list_options *options);

#endif
