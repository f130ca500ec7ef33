/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What user space tells BPF about a target, and what BPF counts. */
#ifndef LS_TARGET_H
#define LS_TARGET_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <families.h>

#include "record.h"
#include "walk_error.h"

/*
 * Index into the program array of walkers, and bit of a set of families. Where the set is empty,
 * LS_FAMILY_NONE is the index of the program that sends the sample.
 */
#define X(NAME, name) LS_FAMILY_##NAME,
enum ls_family { LS_FAMILIES(X) LS_FAMILY_COUNT, LS_FAMILY_NONE = LS_FAMILY_COUNT };
#undef X

/* Layouts of one family: slots, and bits of a set. */
#define LS_LAYOUT_MAX 16

struct ls_range {
	__u64 low;
	__u64 high;
};

#define LS_CODE_RANGES 2

enum ls_code_kind {
	LS_CODE_OTHER,
	LS_CODE_COLLECTOR, /* runs only while garbage is collected */
	LS_CODE_OUTER,     /* may run functions or start a collection, but is not part of one */
};

struct ls_code {
	__u64 address;
	__u32 size;
	__u8 kind;           /* enum ls_code_kind */
	__u8 is_tail_called; /* 1: what is called at first may be other code */
	__u16 frame; /* bytes from a return address into it to its own one, LS_FRAME_POINTER or 0 */
};

/* The code keeps a frame pointer, so the size of its frame does not matter. 0: nothing is known. */
#define LS_FRAME_POINTER 1

#define LS_CODE_MAP_MAX 1024 /* a power of two; enough for two files that contain Lua */

#define LS_LIBRARY_MAX  256 /* a power of two; enough for two files that contain Lua */
#define LS_RESUMERS_MAX 2   /* likewise */

/* The layouts of one family that a program's interpreters may have, one bit per slot. */
struct ls_candidates {
	__u16 layouts; /* to try: candidates and decided ones; 0: none of this family */
	__u16 decided; /* those of `layouts` that are decided; samples self-check the others */
};

/*
 * The C functions of one interpreter that resume a coroutine, and only the one that they hold:
 * lcorolib.c (5.1: lbaselib.c). 0: unknown.
 */
struct ls_resumer {
	__u64 resume;  /* coroutine.resume, which holds it as its first argument */
	__u64 auxwrap; /* what coroutine.wrap returns, which holds it as its upvalue */
};

/*
 * What is known about a program in memory. Value of the map `images`, whose keys are numbers that
 * user space assigns; the map `targets` has the number of each tgid. Forked processes share one
 * image. LS_IMAGE_NONE is the number of a program that user space has not examined yet.
 */
#define LS_IMAGE_NONE 0

struct ls_image {
	/* Code and constants of interpreter and program: a pointer there is no lua_State. */
	struct ls_range code[LS_CODE_RANGES];
	__u32 families; /* a bit for each whose walker looks for a script */
	struct ls_candidates candidates[LS_FAMILY_COUNT];
	__u32 edition;   /* when it changes, BPF must define all functions again */
	__u32 map_count; /* entries of `map`; 0: the garbage collector's code is unknown */
	struct ls_code map[LS_CODE_MAP_MAX]; /* sorted by address */
	/* C functions of Lua's own library that never run another state; sorted */
	__u64 library[LS_LIBRARY_MAX];
	__u32 library_count;
	__u32 resumer_count;
	struct ls_resumer resumers[LS_RESUMERS_MAX];
};

/*
 * Value of the map `births`, keyed by tid: threads that targets created while luaspy was sampling,
 * and the first threads of their children if these are followed.
 */
struct ls_birth {
	__u64 time_ns; /* CLOCK_MONOTONIC, after the thread inherited its parent's timers */
	__u32 parent_tid;
	__u32 padding;
};

/* A program that a process runs, since its exec(), or since fork() copied it with its parent. */
struct ls_program {
	__u64 time_ns;        /* bpf_ktime_get_ns() when it began; 0: there is no such program */
	__u64 runtime_ns;     /* CPU time of the process until then */
	__u64 stack_start;    /* mm->start_stack: each execution has another, its copies the same */
	__u64 code_start;     /* mm->start_code: lies in the program's own mapping */
	__u32 youngest_child; /* tgid of the last process that it forked; 0: none */
	char comm[16];
	__u32 padding;
};

/*
 * Value of the map `executions`, keyed by tgid: processes that have executed a program, and those
 * that they forked. Targets and their children are not noted until they execute.
 */
struct ls_execution {
	struct ls_program program;
	struct ls_program previous; /* the one before, if it was no target at its end */
	__u64 counted_ns;    /* CPU time up to which it was sampled before; 0: never sampled */
	__u64 ended_ns;      /* CPU time when it ended; 0: it has not ended */
	__u32 parent_tgid;   /* that forked it, if that one is noted; or 0 */
	__u32 older_sibling; /* tgid of the process that the parent's program forked before; or 0 */
};

/* Whose timers sample threads that are young: see bpf/sampler.bpf.c. */
enum ls_young {
	LS_YOUNG_BY_OWN,        /* their own alone, as all threads */
	LS_YOUNG_BY_BOTH,       /* those of the processors, too */
	LS_YOUNG_BY_PROCESSORS, /* those of the processors alone */
};

/* Value of the per-CPU map `counters`. */
struct ls_counters {
	__u64 ticks;        /* timer interrupts of target threads that took a sample */
	__u64 spare_ticks;  /* those that took none: another timer samples the thread at its age */
	__u64 dropped;      /* samples that found no room in the ring buffer */
	__u64 records_lost; /* other records that found no room */
	__u64 vma_busy;
	__u64 scans;       /* samples that had to search the stack for the running state */
	__u64 chunks;      /* of native stack that these samples read */
	__u64 definitions; /* prototypes whose content was read */
	__u64 clocked_ns;  /* CPU time that the ticks stand for, by the periods of their timers */
	__u64 bpf_ns;      /* time that samples took in BPF, if measured */
};

#endif
