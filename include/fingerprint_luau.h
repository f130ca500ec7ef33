/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fingerprint of a prototype of Luau: what identifies it, for its address is used again once it was
 * collected. It covers sizes, lines and places, the names of the chunk and of the function. It does
 * not cover instructions, nor constants, for the VM caches in them what it finds.
 *
 * The includer defines ls_reader_t, LS_READ, LS_READ_STRING, LS_REPEAT and LS_STEP, as for
 * fingerprint_puc.h.
 */
#ifndef LS_FINGERPRINT_LUAU_H
#define LS_FINGERPRINT_LUAU_H

#include "fold.h"
#include "offsets_luau.h"
#include "record.h"

#define LS_LUAU_LINES_MAX 64 /* bytes of lineinfo that are hashed */

/* What the content hash is computed from. Too large for the BPF stack. */
struct ls_luau_content {
	char source[LS_SOURCE_LEN];
	char name[LS_NAME_LEN];
	__u64 lines[LS_LUAU_LINES_MAX / 8];
	__u32 source_length;
	__u32 name_length;
	__u64 hash; /* of all of it */
};

struct ls_luau_fold {
	struct ls_luau_content *content;
};

static inline __attribute__((always_inline)) __u64 ls_luau_word(const __u8 *copy, __u8 offset)
{
	__u64 word;

	__builtin_memcpy(&word, copy + offset, sizeof(word));
	return word;
}

static inline __attribute__((always_inline)) __u32 ls_luau_half(const __u8 *copy, __u8 offset)
{
	__u32 half;

	__builtin_memcpy(&half, copy + offset, sizeof(half));
	return half;
}

/*
 * The tables of lines: lineinfo, of a byte per instruction, then abslineinfo, of 4 bytes per
 * interval of instructions. One allocation has both, so each field that lines are read by follows
 * from the others (lvmload.cpp).
 */
static inline __attribute__((always_inline)) bool
ls_luau_has_lines(const struct ls_luau_layout *layout, const __u8 *proto)
{
	__u64 lines = ls_luau_word(proto, layout->proto_line_info);
	__u64 bases = ls_luau_word(proto, layout->proto_line_bases);
	__u32 count = ls_luau_half(proto, layout->proto_code_count);
	__u32 size = ls_luau_half(proto, layout->proto_line_info_size);
	__u32 gap = ls_luau_half(proto, layout->proto_line_gap), padded = (count + 3) & ~3U;

	if (!lines || !bases)
		return !lines && !bases && !size;
	return gap <= LS_LUAU_LINE_GAP_MAX && count && bases == lines + padded &&
	       size == padded + 4 * (((count - 1) >> gap) + 1);
}

/* Whether the small numbers are those of a function whose closure has so many upvalues. */
static inline __attribute__((always_inline)) bool
ls_luau_has_numbers(const struct ls_luau_layout *layout, const __u8 *proto, __u8 upvalues)
{
	return proto[layout->proto_upvalues] == upvalues && proto[layout->proto_is_vararg] <= 1 &&
	       proto[layout->proto_parameters] <= proto[layout->proto_is_vararg + 1];
}

/* Hash of numbers, which tells functions apart that are defined on one line. */
static inline __attribute__((always_inline)) __u64
ls_luau_shape(const struct ls_luau_layout *layout, const __u8 *proto)
{
	__u64 hash = (__u64)ls_luau_half(proto, layout->proto_code_count) << 32 |
		     ls_luau_half(proto, layout->proto_constant_count);

	hash = ls_fold(hash, (__u64)ls_luau_half(proto, layout->proto_child_count) << 32 |
				     proto[layout->proto_upvalues] << 16 |
				     proto[layout->proto_parameters] << 8 |
				     proto[layout->proto_is_vararg]);
	return ls_fold(hash, ls_luau_half(proto, layout->proto_line_defined));
}

