/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* UTF-8 text that is typed at a prompt, NUL-terminated. */
#ifndef LS_TYPED_TEXT_H
#define LS_TYPED_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Appends a character to text in a buffer of that size. Control characters, and what does not fit,
 * are ignored: names are shown without control characters.
 */
void typed_text__add(char *text, size_t size, uint32_t character);

/* Removes the last character. */
void typed_text__erase(char *text);

#endif
