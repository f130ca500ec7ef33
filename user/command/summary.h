/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session found, for the person who ran it. */
#ifndef LS_SUMMARY_H
#define LS_SUMMARY_H

#include <stdio.h>

#include "profile.h"
#include "totals.h"

/*
 * Prints what was recorded, the accounting of every sample and of the CPU time, and the ten script
 * and C functions with the most self time, with bars. No line is longer than 80 columns, or than
 * the terminal where `stream` is one. Shares are of the charged CPU time, and times are those of
 * the file. Names are escaped; bars are blocks where setlocale(LC_CTYPE) has chosen UTF-8, and
 * number signs elsewhere. Errors stay in the stream, for ferror() after a flush.
 */
void summary__print(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream);

#endif
