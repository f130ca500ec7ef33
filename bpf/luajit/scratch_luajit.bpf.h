/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The scratch of LuaJIT's walker: see scratch.bpf.h. */
#ifndef LS_SCRATCH_LUAJIT_BPF_H
#define LS_SCRATCH_LUAJIT_BPF_H

#include "machine.bpf.h"
#include "scratch.bpf.h"
#include "offsets_luajit.h"

#ifdef LS_NARROW
#define LS_FAMILY LS_FAMILY_LUAJIT32
#else
#define LS_FAMILY LS_FAMILY_LUAJIT
#endif
typedef struct ls_luajit_layout ls_layout_t;

typedef int ls_reader_t;
#define LS_READ(reader, to, size, address)        read_target(to, size, address)
#define LS_READ_STRING(reader, to, size, address) read_target_string(to, size, address)
#define LS_REPEAT(count, step, context)           repeat(count, step, context)
#include "fingerprint_luajit.h"

#define LS_NATIVE_WORDS 128 /* of the native stack below the VM's frame, to look for BASE in */

/* What is known about global_State at this sample. */
struct ls_luajit_global {
	__u64 address;
	__s32 vm_state;
	__u32 padding;
	__u64 current;  /* cur_L */
	__u64 jit_base; /* 0: no trace runs */
};

/* A function on the stack of values, as far as finding BASE needs it. */
struct ls_base_candidate {
	__u64 base;
	__u64 code; /* of a Lua function; of another one, what PC is while it starts */
	__u64 code_end;
	__u64 value;
	__u64 link;
	__u8 is_function;
	__u8 is_lua;
	__u8 padding[6];
};

#define LS_RETURNS_MAX 4

/* State of the search for BASE: see find_base_luajit.bpf.h. */
struct ls_base_search {
	struct ls_base_candidate candidate;
	__u64 base; /* 0: not found */
	__u64 pc;   /* the next instruction of the Lua function there; 0: unknown */
	__u32 word_count;
	__u32 is_of_state; /* the caller of C code has L where it would keep BASE */
	__u32 has_pc;      /* a word is the candidate's PC */
	__u32 padding;
#if LS_HAS_FRAME_RECORDS
	__u64 record;         /* of what the VM or a trace has called; 0: it has none */
	__u64 return_address; /* of that call; 0: unknown */
	__u64 returns[LS_RETURNS_MAX];
	__u64 base_pc;      /* PC of `base` */
	__u32 base_count;   /* of different words that may be BASE */
	__u32 return_count; /* of words that may be return addresses */
#endif
	__u64 words[LS_NATIVE_WORDS]; /* below the VM's frame, the nearest last */
};

#define LS_SLOTS_MAX      256 /* slots of a snapshot: its numbers are bytes */
#define LS_MAP_MAX        LS_LUAJIT_BYTES(LS_SLOTS_MAX + 4, 2 * LS_SLOTS_MAX) /* with links */
#define LS_TRACE_MEMO_MAX 64
#define LS_TRACES_RECENT  8

/* The frames of a trace: see trace_luajit.bpf.h. */
struct ls_trace_frames {
	struct ls_luajit_trace header;
	struct ls_luajit_snapshot snapshot;
	__u64 pc;  /* in the machine code */
	__u32 low; /* of the search for the snapshot */
	__u32 high;
	__u64 place; /* where the array of traces may be */
	__u32 count; /* of the array of traces */
	__u32 is_found;
	__u32 padding_two;
	__u32 is_on; /* 1: the slots below belong to the walk */
	__u64 start; /* address of slot 0 */
	__u64 constant[2];
	__u64 slots[LS_SLOTS_MAX +
		    2]; /* values on the stack of values, as far as frames need them */
	__u8 is_set[LS_SLOTS_MAX + 2];
	__u8 padding[6];
	__u32 map[LS_MAP_MAX];
	__u64 pair[2];
#ifdef LS_NARROW
	__u32 link; /* index in `map`, behind the next frame's link */
	__u32 top;  /* slot of the topmost frame */
#endif
};

/* Traces in which a VM was seen. */
struct ls_trace_memo {
	__u64 global;
	__u64 array; /* where the pointer to the array of traces is; 0: unknown */
	__u32 tgid;
	__u32 next;   /* of `numbers` to replace */
	__u32 cursor; /* where the next search of the array begins */
#if LS_HAS_FRAME_RECORDS
	__u64 code; /* range in which machine code of its traces was seen */
	__u64 code_end;
#endif
	__u16 numbers[LS_TRACES_RECENT];
	__u16 padding[2];
};

#define LS_SITE_CACHE_MAX 1024 /* call instructions that were read recently: 64 KiB */

/* A call instruction of a Lua function. */
struct ls_cached_site {
	__u64 pc;       /* of the instruction after it; 0: none */
	__u64 distance; /* from the caller's base to the callee's, in bytes */
	struct ls_proof proof;
};

/* State of the walk along the frames. */
struct ls_walk {
	__u64 base; /* of the frame that the walk is at: its function is two slots below */
	__u64 pc;   /* the next instruction of its function, if that is Lua's; 0: unknown */
	__u64 stack;
	__u64 stack_end;
	__u64 native_from;              /* frames from there on run as a trace */
	struct ls_luajit_cframe cframe; /* of the VM that runs the frame */
	__u32 chain_index;
	__u32 in_trace; /* 1: a trace runs on top of the running state's frames */
	__u32 count;    /* frames, including those left out */
	__u32 last;     /* index of the one stored last */
	/* never set in a sample: */
	__u32 in_system_call;  /* 1: the caller says so */
	__u32 lacks_registers; /* 1: without them, BASE cannot be known */
	struct {
		__u32 first;
		__u32 end;
	} turn; /* frames whose order is being reversed */
	struct ls_frame frame;
	struct ls_closure_read closure_read;
};

/* Which part of a layout failed the self-check, for tests: ls_scratch.doubt. */
enum ls_doubt {
	LS_DOUBT_NONE,
	LS_DOUBT_GLOBAL,
	LS_DOUBT_PROTO,
	LS_DOUBT_SOURCE,
};

struct ls_scratch {
	struct ls_scratch_shared;

	struct ls_luajit_global global;
	struct ls_base_search base;
	struct ls_walk walk;
	struct ls_trace_frames trace;
	struct ls_trace_memo trace_memo[LS_TRACE_MEMO_MAX];

	struct ls_luajit_state state;
	struct ls_luajit_state other_state;
	struct ls_luajit_cframe other_cframe;
	struct ls_luajit_proto proto;
	struct ls_window stack;
	struct ls_window closures;
	struct ls_window protos;
	struct ls_window trace_part; /* snapshots, then constants */
	__u8 global_bytes[LS_LUAJIT_GLOBAL_MAX];

	struct ls_luajit_content content;
	struct ls_function function;
	struct ls_cached_proto proto_cache[LS_PROTO_CACHE_MAX];
	struct ls_cached_closure closure_cache[LS_CLOSURE_CACHE_MAX];
	struct ls_cached_site site_cache[LS_SITE_CACHE_MAX];

	struct ls_scratch_caches;
	struct ls_scratch_record;
};

#endif
