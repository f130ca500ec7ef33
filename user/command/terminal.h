/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How wide a terminal is, and how much of it text takes. */
#ifndef LS_TERMINAL_H
#define LS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns of the terminal behind `fd` as it is now; 0 where it is none or does not tell. */
unsigned terminal__columns(int fd);

/* Whether text can be written there now: it may be stopped (Ctrl-S), or nobody reads a pipe. */
bool terminal__takes_more(int fd);

/*
 * The character that `text` begins with. How many bytes it has (1 to 4), or 0 where these are not
 * UTF-8: stray or missing continuation bytes, overlong forms, surrogates, beyond U+10FFFF.
 */
size_t terminal__decode(const char *text, uint32_t *code_point);

/*
 * The longest beginning of `text` that takes no more than `columns`: its bytes, its columns into
 * *taken unless NULL. Text that went through log__printable(). Where the locale does not know
 * a character, it counts as wide as it may be.
 */
size_t terminal__fit(const char *text, unsigned columns, unsigned *taken);

/* The columns of such text. */
unsigned terminal__width(const char *text);

/*
 * A cell of such text, exactly `columns` wide. What does not fit loses its end, or its beginning
 * where the end says more (paths, lines). Returns `to`.
 */
char *terminal__cell(const char *text, unsigned columns, bool keep_end, bool utf8, char *to,
		     size_t size);

#endif
