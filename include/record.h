/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records that BPF sends to user space through one ring buffer. Every record starts with its type.
 * `time_ns` is CLOCK_MONOTONIC. `runtime_ns` is the CPU time of the thread since it was created, up
 * to the moment of the record; if the kernel lacks the fields that bpf/cpu_time.bpf.h reads, it is
 * only up to the scheduler's last tick or context switch.
 * Thread and process ids are those of luaspy's own PID namespace.
 */
#ifndef LS_RECORD_H
#define LS_RECORD_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define LS_COMM_LEN   16   /* TASK_COMM_LEN, linux/sched.h */
#define LS_DEPTH_MAX  4096 /* frames: upper limit of --max-depth */
#define LS_SOURCE_LEN 512  /* bytes of a chunk name that BPF sends, its NUL included */
#define LS_NAME_LEN   128  /* of a function's name, likewise */

enum ls_record_type {
	LS_RECORD_SAMPLE = 1,
	LS_RECORD_FUNCTION,
	LS_RECORD_THREAD_EXIT,
	LS_RECORD_THREAD_REST,
	LS_RECORD_EXEC,
	LS_RECORD_FORK,
};

/* A sample has the first class that applies. DROPPED samples are counted in BPF, not sent. */
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
	LS_SAMPLE_MISFIT = 1, /* Lua code seems to run, but fits no layout that was tried */
	LS_SAMPLE_UNSURE = 2, /* with MISFIT: one may fit, but the stack may be another state's */
};

/* What the VM does on its own account while the leaf runs. */
enum ls_activity {
	LS_ACTIVITY_NONE,
	LS_ACTIVITY_GC,
	LS_ACTIVITY_COMPILER,   /* it makes machine code of a script */
	LS_ACTIVITY_TRACE_EXIT, /* it restores what the interpreter needs after machine code */
	LS_ACTIVITY_COUNT,
};

enum ls_frame_kind {
	LS_FRAME_LUA = 1,
	LS_FRAME_C,
	LS_FRAME_TRUNCATED, /* placeholder for the frames left out between leaf and root */
};

enum ls_frame_flags {
	LS_FRAME_TAIL_CALLED = 1, /* it was tail-called: its caller has no frame */
	LS_FRAME_HOOKED = 2,      /* a debug hook interrupted it: what it "called" is the hook */
	LS_FRAME_FINALIZER = 4,   /* status_finalizer of its CallInfo: depends on the release */
	LS_FRAME_STATE_ROOT = 8,  /* the first function of its coroutine or main thread */
	LS_FRAME_NATIVE = 16,     /* LUA: it ran as machine code that the VM had made of it */
};

/* ls_frame.pc where the instruction is not known, as in a part of compiled code. */
#define LS_PC_UNKNOWN 0xffffffffU

/* C functions that share their code have numbers above its address. */
#define LS_CODE_ADDRESS ((1ULL << 56) - 1)

struct ls_frame {
	__u64 function;    /* LUA: address of the Proto; C: of the C function, LS_CODE_ADDRESS */
	__u64 fingerprint; /* LUA: of the Proto's content; C: of code and name, if the VM keeps it
			    */
	__u32 pc;          /* LUA: index of the instruction being executed; or LS_PC_UNKNOWN */
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
	__u64 state;     /* the running lua_State; 0: none */
	__u64 vm;        /* main thread of its VM; 0: none */
	__u32 period_ns; /* period of the timer that took it, divided by the timers of the thread */
	__u8 flags;      /* enum ls_sample_flags */
	__u8 memory_category; /* what the host has the running state's memory counted to; 0: none */
	__u8 family;          /* enum ls_family: whose walker found the stack */
	__u8 activity;        /* enum ls_activity */
	char comm[LS_COMM_LEN];
	__u16 frame_count;
	__u8 class;    /* enum ls_sample_class */
	__u8 error;    /* enum ls_walk_error, the first that occurred */
	__u8 layout;   /* slot of the family's layout that the walk used */
	__u8 verified; /* 1: the walk is evidence for the layout: user/interpreter/layout_vote.h */
	__u16 other_layouts; /* one bit per other layout that fitted as well */
};
_Static_assert(sizeof(struct ls_sample) == 80, "two programs share this");

/*
 * LS_RECORD_FUNCTION: the definition of a prototype, or the name that a VM keeps of a C function.
 * BPF sends it when it first sees (function, fingerprint), before any sample that refers to it, and
 * may send it again. The rest of `text` is not sent.
 */
struct ls_function {
	__u32 type;
	__u32 tgid;
	__u64 function;
	__u64 fingerprint;
	__u64 shape;        /* of code and sizes: distinguishes two functions defined on one line */
	__u32 line_defined; /* 0: a main chunk */
	__u32 last_line_defined;
	__u16 source_length; /* bytes of the chunk name in `text`, without its NUL */
	__u16 name_length;   /* likewise of the function's name */
	__u16 layout;
	__u8 family;
	__u8 kind; /* LS_FRAME_C: of a C function, which has a name and no source; else LUA or 0 */
	/*
	 * Chunk name, with its '@' or '=', cut off at the first NUL; then, if the VM keeps a name
	 * of the function, that name. Each ends in a NUL.
	 */
	char text[LS_SOURCE_LEN + LS_NAME_LEN];
};
_Static_assert(sizeof(struct ls_function) == 48 + LS_SOURCE_LEN + LS_NAME_LEN,
	       "two programs share this");

/*
 * LS_RECORD_THREAD_EXIT: the thread starts to exit. The kernel has yet to release what it holds,
 * which takes up to a few milliseconds for the last thread of a process.
 * LS_RECORD_THREAD_REST: the thread is gone. It has the same fields, but `runtime_ns` is the CPU
 * time since its LS_RECORD_THREAD_EXIT.
 */
struct ls_thread_exit {
	__u32 type;
	__u32 tgid;
	__u32 tid;
	__u16 is_last;      /* the last thread of its process */
	__u16 rest_follows; /* LS_RECORD_THREAD_REST follows once its parent has waited for it */
	__u64 time_ns;      /* of the exit */
	__u64 runtime_ns;
	char comm[LS_COMM_LEN];
};
_Static_assert(sizeof(struct ls_thread_exit) == 48, "two programs share this");

/* LS_RECORD_EXEC: the process has executed another program. */
struct ls_exec {
	__u32 type;
	__u32 tgid;
	__u64 time_ns;
	__u64 runtime_ns;       /* CPU time of the thread until then */
	char comm[LS_COMM_LEN]; /* its name from now on */
	__u32 lost_timers;      /* 1: the kernel removed its timers: see bpf/lifecycle.bpf.c */
	__u32 padding;
};
_Static_assert(sizeof(struct ls_exec) == 48, "two programs share this");

/*
 * LS_RECORD_FORK: a sampled process created a process, which is sampled like its parent. BPF sends
 * it only if children are followed.
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

/* Records about the lives of threads and processes; `type` selects the member. */
union ls_event {
	__u32 type;
	struct ls_thread_exit exit;
	struct ls_exec exec;
	struct ls_fork fork;
};

#endif
