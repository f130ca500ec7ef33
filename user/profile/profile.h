/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile that writers read: functions, a call tree below categories, and how it was recorded.
 * Writers know nothing else: no BPF, no process, no interpreter.
 *
 * Strings are bytes as the target had them: any value but NUL, not necessarily UTF-8. Whoever
 * writes them escapes them. Ids of functions and nodes count from 1; 0 is "none".
 */
#ifndef LS_PROFILE_H
#define LS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>

#include "record.h"
#include "walk_error.h"

enum ls_function_flags {
	LS_FUNCTION_NATIVE = 1, /* ran as machine code generated from script */
	LS_FUNCTION_PLUGIN = 2, /* it or an ancestor matches --plugin */
};

struct ls_profile_function {
	const char *source; /* NULL: not script, e.g. "(host)" */
	const char *name;   /* NULL: anonymous */
	uint32_t line;      /* where it is defined, from 1; 0: none */
	uint32_t flags;     /* enum ls_function_flags */
	/* The line that it is at: one function has an entry for each. 0: not known, or any. */
	uint32_t current_line;
	uint32_t function; /* of `current_line`: its entry without a line, where there is one */
	/* Where `current_line` is any, what is known of its own time: see ls_profile.lines. */
	uint32_t first_line, line_count;
};

/* Of a function's own samples and time, those at one line. Unknown lines are left out. */
struct ls_profile_line {
	uint32_t line;
	uint32_t padding;
	uint64_t self_ns;
	uint64_t samples;
};

struct ls_profile_node {
	uint32_t parent;   /* 0: a category */
	uint32_t function; /* 0: a category */
	uint32_t first_child;
	uint32_t next_sibling;
	uint64_t self_ns;
	uint64_t samples; /* that ended here */
	/*
	 * CPU time that they stand for, by the periods of the timers that took them; of a category,
	 * samples that were lost. Known where samples are counted, not of views and merged trees.
	 */
	uint64_t weight_ns;
};

struct ls_profile_category {
	const char *name;
	uint32_t node;
	uint32_t owner; /* whose it is, where profiles are split by that: see profile_split.h */
};

/* What a session was told or decided, and when: see control.h and overhead.h. */
struct ls_profile_event {
	uint64_t time_ns; /* wall clock since the session's start */
	const char *kind; /* "pause", "resume", "mark", "write" or "frequency" */
	const char *text; /* of a mark, or the frequency from here on; NULL: none */
};

/* A sample in time, for charts: which node it ended at. */
struct ls_profile_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t node;    /* see ls_profile.sample_nodes */
	uint32_t thread;  /* its id */
};

/* What luaspy cost its targets and the host while it sampled, where that was limited. */
struct ls_profile_overhead {
	uint32_t limit_ppm;      /* of the targets' CPU time; 0: none, and nothing is known */
	uint64_t interrupts_ns;  /* of timers */
	uint64_t bpf_ns;         /* of the programs that they ran */
	uint64_t own_ns;         /* CPU time of luaspy itself */
	uint64_t period_ns;      /* of the frequency by now */
	uint64_t lowered_ns;     /* of the wall clock, at a lower frequency for that */
	uint64_t period_most_ns; /* of that frequency where it was lowest; 0: it never was */
};

/* Something that luaspy found and decided, for the file and the terminal. */
struct ls_profile_recorder {
	const char *version;     /* of luaspy */
	const char *host;        /* uname's nodename */
	const char *target;      /* "lua5.4 (pid 42)" */
	const char *interpreter; /* "Lua 5.4.4 in /usr/bin/lua5.4, static, stripped"; NULL: none */
	const char *layout;      /* the verdict with its evidence; NULL: undecided */
	/*
	 * How the garbage collectors were found whose time is that of the function GC, even where
	 * there is none; NULL: none was. And why others were not, whose time is that of the
	 * functions that they interrupted; NULL: there are no others.
	 */
	const char *collector;
	const char *collector_unknown;
	uint64_t period_ns;
	uint64_t start_ms;    /* Unix time */
	uint64_t duration_ns; /* wall clock */
	uint64_t cpu_ns;      /* what the kernel charged the target, all threads; without pauses */
	uint64_t paused_ns;   /* of the wall clock */
	const struct ls_profile_event *events; /* in order of time */
	uint32_t event_count;
	uint64_t events_left_out; /* beyond the bound of what is kept */
	uint64_t samples;         /* ticks seen: the sum of `classes` */
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected;    /* samples with a frame whose function was gone before it was read */
	uint64_t unsampled_ns; /* CPU time that no sample covers */
	uint64_t unnamed_calls;     /* call sites whose name could not be read */
	uint64_t unknown_lines;     /* samples whose leaf's line could not be read */
	uint64_t vma_busy;          /* look-ups of stack bounds that the kernel refused (EBUSY) */
	uint64_t evicted_functions; /* times that one was seen too seldom to be kept */
	uint64_t evicted_samples;   /* in the "(other)" of such functions and calls, or below */
	uint64_t lost_records;      /* of functions, threads and processes: no room for them */
	uint64_t missed_processes;  /* that could not be looked into, or be sampled */
	uint64_t ignored_samples;   /* in functions that --ignore took out */
	uint64_t untimed_samples;   /* that found no room in ls_profile.samples */
	uint64_t timed_from_ns;     /* CLOCK_MONOTONIC at start_ms */
	struct ls_profile_overhead overhead;
};

/* The garbage collector's function, as Luau's own profiler spells it. */
static inline bool profile__is_collector(const struct ls_profile_function *function)
{
	return function->source && function->name && !strcmp(function->source, "GC") &&
	       !strcmp(function->name, "GC") && !function->line;
}

/* Pseudo functions below a category: of stacks without script, or without any that is known. */
#define PROFILE_HOST       "(host)"
#define PROFILE_UNREADABLE "(unreadable)"
#define PROFILE_COROUTINE  "(coroutine)"

/* The category, by process, of all that have no Lua. */
#define PROFILE_WITHOUT_LUA "(processes without Lua)"

/* The pseudo function that stands before the first function of a coroutine or main thread. */
static inline bool profile__starts_coroutine(const struct ls_profile_function *function)
{
	return !function->source && function->name && !strcmp(function->name, PROFILE_COROUTINE);
}

/* Nodes and functions are arrays indexed by id: element 0 is unused. */
struct ls_profile {
	const struct ls_profile_function *functions;
	uint32_t function_count;             /* highest id */
	const struct ls_profile_line *lines; /* a function's are together, in order of lines */
	uint32_t line_count;
	const struct ls_profile_node *nodes;
	uint32_t node_count; /* highest id; a parent's id is lower than its children's */
	const struct ls_profile_category *categories;
	uint32_t category_count;
	const struct ls_profile_sample *samples; /* in order of time; NULL: were not kept */
	size_t sample_count;
	const uint32_t *sample_nodes; /* by the node of a sample the node of here; NULL: the same */
	uint32_t sample_node_count;   /* highest index */
	struct ls_profile_recorder recorder;
};

#endif
