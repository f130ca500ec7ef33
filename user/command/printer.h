/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of text for a person, none longer than the terminal. */
#ifndef LS_PRINTER_H
#define LS_PRINTER_H

#include <stdbool.h>
#include <stdio.h>

/* A chunk name of LS_SOURCE_LEN bytes, all escaped, and a line. */
#define PRINTER_TEXT_SIZE 2560

/* The stream is the caller's. Errors stay in it, for ferror() after a flush. */
struct printer {
	FILE *stream;
	unsigned width; /* columns */
	bool utf8;
};

/* As wide as the terminal, or 80 columns where `stream` is none; with the locale's characters. */
struct printer printer__on(FILE *stream);

/* What is too long for the line is left out. */
void printer__line(const struct printer *printer, const char *line);

/* `text` right of `prefix`, over as many lines as it needs. */
void printer__wrapped(const struct printer *printer, const char *prefix, const char *text);

/* A label, and its value, which is escaped. */
void printer__fact(const struct printer *printer, const char *label, const char *value);

/* A line of accounting: what, how much, its share, why. `width` is that of the amounts. */
void printer__amount(const struct printer *printer, const char *label, int width,
		     const char *amount, const char *share, const char *why);

/* Between amounts of this width and their sum. */
void printer__rule(const struct printer *printer, int width);

#endif
