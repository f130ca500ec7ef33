/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/string_puc.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "tags_puc.h"

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

int string_puc__find(const struct target_memory *memory, const struct ls_puc_layout *layout,
		     uint64_t address, uint64_t *text, uint64_t *length)
{
	uint8_t header[UINT8_MAX + sizeof(uint64_t)] = {0};
	bool is_long;
	int error;

	/* The shortest string object is its header and a NUL. */
	error = target_memory__read(memory, address, header, layout->string_contents + 1U);
	if (error)
		return error;
	if (LS_TYPE(header[LS_OBJECT_TAG]) != LS_TYPE_STRING)
		return -EINVAL;
	*text = address + layout->string_contents;
	if (layout->minor >= 5)
		is_long = (int8_t)header[layout->string_short_length] < 0;
	else
		is_long = !layout->string_short_length || header[LS_OBJECT_TAG] & LS_VARIANT(0, 1);
	*length = is_long ? word_at(header, layout->string_length)
			  : header[layout->string_short_length];
	if (layout->minor < 5 || !is_long)
		return 0;
	/* lobject.h, 5.5: instead of the text a long string has a pointer to it. */
	return target_memory__read(memory, *text, text, sizeof(*text));
}
