/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where LuaJIT 2.1 with 64-bit references (LJ_GC64, lj_arch.h) keeps what a stack walk needs. The
 * structs below never moved since there is LJ_GC64; of what is behind them, no more is read. What
 * releases and forks did move is in struct ls_luajit_layout, by offset.
 */
#ifndef LS_OFFSETS_LUAJIT_H
#define LS_OFFSETS_LUAJIT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* gct of an object's header: ~LJ_T* of lj_obj.h. */
#define LS_LUAJIT_STRING   4
#define LS_LUAJIT_THREAD   6
#define LS_LUAJIT_PROTO    7
#define LS_LUAJIT_FUNCTION 8
#define LS_LUAJIT_TRACE    9
#define LS_LUAJIT_TABLE    11
#define LS_LUAJIT_USERDATA 12

/* A value: its type in the upper 17 bits, which are ~gct of an object, and its address below. */
#define LS_LUAJIT_TYPE_SHIFT 47
#define LS_LUAJIT_ADDRESS    ((1ULL << LS_LUAJIT_TYPE_SHIFT) - 1)

/* GCfunc.ffid: FF_LUA and FF_C of lj_obj.h; a higher one is the number of a builtin. */
#define LS_LUAJIT_FF_LUA 0
#define LS_LUAJIT_FF_C   1

/* GCHeader, lj_obj.h. `other` is what the kind of object has there. */
struct ls_luajit_header {
	__u64 next;
	__u8 marked;
	__u8 gct;
	__u8 other[6];
};

/* lua_State, lj_obj.h. OpenResty's is longer. */
struct ls_luajit_state {
	__u64 next;
	__u8 marked;
	__u8 gct;
	__u8 ffid; /* FF_C in every state */
	__u8 status;
	__u32 padding;
	__u64 global;
	__u64 gc_list;
	__u64 base; /* may lag while the VM runs: bpf/find_base_luajit.bpf.h */
	__u64 top;
	__u64 max_stack;
	__u64 stack;
	__u64 open_upvalues;
	__u64 environment;
	__u64 cframe; /* of the innermost C frame of the VM; the two lowest bits are flags */
	__u32 stack_size;
	__u32 padding_two;
};
_Static_assert(sizeof(struct ls_luajit_state) == 96, "lua_State, lj_obj.h");

/* What the VM keeps in its C frame, lj_frame.h: CFRAME_OFS_* of x86-64. */
struct ls_luajit_cframe {
	__u64 padding;
	__s32 results; /* negative: the frame of lj_vm_cpcall(), and -savestack(L, L->top) */
	__s32 error_function;
	__u64 state;
	__u64 pc;
	__u64 previous;
};
_Static_assert(sizeof(struct ls_luajit_cframe) == 40, "CFRAME_OFS_*, lj_frame.h");

/* GCfunc, lj_obj.h. */
struct ls_luajit_function {
	__u64 next;
	__u8 marked;
	__u8 gct;
	__u8 ffid;
	__u8 upvalue_count;
	__u32 padding;
	__u64 environment;
	__u64 gc_list;
	__u64 pc;       /* of a Lua function, its first instruction, right behind the prototype */
	__u64 function; /* C functions only */
};
_Static_assert(sizeof(struct ls_luajit_function) == 48, "GCfuncC, lj_obj.h");

/* GCproto, lj_obj.h. Its bytecode follows, then constants and the rest, in one object. */
struct ls_luajit_proto {
	__u64 next;
	__u8 marked;
	__u8 gct;
	__u8 parameter_count;
	__u8 frame_size;
	__u32 code_count;
	__u64 padding;
	__u64 gc_list;
	__u64 constants; /* references to objects are below, numbers from there on */
	__u64 upvalues;
	__u32 object_count;
	__u32 number_count;
	__u32 size; /* in bytes, of the whole object */
	__u8 upvalue_count;
	__u8 flags;
	__u16 trace; /* changes */
	__u64 chunk_name;
	__u32 first_line;
	__u32 line_count;
	__u64 line_info; /* 0: the chunk was stripped */
	__u64 upvalue_info;
	__u64 variable_info;
};
_Static_assert(sizeof(struct ls_luajit_proto) == 104, "GCproto, lj_obj.h");

