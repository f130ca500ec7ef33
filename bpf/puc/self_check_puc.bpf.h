/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a stack proves a layout. A complete walk shows that the fields which it follows are where
 * the layout has them. A fork of Lua may have moved one of the others, and the walk would still be
 * complete and name functions by garbage. So until a layout is decided, every field that later code
 * relies on must be consistent with another one, by what Lua itself guarantees (lstate.c, ldo.c,
 * lparser.c, lundump.c).
 *
 * The checks are strict: a stack that is being changed may fail them, and then proves nothing.
 */
#ifndef LS_SELF_CHECK_PUC_BPF_H
#define LS_SELF_CHECK_PUC_BPF_H

#include "puc/frame_puc.bpf.h"

#include "fault.bpf.h"

#define LS_INSTRUCTIONS_MAX (1U << 26) /* instructions: more than any function has */
#define LS_LINES_MAX        (1U << 24)
#define LS_LOCALS_MAX       32767 /* SHRT_MAX, lparser.c */
#define LS_UPVALUES_MAX     255
#define LS_CHECKED_FRAMES   32 /* of a stack, from the leaf */
#define LS_MIN_STACK        20 /* LUA_MINSTACK, lua.h */

/* Whether `string` is a TString: its tag is right, and its text ends at its length. */
__noinline int is_text(struct ls_scratch *scratch, const struct ls_puc_layout *layout, __u64 string)
{
	__u64 head[3], length;
	__u8 tag, short_length = 0;
	bool is_long;
	long found;

	if (!scratch || !layout)
		return 0;
	if (!is_pointer(string) || read_target(head, sizeof(head), string))
		return 0;
	tag = head[1];
	if (tag != LS_TYPE_STRING && (tag != LS_TAG_LONG_STRING || layout->closure_is_c))
		return 0;
	if (layout->string_short_length &&
	    read_target(&short_length, 1, string + layout->string_short_length))
		return 0;
	is_long = layout->string_long_text
			  ? (__s8)short_length < 0
			  : !layout->string_short_length || tag == LS_TAG_LONG_STRING;
	length = short_length;
	if (is_long && read_target(&length, sizeof(length), string + layout->string_length))
		return 0;
	found = read_target_string(scratch->content.source, LS_SOURCE_LEN,
				   ls_puc_text_of(layout, 0, string));
	return found > 0 &&
	       (length < LS_SOURCE_LEN - 1 ? found == (long)length + 1 : found == LS_SOURCE_LEN);
}

/* Whether an array of a prototype is valid: the pointer is set exactly if the count is not 0. */
static __always_inline int is_list(const __u8 *proto, __u8 pointer, __u8 count, __u32 most)
{
	__u32 members = ls_half(proto, count);
	__u64 address = ls_word(proto, pointer);

	return members <= most &&
	       (members ? address >= LS_USER_MIN && address < LS_USER_MAX : !address);
}

/*
 * Checks the name of an upvalue. 5.1 has an array of names, later releases one of structs that
 * begin with the name.
 */
static __always_inline bool is_upvalue(struct ls_scratch *scratch,
				       const struct ls_puc_layout *layout, __u32 i)
{
	__u64 name;

	return !read_target(&name, sizeof(name),
			    ls_word(scratch->proto, layout->proto_upvalues) +
				    i * (layout->ci_is_array ? 8ULL : 16ULL)) &&
	       is_text(scratch, layout, name);
}

struct ls_local {
	__u64 name;
	__u32 start;
	__u32 end;
};

static __always_inline bool is_local(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
				     __u32 i)
{
	struct ls_local local;

	return !read_target(&local, sizeof(local),
			    ls_word(scratch->proto, layout->proto_local_vars) + i * 16ULL) &&
	       local.start <= local.end &&
	       local.end <= ls_half(scratch->proto, layout->proto_code_count) &&
	       is_text(scratch, layout, local.name);
}

static __always_inline bool is_nested(struct ls_scratch *scratch,
				      const struct ls_puc_layout *layout, __u32 i)
{
	__u64 nested, head;

	return !read_target(&nested, sizeof(nested),
			    ls_word(scratch->proto, layout->proto_nested) + i * 8ULL) &&
	       is_pointer(nested) && !read_target(&head, sizeof(head), nested + 8) &&
	       (__u8)head == layout->proto_tag;
}

