/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fingerprint of a prototype: what identifies it. Its address does not suffice: prototypes are
 * garbage-collected, and when a program loads one template after another, the next is often
 * allocated at the same address, with the same sizes and the same pointers. So the content counts:
 * the chunk name, the first constants, local variables and upvalues with their text, and the first
 * instructions. These include what call sites are named by, on purpose: a dead prototype may stay
 * in memory long after the strings that it pointed to were replaced by others.
 *
 * BPF computes the fingerprint when it samples. User space computes it again when it reads a name
 * out of a prototype that may have been freed by then. The includer defines how to read:
 *   ls_reader_t, LS_READ(reader, to, size, address), LS_READ_STRING(reader, to, size, address),
 *   LS_REPEAT(count, step, context): calls step(i, context) for i from 0 until it returns 1
 *   LS_STEP(step), after the definition of each step: whatever else LS_REPEAT needs
 */
#ifndef LS_FINGERPRINT_PUC_H
#define LS_FINGERPRINT_PUC_H

#include "fold.h"
#include "offsets_puc.h"
#include "record.h"
#include "tags_puc.h"

#define LS_FINGERPRINT_CONSTANTS 16 /* constants: TValues, 16 bytes; also locals and upvalues */
#define LS_FINGERPRINT_STRINGS   8  /* of each of the three, strings whose text is hashed */
#define LS_FINGERPRINT_CODE      16 /* instructions, 4 bytes each */
#define LS_STRING_HEAD           40 /* header of a TString and 16 bytes of its text */

/* Size of a copy of a target's struct: an 8-byte read at a one-byte offset stays inside. */
#define LS_STRUCT_LEN (256 + 8)

/* What the content hash is computed from. Too large for the BPF stack. */
struct ls_puc_content {
	char source[LS_SOURCE_LEN];
	__u64 items[LS_FINGERPRINT_CONSTANTS * 2]; /* constants, local variables or upvalues */
	__u64 code[LS_FINGERPRINT_CODE / 2];
	__u64 string_head[LS_STRING_HEAD / 8];
	__u32 source_length;
	__u32 strings; /* of these items: how many were folded into the hash */
	__u64 hash;    /* of all of it */
	__u64 shape;   /* of sizes and code alone */
};

/* Not every field read this way is aligned. In BPF a memcpy() would become eight loads. */
static inline __attribute__((always_inline)) __u64 ls_word(const __u8 *copy, __u8 offset)
{
#ifdef __bpf__
	return *(const __u64 *)(copy + offset);
#else
	__u64 word;

	__builtin_memcpy(&word, copy + offset, sizeof(word));
	return word;
#endif
}

static inline __attribute__((always_inline)) __u32 ls_half(const __u8 *copy, __u8 offset)
{
#ifdef __bpf__
	return *(const __u32 *)(copy + offset);
#else
	__u32 half;

	__builtin_memcpy(&half, copy + offset, sizeof(half));
	return half;
#endif
}

/* Hash of the pointers and sizes in a copy of a Proto, without the fields that the GC changes. */
static inline __attribute__((always_inline)) __u64
ls_puc_fixed_fingerprint(const struct ls_puc_layout *layout, const __u8 *proto)
{
	__u64 hash = ls_word(proto, layout->proto_source);

	hash = ls_fold(hash, ls_word(proto, layout->proto_code));
	hash = ls_fold(hash, ls_word(proto, layout->proto_constants));
	hash = ls_fold(hash, ls_word(proto, layout->proto_line_info));
	hash = ls_fold(hash, ls_word(proto, layout->proto_local_vars));
	hash = ls_fold(hash, ((__u64)ls_half(proto, layout->proto_code_count) << 32) |
				     ls_half(proto, layout->proto_constant_count));
	hash = ls_fold(hash, ((__u64)ls_half(proto, layout->proto_line_defined) << 32) |
				     ls_half(proto, layout->proto_last_line_defined));
	return hash;
}

/* Whether a value is a string. 5.1 does not mark values as collectable. */
static inline __attribute__((always_inline)) int ls_is_string(__u8 tag)
{
	return tag == LS_TYPE_STRING || tag == (LS_TYPE_STRING | LS_COLLECTABLE) ||
	       tag == (LS_TAG_LONG_STRING | LS_COLLECTABLE);
}

/* Context of the steps below. It is on the stack, as bpf_loop() requires of its context. */
struct ls_puc_fold {
	const struct ls_puc_layout *layout;
	ls_reader_t reader;
	struct ls_puc_content *content;
};

