/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one sample works with, far too large for BPF's stack of 512 bytes: one per CPU. */
#ifndef LS_SCRATCH_BPF_H
#define LS_SCRATCH_BPF_H

#include "target.bpf.h"
#include "layout.h"
#include "record.h"
#include "target.h"

typedef int ls_reader_t;
#define LS_READ(reader, to, size, address)        read_target(to, size, address)
#define LS_READ_STRING(reader, to, size, address) read_target_string(to, size, address)
#define LS_REPEAT(count, step, context)           repeat(count, step, context)
#include "fingerprint_puc.h"

/* Stacks within one stack that are told apart: coroutines that resumed each other. */
#define LS_CHAIN_MAX     16
#define LS_CHUNK_BYTES   2048 /* of native stack, read at once: never crosses a page */
#define LS_CHUNK_WORDS   (LS_CHUNK_BYTES / 8)
#define LS_SEEN_MAX      64   /* words of a stack that are not looked at twice */
#define LS_QUIET_MAX     512  /* chunks that are not looked through twice: 8 KiB */
#define LS_NOWHERE_MAX   256  /* words that point to no memory: 4 KiB */
#define LS_WINDOW_BYTES  1024 /* of the Lua stack, and of 5.1's CallInfos, read at once */
#define LS_MEMO_MAX      4096 /* prototypes whose content was read lately: 288 KiB */
#define LS_MET_MAX       32   /* closures of one stack that are not read twice */
#define LS_BARREN_RANGES (1 + LS_CODE_RANGES)
#define LS_REGISTER_MAX  32
#define LS_NODE_WORDS    32 /* struct maple_node, include/linux/maple_tree.h */
#define LS_PIVOTS_MAX    15 /* MAPLE_RANGE64_SLOTS - 1, likewise */

/*
 * Native frames between a coroutine's and its resumer's, or between SP and the interpreter's: of
 * one stack if nearer than the first, of another stack if further than the second.
 */
#define LS_NEAR_BYTES 4096
#define LS_FAR_BYTES  16384

/* A lua_State that runs or waits for one that it resumed: its errorJmp lies in this stack. */
struct ls_active {
	__u64 state;
	__u64 error_jump; /* higher for a resumer than for what it resumed */
	__u64 ci;
	__u64 main_thread; /* of its VM */
};

/* What is known of a thread from its earlier samples. */
struct ls_thread {
	__u64 stack_low; /* the mapping that SP was in, or the part of it that can be its stack */
	__u64 stack_high;
	__u64 bounds_ns;       /* when these were looked up */
	__u64 runtime_ns;      /* CPU time, as its samples carried it last */
	__u64 runtime_seen_ns; /* when the first of these was taken */
	__u32 dropped;         /* samples since the last that found room */
	__u8 own_stack;        /* the mapping is this thread's stack and nothing else */
	__u8 chain_count;
	__u8 chain_is_cut;                    /* resumers of it are missing */
	__u8 layout;                          /* that `chain` and `root` were found under */
	struct ls_active chain[LS_CHAIN_MAX]; /* running one first */
	struct ls_active root; /* the last that was seen at the root, which may be idle now */
	__u64 is_nested;       /* 1: the chain runs on top of another interpreter's */
	__u8 pc_best;          /* the highest of these */
	__u8 pc_scores[LS_REGISTER_MAX]; /* by register: see current_pc_puc.bpf.h */
	__u8 padding_too[7];
};

/* A prototype whose content was read: see fingerprint_of(). */
struct ls_memo {
	__u64 proto;
	__u64 fixed;
	__u64 content;
	__u64 since_ns;        /* the content has been the same from here */
	__u64 verified_ns;     /* to here */
	__u64 own_since_ns;    /* the same by ls_scratch.own_ns; 0: not known */
	__u64 own_verified_ns; /* 0: by then others could write it */
	__u32 tgid;
	__u32 layout;  /* it was read with */
	__u32 edition; /* of ls_target, in which it was defined */
	__u32 padding;
};