/* Constants can be nil, booleans, numbers and strings, lobject.h. */
static __always_inline int is_constant(struct ls_scratch *scratch,
				       const struct ls_puc_layout *layout, __u32 i)
{
	__u64 value[2];
	__u8 tag;

	if (read_target(value, sizeof(value),
			ls_word(scratch->proto, layout->proto_constants) + i * 16ULL))
		return 0;
	tag = value[1];
	if (LS_TYPE(tag) == LS_TYPE_STRING)
		return is_text(scratch, layout, value[0]);
	return LS_TYPE(tag) == LS_TYPE_NIL || LS_TYPE(tag) == LS_TYPE_BOOLEAN ||
	       LS_TYPE(tag) == LS_TYPE_NUMBER;
}

/* Whether an instruction of the function may come from this line. */
static __always_inline bool is_line(const struct ls_scratch *scratch,
				    const struct ls_puc_layout *layout, __u32 line)
{
	__u32 first = ls_half(scratch->proto, layout->proto_line_defined);
	__u32 last = ls_half(scratch->proto, layout->proto_last_line_defined);

	return first ? line >= first && line <= last : line < LS_LINES_MAX;
}

/* Up to 5.3: the line of each instruction; from 5.4 on: some instructions, each with its line. */
static __always_inline bool is_line_info(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, __u32 i)
{
	__u32 pair[2];

	if (!layout->proto_abs_line_info)
		return !read_target(pair, sizeof(pair[0]),
				    ls_word(scratch->proto, layout->proto_line_info) + i * 4ULL) &&
		       is_line(scratch, layout, pair[0]);
	return !read_target(pair, sizeof(pair),
			    ls_word(scratch->proto, layout->proto_abs_line_info) + i * 8ULL) &&
	       pair[0] < ls_half(scratch->proto, layout->proto_code_count) &&
	       is_line(scratch, layout, pair[1]);
}

/* Checks the fields for where the function is defined and what it is named by. */
__noinline int check_source(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	__u64 source;
	__u32 first, last, lines, codes;

	if (!scratch || !layout)
		return 0;
	source = ls_word(scratch->proto, layout->proto_source);
	first = ls_half(scratch->proto, layout->proto_line_defined);
	last = ls_half(scratch->proto, layout->proto_last_line_defined);
	lines = ls_half(scratch->proto, layout->proto_line_info_count);
	codes = ls_half(scratch->proto, layout->proto_code_count);
	/* A stripped function has no lines and, except for 5.1's "=?", no source. */
	if (source ? !is_text(scratch, layout, source) : lines)
		doubt(scratch, LS_DOUBT_SOURCE);
	if (!lines && source && !layout->ci_is_array)
		doubt(scratch, LS_DOUBT_SOURCE);
	if (first > last || last - first > LS_LINES_MAX || last > 0x7fffffff || (!first && last))
		doubt(scratch, LS_DOUBT_LINES);
	if (!codes || codes > LS_INSTRUCTIONS_MAX || (lines && lines != codes))
		doubt(scratch, LS_DOUBT_CODE);
	/* 5.5 can point into a file in memory even if the count is 0. */
	if ((lines || !layout->string_long_text) &&
	    !is_list(scratch->proto, layout->proto_line_info, layout->proto_line_info_count,
		     LS_INSTRUCTIONS_MAX))
		doubt(scratch, LS_DOUBT_LINE_INFO);
	if (layout->proto_abs_line_info) {
		lines = ls_half(scratch->proto, layout->proto_abs_line_info_count);
		if (!is_list(scratch->proto, layout->proto_abs_line_info,
			     layout->proto_abs_line_info_count, codes))
			doubt(scratch, LS_DOUBT_LINE_INFO);
	}
	if (lines &&
	    (!is_line_info(scratch, layout, 0) || !is_line_info(scratch, layout, lines - 1)))
		doubt(scratch, LS_DOUBT_LINE_INFO);
	return 0;
}

