/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of luaspy convert. */
#ifndef LS_OPTIONS_CONVERT_H
#define LS_OPTIONS_CONVERT_H

#include "options/options.h"

/* `argv` starts at the word "convert"; otherwise like options__parse(). */
enum options_verdict options_convert__parse(int argc, char **argv, struct convert_options *convert);

/* Prints all options. */
enum options_verdict options_convert__help(void);

#endif