/* GCstr, lj_obj.h. The text follows, and a NUL. */
struct ls_luajit_string {
	__u64 next;
	__u8 marked;
	__u8 gct;
	__u16 padding;
	__u32 id;
	__u32 hash;
	__u32 length;
};
_Static_assert(sizeof(struct ls_luajit_string) == 24, "GCstr, lj_obj.h");

/* GCtrace, lj_jit.h: a trace, compiled code of a path through one or more functions. */
struct ls_luajit_trace {
	__u64 next;
	__u8 marked;
	__u8 gct;
	__u16 snapshot_count;
	__u32 instruction_end;
	__u64 padding;
	__u64 gc_list;
	__u64 ir; /* where reference 0 would be; constants are below LS_LUAJIT_REF_BIAS */
	__u32 constant_start;
	__u32 map_count;
	__u64 snapshots;
	__u64 snapshot_map;
	__u64 start_proto;
	__u64 start_pc;
	__u32 start_instruction;
	__u32 code_size;
	__u64 code;
	__u32 loop;
	__u16 child_count;
	__u16 stack_bytes; /* spadjust: of C stack that the trace has */
	__u16 number;
	__u16 link; /* the trace that it goes on with */
	__u16 root;
	__u16 next_root;
	__u16 next_side;
	__u8 tags[6];
};
_Static_assert(sizeof(struct ls_luajit_trace) == 120, "GCtrace, lj_jit.h, up to unused1");

/* SnapShot, lj_jit.h: how the stack would be if the trace were left at this place. */
struct ls_luajit_snapshot {
	__u32 map_offset;
	__u16 reference;
	__u16 code_offset; /* of the machine code that it is for */
	__u8 slot_count;
	__u8 top_slot;
	__u8 entry_count;
	__u8 exit_count;
};
_Static_assert(sizeof(struct ls_luajit_snapshot) == 12, "SnapShot, lj_jit.h");

#define LS_LUAJIT_REF_BIAS 0x8000 /* REF_BIAS, lj_ir.h */

/* SnapEntry, lj_jit.h: a slot, flags, a reference. The instruction and the base follow the last. */
#define LS_LUAJIT_SNAP_FRAME 0x10000 /* SNAP_FRAME: the slot is the link of a frame */
#define LS_LUAJIT_SNAP_CONT  0x20000 /* SNAP_CONT: a continuation */

/*
 * Opcodes, lj_bc.h, which are the same in all releases 2.1 as far as they are needed. The compiler
 * replaces some instructions of loops, returns and function headers by others, all from ITERC on.
 */
#define LS_LUAJIT_OP_ITERC 69

/* global_State, lj_obj.h: what never moved. */
#define LS_LUAJIT_VM_STATE    184 /* int: number of the trace that runs, or ~LJ_VMST_* */
#define LS_LUAJIT_MAIN_THREAD 192
#define LS_LUAJIT_REGISTRY    272
#define LS_LUAJIT_GLOBAL_MAX  400 /* bytes that any layout reads */

/* ~LJ_VMST_*, lj_obj.h. */
#define LS_LUAJIT_IN_INTERPRETER (-1)
#define LS_LUAJIT_IN_C           (-2)
#define LS_LUAJIT_IN_GC          (-3)
#define LS_LUAJIT_IN_EXIT        (-4)
#define LS_LUAJIT_IN_RECORDER    (-5)
#define LS_LUAJIT_IN_OPTIMIZER   (-6)
#define LS_LUAJIT_IN_ASSEMBLER   (-7)

struct ls_luajit_layout {
	__u16 global_current;  /* cur_L: the state that runs; an FFI callback leaves it stale */
	__u16 global_jit_base; /* base of the function that the running trace began in, or 0 */
	/* places of jit_State.trace, the array of traces, from global_State; 0: no further one */
	__u16 global_traces[3];
	__u16 padding;
};

#endif