/* Checks the fields that call sites are named by. */
__noinline int check_names(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	__u32 constants, locals, upvalues, nested;
	bool is_stripped;

	if (!scratch || !layout)
		return 0;
	constants = ls_half(scratch->proto, layout->proto_constant_count);
	locals = ls_half(scratch->proto, layout->proto_local_var_count);
	upvalues = ls_half(scratch->proto, layout->proto_upvalue_count);
	nested = ls_half(scratch->proto, layout->proto_nested_count);
	is_stripped = !ls_half(scratch->proto, layout->proto_line_info_count);
	if (!is_list(scratch->proto, layout->proto_constants, layout->proto_constant_count,
		     LS_INSTRUCTIONS_MAX) ||
	    (constants &&
	     (!is_constant(scratch, layout, 0) || !is_constant(scratch, layout, constants - 1))))
		doubt(scratch, LS_DOUBT_CONSTANTS);
	if (!is_list(scratch->proto, layout->proto_local_vars, layout->proto_local_var_count,
		     LS_LOCALS_MAX) ||
	    (locals && (!is_local(scratch, layout, 0) || !is_local(scratch, layout, locals - 1))))
		doubt(scratch, LS_DOUBT_LOCALS);
	if (!is_list(scratch->proto, layout->proto_nested, layout->proto_nested_count,
		     LS_INSTRUCTIONS_MAX) ||
	    (nested && (!is_nested(scratch, layout, 0) || !is_nested(scratch, layout, nested - 1))))
		doubt(scratch, LS_DOUBT_NESTED);
	if (!is_list(scratch->proto, layout->proto_upvalues, layout->proto_upvalue_count,
		     LS_UPVALUES_MAX) ||
	    (upvalues && !is_stripped &&
	     (!is_upvalue(scratch, layout, 0) || !is_upvalue(scratch, layout, upvalues - 1))))
		doubt(scratch, LS_DOUBT_UPVALUES);
	/* LClosure.nupvalues follows isC, if there is one. 5.1's Proto counts names only. */
	if (!(is_stripped && layout->ci_is_array) &&
	    scratch->closure[layout->closure_is_c ? 11 : 10] != upvalues)
		doubt(scratch, LS_DOUBT_UPVALUES);
	return 0;
}

/* A C function is not a Lua object; a closure mistaken for one of C would have a prototype. */
static __always_inline bool is_prototype(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, __u64 address)
{
	return is_pointer(address) && !read_target(scratch->proto, layout->proto_size, address) &&
	       scratch->proto[8] == layout->proto_tag &&
	       is_pointer(ls_word(scratch->proto, layout->proto_code));
}

static __always_inline __u32 field_of(const __u8 *copy, __u8 offset, __u8 size)
{
	__u32 value = ls_half(copy, offset);

	return size == 1 ? value & 0xff : size == 2 ? value & 0xffff : value;
}

/* callstatus must distinguish C functions from Lua functions; 5.1 counts tail calls instead. */
static __always_inline void check_status(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *ci)
{
	__u32 status = field_of(ci, layout->ci_status, layout->ci_status_size);
	__u32 all = layout->status_tail | layout->status_hooked | layout->status_finalizer;
	bool is_lua = scratch->walk.frame.kind == LS_FRAME_LUA;

	if ((layout->status_lua && !!(status & layout->status_lua) != is_lua) ||
	    (layout->status_c && !!(status & layout->status_c) == is_lua))
		doubt(scratch, LS_DOUBT_STATUS);
	if (layout->ci_is_array ? is_lua && status > 0x7fffffff : (status & all) == all)
		doubt(scratch, LS_DOUBT_STATUS);
}

/* Signs that hooks are off in a state because a hook or a finalizer runs: walk.in_hook. */
#define LS_HOOK_MARKED    1 /* a call is marked as interrupted */
#define LS_HOOK_TOP       2 /* a call's top is where a hook puts it */
#define LS_HOOK_OTHER_TOP 4 /* another call's top is where it belongs */

/*
 * 5.1 does not mark the call that a hook interrupts. But if the hook came before an instruction,
 * the top of that call moved up by LUA_MINSTACK values (luaD_callhook) from the end of the
 * function's registers (ldo.c, luaD_precall). That registers end there is certain if those of
 * another call do.
 */
static __always_inline __u32 signs_of_hook(const struct ls_scratch *scratch,
					   const struct ls_puc_layout *layout, const __u8 *ci)
{
	__u64 end, top = ls_word(ci, layout->ci_top);

	if (scratch->walk.frame.flags & (LS_FRAME_HOOKED | LS_FRAME_FINALIZER))
		return LS_HOOK_MARKED;
	if (!layout->proto_max_stack || scratch->walk.frame.kind != LS_FRAME_LUA)
		return 0;
	end = ls_word(ci, layout->ci_base) + 16ULL * scratch->proto[layout->proto_max_stack];
	return top == end ? LS_HOOK_OTHER_TOP : top == end + 16ULL * LS_MIN_STACK ? LS_HOOK_TOP : 0;
}

static __always_inline bool is_in_hook(__u32 signs)
{
	return signs & LS_HOOK_MARKED || (signs & LS_HOOK_TOP && signs & LS_HOOK_OTHER_TOP);
}