/*
 * A Lua closure that this walk has met. Whoever calls itself is on the stack many times, and
 * nothing of the target moves during a walk: it is read once.
 */
struct ls_met {
	__u64 closure;
	__u64 walk; /* the number of the walk */
	__u64 proto;
	__u64 code;
	__u64 fingerprint;
	__u32 code_count;
	__u32 padding;
};

#define LS_RESULTS_MAX 6

/* A value as it lies on the stack. */
struct ls_value {
	__u64 value;
	__u64 tag; /* the lowest byte; 0: nil */
};

/* A piece of the target's memory. */
struct ls_window {
	__u64 start;
	__u64 end;      /* 0: nothing read yet */
	__u64 is_exact; /* 1: nothing but what is asked for is read; never in a sample */
	__u8 bytes[LS_WINDOW_BYTES + LS_STRUCT_LEN];
};

/* A whole chunk of some process's native stack that had no pointer to a state in it. */
struct ls_quiet {
	__u64 address;
	__u64 hash; /* of its content */
};

/* A word of some process's stack or registers that looks like a pointer and could not be followed.
 */
struct ls_nowhere {
	__u64 word; /* and in the highest bits, which no pointer has, something of the process */
	__u64 time_ns;
};

/* How far one of the kernel's maple trees has been descended; see maple_tree.bpf.h. */
struct ls_descent {
	__u64 index; /* that is looked for */
	__u64 entry; /* a pointer to a node; in the end to what the index has, or 0: nothing */
	__u64 is_entry;
	__u64 node[LS_NODE_WORDS]; /* a copy of the last one */
};

/* Where the search for active states has come to. */
struct ls_search {
	__u64 high;    /* end of the thread's stack */
	__u64 address; /* next to be read */
	__u64 end;     /* of what is to be read */
	/* where no state can lie: the thread's own stack, code */
	struct ls_range barren[LS_BARREN_RANGES];
	__u64 global; /* of the state that was looked at last */
	__u32 rooted; /* the chain's last is its VM's main thread: nothing of it lies further up */
	__u32 is_cut; /* there are more active states than the chain holds */
	__u32 is_shared; /* the mapping may hold the stacks of others */
	__u32 is_beyond; /* there may be more above the known end of the stack */
	__u32 chunks_read;
	__u32 candidate_count;
	__u32 states_met; /* in the chunk that is looked through, active or not */
	__u32 padding;
	__u64 candidates[LS_CHUNK_WORDS];
	__u64 chunk[LS_CHUNK_WORDS];
	__u64 seen[LS_SEEN_MAX];    /* words considered */
	__u64 seen_in[LS_SEEN_MAX]; /* in which search */
	__u64 generation;           /* of this search */
};

/* What of a layout contradicted itself, for tests. */
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

/* A call of a Lua function, by what luaV_execute has of it. */
struct ls_proof_call {
	__u64 ci;
	__u64 closure;
	__u64 pc;
};

/* What on the native stack shows that a state runs on it; see proof.bpf.h. */
struct ls_proof {
	__u64 state;
	/* the innermost ones: luaV_execute may still have the caller's, or not yet its own */
	struct ls_proof_call calls[2];
	__u32 call_count;
	__u32 padding;
	__u64 values; /* the state's stack of them */
	__u64 values_end;
	__u64 address;   /* next to be read */
	__u64 state_end; /* so far up the state may lie, and its call */
	__u64 call_end;
	__u64 found; /* where the state was met; 0: nowhere */
	__u32 has_state;
	__u32 has_call;
};

/*
 * Numbers that steps of a repeat() pass on to each other lie in the scratch rather than in their
 * context, for of those on the stack the verifier follows each value that there may be.
 */

/* How far the chain is rid of what does not run on this stack. */
struct ls_weeding {
	__u32 at;        /* so many of the chain's first run here */
	__u32 is_unsure; /* one was taken off that may do so */
};

