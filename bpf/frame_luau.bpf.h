/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes a call of Luau: the function, its prototype and its fingerprint (fingerprint_luau.h).
 * Rejects what contradicts itself.
 */
#ifndef LS_FRAME_LUAU_BPF_H
#define LS_FRAME_LUAU_BPF_H

#include "results_luau.bpf.h"

#include "proto_cache.bpf.h"
#include "window.bpf.h"

#define LS_LINE_MAX     (1U << 30) /* far more than any text has */
#define LS_CHILDREN_MAX (1U << 24)

#define LS_CALL_IS_OVER 0xff /* beside enum ls_walk_error: the function is just returning */

/* A sample keeps the first error that occurs. */
static __always_inline void note_error(struct ls_scratch *scratch, __u8 error)
{
	if (!scratch->sample.error)
		scratch->sample.error = error;
}

static __always_inline void doubt(struct ls_scratch *scratch, __u32 part)
{
	if (!scratch->doubt)
		scratch->doubt = part;
}

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
	is_known = is_cached_proto(cached, proto, scratch->tgid) && cached->fixed == fixed &&
		   cached->layout == scratch->sample.layout && cached->edition == scratch->edition;
	if (!is_known || scratch->is_undecided || !is_fresh(cached, scratch)) {
		__u32 size = layout->proto_size;

		if (read_target(scratch->proto, size, proto))
			return LS_WALK_FRAME_MEMORY;
		if (scratch->is_undecided)
			check_proto(scratch, layout);
		ls_luau_read_content(0, layout, scratch->proto, &scratch->content);
		if (!is_known || cached->content != scratch->content.hash) {
			/* If not sent, it stays unknown, so that the next sample tries again. */
			cached->proto = define_function(scratch, layout, proto,
							ls_fold(fixed, scratch->content.hash))
						? 0
						: proto;
			cached->fixed = fixed;
			cached->content = scratch->content.hash;
			cached->tgid = scratch->tgid;
			cached->layout = scratch->sample.layout;
			cached->edition = scratch->edition;
			cached->since_ns = scratch->now_ns;
			cached->own_since_ns = 0;
		}
		cached->verified_ns = scratch->now_ns;
		cached->own_verified_ns = scratch->own_ns;
		if (!cached->own_since_ns)
			cached->own_since_ns = scratch->own_ns;
	}
	scratch->walk.frame.fingerprint = ls_fold(fixed, cached->content);
	return LS_WALK_NONE;
}

/* Whether it is the topmost call of the running state. */
static __always_inline int is_running_call(const struct ls_walk *walk)
{
	return walk->ci == walk->top_ci && !walk->chain_index;
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

/*
 * Whether `pc` may be the next instruction of a Proto. It is the first one if the function has
 * stored none yet, which may take long.
 */
static __always_inline int owns_pc(const struct ls_luau_layout *layout, const __u8 *proto, __u64 pc)
{
	__u64 distance = pc - ls_luau_word(proto, layout->proto_code);

	return !(distance & 3) && distance <= 4ULL * ls_luau_half(proto, layout->proto_code_count);
}

/*
 * Whether a call with these flags may be one of a function with that Proto: only what has machine
 * code runs as such. nresults, beside them, is -1 in all calls that a host makes.
 */
static __always_inline bool may_have_flags(const struct ls_luau_layout *layout, const __u8 *proto,
					   __u32 flags)
{
	return flags <= LS_LUAU_FLAGS_MAX &&
	       (!(flags & LS_LUAU_FLAG_NATIVE) || !layout->proto_native ||
		ls_luau_word(proto, layout->proto_native));
}

/*
 * Puts the Lua function of the call in scratch->call into walk.frame. `address` is that of its
 * closure's Proto; the call may have one of its own, which the VM has made of it. LS_WALK_NONE or
 * the error.
 */
static __always_inline int lua_frame(struct ls_scratch *scratch,
				     const struct ls_luau_layout *layout, __u64 address)
{
	struct ls_walk *walk = &scratch->walk;
	__u64 pc = next_pc(scratch), own = 0;
	__u32 flags = ls_luau_half(scratch->call, pc_at(scratch) + 12);
	const __u8 *proto = view_proto(scratch, layout, address);
	bool is_running = is_running_call(walk);

	if (!proto)
		return LS_WALK_FRAME_PROTO;
	if (walk->sizes.ci == 48)
		own = ls_luau_word(scratch->call, LS_LUAU_CI_PROTO);
	if (pc && !owns_pc(layout, proto, pc) && own && own != address) {
		address = own;
		proto = view_proto(scratch, layout, own);
	}
	if (!proto || (pc ? !owns_pc(layout, proto, pc) : walk->ci != walk->top_ci))
		return LS_WALK_FRAME_PROTO;
	walk->frame.function = address;
	walk->frame.kind = LS_FRAME_LUA;
	walk->frame.pc = pc > ls_luau_word(proto, layout->proto_code)
				 ? (pc - ls_luau_word(proto, layout->proto_code)) / 4 - 1
				 : LS_PC_UNKNOWN;
	if (scratch->is_undecided && !may_have_flags(layout, proto, flags))
		doubt(scratch, LS_DOUBT_FLAGS);
	/* luau_execute() does not enter machine code of what a debugger steps through. */
	if (flags & LS_LUAU_FLAG_NATIVE && !scratch->state.single_step) {
		walk->frame.flags = LS_FRAME_NATIVE;
		if (!walk->made_code && layout->proto_native)
			walk->made_code = ls_luau_word(proto, layout->proto_native);
		/* Native code stores where it is before it calls, not while it runs. */
		if (is_running)
			walk->frame.pc = LS_PC_UNKNOWN;
	} else if (is_running) {
		walk->code = ls_luau_word(proto, layout->proto_code);
		walk->code_end = walk->code + 4ULL * ls_luau_half(proto, layout->proto_code_count);
	}
	if (scratch->is_undecided && !ls_luau_has_numbers(layout, proto, walk->upvalues))
		doubt(scratch, LS_DOUBT_NUMBERS);
	walk->has_registers |= !scratch->is_undecided || proto[layout->proto_is_vararg + 1];
	walk->fixed = ls_luau_fixed_fingerprint(layout, proto);
	scratch->lua_frames++;
	return LS_WALK_NONE;
}

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
		   cached->edition == scratch->edition;
	if (!is_known || !is_fresh(cached, scratch)) {
		fold.content = &scratch->content;
		scratch->content.hash = code;
		if (!read_c_name(scratch, debug_text_of(scratch, copy, name)))
			return 0;
		repeat((scratch->content.name_length + 7) / 8, ls_luau_fold_name, &fold);
		if (!is_known || cached->content != scratch->content.hash) {
			cached->proto = define_c_function(scratch, code) ? 0 : key;
			cached->fixed = code;
			cached->content = scratch->content.hash;
			cached->tgid = scratch->tgid;
			cached->edition = scratch->edition;
			cached->since_ns = scratch->now_ns;
			cached->own_since_ns = 0;
		}
		cached->verified_ns = scratch->now_ns;
		cached->own_verified_ns = scratch->own_ns;
		if (!cached->own_since_ns)
			cached->own_since_ns = scratch->own_ns;
	}
	scratch->walk.frame.fingerprint = cached->content;
	return 0;
}

