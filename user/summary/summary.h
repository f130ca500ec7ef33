/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session found, for the person who ran it. */
#ifndef LS_SUMMARY_H
#define LS_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile.h"
#include "profile/totals.h"
#include "summary/category_words.h"
#include "summary/printer.h"

struct summary_options {
	const struct category_words *words; /* of the profile's categories */
	uint32_t tree_depth;                /* of the call tree; 0: do not print it */
	const char *callers;                /* of the function to print callers of; NULL: none */
	bool is_part;    /* of a recording: its samples and costs are not those of the profile */
	bool without_gc; /* nor is its GC, which was left out */
};

/*
 * Prints in one line what was recorded, the ten functions with the most self time, the hottest
 * path, what the options ask for, and in one line how much of it all is to be trusted. No line is
 * longer than printer__on() says. Shares are of the charged CPU time, and times are those of the
 * file. Names are escaped; bars are blocks where setlocale(LC_CTYPE) has chosen UTF-8, and number
 * signs elsewhere. Errors stay in the stream, for ferror() after a flush.
 */
void summary__print(const struct ls_profile *profile, const struct ls_totals *totals,
		    const struct summary_options *options, FILE *stream);

/* The same on that printer. */
void summary__print_on(const struct printer *printer, const struct ls_profile *profile,
		       const struct ls_totals *totals, const struct summary_options *options);

/* Its first line: what was recorded. */
void summary__print_headline(const struct printer *printer,
			     const struct ls_profile_recorder *recorder);

/*
 * "11.3 s of CPU time, hottest f 28.1%": an interval in one line, for a log. If there are several
 * categories, it counts those that used CPU time and names the one with the most. Names are
 * escaped.
 */
#define SUMMARY_LINE_SIZE (3 * PRINTER_TEXT_SIZE)
void summary__describe(const struct ls_profile *profile, const struct ls_totals *totals,
		       const struct category_words *words, char *text, size_t size);

/* Prints the accounting of samples and CPU time: all of it, or only what went wrong. */
void summary__print_accounting(const struct ls_profile *profile, const struct ls_totals *totals,
			       bool all, FILE *stream);

#endif
