/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walk/target_text.h"

#include <errno.h>
#include <stdlib.h>

int target_text__read(const struct target_memory *memory, uint64_t address, size_t length,
		      size_t most, char **text)
{
	int error;

	*text = NULL;
	if (length > most)
		return -E2BIG;
	*text = malloc(length + 1);
	if (!*text)
		return -ENOMEM;
	error = length ? target_memory__read(memory, address, *text, length) : 0;
	if (!error)
		return 0;
	free(*text);
	*text = NULL;
	return error;
}
