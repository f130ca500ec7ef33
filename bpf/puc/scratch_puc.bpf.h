/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The scratch of PUC Lua's walker: see scratch.bpf.h. */
#ifndef LS_SCRATCH_PUC_BPF_H
#define LS_SCRATCH_PUC_BPF_H

#include "scratch.bpf.h"
#include "offsets_puc.h"

#define LS_FAMILY LS_FAMILY_PUC

/* A finalizer runs in a protected call of its own: the collector's frames are beyond its anchor. */
#define LS_ANCHOR_ENDS_GC 1
#define LS_HAS_MADE_CODE  0

typedef struct ls_puc_layout ls_layout_t;

typedef int ls_reader_t;
#define LS_READ(reader, to, size, address)        read_target(to, size, address)
#define LS_READ_STRING(reader, to, size, address) read_target_string(to, size, address)
#define LS_REPEAT(count, step, context)           repeat(count, step, context)
#include "fingerprint_puc.h"

#define LS_RESULTS_MAX 6

/* A TValue as stored on the Lua stack. */
struct ls_value {
	__u64 value;
	__u64 tag; /* in the lowest byte; 0: nil */
};

/* Which part of a layout failed the self-check, for tests: ls_scratch.doubt. */
enum ls_doubt {
	LS_DOUBT_NONE,
	LS_DOUBT_SOURCE,
	LS_DOUBT_LINES,
	LS_DOUBT_CODE,
	LS_DOUBT_LINE_INFO,
	LS_DOUBT_CONSTANTS,
	LS_DOUBT_LOCALS,
	LS_DOUBT_NESTED,
	LS_DOUBT_UPVALUES,
	LS_DOUBT_STATUS,
	LS_DOUBT_PLACES,
	LS_DOUBT_CALLS,
	LS_DOUBT_C_FUNCTION,
	LS_DOUBT_GLOBAL,
	LS_DOUBT_ERROR_JUMP,
	LS_DOUBT_FLAGS,
	LS_DOUBT_STACK,
};

/* A call of a Lua function: what luaV_execute holds of it. */
struct ls_stack_owner_call {
	__u64 ci;
	__u64 closure;
	__u64 pc;
};

/* Evidence on the native stack that a state runs on it; see stack_owner_puc.bpf.h. */
struct ls_stack_owner {
	__u64 state;
	/* innermost Lua calls: luaV_execute may hold the caller's values, or not yet its own */
	struct ls_stack_owner_call calls[2];
	__u32 call_count;
	__u32 padding;
	__u64 values; /* the state's stack of values */
	__u64 values_end;
	__u64 address;   /* next to be read */
	__u64 state_end; /* search limit for pointers to the state */
	__u64 call_end;
	__u64 found; /* address of the first pointer to the state; 0: none */
	__u32 has_state;
	__u32 has_call;
	__u32 has_call_in_register; /* 1: in one that calls preserve */
	__u32 padding_two;
};

/* Progress of the removal of states that do not run on this stack from the chain. */
struct ls_weeding {
	__u32 at;        /* index of the next to check; all before it run here */
	__u32 is_unsure; /* 1: a removed state may run here after all */
};

/* State of the walk along the calls. */
struct ls_walk {
	__u64 ci; /* current CallInfo, of the state in scratch->state */
	__u64 base_ci;
	__u32 chain_index;  /* index of that state in the chain */
	__u32 left;         /* frames that may still be added */
	__u32 result_signs; /* LS_RESULT*: the running C function may be just a result */
	__u64 code;         /* of the running function if pc may be in a register; otherwise 0 */
	__u64 code_end;
	__u64 top_func;  /* position of the running function, until its caller was checked */
	__u32 from_root; /* 1: walks towards the leaf and stores frames from the end */
	__u32 is_first;  /* from_root only: the next call is its state's first */
	__u32 is_torn;   /* from_root only: a frame could not be decoded */
	__u32 padding_two;
	__u32 is_suspended; /* 1: the state has yielded; never set in a sample */
	__u32 padding;
	struct ls_frame frame; /* the call decoded last */
	__u64 callers_ci;      /* CallInfo of its caller; 0: unreadable */
	__u64 frame_code;      /* code of its function, if that is a Lua function */

	struct ls_closure_read closure_read;
	__u64 fixed; /* of that function: see ls_puc_fixed_fingerprint() */

	/* for the self-check (self_check_puc.bpf.h): the previous call checked, of this state */
	__u64 callee_ci;
	__u32 callee_results;
	__u32 callee_is_lua;
	__u32 in_hook; /* LS_HOOK_*: signs that a hook runs in this state */
	__u32 checked; /* calls checked so far */
};

struct ls_scratch {
	struct ls_scratch_shared;

	struct ls_stack_owner owner;
	struct ls_weeding weeding;
	struct ls_walk walk;

	/* copies of the target's structs */
	__u8 state[LS_STRUCT_LEN];
	__u64 state_address; /* what `state` is a copy of; 0: none */
	__u8 other_state[LS_STRUCT_LEN];
	__u8 closure[LS_STRUCT_LEN]; /* filled, like `proto`, if the layout must be proven */
	struct ls_value results[LS_RESULTS_MAX]; /* stack slots that may hold results of a call */
	__u8 proto[LS_STRUCT_LEN];
	struct ls_window ci;
	struct ls_window stack;
	struct ls_window closures;
	struct ls_window protos;

	struct ls_puc_content content;
	struct ls_function function;
	struct ls_cached_proto proto_cache[LS_PROTO_CACHE_MAX];
	struct ls_cached_closure closure_cache[LS_CLOSURE_CACHE_MAX];

	struct ls_scratch_caches;
	struct ls_scratch_record;
};

#endif
