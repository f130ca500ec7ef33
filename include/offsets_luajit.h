/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where LuaJIT 2.1 keeps what a stack walk needs. The structs below never moved; of what is behind
 * them, no more is read. What releases and forks did move is in struct ls_luajit_layout, by offset.
 *
 * A build has references of 64 bits (LJ_GC64, lj_arch.h) or of 32. Most structs are the same but
 * for the size of a reference. All that follows references is compiled twice, once with LS_NARROW
 * defined: a walk has no size to look up, and none for the verifier to try.
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

/* GCRef and MRef, lj_obj.h. */
#ifdef LS_NARROW
typedef __u32 ls_luajit_ref_t;
#else
typedef __u64 ls_luajit_ref_t;
#endif

/* A value: its type in the upper bits, which are ~gct of an object, and its address below. */
#ifdef LS_NARROW
#define LS_LUAJIT_TYPE_SHIFT 32
#else
#define LS_LUAJIT_TYPE_SHIFT 47
#endif
/* What differs otherwise: with references of 64 bits, and of 32. */
#ifdef LS_NARROW
#define LS_LUAJIT_BYTES(wide, narrow) (narrow)
#else
#define LS_LUAJIT_BYTES(wide, narrow) (wide)
#endif
#define LS_LUAJIT_ADDRESS   ((1ULL << LS_LUAJIT_TYPE_SHIFT) - 1)
#define LS_LUAJIT_TYPE(gct) (~(__u64)(gct) << LS_LUAJIT_TYPE_SHIFT >> LS_LUAJIT_TYPE_SHIFT)

/* GCfunc.ffid: FF_LUA and FF_C of lj_obj.h; a higher one is the number of a builtin. */
#define LS_LUAJIT_FF_LUA 0
#define LS_LUAJIT_FF_C   1

/* GCHeader, lj_obj.h. `other` is what the kind of object has there. */
struct ls_luajit_header {
	ls_luajit_ref_t next;
	__u8 marked;
	__u8 gct;
	__u8 other[6];
};

/* lua_State, lj_obj.h. OpenResty's is longer. */
struct ls_luajit_state {
	ls_luajit_ref_t next;
	__u8 marked;
	__u8 gct;
	__u8 ffid; /* FF_C in every state */
	__u8 status;
	ls_luajit_ref_t global;
	ls_luajit_ref_t gc_list;
	__u64 base; /* may lag while the VM runs: bpf/luajit/find_base_luajit.bpf.h */
	__u64 top;
	ls_luajit_ref_t max_stack;
	ls_luajit_ref_t stack;
	ls_luajit_ref_t open_upvalues;
	ls_luajit_ref_t environment;
	__u64 cframe; /* of the innermost C frame of the VM; the two lowest bits are flags */
	__u32 stack_size;
	__u32 padding_two;
};
_Static_assert(sizeof(struct ls_luajit_state) == LS_LUAJIT_BYTES(96, 64), "lua_State, lj_obj.h");

/* What the VM keeps in its C frame: CFRAME_OFS_* of lj_frame.h, which differ by machine. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
struct ls_luajit_cframe {
	__u64 rest[1];
	ls_luajit_ref_t pc;
	ls_luajit_ref_t state;
	__u64 padding;
	__s32 result_count;
	__s32 error_function;
	__s32 results;
	__s32 padding_two;
};
#define LS_LUAJIT_CFRAME_REST 0
#else
struct ls_luajit_cframe {
	__u64 padding[LS_LUAJIT_BYTES(1, 2)];
	__s32 results; /* negative: the frame of lj_vm_cpcall(), and -savestack(L, L->top) */
	__s32 error_function;
	ls_luajit_ref_t state;
	ls_luajit_ref_t pc;
	__u64 rest[3]; /* the previous C frame is there: ls_luajit_layout.cframe_previous */
};
_Static_assert(sizeof(struct ls_luajit_cframe) == 56, "CFRAME_OFS_*, lj_frame.h");
#define LS_LUAJIT_CFRAME_REST 32
#endif

/* GCfunc, lj_obj.h. */
struct ls_luajit_function {
	ls_luajit_ref_t next;
	__u8 marked;
	__u8 gct;
	__u8 ffid;
	__u8 upvalue_count;
	ls_luajit_ref_t environment;
	ls_luajit_ref_t gc_list;
	ls_luajit_ref_t
		pc;     /* of a Lua function, its first instruction, right behind the prototype */
	__u64 function; /* C functions only */
};
_Static_assert(sizeof(struct ls_luajit_function) == LS_LUAJIT_BYTES(48, 32), "GCfuncC, lj_obj.h");