static long ls_puc_fold_source_word(__u32 i, void *context)
{
	struct ls_puc_content *content = ((const struct ls_puc_fold *)context)->content;
	__u32 left = content->source_length - i * 8;
	__u64 word = ((const __u64 *)content->source)[i % (LS_SOURCE_LEN / 8)];

	if (left < 8)
		word &= (1ULL << left * 8) - 1;
	content->hash = ls_fold(content->hash, word);
	return 0;
}
LS_STEP(ls_puc_fold_source_word);

/*
 * Address of a string's text, or 0 if unreadable. Long strings of 5.5 have a negative shrlen and a
 * pointer to their text.
 */
static inline __attribute__((always_inline)) __u64
ls_puc_text_of(const struct ls_puc_layout *layout, ls_reader_t reader, __u64 string)
{
	__s8 short_length;
	__u64 text;

	(void)reader;
	if (!layout->string_long_text ||
	    LS_READ(reader, &short_length, 1, string + layout->string_short_length) ||
	    short_length >= 0)
		return string + layout->string_contents;
	if (LS_READ(reader, &text, sizeof(text), string + layout->string_long_text))
		return 0;
	return text;
}

static inline __attribute__((always_inline)) void
ls_puc_fold_source(const struct ls_puc_layout *layout, ls_reader_t reader, const __u8 *proto,
		   struct ls_puc_content *content)
{
	__u64 source = ls_word(proto, layout->proto_source);
	struct ls_puc_fold fold = {.layout = layout, .reader = reader, .content = content};
	long length = 0;

	if (source)
		length = LS_READ_STRING(reader, content->source, LS_SOURCE_LEN,
					ls_puc_text_of(layout, reader, source));
	if (length <= 1 || length > LS_SOURCE_LEN) {
		/* Stripped by luac -s: ldebug.c then uses "=?". */
		*(__u64 *)content->source = 0x3f3d;
		length = 3;
	}
	content->source_length = length - 1;
	LS_REPEAT((content->source_length + 7) / 8, ls_puc_fold_source_word, &fold);
}

/* Clears everything after the first NUL in a word of text. */
static inline __attribute__((always_inline)) __u64 ls_until_nul(__u64 word)
{
	__u64 nuls = (word - 0x0101010101010101ULL) & ~word & 0x8080808080808080ULL;

	return nuls ? word & (((nuls & -nuls) >> 7) - 1) : word;
}

/*
 * Lua computes the hash of a short string when it creates the string. Hash and text both count: in
 * a freed string, one may have survived and the other not. Lua hashes a long string (tag 20) late,
 * if ever, but it is longer than the text read here.
 */
static inline __attribute__((always_inline)) void
ls_puc_fold_string(const struct ls_puc_layout *layout, ls_reader_t reader, __u64 string,
		   struct ls_puc_content *content)
{
	const __u64 *head = content->string_head;

	(void)reader;
	if (content->strings >= LS_FINGERPRINT_STRINGS)
		return;
	content->strings++;
	if (LS_READ(reader, content->string_head, LS_STRING_HEAD, string))
		return;
	if ((__u8)head[1] == 20) {
		content->hash = ls_fold(content->hash, head[2]);
		/* 5.5: the text replaces the pointer to it. */
		if (layout->string_long_text &&
		    LS_READ(reader, content->string_head + 3, 16, head[3]))
			return;
		content->hash = ls_fold(content->hash, head[3]);
		content->hash = ls_fold(content->hash, head[4]);
		return;
	}
	content->hash = ls_fold(content->hash, head[1] >> 32);
	if (layout->string_contents == 24) {
		__u64 first = ls_until_nul(head[3]);

		content->hash = ls_fold(content->hash, first);
		if (first >> 56)
			content->hash = ls_fold(content->hash, ls_until_nul(head[4]));
	} else {
		content->hash = ls_fold(content->hash, ls_until_nul(head[4]));
	}
	/* lstring.c, 5.1 and 5.2: the hash of 32 bytes or more skips some, so the length counts. */
	if (!layout->string_short_length)
		content->hash = ls_fold(content->hash, head[2]);
}

static long ls_puc_fold_constant(__u32 i, void *context)
{
	const struct ls_puc_fold *fold = context;
	struct ls_puc_content *content = fold->content;
	__u32 at = i % LS_FINGERPRINT_CONSTANTS * 2;
	__u8 tag = content->items[at + 1];

	content->hash = ls_fold(content->hash, content->items[at] + tag);
	if (ls_is_string(tag))
		ls_puc_fold_string(fold->layout, fold->reader, content->items[at], content);
	return 0;
}
LS_STEP(ls_puc_fold_constant);

