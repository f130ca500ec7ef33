/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_OPTIONS_OPEN_H
#define LS_OPTIONS_OPEN_H

#include "options/options.h"

/* As options__parse(), for luaspy open; argv[0] is "open". */
enum options_verdict options_open__parse(int argc, char **argv, struct open_options *open);

enum options_verdict options_open__help(void);

#endif
