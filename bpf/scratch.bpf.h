/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Working memory of a sample, far too large for BPF's stack of 512 bytes. Each walker has its own,
 * one per CPU. What all walkers need of it is here; the walker's own header defines
 *
 *	struct ls_scratch {
 *		struct ls_scratch_shared;
 *		... what only this family needs ...
 *		struct ls_scratch_caches;
 *		struct ls_scratch_record; (must be last)
 *	};
 *
 * with the members of the three structs as its own (-fms-extensions). Memory that is used most
 *comes first: BPF reaches 32 KiB from a pointer by one instruction.
 */
#ifndef LS_SCRATCH_BPF_H
#define LS_SCRATCH_BPF_H

#include "target.bpf.h"
#include "record.h"
#include "target.h"

/* Active states of one native stack: coroutines that resumed each other. */
#define LS_CHAIN_MAX         16
#define LS_CHUNK_BYTES       2048 /* of native stack, per read: never crosses a page */
#define LS_CHUNK_WORDS       (LS_CHUNK_BYTES / 8)
#define LS_SEEN_MAX          64 /* words of a stack that are remembered as considered */
#define LS_STRIDE_WORDS      8  /* of a chunk that one step examines */
#define LS_STRIDE_BYTES      (LS_STRIDE_WORDS * 8)
#define LS_CHUNK_CACHE_MAX   512  /* chunks whose pointers to states are known: 24 KiB */
#define LS_CHUNK_STATES      4    /* at most so many of a chunk are remembered */
#define LS_BAD_POINTER_MAX   256  /* words that point to no memory: 4 KiB */
#define LS_VIEW_BYTES        1024 /* of the Lua stack or of CallInfos, by the first read */
#define LS_WINDOW_BYTES      4096 /* of these or of objects close together, per read: a page */
#define LS_WINDOW_SLACK      264  /* an 8-byte read at a one-byte offset from an object there */
#define LS_PROTO_CACHE_MAX   4096 /* prototypes whose content was read recently: 288 KiB */
#define LS_CLOSURE_CACHE_MAX 1024 /* closures whose functions were read recently: 88 KiB */
#define LS_GAPPED_MAX        64   /* processes whose gaps are remembered: 6 KiB */
#define LS_GAPS_MAX          4    /* below the program, above its heap, below the stack, one more */
#define LS_BARREN_CODE       LS_GAPS_MAX /* first code range in ls_search.barren, after the gaps */
#define LS_BARREN_RANGES     (LS_BARREN_CODE + LS_CODE_RANGES)
#define LS_REGISTER_MAX      32
#define LS_NODE_WORDS        32 /* struct maple_node, include/linux/maple_tree.h */
#define LS_PIVOTS_MAX        15 /* MAPLE_RANGE64_SLOTS - 1, likewise */

/*
 * Distance between the native frames of a coroutine and those of its resumer, or between SP and the
 * interpreter's frame: below LS_NEAR_BYTES they are on one stack, above LS_FAR_BYTES on two.
 */
#define LS_NEAR_BYTES 4096
#define LS_FAR_BYTES  16384

/*
 * A state, of a coroutine or a main thread, that runs or waits for one that it resumed. Each is
 * anchored to the native stack that it runs on, by the address of what its VM keeps there: for PUC
 * Lua, the struct lua_longjmp that its errorJmp points to.
 */
struct ls_active {
	__u64 state;
	__u64 anchor; /* higher for a resumer than for the state it resumed */
	__u64 ci;
	__u64 main_thread; /* of its VM */
};

/* What is known about a thread from its earlier samples. */
struct ls_thread {
	__u64 stack_low; /* the mapping that SP was in, or the part of it that can be its stack */
	__u64 stack_high;
	__u64 bounds_ns;       /* when these were looked up */
	__u64 runtime_ns;      /* CPU time in its last sample */
	__u64 runtime_seen_ns; /* time of the first sample that had this CPU time */
	__u32 dropped;         /* samples lost since the last one that found room */
	__u8 own_stack;        /* 1: the mapping is this thread's stack and nothing else */
	__u8 chain_count;
	__u8 chain_is_cut; /* 1: resumers are missing from it */
	__u8 layout;       /* slot of the layout under which `chain` and `root` were found, */
	struct ls_active chain[LS_CHAIN_MAX]; /* the running state first */
	struct ls_active root;           /* the last state seen at the root; it may be idle now */
	__u64 is_nested;                 /* 1: the chain runs on top of another interpreter's */
	__u8 pc_best;                    /* the highest of pc_scores */
	__u8 pc_scores[LS_REGISTER_MAX]; /* by register: see current_pc.bpf.h */
	__u8 family;                     /* of `layout` */
	__u8 padding_too[6];
};

