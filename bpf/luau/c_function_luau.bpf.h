/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names a C function of Luau by the debug name that its closure has. */
#ifndef LS_C_FUNCTION_LUAU_BPF_H
#define LS_C_FUNCTION_LUAU_BPF_H

#include "luau/prototype_luau.bpf.h"

/*
 * The pointer to a C function's debug name: debugname, or the TString after it, if the host has
 * that switched on. 0: none, or it cannot be told from the first upvalue of an older closure.
 */
static __always_inline __u64 debug_name_of(const struct ls_scratch *scratch, const __u8 *closure)
{
	__u64 name = ls_luau_word(closure, scratch->debug_name);

	if (name || closure[LS_LUAU_CLOSURE_UPVALUES])
		return name;
	return ls_luau_word(closure, scratch->debug_name + 8);
}

/* The address of that name's text: a C string or, in newer releases, a TString. 0: neither. */
static __always_inline __u64 debug_text_of(struct ls_scratch *scratch, const __u8 *closure,
					   __u64 name)
{
	if (is_string(scratch, name))
		return name + sizeof(struct ls_luau_string);
	return name == ls_luau_word(closure, scratch->debug_name) ? name : 0;
}

/* Whether a word of a text has no control characters; `left` bytes of the text begin with it. */
static __always_inline bool is_printable(__u64 word, __u32 left)
{
	const __u64 ones = ~0ULL / 0xff;

	if (left < 8)
		word |= ~0ULL << left * 8;
	/* Subtracting sets a smaller byte's highest bit; ~word excludes those that had it set. */
	return !((word - 0x20 * ones) & ~word & 0x80 * ones);
}

/* Looks for control characters in a word of scratch->content.name. 1: it has some. */
static long look_for_control(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	const struct ls_luau_content *content = &scratch->content;
	__u64 word = ((const __u64 *)content->name)[i % (LS_NAME_LEN / 8)];

	scratch->is_text = is_printable(word, content->name_length - i * 8);
	return !scratch->is_text;
}
LS_STEP(look_for_control);

/*
 * Reads the debug name at that address into scratch->content. Returns its length; 0: there is none.
 * What has control characters is no name, but code or data.
 */
static __always_inline __u32 read_c_name(struct ls_scratch *scratch, __u64 address)
{
	struct ls_pass pass = {.scratch = scratch};
	__u32 length = ls_luau_read_text(0, scratch->content.name, LS_NAME_LEN, address);

	scratch->is_text = 1;
	scratch->content.name_length = length;
	repeat((length + 7) / 8, look_for_control, &pass);
	if (scratch->is_text)
		return length;
	if (scratch->is_undecided)
		doubt(scratch, LS_DOUBT_C_NAME);
	return 0;
}

/* Sends the name in scratch->content of the C function with that code. Returns 0 or an error. */
static __always_inline long define_c_function(struct ls_scratch *scratch, __u64 code)
{
	struct ls_function *function = &scratch->function;

	function->type = LS_RECORD_FUNCTION;
	function->kind = LS_FRAME_C;
	function->tgid = scratch->tgid;
	function->function = code;
	function->fingerprint = scratch->content.hash;
	function->shape = 0;
	function->line_defined = 0;
	function->last_line_defined = 0;
	function->layout = scratch->sample.layout;
	function->family = LS_FAMILY;
	function->source_length = 0;
	function->name_length = scratch->content.name_length;
	function->text[0] = '\0';
	__builtin_memcpy(function->text + 1, scratch->content.name, LS_NAME_LEN);
	return send_definition(function);
}

/*
 * If the C function with that closure has a debug name, defines the function if need be, and puts
 * the fingerprint of code and name into walk.frame.
 */
__noinline int name_c_function(struct ls_scratch *scratch, __u64 closure, __u64 code)
{
	struct ls_luau_fold fold;
	struct ls_cached_proto *cached;
	const __u8 *copy;
	__u64 name, key;
	bool is_known;

	if (!scratch)
		return 0;
	copy = view_object(&scratch->closures, closure, scratch->debug_name + 16);
	name = copy ? debug_name_of(scratch, copy) : 0;
	if (!name)
		return 0;
	key = ls_fold(code, name);
	cached = find_cached_proto(scratch, key);
	is_known = is_cached_proto(cached, key, scratch->tgid) && cached->fixed == code &&
		   cached->proof.edition == scratch->edition;
	if (!is_known || !is_fresh(&cached->proof, scratch)) {
		fold.content = &scratch->content;
		scratch->content.hash = code;
		if (!read_c_name(scratch, debug_text_of(scratch, copy, name)))
			return 0;
		repeat((scratch->content.name_length + 7) / 8, ls_luau_fold_name, &fold);
		if (!is_known || cached->content != scratch->content.hash) {
			long error = define_c_function(scratch, code);

			cache_proto(cached, scratch, error ? 0 : key, code, scratch->content.hash);
		}
		mark_verified(&cached->proof, scratch);
	}
	scratch->walk.frame.fingerprint = cached->content;
	return 0;
}

#endif
