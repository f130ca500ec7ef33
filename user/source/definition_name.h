/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a definition calls a function. */
#ifndef LS_DEFINITION_NAME_H
#define LS_DEFINITION_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define DEFINITION_NAME_SIZE 256 /* with its NUL; a definition with a longer name has none */

/*
 * How names show a constant key: ".key" of an identifier, else `["a key"]`, if it is printable as
 * it stands, without escapes.
 */
bool definition_name__is_identifier(const char *text, size_t length);
bool definition_name__is_printable(const char *text, size_t length);

#endif
