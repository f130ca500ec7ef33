/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/prototype_puc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "puc/string_puc.h"

typedef const struct target_memory *ls_reader_t;

static long read_bytes(ls_reader_t memory, void *to, size_t size, uint64_t address)
{
	return target_memory__read(memory, address, to, size);
}

/* Like bpf_probe_read_user_str(): the count includes the NUL, which also ends a full buffer. */
static long read_string(ls_reader_t memory, char *to, size_t size, uint64_t address)
{
	ssize_t count = target_memory__read_some(memory, address, to, size);
	size_t length;

	if (count <= 0)
		return count ? count : -EFAULT;
	length = strnlen(to, count);
	if (length == (size_t)count && length < size)
		return -EFAULT;
	if (length == size)
		to[--length] = '\0';
	return length + 1;
}

/* The counterpart of bpf_loop(). */
static void repeat(uint32_t count, long (*step)(uint32_t i, void *context), void *context)
{
	for (uint32_t i = 0; i < count; i++)
		if (step(i, context))
			return;
}

#define LS_READ(reader, to, size, address)        read_bytes(reader, to, size, address)
#define LS_READ_STRING(reader, to, size, address) read_string(reader, to, size, address)
#define LS_REPEAT(count, step, context)           repeat(count, step, context)
#define LS_STEP(step)                             _Static_assert(1, "a loop needs no more")
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
	if (size > most)
		return -E2BIG;
	*text = malloc(size + 1);
	if (!*text)
		return -ENOMEM;
	*length = size;
	error = size ? target_memory__read(memory, at, *text, size) : 0;
	if (!error)
		return 0;
	free(*text);
	*text = NULL;
	return error;
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
