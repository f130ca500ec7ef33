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

#define LS_CODE_RANGES      2
#define LS_COLLECTOR_RANGES 24
#define LS_EXECUTOR_RANGES  12

/* Value of the map `targets`, keyed by tgid. */
struct ls_target {
	/* The interpreter's and the program's code and constants: what points there is no state. */
	struct ls_range code[LS_CODE_RANGES];
	__u32 family;  /* enum ls_family */
	__u16 layouts; /* bit per layout to try: candidates, and those that are decided */
	__u16 decided; /* of those; a sample is a snapshot for the self-check of the others */
	__u32 edition; /* when it changes, all functions are to be defined again */
	__u32 padding;
	/*
	 * The collector's code, and that which runs functions, its finalizers too. Both end with
	 * the first empty range: there is none where they are not known.
	 */
	struct ls_range watched; /* from the lowest to the highest of them */
	struct ls_range collector[LS_COLLECTOR_RANGES];
	struct ls_range executor[LS_EXECUTOR_RANGES];
};

/* Value of the map `births`, keyed by tid: threads of targets that were born under our eyes. */
struct ls_birth {
	__u64 time_ns; /* CLOCK_MONOTONIC, after a timer of the parent's was inherited */
	__u32 parent_tid;
	__u32 padding;
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
};

#endif
