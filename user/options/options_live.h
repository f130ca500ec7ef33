/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands that work on processes. Those that work on recordings: options_offline.h. */
#ifndef LS_OPTIONS_LIVE_H
#define LS_OPTIONS_LIVE_H

#include "options/options.h"

/* As options__parse(); argv[0] is the command. */
enum options_verdict options_record__parse(int argc, char **argv, struct record_options *record);
enum options_verdict options_top__parse(int argc, char **argv, struct top_options *top);
enum options_verdict options_dump__parse(int argc, char **argv, struct dump_command_options *dump);
enum options_verdict options_list__parse(int argc, char **argv, struct list_options *list);

/* Prints the help of the command. OPTIONS_DONE or OPTIONS_FAILED. */
enum options_verdict options_record__help(void);
enum options_verdict options_top__help(void);
enum options_verdict options_dump__help(void);
enum options_verdict options_list__help(void);

/* Prints the names that --layout takes. OPTIONS_DONE or OPTIONS_FAILED. */
enum options_verdict options_record__print_layouts(void);

#endif
