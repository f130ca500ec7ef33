/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What must hold for each function that a walker defines, whatever memory holds. */
#ifndef FUZZ_DEFINITION_CHECKS_H
#define FUZZ_DEFINITION_CHECKS_H

#include <string.h>

#include "input.h"
#include "record.h"

static inline void check_definitions(const struct ls_function *functions, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ls_function *function = &functions[i];

		require(function->type == LS_RECORD_FUNCTION);
		require(function->source_length < LS_SOURCE_LEN);
		require(memchr(function->text, 0, function->source_length + 1));
		require(!function->name_length || function->name_length < LS_NAME_LEN);
	}
}

#endif
