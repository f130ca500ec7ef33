/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of luaspy list. */
#ifndef LS_OPTIONS_LIST_H
#define LS_OPTIONS_LIST_H

#include "options/options.h"

/* `argv` starts at the word "list"; otherwise like options__parse(). */
enum options_verdict options_list__parse(int argc, char **argv, struct list_options *list);

/* Prints all options. */
enum options_verdict options_list__help(void);

#endif
