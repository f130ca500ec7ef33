/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of all script threads of a process at one moment, for writers to read. Strings are the
 * target's bytes: writers have to escape them.
 */
#ifndef LS_DUMP_H
#define LS_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dump/standing_thread.h"
#include "interpreter/family.h"
#include "process/container.h"
#include "record.h"

struct dump_frame {
	const char *name;   /* NULL: anonymous */
	const char *source; /* "[C]" for C functions; NULL: no function, such as "(truncated)" */
	uint32_t line;      /* current line, from 1; 0: unknown, or a C function */
	uint32_t line_defined;
	bool is_script;
	bool is_rough;      /* no registers were read: may be an earlier line of the function */
	bool is_state_root; /* the first function of its coroutine, or of the main thread */
	char *called;       /* by its caller, if its definition has no name; owned */
	uint32_t function;  /* an id, private to the dump */
};

/* Leaf first, through all resuming coroutines. */
struct dump_stack {
	struct dump_frame *frames; /* owned */
	uint32_t count;
	uint8_t class;        /* enum ls_sample_class; HOST: no script */
	uint8_t error;        /* enum ls_walk_error: why it is not complete */
	struct layout layout; /* valid if there are frames */
	bool is_in_gc;        /* the garbage collector runs, called by the leaf */
	uint64_t state, vm;   /* the running lua_State, and its VM's main thread; 0: none */
};

enum dump_thread_status {
	DUMP_THREAD_MISSED, /* it neither stood still nor ran for long enough */
	DUMP_THREAD_IDLE,   /* it stood still while all of its stack was read */
	DUMP_THREAD_ACTIVE, /* sampled while it ran */
	DUMP_THREAD_GONE,
};

struct dump_thread {
	pid_t tid;
	char name[16];
	enum dump_thread_status status;
	struct standing_thread place; /* system call and registers, if it is idle */
	struct dump_stack stack;
	uint32_t samples;
};

/* A coroutine that has yielded. */
struct dump_coroutine {
	struct dump_stack stack;
};

struct dump_counts {
	uint64_t vms;         /* VMs that were searched for coroutines */
	uint64_t objects;     /* Lua objects visited by that search */
	uint64_t active;      /* coroutines that run or have resumed another: see the threads */
	uint64_t not_started; /* coroutines that were never resumed */
	uint64_t finished;
	uint64_t failed;     /* ended by an error */
	uint64_t changing;   /* coroutines that ran while they were read */
	uint64_t unreadable; /* coroutines that could not be read, or whose layout was not proven */
	uint64_t left_out;   /* VMs that were not searched completely, and coroutines not read */
	bool ran;            /* the target ran meanwhile: coroutines may be missing */
	uint64_t unnamed_calls;
	uint64_t collected;     /* frames */
	uint64_t unknown_lines; /* frames */
};

struct dump_options {
	pid_t pid;
	const char *layout; /* forced; NULL: what stacks prove */
	bool leaves_source; /* does not read source text to name functions */
	bool leaves_command_lines;
	bool all; /* suspended coroutines, too */
};

struct dump {
	struct dump_options options;
	char target[CONTAINER_TITLE_SIZE]; /* "lua5.4 app.lua (pid 42)" */
	char name[16];
	const char *interpreter;
	char layout[512]; /* the vote on it */
	uint64_t time_ms; /* Unix time */
	struct dump_thread *threads;
	size_t thread_count;
	struct dump_coroutine *coroutines; /* the oldest first */
	size_t coroutine_count;
	struct dump_counts counts;
	struct dump_internal *internal; /* owned */
};

/* How many threads have script on their stacks. */
size_t dump__script_threads(const struct dump *dump);

#endif
