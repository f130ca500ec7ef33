/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes a frame of LuaJIT: the function on the stack of values, its prototype and its fingerprint
 * (fingerprint_luajit.h). Rejects what contradicts itself.
 */
#ifndef LS_FRAME_LUAJIT_BPF_H
#define LS_FRAME_LUAJIT_BPF_H

#include "luajit/find_base_luajit.bpf.h"

#include "closure_cache.bpf.h"
#include "fault.bpf.h"
#include "proto_cache.bpf.h"
#include "window.bpf.h"

#define LS_BUILTIN_SHIFT 56 /* a builtin's number is above the address of its code */

/* Sends the definition of the prototype in scratch->proto and ->content. Returns 0 or an error. */
static __always_inline long define_function(struct ls_scratch *scratch, __u64 proto,
					    __u64 fingerprint)
{
	struct ls_function *function = &scratch->function;
	__u32 first = scratch->proto.first_line;

	function->type = LS_RECORD_FUNCTION;
	function->tgid = scratch->tgid;
	function->function = proto;
	function->fingerprint = fingerprint;
	function->shape = scratch->content.shape;
	function->line_defined = first;
	function->last_line_defined = first ? first + scratch->proto.line_count : 0;
	function->source_length = scratch->content.source_length;
	function->name_length = 0;
	function->layout = scratch->sample.layout;
	function->family = LS_FAMILY;
	__builtin_memcpy(function->text, scratch->content.source, LS_SOURCE_LEN);
	return send_definition(function);
}

/*
 * Whether the data for names and lines lie in the prototype, in the order in which the parser puts
 * them there (lj_parse_proto, fs_fixup_var). A prototype of a stripped chunk has none.
 */
static __always_inline bool is_in_order(const struct ls_luajit_proto *proto, __u64 address)
{
	__u64 start = address + sizeof(*proto), end = address + proto->size;

	if (end < start || proto->constants < start || proto->constants > end ||
	    proto->code_count > proto->size / 4)
		return false;
	if (!proto->line_info && !proto->upvalue_info && !proto->variable_info)
		return true;
	return proto->line_info >= proto->constants && proto->upvalue_info > proto->line_info &&
	       proto->variable_info >= proto->upvalue_info && proto->variable_info <= end;
}

/*
 * Whether the last instruction's line is one of the function's. Every instruction but the first has
 * an entry of 1, 2 or 4 bytes, relative to the first line (fs_prep_line). The last entry's 4 bytes,
 * read from its end backwards, lie in the prototype whatever the width.
 */
static __always_inline bool ends_in_its_lines(const struct ls_luajit_proto *proto)
{
	__u32 shift = (proto->line_count > 0xff) + (proto->line_count > 0xffff);
	__u64 end = proto->line_info + ((__u64)(proto->code_count - 1) << shift);
	__u32 last;

	if (!proto->line_info || proto->code_count < 2)
		return true;
	if (read_target(&last, sizeof(last), end - sizeof(last)))
		return false;
	return last >> (32 - (8U << shift)) <= proto->line_count;
}

/* Doubts the layout if what is in scratch->proto does not look like a prototype. */
static __always_inline void check_proto(struct ls_scratch *scratch, __u64 address)
{
	struct ls_luajit_header name;

	if (!is_in_order(&scratch->proto, address) || !ends_in_its_lines(&scratch->proto))
		doubt(scratch, LS_DOUBT_PROTO);
	if (read_target(&name, sizeof(name), scratch->proto.chunk_name) ||
	    name.gct != LS_LUAJIT_STRING)
		doubt(scratch, LS_DOUBT_SOURCE);
}

/*
 * Puts the fingerprint of the prototype at `proto` into scratch->walk.frame: it covers the content
 * and `fixed`. Returns LS_WALK_NONE or the error.
 */
