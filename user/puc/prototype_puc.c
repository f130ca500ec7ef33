/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/prototype_puc.h"

#include <errno.h>
#include <string.h>

#include "puc/string_puc.h"

#include "walk/fingerprint_reader.h"
#include "walk/target_text.h"
#include "fingerprint_puc.h"

int prototype_puc__fingerprint(const struct target_memory *memory,
			       const struct ls_puc_layout *layout, uint64_t address,
			       uint64_t *fingerprint)
{
	struct ls_puc_content content = {};
	uint8_t proto[LS_STRUCT_LEN] = {};
	int error = target_memory__read(memory, address, proto, layout->proto_size);

	if (error)
		return error;
	if (proto[8] != layout->proto_tag)
		return -EINVAL;
	ls_puc_read_content(layout, memory, proto, &content);
	*fingerprint = ls_fold(ls_puc_fixed_fingerprint(layout, proto), content.hash);
	return 0;
}

int prototype_puc__check(const struct target_memory *memory, const struct ls_puc_layout *layout,
			 const struct prototype_key *key)
{
	uint64_t fingerprint;
	int error = prototype_puc__fingerprint(memory, layout, key->address, &fingerprint);

	if (error == -ESRCH)
		return error;
	return error || fingerprint != key->fingerprint ? -ESTALE : 0;
}

int prototype_puc__source(const struct target_memory *memory, const struct ls_puc_layout *layout,
			  uint64_t address, size_t most, char **text, size_t *length)
{
	uint64_t source, at, size;
	int error = target_memory__read(memory, address + layout->proto_source, &source,
					sizeof(source));

	*text = NULL;
	if (!error && !source)
		error = -ENOENT;
	if (!error)
		error = string_puc__find(memory, layout, source, &at, &size);
	if (error)
		return error;
	*length = size;
	return target_text__read(memory, at, size, most, text);
}

bool prototype_puc__covers_code(uint32_t count, uint32_t pc)
{
	return pc < LS_FINGERPRINT_CODE && pc < (count & ~1U);
}

bool prototype_puc__covers_item(uint32_t index)
{
	return index < LS_FINGERPRINT_CONSTANTS;
}

/*
 * LUAI_MAXSHORTLEN, llimits.h: the hash of a text up to this long covers all of it, or nearly: see
 * ls_puc_fold_string() in fingerprint_puc.h.
 */
#define SHORT_TEXT 40

bool prototype_puc__covers_text(uint32_t before, uint64_t length)
{
	return before < LS_FINGERPRINT_STRINGS && length <= SHORT_TEXT;
}