/* What came of the layouts that were tried on this stack. */
struct ls_attempt {
	__u64 best_jump; /* the lowest: what it ran under waits further up */
	__u32 layouts;   /* bit per layout to try */
	__u32 decided;   /* bit per layout whose proof is done */
	__u32 first;     /* the one that the thread ran under last */
	__u32 fits;      /* bit per layout that the stack is proof of */
	__u32 runs;      /* bit per layout under which something seems to run */
	__u32 idle;      /* of those, where it is C alone, which proves nothing */
	__u32 best;      /* the layout to keep; LS_LAYOUT_MAX: none */
	__u32 is_done;   /* what is in the scratch is to be kept */
};

/* Where the walk along the calls has come to. */
struct ls_walk {
	__u64 ci; /* of the state in scratch->state */
	__u64 base_ci;
	__u32 chain_index; /* of that state */
	__u32 left;        /* frames that may still be added */
	__u32 lua_frames;
	__u32 result_signs; /* that the running C function is a result of the one that ran */
	__u64 code;         /* of the running function; 0: it keeps its pc nowhere else */
	__u64 code_end;
	__u64 top_func;  /* where the running function lies, until its caller was looked at */
	__u32 from_root; /* 1: towards the leaf, frames are placed from the end */
	__u32 is_first;  /* likewise: the next call is its state's first */
	__u32 is_torn;   /* likewise: it met a frame that cannot be decoded */
	__u32 padding_two;
	__u32 is_suspended; /* the state has yielded: never in a sample */
	__u32 padding;
	struct ls_frame frame; /* the call that was decoded last */
	__u64 frame_code;      /* of its function, if that is a Lua function */

	/* of the self-check (self_check.bpf.h): the call that was looked at before, of this state
	 */
	__u64 callee_ci;
	__u32 callee_results;
	__u32 callee_is_lua;
	__u32 in_hook; /* LS_HOOK_*: signs that one runs in this state */
	__u32 checked; /* calls */
	__u32 doubt;   /* enum ls_doubt, the first */
	__u32 padding_three;
};

struct ls_scratch {
	/* the sample's circumstances */
	__u64 now_ns;
	/* CPU time of a thread whose memory no other can write: it stays as it is while that does
	 * not go on. 0: there are others */
	__u64 own_ns;
	__u64 pc;
	__u64 sp;
	__u64 registers[LS_REGISTER_MAX];
	__u32 register_count;
	__u32 tgid;
	__u32 edition; /* of ls_target */
	__u32 image;   /* which of those it is */

	struct ls_descent descent;
	struct ls_search search;
	struct ls_active chain[LS_CHAIN_MAX];
	__u32 chain_count;
	__u32 padding;
	struct ls_proof proof;
	struct ls_weeding weeding;
	struct ls_attempt attempt;
	struct ls_walk walk;
	struct ls_thread stranger; /* the thread, to a layout that it is not known to run under */
	__u32 is_undecided;        /* the stack is to prove its layout */
	__u32 padding_three;

	/* copies of the target's structs */
	__u8 state[LS_STRUCT_LEN];
	__u64 state_address; /* of the copy; 0: none */
	__u8 other_state[LS_STRUCT_LEN];
	__u8 closure[LS_STRUCT_LEN];
	struct ls_value results[LS_RESULTS_MAX]; /* where those of a C function may be */
	__u8 proto[LS_STRUCT_LEN];
	struct ls_window ci;
	struct ls_window stack;

	struct ls_puc_content content;
	struct ls_function function;
	struct ls_memo memo[LS_MEMO_MAX];
	struct ls_met met[LS_MET_MAX];
	struct ls_quiet quiet[LS_QUIET_MAX];
	struct ls_nowhere nowhere[LS_NOWHERE_MAX];
	__u64 walk_number;

	/* the record */
	__u32 frame_room;
	__u32 padding_too;
	struct ls_sample sample;
	struct ls_frame frames[LS_DEPTH_MAX]; /* sent with the sample: must follow it */
};

/* What the step of a loop is given. */
struct ls_pass {
	struct ls_scratch *scratch;
	const struct ls_puc_layout *layout;
};

#endif
