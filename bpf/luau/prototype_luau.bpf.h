/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a prototype of Luau, checks it, and makes its fingerprint (fingerprint_luau.h) and
 * definition.
 */
#ifndef LS_PROTOTYPE_LUAU_BPF_H
#define LS_PROTOTYPE_LUAU_BPF_H

#include "luau/find_state_luau.bpf.h"

#include "fault.bpf.h"
#include "proto_cache.bpf.h"
#include "window.bpf.h"

#define LS_LINE_MAX     (1U << 30) /* far more than any text has */
#define LS_CHILDREN_MAX (1U << 24)

/* Whether it is a main chunk: the only vararg function without name, parameters and upvalues. */
static __always_inline int is_chunk(const struct ls_luau_layout *layout, const __u8 *proto)
{
	return !ls_luau_word(proto, layout->proto_name) && proto[layout->proto_is_vararg] &&
	       !proto[layout->proto_parameters] && !proto[layout->proto_upvalues] &&
	       (__s32)ls_luau_half(proto, layout->proto_line_defined) <= 1;
}

/*
 * The line of the first instruction of the prototype in scratch->proto, which must have lines;
 * more than LS_LINE_MAX: unreadable.
 */
static __always_inline __u32 first_line(struct ls_scratch *scratch,
					const struct ls_luau_layout *layout)
{
	const __u8 *proto = scratch->proto;

	if (read_target(&scratch->check.line, sizeof(scratch->check.line),
			ls_luau_word(proto, layout->proto_line_bases)) ||
	    read_target(&scratch->check.difference, sizeof(scratch->check.difference),
			ls_luau_word(proto, layout->proto_line_info)))
		return LS_LINE_MAX + 1;
	return scratch->check.line + scratch->check.difference;
}

/*
 * The line that a function is defined in. Compilers up to 2022 do not store it; then it is that of
 * the first instruction, as for debug.info.
 */
static __always_inline __u32 defined_line(struct ls_scratch *scratch,
					  const struct ls_luau_layout *layout)
{
	__u32 line = ls_luau_half(scratch->proto, layout->proto_line_defined);

	if (line != LS_LUAU_NO_LINE)
		return line;
	line = ls_luau_word(scratch->proto, layout->proto_line_info) ? first_line(scratch, layout)
								     : 0;
	return line <= LS_LINE_MAX ? line : 0;
}

/* Sends the definition of the prototype in scratch->proto and ->content. Returns 0 or an error. */
static __always_inline long define_function(struct ls_scratch *scratch,
					    const struct ls_luau_layout *layout, __u64 proto,
					    __u64 fingerprint)
{
	struct ls_function *function = &scratch->function;
	const struct ls_luau_content *content = &scratch->content;
	__u32 source = content->source_length, name = content->name_length;
	__u32 line = defined_line(scratch, layout);

	function->type = LS_RECORD_FUNCTION;
	function->kind = LS_FRAME_LUA;
	function->tgid = scratch->tgid;
	function->function = proto;
	function->fingerprint = fingerprint;
	function->shape = ls_luau_shape(layout, scratch->proto);
	function->line_defined = is_chunk(layout, scratch->proto) ? 0 : line;
	function->last_line_defined = 0; /* Proto does not have it */
	function->layout = scratch->sample.layout;
	function->family = LS_FAMILY;
	if (source >= LS_SOURCE_LEN)
		source = LS_SOURCE_LEN - 1;
	if (name >= LS_NAME_LEN)
		name = LS_NAME_LEN - 1;
	function->source_length = source;
	function->name_length = name;
	__builtin_memcpy(function->text, content->source, LS_SOURCE_LEN);
	__builtin_memcpy(function->text + source + 1, content->name, LS_NAME_LEN);
	return send_definition(function);
}

/* Whether a TString is at that address. */
static __always_inline bool is_string(struct ls_scratch *scratch, __u64 address)
{
	struct ls_luau_string *string = &scratch->string;

	return is_pointer(address) && !read_target(string, sizeof(*string), address) &&
	       string->tt == scratch->walk.sizes.thread - scratch->types.string;
}

