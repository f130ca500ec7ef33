/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands that work on several recordings in files, or on a part of one. */
#ifndef LS_OPTIONS_OFFLINE_H
#define LS_OPTIONS_OFFLINE_H

#include "options/options.h"

/* argv[0] is the command. Fills what is zero. argv is changed: its files come first. */
enum options_verdict options_merge__parse(int argc, char **argv, struct merge_options *merge);
enum options_verdict options_trim__parse(int argc, char **argv, struct trim_options *trim);
enum options_verdict options_diff__parse(int argc, char **argv, struct diff_options *diff);

/* Prints the help of the command. OPTIONS_DONE or OPTIONS_FAILED. */
enum options_verdict options_merge__help(void);
enum options_verdict options_trim__help(void);
enum options_verdict options_diff__help(void);

#endif