/*
 * If a Lua function was called by another one with OP_CALL, the number of results asked for must be
 * that of the instruction. A finalizer or a hook is called between instructions.
 */
static __always_inline void check_results(struct ls_scratch *scratch,
					  const struct ls_puc_layout *layout, const __u8 *ci,
					  __u32 signs)
{
	struct ls_walk *walk = &scratch->walk;
	__u32 instruction, wanted, mask = 0xffffffff;

	if (!walk->callee_is_lua || walk->frame.kind != LS_FRAME_LUA ||
	    signs & (LS_HOOK_MARKED | LS_HOOK_TOP) ||
	    read_target(&instruction, sizeof(instruction), ls_word(ci, layout->ci_savedpc) - 4) ||
	    (instruction & ((1U << (layout->op_bits & 7)) - 1)) != layout->op_call)
		return;
	wanted = results_operand(layout, instruction);
	if (layout->ci_results != layout->ci_status)
		wanted--;
	mask >>= 32 - 8 * (layout->ci_results_size & 7);
	if (walk->callee_results != (wanted & mask))
		doubt(scratch, LS_DOUBT_STATUS);
}

static __always_inline bool is_value(const struct ls_scratch *scratch,
				     const struct ls_puc_layout *layout, __u64 address, __u32 extra)
{
	__u64 stack = ls_word(scratch->state, layout->state_stack);
	__u64 last = ls_word(scratch->state, layout->state_stack_last);

	return address >= stack && address <= last + 16ULL * extra && !((address - stack) & 15);
}

/*
 * A function is below the top of the stack, and a Lua function has at least two registers. But up
 * to 5.3, `top` is at the first one while a function without arguments is being called
 * (luaD_precall, ldo.c), and after a call without results, until luaV_execute restores it. In 5.1,
 * L->base, which follows L->top (lstate.h), is there all the time: the two may be exchanged.
 */
static __always_inline void check_top_of_stack(struct ls_scratch *scratch,
					       const struct ls_puc_layout *layout, __u64 func,
					       __u64 base)
{
	bool has_base = scratch->walk.frame.kind == LS_FRAME_LUA && layout->ci_has_base;
	__u64 first = has_base ? base : func, top = ls_word(scratch->state, layout->state_top);
	__u64 next = ls_word(scratch->state, layout->state_top + sizeof(top));

	if (top > first || (top == first && has_base && (!layout->ci_is_array || next == first)))
		return;
	doubt(scratch, LS_DOUBT_PLACES);
}

static __always_inline void check_places(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *ci)
{
	__u64 func = func_of(scratch, layout, ci);
	__u64 top = ls_word(ci, layout->ci_top), base = ls_word(ci, layout->ci_base);
	bool is_lua = scratch->walk.frame.kind == LS_FRAME_LUA;

	if (!is_value(scratch, layout, func, 0) ||
	    !is_value(scratch, layout, top, LS_EXTRA_STACK) || top <= func)
		doubt(scratch, LS_DOUBT_PLACES);
	if (layout->ci_has_base && (is_lua || layout->ci_is_array) &&
	    (!is_value(scratch, layout, base, 0) || base <= func || base > top))
		doubt(scratch, LS_DOUBT_PLACES);
	if (!is_top_call(scratch, layout) && !layout->ci_is_array &&
	    ls_word(ci, layout->ci_next) != scratch->walk.callee_ci)
		doubt(scratch, LS_DOUBT_CALLS);
	if (is_top_call(scratch, layout))
		check_top_of_stack(scratch, layout, func, base);
}

/* Checks the call in scratch->walk.frame, which was just decoded; its caller comes next. */
__noinline int check_call(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	struct ls_walk *walk;
	const __u8 *ci;
	__u32 signs;

	if (!scratch || !layout)
		return 0;
	walk = &scratch->walk;
	ci = read_ci(scratch, layout);
	if (!ci)
		return 0;
	signs = signs_of_hook(scratch, layout, ci);
	check_places(scratch, layout, ci);
	check_status(scratch, layout, ci);
	check_results(scratch, layout, ci, signs);
	walk->callee_results = field_of(ci, layout->ci_results, layout->ci_results_size);
	walk->callee_is_lua = walk->frame.kind == LS_FRAME_LUA;
	walk->callee_ci = walk->ci;
	walk->in_hook |= signs;
	if (walk->checked++ >= LS_CHECKED_FRAMES)
		return 0;
	if (walk->frame.kind != LS_FRAME_LUA) {
		if (walk->frame.function < LS_USER_MIN || walk->frame.function >= LS_USER_MAX ||
		    is_prototype(scratch, layout, walk->frame.function))
			doubt(scratch, LS_DOUBT_C_FUNCTION);
		return 0;
	}
	check_source(scratch, layout);
	check_names(scratch, layout);
	return 0;
}

