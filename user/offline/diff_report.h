/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `luaspy diff` shows: a table, JSON, a flame graph. */
#ifndef LS_DIFF_REPORT_H
#define LS_DIFF_REPORT_H

#include <stdio.h>

#include "combine/profile_diff.h"
#include "options/options.h"

/* Prints the table for people. Errors stay in the stream. */
void diff_report__print(const struct profile_diff *diff, const struct diff_options *options,
			FILE *stream);

/* Prints all rows as JSON. 0 or -errno. */
int diff_report__print_json(const struct profile_diff *diff, const struct diff_options *options,
			    FILE *stream);

/*
 * Writes a flame graph in which frames are as wide as the mean of both sides, so that neither's are
 * lost, and as red or blue as they take more or less, which their text says, too. 0 or -errno.
 */
int diff_report__write_flamegraph(const struct profile_diff *diff, FILE *stream);

/*
 * The share by which the worst function became slower beyond noise, of itself or in total, and its
 * id. Both are 0 if there is none.
 */
double diff_report__worst(const struct profile_diff *diff, uint32_t *function);

#endif
