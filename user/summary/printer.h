/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of text for people, none longer than the terminal. */
#ifndef LS_PRINTER_H
#define LS_PRINTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Room for a chunk name of LS_SOURCE_LEN bytes, all escaped, and a line number. */
#define PRINTER_TEXT_SIZE 2560

/* The caller owns the stream. Errors stay in it, for ferror() after a flush. */
struct printer {
	FILE *stream;
	unsigned width; /* columns */
	bool utf8;
	bool has_color;
	/* Times are shown as CPU time per so many seconds of wall_ns; 0: as they are. */
	uint32_t average_s;
	uint64_t wall_ns;
};

enum printer_style { PRINTER_PLAIN, PRINTER_TITLE, PRINTER_HOT, PRINTER_WARM, PRINTER_FAINT };

/*
 * As wide as the terminal. If `stream` is none, as COLUMNS in the environment says (40 to 500), or
 * 80 columns. UTF-8 if the locale uses it.
 */
struct printer printer__on(FILE *stream);

/* Prints a line, cut to the width. */
void printer__line(const struct printer *printer, const char *line);

/* The same, and where the printer has colors, the line has that of the style. */
void printer__styled(const struct printer *printer, enum printer_style style, const char *line);

/* The style of a row with that part of the whole: hot from 10%, warm from 2%, faint below 0.5%. */
enum printer_style printer__heat(uint64_t part, uint64_t whole);

/* Formats a time in microseconds, averaged if the printer's times are. Returns `to`. */
char *printer__format_time(const struct printer *printer, uint64_t us, char *to, size_t size);

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