/* GCproto, lj_obj.h. Its bytecode follows, then constants and the rest, in one object. */
struct ls_luajit_proto {
	ls_luajit_ref_t next;
	__u8 marked;
	__u8 gct;
	__u8 parameter_count;
	__u8 frame_size;
	__u32 code_count;
	__u32 padding[LS_LUAJIT_BYTES(2, 0)];
	ls_luajit_ref_t gc_list;
	ls_luajit_ref_t constants; /* references to objects are below, numbers from there on */
	ls_luajit_ref_t upvalues;
	__u32 object_count;
	__u32 number_count;
	__u32 size; /* in bytes, of the whole object */
	__u8 upvalue_count;
	__u8 flags;
	__u16 trace; /* changes */
	ls_luajit_ref_t chunk_name;
	__u32 first_line;
	__u32 line_count;
	ls_luajit_ref_t line_info; /* 0: the chunk was stripped */
	ls_luajit_ref_t upvalue_info;
	ls_luajit_ref_t variable_info;
};
_Static_assert(sizeof(struct ls_luajit_proto) == LS_LUAJIT_BYTES(104, 64), "GCproto, lj_obj.h");

/*
 * GCstr, lj_obj.h. The text follows, and a NUL. Without `id`, what is behind is 4 bytes further
 * down.
 */
struct ls_luajit_string {
	ls_luajit_ref_t next;
	__u8 marked;
	__u8 gct;
	__u16 padding;
	__u32 id;
	__u32 hash;
	__u32 length;
};
_Static_assert(sizeof(struct ls_luajit_string) == LS_LUAJIT_BYTES(24, 20), "GCstr, lj_obj.h");

/* GCtrace, lj_jit.h: a trace, compiled code of a path through one or more functions. */
struct ls_luajit_trace {
	ls_luajit_ref_t next;
	__u8 marked;
	__u8 gct;
	__u16 snapshot_count;
	__u32 instruction_end;
	__u32 padding[LS_LUAJIT_BYTES(2, 0)];
	ls_luajit_ref_t gc_list;
	__u64 ir; /* where reference 0 would be; constants are below LS_LUAJIT_REF_BIAS */
	__u32 constant_start;
	__u32 map_count;
	__u64 snapshots;
	__u64 snapshot_map;
	ls_luajit_ref_t start_proto;
	ls_luajit_ref_t start_pc;
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
_Static_assert(sizeof(struct ls_luajit_trace) == LS_LUAJIT_BYTES(120, 96),
	       "GCtrace, lj_jit.h, up to unused1");

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

/*
 * SnapEntry, lj_jit.h: a slot, flags, a reference. The instruction and the base follow the last; if
 * references have 32 bits, the instruction alone, and the links of all frames, the topmost first.
 */
#define LS_LUAJIT_SNAP_FRAME 0x10000 /* SNAP_FRAME: the slot is the link of a frame */
#define LS_LUAJIT_SNAP_CONT  0x20000 /* SNAP_CONT: a continuation */

/*
 * The opcode ITERC, lj_bc.h, in all releases 2.1; 2.0 has four fewer below. The compiler replaces
 * some instructions of loops, returns and function headers by others, all from there on.
 */
#define LS_LUAJIT_OP_ITERC 69

/* ~LJ_VMST_*, lj_obj.h. */
#define LS_LUAJIT_IN_INTERPRETER (-1)
#define LS_LUAJIT_IN_C           (-2)
#define LS_LUAJIT_IN_GC          (-3)
#define LS_LUAJIT_IN_EXIT        (-4)
#define LS_LUAJIT_IN_RECORDER    (-5)
#define LS_LUAJIT_IN_OPTIMIZER   (-6)
#define LS_LUAJIT_IN_ASSEMBLER   (-7)

/* Bytes of global_State that a layout reads, and where they begin at the earliest. */
#define LS_LUAJIT_GLOBAL_FROM LS_LUAJIT_BYTES(128, 80)
#define LS_LUAJIT_GLOBAL_MAX  LS_LUAJIT_BYTES(512, 416)

/* How many places of the array of traces a layout names: ls_luajit_layout.global_traces. */
#define LS_LUAJIT_TRACE_PLACES 3

struct ls_luajit_layout {
	__u16 global_current;  /* cur_L: the state that runs; an FFI callback leaves it stale */
	__u16 global_jit_base; /* base of the function that the running trace began in, or 0 */
	/* places of jit_State.trace, the array of traces, from global_State; 0: no further one */
	__u16 global_traces[LS_LUAJIT_TRACE_PLACES];
	__u16 global_vm_state; /* an int: the number of the trace that runs, or ~LJ_VMST_* */
	__u16 global_main_thread;
	__u16 global_registry;
	__u16 global_objects; /* GCState.root */
	__u16 string_text;    /* where the text of a string begins */
	__u16 cframe_previous;
	__u16 op_iterc;
	__u8 lacks_places; /* 1: snapshots do not tell which machine code they are for */
	/*
	 * 1: global_current is that of jit_L, there is no cur_L: the state whose trace runs, or 0,
	 * and then jit_base is stale (2.0).
	 */
	__u8 has_jit_state;
	__u8 more_states; /* LJ_VMST_* between that of the interpreter and that of C functions */
	__u8 string_length;
};

#endif