__noinline int take_fingerprint(struct ls_scratch *scratch, __u64 proto, __u64 fixed)
{
	struct ls_cached_proto *cached;
	bool is_known;

	if (!scratch)
		return 0;
	cached = find_cached_proto(scratch, proto);
	is_known = is_known_proto(cached, scratch, proto, fixed);
	if (!is_known || scratch->is_undecided || !is_fresh(&cached->proof, scratch)) {
		if (read_target(&scratch->proto, sizeof(scratch->proto), proto))
			return LS_WALK_FRAME_MEMORY;
		if (scratch->is_undecided)
			check_proto(scratch, proto);
		ls_luajit_read_content(0, &scratch->proto, proto, &scratch->content);
		scratch->walk.frame.fingerprint = ls_fold(fixed, scratch->content.hash);
		if (!is_known || cached->content != scratch->content.hash) {
			long error =
				define_function(scratch, proto, scratch->walk.frame.fingerprint);

			cache_proto(cached, scratch, error ? 0 : proto, fixed,
				    scratch->content.hash);
		}
		mark_verified(&cached->proof, scratch);
	}
	scratch->walk.frame.fingerprint = ls_fold(fixed, cached->content);
	scratch->walk.closure_read.is_defined = cached->proto == proto;
	return LS_WALK_NONE;
}

/* Puts a call of the function that goes on at walk.pc into walk.frame, but for the fingerprint. */
static __always_inline void put_lua_call(struct ls_scratch *scratch,
					 const struct ls_lua_function *function)
{
	struct ls_walk *walk = &scratch->walk;
	__u64 offset = walk->pc - function->code;

	walk->frame.function = function->proto;
	walk->frame.kind = LS_FRAME_LUA;
	walk->frame.pc = offset ? offset / 4 - 1 : 0;
	if (!walk->pc)
		walk->frame.pc = LS_PC_UNKNOWN;
	scratch->lua_frames++;
}

/* Puts the Lua function into scratch->walk.frame. Returns LS_WALK_NONE or the error. */
static __always_inline int lua_frame(struct ls_scratch *scratch, __u64 code)
{
	struct ls_lua_function *function = &scratch->walk.closure_read.function;
	__u64 address = code - sizeof(struct ls_luajit_proto);
	const struct ls_luajit_proto *proto;

	if (!is_pointer(address))
		return LS_WALK_FRAME_PROTO;
	function->proto = address;
	function->code = code;
	proto = (const void *)view_object(&scratch->protos, address, sizeof(*proto));
	if (!proto)
		return LS_WALK_FRAME_MEMORY;
	if (proto->gct != LS_LUAJIT_PROTO)
		return LS_WALK_FRAME_PROTO;
	function->code_count = proto->code_count;
	if (scratch->walk.pc && !owns_pc(function, scratch->walk.pc))
		return LS_WALK_FRAME_PROTO;
	put_lua_call(scratch, function);
	return take_fingerprint(scratch, address, ls_luajit_fixed_fingerprint(proto));
}

/*
 * Decodes the function with that value into scratch->walk.frame. Returns LS_WALK_NONE or the error.
 * Builtins share the code of their handlers (floor, ceil and abs do), so a builtin's number tells
 * them apart.
 */
__noinline int decode_function(struct ls_scratch *scratch, __u64 value)
{
	const struct ls_luajit_function *function;
	__u64 address = value & LS_LUAJIT_ADDRESS;
	const struct ls_cached_closure *cached;
	int error;

	if (!scratch)
		return LS_WALK_FRAME_FUNCTION;
	scratch->walk.frame = (struct ls_frame){};
	if (!is_function_value(value) || !is_pointer(address))
		return LS_WALK_FRAME_FUNCTION;
	cached = find_cached_closure(scratch, address);
	if (is_known_caller(cached, scratch, address, scratch->walk.pc)) {
		put_lua_call(scratch, &cached->function);
		scratch->walk.frame.fingerprint = cached->function.fingerprint;
		return LS_WALK_NONE;
	}
	begin_closure(scratch, address);
	function = (const void *)view_object(&scratch->closures, address, sizeof(*function));
	if (!function)
		return LS_WALK_FRAME_MEMORY;
	if (function->gct != LS_LUAJIT_FUNCTION)
		return LS_WALK_FRAME_FUNCTION;
	if (function->ffid == LS_LUAJIT_FF_LUA) {
		error = lua_frame(scratch, function->pc);
		if (!error)
			keep_closure(scratch, address);
		return error;
	}
	scratch->walk.frame.kind = LS_FRAME_C;
	scratch->walk.frame.function = function->function;
	if (function->ffid > LS_LUAJIT_FF_C)
		scratch->walk.frame.function |= (__u64)function->ffid << LS_BUILTIN_SHIFT;
	return LS_WALK_NONE;
}

#endif
