/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where PUC Lua keeps what a stack walk needs, as a table of offsets. User space picks a
 * layout (user/puc/layout_puc.c has one initializer per class); BPF and the symbolizer follow it.
 */
#ifndef LS_OFFSETS_PUC_H
#define LS_OFFSETS_PUC_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * PUC Lua on a 64-bit little-endian machine. Offsets are bytes from the start of the named struct.
 * Those into lua_State, CallInfo, closures and Proto fit in a byte, which also lets the verifier
 * see that an offset stays inside a 256-byte copy of the struct.
 */
struct ls_puc_layout {
	/* lua_State (lstate.h); `tt` is at 8 and `next` at 0 in every release */
	__u8 state_size;
	__u8 state_status; /* 1 byte: 0 running or normal, 1 yielded, 2 and up: dead by an error */
	__u8 state_top;
	__u8 state_global;
	__u8 state_ci;
	__u8 state_savedpc; /* 5.1 only (0 elsewhere): pc of the running Lua function */
	__u8 state_stack_last;
	__u8 state_stack;
	__u8 state_base_ci; /* the pointer in 5.1, the embedded struct elsewhere */
	__u8 state_ci_room; /* 5.1 only: int size_ci, length of the array base_ci in CallInfos */
	__u8 state_error_jump;
	__u8 state_allow_hook;
	__u8 state_globals;     /* 5.1 only: TValue l_gt */
	__u8 state_stack_size;  /* int, in TValues; 0: no such field (5.4.2 on) */
	__u8 state_stack_spare; /* TValues of that size beyond stack_last */

	/* CallInfo (lstate.h) */
	__u8 ci_size;
	__u8 ci_func;
	__u8 ci_top;
	__u8 ci_previous; /* unused if CallInfos are an array */
	__u8 ci_next;     /* likewise */
	__u8 ci_savedpc;
	__u8 ci_status;      /* callstatus; 5.1: tailcalls */
	__u8 ci_status_size; /* 1, 2 or 4 bytes */
	__u8 ci_results;     /* nresults; 5.5: nresults + 1, as part of callstatus */
	__u8 ci_results_size;
	__u8 ci_base;     /* first register; unused if registers follow the function */
	__u8 ci_has_base; /* up to 5.3 */
	__u8 ci_extra;    /* 5.2, 5.3: position of a C function that yielded; 0: no such field */
	__u8 ci_is_array; /* 1: 5.1, base_ci .. ci in one array */

	/* closures (lobject.h) */
	__u8 closure_is_c;     /* the byte isC (5.1, 5.2.0); 0: the value's tag distinguishes */
	__u8 closure_proto;    /* LClosure.p */
	__u8 closure_function; /* CClosure.f */

	/* Proto (lobject.h) */
	__u8 proto_size;
	__u8 proto_tag; /* tt of the object header */
	__u8 proto_constants;
	__u8 proto_code;
	__u8 proto_line_info;
	__u8 proto_abs_line_info; /* 5.4 on, 0 elsewhere */
	__u8 proto_local_vars;
	__u8 proto_upvalues;
	__u8 proto_nested; /* `p`: prototypes of the functions defined in it */
	__u8 proto_source;
	__u8 proto_upvalue_count; /* from here on 4-byte integers */
	__u8 proto_constant_count;
	__u8 proto_code_count;
	__u8 proto_line_info_count;
	__u8 proto_abs_line_info_count;
	__u8 proto_local_var_count;
	__u8 proto_nested_count;
	__u8 proto_line_defined;
	__u8 proto_last_line_defined;
	__u8 proto_max_stack; /* 1 byte, 5.1 only (0 elsewhere): its number of registers */

	/* TString (lobject.h) */
	__u8 string_contents;     /* bytes from the header to the text */
	__u8 string_short_length; /* 1 byte, 5.3.1 on; 0: `string_length` holds every length */
	__u8 string_length;
	__u8 string_long_text; /* 5.5: pointer to a long string's text; 0: it follows the header */

	/* tags of a TValue (lobject.h); 0 if a release has no such value */
	__u8 tag_lua_function;
	__u8 tag_c_function;     /* C closure */
	__u8 tag_light_function; /* the value is the C function itself */

	__u8 main_thread_is_embedded; /* 5.5: embedded in global_State, not pointed to */

	/* instructions (lopcodes.h): opcode in the lowest bits, then register A, 8 bits */
	__u8 op_bits;
	__u8 op_call;    /* OP_CALL; OP_TAILCALL is the next */
	__u8 op_results; /* bit position of its operand C, which is nresults + 1 */
	__u8 op_results_bits;

	__u8 has_local_pc; /* 1: luaV_execute keeps pc in a local variable (all but 5.2 and 5.3) */

	/* 1: while a stack is reallocated, pointers into it hold offsets (5.4.5 on) */
	__u8 relocates_stack;
	__u8 minor; /* 1 for Lua 5.1 and so on; selects the bytecode tables */

	/* global_State (lstate.h) */
	__u16 global_registry;    /* TValue l_registry */
	__u16 global_main_thread; /* pointer */
	__u16 global_gc_state;    /* 1 byte */
	__u16 global_objects; /* pointer to the list of all objects: rootgc in 5.1, then allgc */

	/* bits of callstatus (lstate.h, CIST_*); 0 if a release has none */
	__u32 status_tail;
	__u32 status_hooked;
	__u32 status_finalizer;
	__u32 status_lua; /* set for Lua functions alone: 5.2, 5.3 */
	__u32 status_c;   /* set for C functions alone: 5.4 on */
};

#endif
