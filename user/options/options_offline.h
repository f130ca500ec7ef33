/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands that work on recordings in files. */
#ifndef LS_OPTIONS_OFFLINE_H
#define LS_OPTIONS_OFFLINE_H

#include "options/options.h"

/*
 * As options__parse(); argv[0] is the command. Fills what is zero. Report, merge and diff change
 * argv: its files come first.
 */
enum options_verdict options_convert__parse(int argc, char **argv, struct convert_options *convert);
enum options_verdict options_report__parse(int argc, char **argv, struct report_options *report);
enum options_verdict options_open__parse(int argc, char **argv, struct open_options *open);
enum options_verdict options_merge__parse(int argc, char **argv, struct merge_options *merge);
enum options_verdict options_trim__parse(int argc, char **argv, struct trim_options *trim);
enum options_verdict options_diff__parse(int argc, char **argv, struct diff_options *diff);

/* Prints the help of the command. OPTIONS_DONE or OPTIONS_FAILED. */
enum options_verdict options_convert__help(void);
enum options_verdict options_report__help(void);
enum options_verdict options_open__help(void);
enum options_verdict options_merge__help(void);
enum options_verdict options_trim__help(void);
enum options_verdict options_diff__help(void);

#endif
