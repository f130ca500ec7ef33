/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fingerprint of a prototype of LuaJIT: what identifies it, for its address is used again once it
 * was collected. It covers sizes, lines and places, the chunk name, constants and the first
 * instructions, but not what the compiler replaces in the bytecode of a function that runs: the
 * instructions of loops, returns and function headers.
 *
 * The includer defines ls_reader_t, LS_READ, LS_READ_STRING, LS_REPEAT and LS_STEP, as for
 * fingerprint_puc.h.
 */
#ifndef LS_FINGERPRINT_LUAJIT_H
#define LS_FINGERPRINT_LUAJIT_H

#include "fold.h"
#include "offsets_luajit.h"
#include "record.h"

#define LS_LUAJIT_CODE_MAX      32 /* instructions that are hashed */
#define LS_LUAJIT_CONSTANTS_MAX 16 /* objects and, again, numbers */
#define LS_LUAJIT_STRINGS_MAX   8  /* of the objects, strings whose length and hash are hashed */

/* What the content hash is computed from. Too large for the BPF stack. */
struct ls_luajit_content {
	char source[LS_SOURCE_LEN];
	__u64 constants[2 * LS_LUAJIT_CONSTANTS_MAX]; /* the last objects, the first numbers */
	__u32 code[LS_LUAJIT_CODE_MAX];
	struct ls_luajit_string string;
#ifdef LS_NARROW
	__u32 references[LS_LUAJIT_CONSTANTS_MAX]; /* `constants` has the numbers alone */
#endif
	__u32 string_text; /* as the layout has it, likewise the next */
	__u32 op_iterc;
	__u32 source_length;
	__u32 object_count; /* of `constants` */
	__u64 hash;         /* of all of it */
	__u64 shape;        /* of sizes and code alone */
};

struct ls_luajit_fold {
	ls_reader_t reader;
	struct ls_luajit_content *content;
};

/* Hash of the fields of a prototype that never change. */
static inline __attribute__((always_inline)) __u64
ls_luajit_fixed_fingerprint(const struct ls_luajit_proto *proto)
{
	__u64 hash = proto->chunk_name;

	hash = ls_fold(hash, proto->constants);
	hash = ls_fold(hash, proto->line_info);
	hash = ls_fold(hash, proto->upvalue_info);
	hash = ls_fold(hash, proto->variable_info);
	hash = ls_fold(hash, (__u64)proto->code_count << 32 | proto->size);
	hash = ls_fold(hash, (__u64)proto->first_line << 32 | proto->line_count);
	return ls_fold(hash, (__u64)proto->object_count << 32 | proto->number_count);
}

static long ls_luajit_fold_source_word(__u32 i, void *context)
{
	struct ls_luajit_content *content = ((const struct ls_luajit_fold *)context)->content;
	__u32 left = content->source_length - i * 8;
	__u64 word = ((const __u64 *)content->source)[i % (LS_SOURCE_LEN / 8)];

	if (left < 8)
		word &= (1ULL << left * 8) - 1;
	content->hash = ls_fold(content->hash, word);
	return 0;
}
LS_STEP(ls_luajit_fold_source_word);

static long ls_luajit_fold_instruction(__u32 i, void *context)
{
	struct ls_luajit_content *content = ((const struct ls_luajit_fold *)context)->content;
	__u32 instruction = content->code[i % LS_LUAJIT_CODE_MAX];

	if ((__u8)instruction < content->op_iterc)
		content->shape = ls_fold(content->shape, (__u64)i << 32 | instruction);
	return 0;
}
LS_STEP(ls_luajit_fold_instruction);

/*
 * Strings are interned: where one was freed and another is now, they differ in hash or length. In
 * all layouts, these are among the three numbers at the end of struct ls_luajit_string.
 */
static inline __attribute__((always_inline)) __u64
ls_luajit_fold_string(__u64 hash, const struct ls_luajit_string *string)
{
	hash = ls_fold(hash, string->id);
	return ls_fold(hash, (__u64)string->hash << 32 | string->length);
}

/* Constant `i` of those that were read. */
static inline __attribute__((always_inline)) __u64
ls_luajit_constant(const struct ls_luajit_content *content, __u32 i)
{
#ifdef LS_NARROW
	if (i < content->object_count)
		return content->references[i % LS_LUAJIT_CONSTANTS_MAX];
	i -= content->object_count;
#endif
	return content->constants[i % (2 * LS_LUAJIT_CONSTANTS_MAX)];
}

