/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of luaspy top. */
#ifndef LS_OPTIONS_TOP_H
#define LS_OPTIONS_TOP_H

#include "options/options.h"

/* `argv` starts at the word "top"; otherwise like options__parse(). */
enum options_verdict options_top__parse(int argc, char **argv, struct top_options *top);

/* Prints all options. */
enum options_verdict options_top__help(void);

#endif
