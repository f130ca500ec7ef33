/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy convert: a recording in other formats. */
#ifndef LS_COMMAND_CONVERT_H
#define LS_COMMAND_CONVERT_H

#include "options/options.h"

/* Does what `options` says. Returns an exit status. */
int command_convert__run(const struct convert_options *options);

#endif