static long ls_luajit_fold_constant(__u32 i, void *context)
{
	const struct ls_luajit_fold *fold = context;
	struct ls_luajit_content *content = fold->content;
	__u64 word = ls_luajit_constant(content, i);

	content->hash = ls_fold(content->hash, word);
	if (i >= content->object_count || i >= LS_LUAJIT_STRINGS_MAX ||
	    LS_READ(fold->reader, &content->string, sizeof(content->string), word))
		return 0;
	if (content->string.gct == LS_LUAJIT_STRING)
		content->hash = ls_luajit_fold_string(content->hash, &content->string);
	return 0;
}
LS_STEP(ls_luajit_fold_constant);

static inline __attribute__((always_inline)) void
ls_luajit_read_source(ls_reader_t reader, const struct ls_luajit_proto *proto,
		      struct ls_luajit_content *content)
{
	__u64 text = (__u64)proto->chunk_name + content->string_text;
	long length = LS_READ_STRING(reader, content->source, LS_SOURCE_LEN, text);

	(void)reader;
	if (length < 1 || length > LS_SOURCE_LEN) {
		*(__u64 *)content->source = 0x3f3d; /* "=?" */
		length = 3;
	}
	content->source_length = length - 1;
}

/* Copies that many objects below `constants`, and numbers from there on. Returns 0, or not. */
static inline __attribute__((always_inline)) long
ls_luajit_copy_constants(ls_reader_t reader, __u64 constants, __u32 objects, __u32 numbers,
			 struct ls_luajit_content *content)
{
	__u32 count = objects + numbers;

	(void)reader;
#ifdef LS_NARROW
	if (objects &&
	    LS_READ(reader, content->references, objects * 4, constants - objects * 4ULL))
		return 1;
	return !count || (numbers && LS_READ(reader, content->constants, numbers * 8, constants));
#else
	return count > 2 * LS_LUAJIT_CONSTANTS_MAX || !count ||
	       LS_READ(reader, content->constants, count * 8, constants - objects * 8ULL);
#endif
}

/* Returns how many constants it read: objects next to `constants` first, then numbers. */
static inline __attribute__((always_inline)) __u32
ls_luajit_read_constants(ls_reader_t reader, const struct ls_luajit_proto *proto,
			 struct ls_luajit_content *content)
{
	__u32 objects = proto->object_count, numbers = proto->number_count;

	if (objects > LS_LUAJIT_CONSTANTS_MAX)
		objects = LS_LUAJIT_CONSTANTS_MAX;
	if (numbers > LS_LUAJIT_CONSTANTS_MAX)
		numbers = LS_LUAJIT_CONSTANTS_MAX;
	content->object_count = objects;
	if (ls_luajit_copy_constants(reader, proto->constants, objects, numbers, content))
		return 0;
	return objects + numbers;
}

/* Fills *content for the prototype at `address`, of which `proto` is a copy. */
static inline __attribute__((always_inline)) void
ls_luajit_read_content(ls_reader_t reader, const struct ls_luajit_proto *proto, __u64 address,
		       struct ls_luajit_content *content)
{
	struct ls_luajit_fold fold = {.reader = reader, .content = content};
	__u32 count = proto->code_count;

	content->hash = 0;
	content->shape = ls_fold((__u64)proto->parameter_count << 8 | proto->upvalue_count,
				 (__u64)count << 32 | proto->object_count);
	ls_luajit_read_source(reader, proto, content);
	LS_REPEAT((content->source_length + 7) / 8, ls_luajit_fold_source_word, &fold);
	if (count > LS_LUAJIT_CODE_MAX)
		count = LS_LUAJIT_CODE_MAX;
	if (count && !LS_READ(reader, content->code, count * 4, address + sizeof(*proto)))
		LS_REPEAT(count, ls_luajit_fold_instruction, &fold);
	content->hash = ls_fold(content->hash, content->shape);
	count = ls_luajit_read_constants(reader, proto, content);
	LS_REPEAT(count, ls_luajit_fold_constant, &fold);
}

#endif