static __always_inline bool is_table(__u64 at)
{
	__u64 value[2], head;

	return !read_target(value, sizeof(value), at) && LS_TYPE((__u8)value[1]) == LS_TYPE_TABLE &&
	       is_pointer(value[0]) && !read_target(&head, sizeof(head), value[0] + 8) &&
	       (__u8)head == LS_TYPE_TABLE;
}

/* Checks what names of C functions are read from, and what identifies the VM's main thread. */
__noinline int check_global(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	__u64 global, main_thread, back;

	if (!scratch || !layout)
		return 0;
	global = ls_word(scratch->state, layout->state_global);
	main_thread = main_thread_of(layout, global);
	if (!main_thread || read_target(&back, sizeof(back), main_thread + layout->state_global) ||
	    back != global)
		doubt(scratch, LS_DOUBT_GLOBAL);
	if (!is_table(global + layout->global_registry) ||
	    (layout->state_globals && !is_table(scratch->state_address + layout->state_globals)))
		doubt(scratch, LS_DOUBT_GLOBAL);
	return 0;
}

struct ls_pointers {
	const struct ls_scratch *scratch;
	__u64 end;
	__u32 any; /* 1: there is a pointer into the stack */
};

/* 1: the word points into the stack. */
static long look_at_state_word(__u32 i, void *context)
{
	struct ls_pointers *pointers = context;
	__u64 word = ls_word(pointers->scratch->state, (i * 8) & 0xff);

	if (!on_stack(pointers->scratch, word) || word >= pointers->end)
		return 0;
	pointers->any = 1;
	return 1;
}
LS_STEP(look_at_state_word);

/*
 * Without a protected call nothing in a lua_State points to the native stack; if something does, it
 * is the errorJmp. Further up in a mapping that holds several stacks there may be anything, even
 * the heap.
 */
static __always_inline bool hides_error_jump(struct ls_scratch *scratch,
					     const struct ls_puc_layout *layout)
{
	struct ls_pointers pointers = {.scratch = scratch, .end = scratch->search.high};

	if (scratch->search.is_shared)
		pointers.end = scratch->sp + LS_NEAR_BYTES;
	repeat(layout->state_size / 8, look_at_state_word, &pointers);
	return pointers.any;
}

/* Checks a state after its calls were walked, up to its base_ci or to --max-depth. */
__noinline int check_state(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	__u64 stack, last, base_func, next = 0;
	struct ls_walk *walk;

	if (!scratch || !layout)
		return 0;
	walk = &scratch->walk;
	stack = ls_word(scratch->state, layout->state_stack);
	last = ls_word(scratch->state, layout->state_stack_last);
	if (last <= stack || !is_value(scratch, layout, last, 0) ||
	    (layout->state_stack_size &&
	     last - stack != 16ULL * (ls_half(scratch->state, layout->state_stack_size) -
				      layout->state_stack_spare)))
		doubt(scratch, LS_DOUBT_STACK);
	if (!is_value(scratch, layout, ls_word(scratch->state, layout->state_top), LS_EXTRA_STACK))
		doubt(scratch, LS_DOUBT_STACK);
	if (scratch->state[layout->state_status] != (walk->is_suspended ? LS_YIELDED : 0) ||
	    scratch->state[layout->state_allow_hook] != !is_in_hook(walk->in_hook))
		doubt(scratch, LS_DOUBT_FLAGS);
	if (walk->chain_index < LS_CHAIN_MAX &&
	    scratch->chain[walk->chain_index].anchor == LS_UNPROTECTED &&
	    hides_error_jump(scratch, layout))
		doubt(scratch, LS_DOUBT_ERROR_JUMP);
	if (read_target(&base_func, sizeof(base_func), walk->base_ci + layout->ci_func) ||
	    base_func != stack)
		doubt(scratch, LS_DOUBT_STACK);
	if (!layout->ci_is_array && walk->ci == walk->base_ci &&
	    (read_target(&next, sizeof(next), walk->base_ci + layout->ci_next) ||
	     next != walk->callee_ci))
		doubt(scratch, LS_DOUBT_CALLS);
	walk->callee_is_lua = 0;
	walk->callee_ci = 0;
	walk->in_hook = 0;
	return check_global(scratch, layout);
}

#endif
