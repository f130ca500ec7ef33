/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What BPF sends to user space, through one ring buffer. Every record starts with its type.
 * Times: `time_ns` is CLOCK_MONOTONIC, `runtime_ns` is CPU time that the scheduler has charged the
 * thread since it was born (se.sum_exec_runtime, which moves in scheduler ticks and at switches).
 * Thread and process ids are those of luaspy's own PID namespace.
 */
#ifndef LS_RECORD_H
#define LS_RECORD_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LS_COMM_LEN   16   /* TASK_COMM_LEN, linux/sched.h */
#define LS_DEPTH_MAX  4096 /* frames: the most that --max-depth takes */
#define LS_SOURCE_LEN 512  /* bytes of a chunk name that BPF sends, its NUL included */

enum ls_record_type {
	LS_RECORD_SAMPLE = 1,
	LS_RECORD_FUNCTION,
	LS_RECORD_THREAD_EXIT,
	LS_RECORD_EXEC,
	LS_RECORD_FORK,
};

/* The first that applies, from the top; DROPPED samples are counted in BPF and send no record. */
enum ls_sample_class {
	LS_SAMPLE_DROPPED,
	LS_SAMPLE_UNREADABLE,
	LS_SAMPLE_HOST,
	LS_SAMPLE_TORN,
	LS_SAMPLE_TRUNCATED,
	LS_SAMPLE_COMPLETE,
	LS_SAMPLE_CLASS_COUNT,
};

enum ls_sample_flags {
	LS_SAMPLE_IN_COLLECTOR = 1, /* the garbage collector ran, called by the leaf */
	LS_SAMPLE_MISFIT = 2,       /* script seems to run, but fits no layout that was tried */
};

enum ls_frame_kind {
	LS_FRAME_LUA = 1,
	LS_FRAME_C,
	LS_FRAME_TRUNCATED, /* stands for the frames left out between leaf and root */
};

enum ls_frame_flags {
	LS_FRAME_TAIL_CALLED = 1, /* its caller is gone */
	LS_FRAME_HOOKED = 2, /* it was interrupted by a debug hook: what it "called" is the hook */
	LS_FRAME_FINALIZER =
		4, /* status_finalizer of this CallInfo (whose meaning is the release's) */
	LS_FRAME_STATE_ROOT = 8, /* the first function of its coroutine or main thread */
};

struct ls_frame {
	__u64 function;    /* LUA: address of the Proto; C: of the C function */
	__u64 fingerprint; /* LUA: of the Proto's content, 0 elsewhere */
	__u32 pc;          /* LUA: index of the instruction being executed */
	__u8 kind;         /* enum ls_frame_kind */
	__u8 flags;        /* enum ls_frame_flags */
	__u16 padding;
};
_Static_assert(sizeof(struct ls_frame) == 24, "two programs share this");

/*
 * LS_RECORD_SAMPLE: one tick of one thread. `frame_count` frames follow it, leaf first, across all
 * resumers.
 */
struct ls_sample {
	__u32 type;
	__u32 tgid;
	__u32 tid;
	__u32 dropped_before; /* samples of this thread that found no room since its last record */
	__u64 time_ns;
	__u64 runtime_ns;
	__u64 state;     /* the running lua_State, 0 where none */
	__u64 vm;        /* its VM, by the main thread of it; 0 where none */
	__u32 period_ns; /* of the timer that took it, by how many take turns */
	__u32 flags;     /* enum ls_sample_flags */
	char comm[LS_COMM_LEN];
	__u16 frame_count;
	__u8 class;    /* enum ls_sample_class */
	__u8 error;    /* enum ls_walk_error, the first that occurred */
	__u8 layout;   /* index of the layout that the stack was walked with */
	__u8 verified; /* the walk is evidence for that layout: see design.md, "Layout verdict" */
	__u16 other_layouts; /* bit per layout that fitted as well */
};
_Static_assert(sizeof(struct ls_sample) == 80, "two programs share this");

/*
 * LS_RECORD_FUNCTION: what defines a prototype, sent when BPF first sees (function, fingerprint),
 * and before any sample that has it. It may come again. The record ends with the source's NUL: no
 * more of `source` than that is there.
 */
struct ls_function {
	__u32 type;
	__u32 tgid;
	__u64 function;
	__u64 fingerprint;
	__u64 shape;        /* of code and sizes: tells apart two functions defined on one line */
	__u32 line_defined; /* 0: a main chunk */
	__u32 last_line_defined;
	__u32 source_length; /* bytes in `source`, without a NUL */
	__u32 layout;
	char source[LS_SOURCE_LEN]; /* chunk name, with its '@' or '='; cut off at the first NUL */
};
_Static_assert(sizeof(struct ls_function) == 48 + LS_SOURCE_LEN, "two programs share this");

/* LS_RECORD_THREAD_EXIT: `runtime_ns` is final. */
struct ls_thread_exit {
	__u32 type;
	__u32 tgid;
	__u32 tid;
	__u32 is_last; /* the last thread of its process */
	__u64 time_ns;
	__u64 runtime_ns;
	char comm[LS_COMM_LEN];
};
_Static_assert(sizeof(struct ls_thread_exit) == 48, "two programs share this");

/* LS_RECORD_EXEC: the process runs another program now. */
struct ls_exec {
	__u32 type;
	__u32 tgid;
	__u64 time_ns;
	__u64 runtime_ns;       /* CPU time of the thread until then */
	char comm[LS_COMM_LEN]; /* its name from now on */
};
_Static_assert(sizeof(struct ls_exec) == 40, "two programs share this");

/*
 * LS_RECORD_FORK: a process was born of one that is sampled, and is sampled like it. Only where
 * children are followed.
 */
struct ls_fork {
	__u32 type;
	__u32 tgid;
	__u32 parent_tgid;
	__u32 padding;
	__u64 time_ns;
	char comm[LS_COMM_LEN];
};
_Static_assert(sizeof(struct ls_fork) == 40, "two programs share this");

/* What tells of the lives of threads and processes, by its first word. */
union ls_event {
	__u32 type;
	struct ls_thread_exit exit;
	struct ls_exec exec;
	struct ls_fork fork;
};

#endif
