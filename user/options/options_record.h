/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of `luaspy record`. */
#ifndef LS_OPTIONS_RECORD_H
#define LS_OPTIONS_RECORD_H

#include "options/options.h"

/* `argv` starts at the word "record"; otherwise like options__parse(). */
enum options_verdict options_record__parse(int argc, char **argv, struct record_options *record);

/* Prints all options. */
enum options_verdict options_record__help(void);

/* Prints the names that --layout takes. */
enum options_verdict options_record__print_layouts(void);

#endif
