/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What user space tells BPF about a target, and what BPF counts. */
#ifndef LS_TARGET_H
#define LS_TARGET_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include "record.h"
#include "walk_error.h"

/* Index into the program array of walkers. */
enum ls_family {
	LS_FAMILY_PUC,
	LS_FAMILY_COUNT,
};

struct ls_range {
	__u64 low;
	__u64 high;
};

#define LS_CODE_RANGES 2

enum ls_code_kind {
	LS_CODE_OTHER,
	LS_CODE_COLLECTOR, /* runs only while garbage is collected */
	LS_CODE_OUTER,     /* may run functions or start a collection, and is no part of one */
};

struct ls_code {
	__u64 address;
	__u32 size;
	__u16 kind;  /* enum ls_code_kind */
	__u16 frame; /* bytes from a return address into it to its own; 0: not known */
};

#define LS_CODE_MAP_MAX 1024 /* a power of two: for two files with Lua */

/*
 * What is known of a program in memory: value of the map `images`, keyed by numbers that user space
 * gives, which the map `targets` has by tgid. Processes that forked share one. LS_IMAGE_NONE is
 * that of a program that nobody has looked at yet.
 */
#define LS_IMAGE_NONE 0

struct ls_target {
	/* The interpreter's and the program's code and constants: what points there is no state. */
	struct ls_range code[LS_CODE_RANGES];
	__u32 family;    /* enum ls_family */
	__u16 layouts;   /* bit per layout to try: candidates, and those that are decided */
	__u16 decided;   /* of those; a sample is a snapshot for the self-check of the others */
	__u32 edition;   /* when it changes, all functions are to be defined again */
	__u32 map_count; /* 0: the collector is not known */
	struct ls_code map[LS_CODE_MAP_MAX]; /* in order of address */
};

/*
 * Value of the map `births`, keyed by tid: threads of targets that were born under our eyes, and
 * the first threads of their children where these are followed.
 */
struct ls_birth {
	__u64 time_ns; /* CLOCK_MONOTONIC, after a timer of the parent's was inherited */
	__u32 parent_tid;
	__u32 padding;
};

/* Value of the map `executions`, keyed by tgid: processes that became another program. */
struct ls_execution {
	__u64 time_ns;     /* bpf_ktime_get_ns() */
	__u64 runtime_ns;  /* CPU time until then */
	__u64 counted_ns;  /* CPU time up to which it was sampled before; 0: it was not */
	__u64 stack_start; /* where the program's stack begins: each execution has another */
	__u64 ended_ns;    /* CPU time when it ended; 0: it has not */
	char comm[16];
};

/* Value of the per-CPU map `counters`. */
struct ls_counters {
	__u64 ticks;        /* timer interrupts of target threads */
	__u64 dropped;      /* samples that found no room in the ring buffer */
	__u64 records_lost; /* other records that found none */
	__u64 vma_busy;
	__u64 scans;       /* samples that had to look for the running state */
	__u64 chunks;      /* of stack that they read */
	__u64 definitions; /* prototypes whose content was read */
	__u64 clocked_ns;  /* CPU time that the ticks stand for, by the periods of their timers */
	__u64 bpf_ns;      /* that the programs took, where it is measured */
};

#endif
