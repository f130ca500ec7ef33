/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where Luau keeps what a stack walk needs. Luau has a release almost every week, none of which
 * says which it is, so nothing here belongs to a release.
 *
 * The head of lua_State never moved since there is isactive. It tells the size of a value
 * (LUA_VECTOR_SIZE changes it), that of a CallInfo, and the type of a thread (struct
 * ls_luau_sizes): each walk calculates them anew. What is left is where Closure and Proto keep
 * their members, and the other types. Each way that was ever seen is a layout; samples of the
 * running program decide which it is. If none fits, the layout is derived from the functions of the
 * program (user/luau/calibration_luau.h).
 */
#ifndef LS_OFFSETS_LUAU_H
#define LS_OFFSETS_LUAU_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* lua_State, lstate.h. */
struct ls_luau_state {
	__u8 tt;
	__u8 marked;
	__u8 category;
	__u8 status;
	__u8 active_category;
	__u8 is_active; /* it runs, or has resumed another one */
	__u8 single_step;
	__u8 padding;
	__u64 top;
	__u64 base;
	__u64 global;
	__u64 ci;
	__u64 stack_last;
	__u64 stack;
	__u64 end_ci; /* the last element of the array */
	__u64 base_ci;
	__u32 stack_size; /* in values */
	__u32 ci_count;
	__u16 c_calls;
	__u16 base_c_calls;
};
_Static_assert(sizeof(struct ls_luau_state) == 88, "lua_State, lstate.h, up to baseCcalls");

#define LS_LUAU_EXTRA_STACK 5    /* EXTRA_STACK: values beyond stack_last, lstate.h */
#define LS_LUAU_MIN_STACK   20   /* LUA_MINSTACK: values that a C function may push, lua.h */
#define LS_LUAU_STATUS_MAX  6    /* LUA_BREAK, lua.h */
#define LS_LUAU_REENTRY     0x7f /* SCHEDULED_REENTRY, lua_State.status for a moment */

/* Types in enum lua_Type (lua.h), which grew before strings. */
#define LS_LUAU_THREAD_MIN 9
#define LS_LUAU_THREAD_MAX 24
#define LS_LUAU_TYPES_MAX  32 /* with those of internal objects, which are last: a margin */

/* CallInfo, lstate.h: what never moved. */
#define LS_LUAU_CI_BASE 0
#define LS_LUAU_CI_FUNC 8
#define LS_LUAU_CI_TOP  16
/* Distances from its end: savedpc, and `flags` behind nresults. */
#define LS_LUAU_CI_FROM_SAVEDPC 16
#define LS_LUAU_CI_FROM_FLAGS   4
#define LS_LUAU_CI_PROTO        24 /* of 48 bytes: a Proto, if the host has that switched on */
#define LS_LUAU_CI_MAX          48
#define LS_LUAU_FLAG_NATIVE     4    /* LUA_CALLINFO_NATIVE */
#define LS_LUAU_FLAGS_MAX       0xff /* four flags are known; a margin */

/* TValue, lobject.h: the value is at the start, the type behind all of it, a __u32. */
#define LS_LUAU_VALUE_MAX 24

/* Where the type is in values of that size: 16 bytes, or 24 if vectors have four components. */
static inline __attribute__((always_inline)) __u32 ls_luau_type_at(__u32 size)
{
	return size == 24 ? 16 : 12;
}

/* TString, lobject.h. The text follows, and a NUL. */
struct ls_luau_string {
	__u8 tt;
	__u8 marked;
	__u8 category;
	__u8 padding;
	__s16 atom;
	__u16 padding_too;
	__u64 next;
	__u32 hash;
	__u32 length;
};
_Static_assert(sizeof(struct ls_luau_string) == 24, "TString, lobject.h");

/* Closure, lobject.h: what never moved. */
#define LS_LUAU_CLOSURE_IS_C     3
#define LS_LUAU_CLOSURE_UPVALUES 4  /* their number */
#define LS_LUAU_FIRST_UPVALUE    48 /* of a C function; in newer releases a word further up */
/*
 * From a C function's code to its debugname, a C string that is deprecated. The next word is the
 * name as a TString; in older releases, the first upvalue.
 */
#define LS_LUAU_FUNCTION_TO_NAME 16

/* Proto, lobject.h. */
#define LS_LUAU_NO_LINE      ((__u32)-1) /* linedefined of old bytecode, lvmload.cpp */
#define LS_LUAU_LINE_GAP_MAX 24 /* linegaplog2: the largest that is shifted by, lvmload.cpp */

struct ls_luau_layout {
	__u8 string_type;      /* how far the type of strings is below that of threads */
	__u8 function_type;    /* likewise, of functions */
	__u8 closure_function; /* a C function's code, a Lua function's Proto */
	__u8 proto_constants;
	__u8 proto_code;
	__u8 proto_children;
	__u8 proto_size; /* bytes that are read */
	__u8 proto_line_info;
	__u8 proto_line_bases; /* abslineinfo */
	__u8 proto_source;
	__u8 proto_name;
	__u8 proto_code_count;
	__u8 proto_child_count;
	__u8 proto_constant_count;
	__u8 proto_line_info_size;
	__u8 proto_line_gap;
	__u8 proto_line_defined;
	__u8 proto_parameters;
	__u8 proto_is_vararg; /* maxstacksize follows */
	__u8 proto_upvalues;  /* their number */
	__u8 proto_native;    /* exectarget, where its machine code begins; 0: there is none */
};

#endif
