/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an instrumented target says about its own stack: shared by the target, which writes it, BPF,
 * which reads it in the very interrupt in which the product walks, and the test, which compares.
 *
 * A stack is a list of words, root first: a Lua function is the line that it is defined on, a C
 * function is its address. Before a transition the target says which stacks it may pass through
 * (alternatives), after it which one it has reached. So at every instant the true stack is the
 * published one or, between the two calls, one of its alternatives.
 *
 * The C functions that say so (helpers) are on the stack as well while they run: `busy` is set and
 * cleared together with what they publish, by one store.
 */
#ifndef TEST_TRUTH_H
#define TEST_TRUTH_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define TRUTH_MAGIC            0x6874757274796c75ULL
#define TRUTH_DEPTH_MAX        256
#define TRUTH_PUSHED_MAX       96
#define TRUTH_ALTERNATIVES_MAX 6
#define TRUTH_HELPERS_MAX      16

/* Written by a single store. */
struct truth_state {
	__u16 depth;
	__u8 alternatives; /* how many there are besides the published stack */
	__u8 chosen;       /* not 0: the true stack is exactly that alternative, counted from 1 */
	__u8 busy;         /* not 0: helper that runs; then the true stack is exactly one */
	__u8 last;         /* helper that ran last */
	__u16 padding;
};
_Static_assert(sizeof(struct truth_state) == 8, "a store of it must be one instruction");

/* The first `keep` words of the published stack, and then words of `pushed`. */
struct truth_alternative {
	__u16 keep;
	__u16 pushed;
	__u16 pushed_count;
	__u16 padding;
};

struct truth {
	__u64 magic;
	struct truth_state state;
	/* not 0: the garbage collector runs, and not one of its finalizers */
	__u64 collector;
	__u64 helpers[TRUTH_HELPERS_MAX]; /* addresses; 0 is none */
	struct truth_alternative alternatives[TRUTH_ALTERNATIVES_MAX];
	__u64 pushed[TRUTH_PUSHED_MAX];
	__u64 stack[TRUTH_DEPTH_MAX];
};
_Static_assert(sizeof(struct truth) <= 4096, "it must not cross a page");

/* What a target says about its leaf: luaV_execute publishes the address of each fetch. */
struct truth_fetch {
	__u64 is_read; /* 0: no such target, or the memory could not be read */
	__u64 before;  /* the instruction that it fetched before */
	__u64 now;
};

#define TRUTH_RECORD 0x74727468 /* not one of enum ls_record_type */

/* What BPF sends, immediately before the product's own records of the same interrupt. */
struct truth_record {
	__u32 type;
	__u32 is_read; /* 0: the target's memory could not be read */
	__u64 time_ns;
	__u64 ip; /* of user space */
	struct truth_fetch fetch;
	struct truth truth;
};

#endif
