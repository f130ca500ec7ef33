/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The width of a terminal, and of text on it. */
#ifndef LS_TERMINAL_H
#define LS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Current number of columns of the terminal behind `fd`; 0 if it is no terminal or does not say. */
unsigned terminal__columns(int fd);

/* Whether a write can proceed: not if the terminal is stopped (Ctrl-S) or nobody reads the pipe. */
bool terminal__takes_more(int fd);

/*
 * Decodes the character that `text` begins with. Returns its length in bytes (1 to 4), or 0 if they
 * are not UTF-8: stray or missing continuation bytes, overlong forms, surrogates, beyond U+10FFFF.
 */
size_t terminal__decode(const char *text, uint32_t *code_point);

/*
 * Finds the longest prefix of `text` that takes at most `columns`. Returns its bytes, and stores
 * its columns in *taken unless NULL. `text` must have gone through log__printable(). A character
 * that the locale does not know counts as wide as it may be.
 */
size_t terminal__fit(const char *text, unsigned columns, unsigned *taken);

/* The width of such text, in columns. */
unsigned terminal__width(const char *text);

/*
 * Formats such text as a cell exactly `columns` wide. Text that does not fit loses its end, or with
 * `keep_end`, for paths and lines, its beginning. Returns `to`.
 */
char *terminal__cell(const char *text, unsigned columns, bool keep_end, bool utf8, char *to,
		     size_t size);

#endif