/* LocVar of lobject.h: the name, then startpc and endpc, between which it is active. */
static long ls_puc_fold_local(__u32 i, void *context)
{
	const struct ls_puc_fold *fold = context;
	struct ls_puc_content *content = fold->content;
	__u32 at = i % LS_FINGERPRINT_CONSTANTS * 2;

	content->hash = ls_fold(content->hash, content->items[at + 1]);
	ls_puc_fold_string(fold->layout, fold->reader, content->items[at], content);
	return 0;
}
LS_STEP(ls_puc_fold_local);

/*
 * Upvaldesc of lobject.h starts with the name; 5.1 has an array of names alone. The modulo comes
 * last because verifiers before Linux 6.10 treat a product of two variables as unbounded.
 */
static long ls_puc_fold_upvalue(__u32 i, void *context)
{
	const struct ls_puc_fold *fold = context;
	struct ls_puc_content *content = fold->content;
	__u32 words = fold->layout->minor == 1 ? 1 : 2;
	__u32 at = i * words % (LS_FINGERPRINT_CONSTANTS * 2);

	ls_puc_fold_string(fold->layout, fold->reader, content->items[at], content);
	return 0;
}
LS_STEP(ls_puc_fold_upvalue);

/*
 * Reads the first items of an array whose pointer and count are at these offsets of the Proto.
 * Returns how many it read.
 */
static inline __attribute__((always_inline)) __u32 ls_puc_read_items(struct ls_puc_fold *fold,
								     const __u8 *proto, __u8 array,
								     __u8 number, __u32 item_size)
{
	__u32 count = ls_half(proto, number);

	if (count > LS_FINGERPRINT_CONSTANTS)
		count = LS_FINGERPRINT_CONSTANTS;
	fold->content->strings = 0;
	if (count &&
	    LS_READ(fold->reader, fold->content->items, count * item_size, ls_word(proto, array)))
		return 0;
	return count;
}

static inline __attribute__((always_inline)) void
ls_puc_fold_code(const struct ls_puc_layout *layout, ls_reader_t reader, const __u8 *proto,
		 struct ls_puc_content *content)
{
	__u32 count = ls_half(proto, layout->proto_code_count);
	__u64 shape = ls_fold(count, ls_half(proto, layout->proto_constant_count));

	(void)reader;
	shape = ls_fold(shape, ls_half(proto, layout->proto_upvalue_count));
	if (count > LS_FINGERPRINT_CODE)
		count = LS_FINGERPRINT_CODE;
	content->code[0] = 0;
	count &= ~1U;
	if (count &&
	    !LS_READ(reader, content->code, count * 4, ls_word(proto, layout->proto_code))) {
		for (__u32 i = 0; i < LS_FINGERPRINT_CODE / 2; i++) {
			if (i * 2 >= count)
				break;
			shape = ls_fold(shape, content->code[i]);
		}
	}
	content->shape = shape;
	content->hash = ls_fold(content->hash, shape);
}

/* Fills *content from a copy of a Proto: at most 7 + 3 * LS_FINGERPRINT_STRINGS reads. */
static inline __attribute__((always_inline)) void
ls_puc_read_content(const struct ls_puc_layout *layout, ls_reader_t reader, const __u8 *proto,
		    struct ls_puc_content *content)
{
	struct ls_puc_fold fold = {.layout = layout, .reader = reader, .content = content};
	__u32 count;

	content->hash = 0;
	ls_puc_fold_source(layout, reader, proto, content);
	count = ls_puc_read_items(&fold, proto, layout->proto_constants,
				  layout->proto_constant_count, 16);
	LS_REPEAT(count, ls_puc_fold_constant, &fold);
	count = ls_puc_read_items(&fold, proto, layout->proto_local_vars,
				  layout->proto_local_var_count, 16);
	LS_REPEAT(count, ls_puc_fold_local, &fold);
	count = ls_puc_read_items(&fold, proto, layout->proto_upvalues, layout->proto_upvalue_count,
				  layout->minor == 1 ? 8 : 16);
	LS_REPEAT(count, ls_puc_fold_upvalue, &fold);
	ls_puc_fold_code(layout, reader, proto, content);
}

#endif
