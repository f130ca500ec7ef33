/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the toy (tests/toy/program/toy.h) keeps its stack. It has one layout. */
#ifndef LS_OFFSETS_TOY_H
#define LS_OFFSETS_TOY_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LS_TOY_TAG 0x7904da11ad00ULL /* first word of a state */

struct ls_toy_state {
	__u64 tag;
	__u64 anchor; /* address of toy_run()'s frame; 0: the state does not run */
	__u64 call;   /* the running call */
};

struct ls_toy_call {
	__u64 caller; /* 0: none */
	__u64 function;
	__u32 pc;
	__u32 is_native; /* it runs as if it were machine code */
};

struct ls_toy_function {
	__u64 name;
	__u64 source;
	__u32 line;
	__u32 last_line;
};

/* Offsets, as another release of the toy might have others. */
struct ls_toy_layout {
	__u32 state_anchor;
	__u32 state_call;
};

#endif