#define LS_OTHER_VALUE 1 /* no address */

/* Returns the closure at `func` on the stack, LS_OTHER_VALUE, or 0 if no value can be there. */
static __always_inline __u64 function_at(struct ls_scratch *scratch, __u64 func)
{
	struct ls_walk *walk = &scratch->walk;
	__u32 size = value_size(scratch);
	const __u8 *value;

	if (func < walk->stack || func >= walk->stack_end || (func - walk->stack) % size)
		return 0;
	value = view(&scratch->stack, func, size, walk->stack);
	if (!value)
		return 0;
	return ls_luau_half(value, ls_luau_type_at(size)) ==
			       walk->sizes.thread - scratch->types.function
		       ? ls_luau_word(value, 0)
		       : LS_OTHER_VALUE;
}

/* Decodes the call in scratch->call into scratch->walk.frame. LS_WALK_NONE or the error. */
__noinline int decode_call(struct ls_scratch *scratch, const struct ls_luau_layout *layout)
{
	struct ls_walk *walk;
	const __u8 *closure;
	__u64 address, function, func;

	if (!scratch || !layout)
		return LS_WALK_FRAME_FUNCTION;
	walk = &scratch->walk;
	walk->frame = (struct ls_frame){};
	func = ls_luau_word(scratch->call, LS_LUAU_CI_FUNC);
	address = function_at(scratch, func + walk->moved);
	if (ls_luau_word(scratch->call, LS_LUAU_CI_BASE) <= func)
		return LS_WALK_FRAME_FUNCTION;
	/* A result has replaced the function already. */
	if (address == LS_OTHER_VALUE && is_running_call(walk))
		return LS_CALL_IS_OVER;
	if (!is_pointer(address))
		return LS_WALK_FRAME_FUNCTION;
	closure = view_object(&scratch->closures, address, layout->closure_function + 8);
	if (!closure)
		return LS_WALK_FRAME_MEMORY;
	if (closure[0] != walk->sizes.thread - scratch->types.function ||
	    closure[LS_LUAU_CLOSURE_IS_C] > 1)
		return LS_WALK_FRAME_FUNCTION;
	walk->closure = address;
	walk->upvalues = closure[LS_LUAU_CLOSURE_UPVALUES];
	function = ls_luau_word(closure, layout->closure_function);
	if (!closure[LS_LUAU_CLOSURE_IS_C])
		return lua_frame(scratch, layout, function);
	if (function < LS_USER_MIN || function >= LS_USER_MAX)
		return LS_WALK_FRAME_FUNCTION;
	walk->frame.kind = LS_FRAME_C;
	walk->frame.function = function;
	return LS_WALK_NONE;
}

/*
 * Whether the running Lua function is just returning, and a C function that it returns has taken
 * its place: a C function's call has no next instruction.
 */
static __always_inline bool is_returning(const struct ls_scratch *scratch)
{
	return scratch->walk.frame.kind == LS_FRAME_C && next_pc(scratch);
}

/*
 * Decodes the call in scratch->call into scratch->walk.frame, with its fingerprint. LS_WALK_NONE,
 * the error, or LS_CALL_IS_OVER. Functions are called one after the other, as nested stacks add up.
 */
static __always_inline int take_call(struct ls_scratch *scratch,
				     const struct ls_luau_layout *layout)
{
	struct ls_walk *walk = &scratch->walk;
	int error = decode_call(scratch, layout);

	if (error)
		return error;
	if (is_running_call(walk)) {
		if (is_returning(scratch))
			return LS_CALL_IS_OVER;
		if (!next_pc(scratch) && is_half_returned(scratch))
			return LS_WALK_FRAME_FUNCTION;
	}
	if (walk->frame.kind == LS_FRAME_LUA)
		return take_fingerprint(scratch, layout, walk->frame.function, walk->fixed);
	name_c_function(scratch, walk->closure, walk->frame.function);
	return LS_WALK_NONE;
}

#endif
