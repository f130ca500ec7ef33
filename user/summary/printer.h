/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of text for people, none longer than the terminal. */
#ifndef LS_PRINTER_H
#define LS_PRINTER_H

#include <stdbool.h>
#include <stdio.h>

/* Room for a chunk name of LS_SOURCE_LEN bytes, all escaped, and a line number. */
#define PRINTER_TEXT_SIZE 2560

/* The caller owns the stream. Errors stay in it, for ferror() after a flush. */
struct printer {
	FILE *stream;
	unsigned width; /* columns */
	bool utf8;
};

/*
 * As wide as the terminal. If `stream` is none, as COLUMNS in the environment says (40 to 500), or
 * 80 columns. UTF-8 if the locale uses it.
 */
struct printer printer__on(FILE *stream);

/* Prints a line, cut to the width. */
void printer__line(const struct printer *printer, const char *line);

/* Prints `text` to the right of `prefix`, on as many lines as it needs. */
void printer__wrapped(const struct printer *printer, const char *prefix, const char *text);

/* Prints a label and its value, which is escaped. */
void printer__fact(const struct printer *printer, const char *label, const char *value);

/*
 * Prints a line of the accounting: what, how much, its share, why. `width` is that of the amounts.
 */
void printer__amount(const struct printer *printer, const char *label, int width,
		     const char *amount, const char *share, const char *why);

/* Prints a rule between amounts of this width and their sum. */
void printer__rule(const struct printer *printer, int width);

#endif