/* What the timer's program has found out about the tick, for the walkers that it calls. */
struct ls_tick {
	__u64 now_ns;
	__u64 runtime_ns;
	__u32 tgid;
	__u32 tid;
	__u32 image; /* key of `images` */
	__u32 period_ns;
	__u32 max_depth;
	__u32 measures_itself; /* 1: the sample's end is to be measured, for ls_counters.bpf_ns */

	/* how several families share a tick: see hand_over.bpf.h */
	__u32 families;     /* bits: those whose walkers have not looked for a script yet */
	__u64 found_anchor; /* of the innermost script found so far */
	__u8 found_family;  /* likewise; LS_FAMILY_NONE: no script yet */
	__u8 is_final;      /* 1: all have looked, and the walker called has found the innermost */
	__u8 undecided_family; /* the first with a script that fits none of its layouts, or NONE */
	__u8 lacks_walker;     /* 1: one of them is still being loaded */
	__u32 undecided_flags; /* enum ls_sample_flags of that sample */
	__u64 undecided_state; /* ls_sample.state likewise */
};

/* A copy of a piece of the target's memory. */
struct ls_window {
	__u64 start;
	__u64 end;      /* 0: nothing read yet */
	__u64 is_exact; /* 1: only the bytes asked for are read; never set in a sample */
	__u64 near;     /* consecutive objects that were close to their predecessor */
	__u8 bytes[LS_WINDOW_BYTES + LS_WINDOW_SLACK];
};

/* A chunk of a process's native stack, with its pointers to states. */
struct ls_cached_chunk {
	__u64 address;
	__u64 hash;                    /* of its content */
	__u64 states[LS_CHUNK_STATES]; /* 0: none */
};

/* A word of a process's stack or registers that looks like a pointer but could not be followed. */
struct ls_bad_pointer {
	__u64 word; /* XORed with tgid << 48: the highest bits, which no pointer has */
	__u64 time_ns;
};

/* How long something that was read of a process has stayed the same: see proof.bpf.h. */
struct ls_proof {
	__u64 since_ns;        /* it was the same from this time on */
	__u64 until_ns;        /* it need not be read again until this time */
	__u64 own_since_ns;    /* since_ns by the clock ls_scratch.own_ns; 0: unknown */
	__u64 own_verified_ns; /* by that clock, when it was read last; 0: others could write it */
	__u32 tgid;
	__u32 layout;  /* slot of the layout it was read with */
	__u32 edition; /* ls_image.edition in which it was defined */
	__u32 news;    /* ls_scratch.news when it was verified briefly */
};

/* A prototype whose content was read: see proto_cache.bpf.h. */
struct ls_cached_proto {
	__u64 proto;
	__u64 fixed;
	__u64 content;
	struct ls_proof proof;
};

/* What a frame needs of a Lua function. */
struct ls_lua_function {
	__u64 proto;
	__u64 code;
	__u64 fingerprint;
	__u32 code_count;
	__u32 padding;
};

/* A closure of a Lua function: see closure_cache.bpf.h. */
struct ls_cached_closure {
	__u64 closure;
	struct ls_lua_function function;
	struct ls_proof proof;
};

/* What is being read of a closure. */
struct ls_closure_read {
	struct ls_lua_function function;
	__u32 is_defined; /* 1: user space has been sent its definition */
	__u32 was_cached; /* 1: the closure cache had this closure */
};

/* Gaps between the mappings of a process: see unmapped.bpf.h. */
struct ls_gaps {
	__u64 mm; /* the address of its struct mm_struct */
	__u64 stack_start;
	__u32 sequence; /* mm_lock_seq at the look-up; odd: the gaps cannot be known */
	__u32 next;     /* counts replacements: next index into `ranges` */
	struct ls_range ranges[LS_GAPS_MAX];
};

/* State of a descent of one of the kernel's maple trees; see maple_tree.bpf.h. */
struct ls_descent {
	__u64 index; /* to look up */
	__u64 entry; /* pointer to a node; at the end, what covers `index`; 0: nothing */
	__u64 is_entry;
	__u64 low; /* all indices in [low, high) have that entry, maybe others too */
	__u64 high;
	__u64 node[LS_NODE_WORDS]; /* copy of the last node */
};

/* What the function on top of a state can have resumed. */
enum ls_top {
	LS_TOP_UNKNOWN,
	LS_TOP_ALONE,   /* no other state */
	LS_TOP_RESUMES, /* one, and no other */
};