/* Hash of the fields of a prototype that never change. */
static inline __attribute__((always_inline)) __u64
ls_luau_fixed_fingerprint(const struct ls_luau_layout *layout, const __u8 *proto)
{
	__u64 hash = ls_luau_word(proto, layout->proto_code);

	hash = ls_fold(hash, ls_luau_word(proto, layout->proto_constants));
	hash = ls_fold(hash, ls_luau_word(proto, layout->proto_children));
	hash = ls_fold(hash, ls_luau_word(proto, layout->proto_line_info));
	hash = ls_fold(hash, ls_luau_word(proto, layout->proto_source));
	hash = ls_fold(hash, ls_luau_word(proto, layout->proto_name));
	hash = ls_fold(hash, (__u64)ls_luau_half(proto, layout->proto_line_info_size) << 32 |
				     ls_luau_half(proto, layout->proto_line_gap));
	return ls_fold(hash, ls_luau_shape(layout, proto));
}

static inline __attribute__((always_inline)) __u64 ls_luau_last_word(__u64 word, __u32 left)
{
	return left < 8 ? word & ((1ULL << left * 8) - 1) : word;
}

static long ls_luau_fold_source(__u32 i, void *context)
{
	struct ls_luau_content *content = ((const struct ls_luau_fold *)context)->content;
	__u64 word = ((const __u64 *)content->source)[i % (LS_SOURCE_LEN / 8)];

	content->hash =
		ls_fold(content->hash, ls_luau_last_word(word, content->source_length - i * 8));
	return 0;
}
LS_STEP(ls_luau_fold_source);

static long ls_luau_fold_name(__u32 i, void *context)
{
	struct ls_luau_content *content = ((const struct ls_luau_fold *)context)->content;
	__u64 word = ((const __u64 *)content->name)[i % (LS_NAME_LEN / 8)];

	content->hash =
		ls_fold(content->hash, ls_luau_last_word(word, content->name_length - i * 8));
	return 0;
}
LS_STEP(ls_luau_fold_name);

static long ls_luau_fold_lines(__u32 i, void *context)
{
	struct ls_luau_content *content = ((const struct ls_luau_fold *)context)->content;

	content->hash = ls_fold(content->hash, content->lines[i % (LS_LUAU_LINES_MAX / 8)]);
	return 0;
}
LS_STEP(ls_luau_fold_lines);

/* The address of a TString's text; 0: there is no TString. */
static inline __attribute__((always_inline)) __u64 ls_luau_text_of(__u64 string)
{
	return string ? string + sizeof(struct ls_luau_string) : 0;
}

/* Reads a text at that address; none if that is 0. Returns its length. */
static inline __attribute__((always_inline)) __u32 ls_luau_read_text(ls_reader_t reader, char *text,
								     __u32 size, __u64 address)
{
	long length = 0;

	(void)reader;
	*(__u64 *)text = 0;
	if (address)
		length = LS_READ_STRING(reader, text, size, address);
	return length < 1 || length > (long)size ? 0 : length - 1;
}

/* Fills *content for the prototype that `proto` is a copy of. */
static inline __attribute__((always_inline)) void
ls_luau_read_content(ls_reader_t reader, const struct ls_luau_layout *layout, const __u8 *proto,
		     struct ls_luau_content *content)
{
	struct ls_luau_fold fold = {.content = content};
	__u64 lines = ls_luau_word(proto, layout->proto_line_info);
	__u32 size = ls_luau_half(proto, layout->proto_code_count);

	content->hash = 0;
	content->source_length =
		ls_luau_read_text(reader, content->source, LS_SOURCE_LEN,
				  ls_luau_text_of(ls_luau_word(proto, layout->proto_source)));
	content->name_length =
		ls_luau_read_text(reader, content->name, LS_NAME_LEN,
				  ls_luau_text_of(ls_luau_word(proto, layout->proto_name)));
	LS_REPEAT((content->source_length + 7) / 8, ls_luau_fold_source, &fold);
	LS_REPEAT((content->name_length + 7) / 8, ls_luau_fold_name, &fold);
	size = (size + 3) & ~3U; /* the table of the bases follows */
	if (size > LS_LUAU_LINES_MAX)
		size = LS_LUAU_LINES_MAX;
	for (__u32 i = 0; i < LS_LUAU_LINES_MAX / 8; i++)
		content->lines[i] = 0;
	if (lines && size && !LS_READ(reader, content->lines, size, lines))
		LS_REPEAT(LS_LUAU_LINES_MAX / 8, ls_luau_fold_lines, &fold);
}

#endif
