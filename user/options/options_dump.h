/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of luaspy dump. */
#ifndef LS_OPTIONS_DUMP_H
#define LS_OPTIONS_DUMP_H

#include "options/options.h"

/* `argv` starts at the word "dump"; otherwise like options__parse(). */
enum options_verdict options_dump__parse(int argc, char **argv, struct dump_command_options *dump);

/* Prints all options. */
enum options_verdict options_dump__help(void);

#endif