/* A function is not defined after the line of its first instruction. */
static __always_inline bool is_defined_before(struct ls_scratch *scratch,
					      const struct ls_luau_layout *layout)
{
	const __u8 *proto = scratch->proto;
	__u64 lines = ls_luau_word(proto, layout->proto_line_info);
	__u32 defined = ls_luau_half(proto, layout->proto_line_defined), first;

	if (!lines)
		return defined <= LS_LINE_MAX || defined == LS_LUAU_NO_LINE;
	first = first_line(scratch, layout);
	return first <= LS_LINE_MAX && (defined <= first || defined == LS_LUAU_NO_LINE);
}

/* The functions that a function defines are of the same chunk. */
static __always_inline bool has_child(struct ls_scratch *scratch,
				      const struct ls_luau_layout *layout)
{
	const __u8 *proto = scratch->proto;
	__u32 count = ls_luau_half(proto, layout->proto_child_count), size = layout->proto_size;

	if (!count)
		return true;
	return count <= LS_CHILDREN_MAX &&
	       !read_target(&scratch->check.child, sizeof(scratch->check.child),
			    ls_luau_word(proto, layout->proto_children)) &&
	       !read_target(scratch->child, size, scratch->check.child) &&
	       scratch->child[0] == proto[0] &&
	       ls_luau_word(scratch->child, layout->proto_source) ==
		       ls_luau_word(proto, layout->proto_source);
}

/* The self-check: doubts the layout if the data for names and lines contradict each other. */
__noinline int check_proto(struct ls_scratch *scratch, const struct ls_luau_layout *layout)
{
	const __u8 *proto;
	__u64 name;

	if (!scratch || !layout)
		return 0;
	proto = scratch->proto;
	name = ls_luau_word(proto, layout->proto_name);
	if (!is_string(scratch, ls_luau_word(proto, layout->proto_source)))
		doubt(scratch, LS_DOUBT_SOURCE);
	if (name && !is_string(scratch, name))
		doubt(scratch, LS_DOUBT_NAME);
	if (!ls_luau_has_lines(layout, proto))
		doubt(scratch, LS_DOUBT_LINES);
	if (!is_defined_before(scratch, layout))
		doubt(scratch, LS_DOUBT_LINE_DEFINED);
	if (!has_child(scratch, layout))
		doubt(scratch, LS_DOUBT_CHILDREN);
	return 0;
}

/*
 * Puts the fingerprint of the prototype at `proto` into scratch->walk.frame: it covers the content
 * and `fixed`. Returns LS_WALK_NONE or the error.
 */
__noinline int take_fingerprint(struct ls_scratch *scratch, const struct ls_luau_layout *layout,
				__u64 proto, __u64 fixed)
{
	struct ls_cached_proto *cached;
	bool is_known;

	if (!scratch || !layout)
		return LS_WALK_FRAME_MEMORY;
	cached = find_cached_proto(scratch, proto);
	is_known = is_known_proto(cached, scratch, proto, fixed);
	if (!is_known || scratch->is_undecided || !is_fresh(&cached->proof, scratch)) {
		__u32 size = layout->proto_size;

		if (read_target(scratch->proto, size, proto))
			return LS_WALK_FRAME_MEMORY;
		if (scratch->is_undecided)
			check_proto(scratch, layout);
		ls_luau_read_content(0, layout, scratch->proto, &scratch->content);
		if (!is_known || cached->content != scratch->content.hash) {
			long error = define_function(scratch, layout, proto,
						     ls_fold(fixed, scratch->content.hash));

			cache_proto(cached, scratch, error ? 0 : proto, fixed,
				    scratch->content.hash);
		}
		mark_verified(&cached->proof, scratch);
	}
	scratch->walk.frame.fingerprint = ls_fold(fixed, cached->content);
	scratch->walk.closure_read.is_defined = cached->proto == proto;
	return LS_WALK_NONE;
}

/* Returns a copy of the Proto at `address`, or NULL if there is none. */
static __always_inline const __u8 *view_proto(struct ls_scratch *scratch,
					      const struct ls_luau_layout *layout, __u64 address)
{
	const __u8 *proto;

	if (!is_pointer(address))
		return NULL;
	proto = view_object(&scratch->protos, address, layout->proto_size);
	return proto && proto[0] > scratch->walk.sizes.thread && proto[0] < LS_LUAU_TYPES_MAX
		       ? proto
		       : NULL;
}

#endif