/* State of the search for active states. */
struct ls_search {
	__u64 high;    /* end of the thread's stack */
	__u64 address; /* next to be read */
	__u64 end;     /* end of the current scan */
	/* ranges without states: the thread's own stack; gaps between mappings, code */
	struct ls_range own;
	struct ls_range barren[LS_BARREN_RANGES];
	struct ls_range values; /* another: a stack of values; empty: none is known */
	struct ls_range heap;   /* from the kernel; none of `barren` is in it; empty: unknown */
	__u64 global;           /* VM of the last active state found */
	__u64 main_thread;      /* of that VM */
	__u64 lost;             /* the last pointer that could not be followed; 0: none */
	__u32 rooted;    /* 1: the chain ends with its VM's main thread, so nothing is further up */
	__u32 is_cut;    /* 1: active states are missing from the chain */
	__u32 is_shared; /* 1: the mapping may hold other stacks as well */
	__u32 is_beyond; /* 1: states may be above the known end of the stack */
	__u32 chunks_read;
	__u32 candidate_count;
	__u32 states_met; /* of the current chunk: active, idle or unreadable */
	__u32 standing;   /* links of the last sample's chain that still hold */
	__u32 top;        /* LS_TOP_*: what the function on top of the chain can have resumed */
	__u32 padding;
	__u64 resumed; /* LS_TOP_RESUMES: by that function */
	__u64 candidates[LS_CHUNK_WORDS];
	__u64 chunk[LS_CHUNK_WORDS + LS_STRIDE_WORDS]; /* a partial one ends with zeros */
	__u64 met[LS_CHUNK_STATES];                    /* the first of states_met */
	__u64 seen[LS_SEEN_MAX];                       /* words considered */
	__u64 seen_in[LS_SEEN_MAX]; /* `generation` of that search, plus 1 if the word is a state */
	__u64 generation;           /* number of this search, even */
};

/*
 * Numbers that the steps of a repeat() pass on to each other are in the scratch rather than in the
 * context: for numbers on the BPF stack, the verifier follows every possible value.
 */

/* A return address whose callers are followed: see gc.bpf.h. */
struct ls_followed {
	__u32 at;            /* index of the word */
	__u32 number;        /* entry of the map that it returns into */
	__u32 saves_pointer; /* 1: what returns there has saved that function's frame pointer */
	__u32 is_entered;    /* 1: the callers are those of a garbage collector */
	__u32 is_alive;
	__u32 padding;
};

/* Results of the layouts that were tried on this stack. */
struct ls_selection {
	__u64 best_anchor; /* lowest of those that fit; other interpreters wait further up */
	__u32 layouts;     /* bit per layout to try */
	__u32 decided;     /* bit per layout that is proven already */
	__u32 first;       /* to try first: the one that the thread last ran under */
	__u32 fits;        /* bit per layout that the stack is evidence for */
	__u32 runs;        /* bit per layout under which something seems to run */
	__u32 idle;        /* those of `runs` with C functions only, which prove nothing */
	__u32 unsure;      /* those of `runs` that found states which may be on another stack */
	__u32 best;        /* the layout to keep; LS_LAYOUT_MAX: none */
	__u32 is_done;     /* 1: the result that is in the scratch is final */
	__u32 padding;
};

struct ls_scratch_shared {
	/* circumstances of the sample */
	__u64 now_ns;
	/*
	 * CPU time of a thread whose memory no other thread can write: while it stands still, so
	 * does the memory. 0: there are others
	 */
	__u64 own_ns;
	__u64 pc;
	__u64 sp;
	__u64 registers[LS_REGISTER_MAX];
	__u32 register_count;
	__u32 tgid;
	__u32 edition; /* ls_image.edition */
	__u32 image;   /* ls_tick.image */
	__u32 news;    /* changes when the innermost function is new, or has other content */
	__u32 padding_two;

	/* the search for active states, under one layout after the other */
	struct ls_descent descent;
	struct ls_search search;
	struct ls_active chain[LS_CHAIN_MAX]; /* see active_chain.bpf.h */
	__u32 chain_count;
	__u32 is_undecided; /* 1: the stack must prove its layout */
	struct ls_selection selection;
	struct ls_thread stranger; /* the thread's, for a layout it is not known to run under */
	struct ls_followed followed;

	/* what the walk found under the layout */
	__u32 lua_frames;
	__u32 doubt; /* the part of the layout that failed the self-check, the first; 0: none */
};

struct ls_scratch_caches {
	struct ls_cached_chunk chunk_cache[LS_CHUNK_CACHE_MAX];
	struct ls_bad_pointer bad_pointers[LS_BAD_POINTER_MAX];
	struct ls_gaps gaps[LS_GAPPED_MAX];
};

struct ls_scratch_record {
	__u32 frame_room; /* frames that the sample may have */
	__u32 padding_three;
	struct ls_sample sample;
	struct ls_frame frames[LS_DEPTH_MAX]; /* sent with the sample: must follow it directly */
};

#endif
