/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a prototype of PUC Lua, and makes its fingerprint (fingerprint_puc.h) and definition. */
#ifndef LS_PROTOTYPE_PUC_BPF_H
#define LS_PROTOTYPE_PUC_BPF_H

#include "puc/find_state_puc.bpf.h"

#include "proto_cache.bpf.h"
#include "window.bpf.h"

/* Sends the definition of the prototype in scratch->proto and ->content. Returns 0 or an error. */
static __always_inline long define_function(struct ls_scratch *scratch,
					    const struct ls_puc_layout *layout, __u64 proto,
					    __u64 fingerprint)
{
	struct ls_function *function = &scratch->function;

	function->type = LS_RECORD_FUNCTION;
	function->tgid = scratch->tgid;
	function->function = proto;
	function->fingerprint = fingerprint;
	function->shape = scratch->content.shape;
	function->line_defined = ls_half(scratch->proto, layout->proto_line_defined);
	function->last_line_defined = ls_half(scratch->proto, layout->proto_last_line_defined);
	function->source_length = scratch->content.source_length;
	function->name_length = 0;
	function->layout = scratch->sample.layout;
	function->family = LS_FAMILY;
	__builtin_memcpy(function->text, scratch->content.source, LS_SOURCE_LEN);
	return send_definition(function);
}

/*
 * Puts the fingerprint of the prototype at `proto` into scratch->walk.frame: it covers the content
 * and `fixed`. Leaves a copy in scratch->proto if it reads the content. Returns LS_WALK_NONE or the
 * error.
 */
__noinline int take_fingerprint(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				__u64 proto, __u64 fixed)
{
	struct ls_cached_proto *cached;
	bool is_known;

	if (!scratch || !layout)
		return 0;
	cached = find_cached_proto(scratch, proto);
	is_known = is_known_proto(cached, scratch, proto, fixed);
	if (!is_known || !is_fresh(&cached->proof, scratch)) {
		if (read_target(scratch->proto, layout->proto_size, proto))
			return LS_WALK_FRAME_MEMORY;
		ls_puc_read_content(layout, 0, scratch->proto, &scratch->content);
		scratch->walk.frame.fingerprint = ls_fold(fixed, scratch->content.hash);
		if (!is_known || cached->content != scratch->content.hash) {
			long error = define_function(scratch, layout, proto,
						     scratch->walk.frame.fingerprint);

			cache_proto(cached, scratch, error ? 0 : proto, fixed,
				    scratch->content.hash);
		}
		mark_verified(&cached->proof, scratch);
	}
	scratch->walk.frame.fingerprint = ls_fold(fixed, cached->content);
	scratch->walk.closure_read.is_defined = cached->proto == proto;
	return 0;
}

/* The self-check uses copies with nothing else behind them. Returns 0, or 1 if unreadable. */
static __always_inline int keep_copy(const struct ls_scratch *scratch, __u8 *copy, __u64 address,
				     __u32 size)
{
	return scratch->is_undecided && read_target(copy, size, address);
}

/* Reads the prototype of `closure` into scratch->walk. Returns LS_WALK_NONE or the error. */
static __always_inline int read_prototype(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout, const __u8 *closure)
{
	struct ls_lua_function *function = &scratch->walk.closure_read.function;
	__u64 address = ls_word(closure, layout->closure_proto);
	const __u8 *proto;

	if (!is_pointer(address))
		return LS_WALK_FRAME_MEMORY;
	proto = view_object(&scratch->protos, address, layout->proto_size);
	if (!proto || keep_copy(scratch, scratch->proto, address, layout->proto_size))
		return LS_WALK_FRAME_MEMORY;
	function->proto = address;
	function->code = ls_word(proto, layout->proto_code);
	function->code_count = ls_half(proto, layout->proto_code_count);
	if (proto[8] != layout->proto_tag || !function->code)
		return LS_WALK_FRAME_PROTO;
	scratch->walk.fixed = ls_puc_fixed_fingerprint(layout, proto);
	return LS_WALK_NONE;
}

#endif
