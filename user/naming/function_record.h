/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the definition of a function that BPF sent tells. */
#ifndef LS_FUNCTION_RECORD_H
#define LS_FUNCTION_RECORD_H

#include <stddef.h>

#include "record.h"

/* Where the text is that a function was compiled from. */
enum text_place { TEXT_NOWHERE, TEXT_IN_FILE, TEXT_IN_CHUNK };

static inline enum text_place place_text(const struct ls_function *function)
{
	if (!function->line_defined || !function->source_length || *function->text == '=')
		return TEXT_NOWHERE;
	if (*function->text != '@')
		return TEXT_IN_CHUNK;
	/* The name of the file may have been cut off. */
	return function->source_length < LS_SOURCE_LEN - 1 ? TEXT_IN_FILE : TEXT_NOWHERE;
}

/* The name that the VM keeps of the function; NULL: none. */
static inline const char *name_in(const struct ls_function *function)
{
	return function->name_length ? function->text + function->source_length + 1 : NULL;
}

#endif
