/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile that writers read: functions, a call tree below categories, and how it was recorded.
 * Writers know nothing else: no BPF, no process, no interpreter.
 *
 * Strings are bytes as found in the target: any value but NUL, not necessarily UTF-8. Writers must
 * escape them. Ids of functions and nodes count from 1; 0 is "none".
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
	/* NULL: a pseudo function, e.g. "(host)", or evicted; in files of others, any function. */
	const char *source;
	const char *name; /* NULL: anonymous */
	uint32_t line;    /* of its definition, from 1; 0: none */
	uint32_t flags;   /* enum ls_function_flags */
	/* The line being executed; a function has one entry for each. 0: unknown, or any line. */
	uint32_t current_line;
	uint32_t function; /* the entry as which this one counts, such as without a line; 0: none */
	/* If `current_line` stands for any line: its self time by line, in ls_profile.lines. */
	uint32_t first_line, line_count;
};

/* A function's own samples and self time at one line. Unknown lines are left out. */
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
	uint64_t samples; /* whose stack ends here */
	/*
	 * CPU time that the samples stand for: the sum of the periods of the timers that took them.
	 * For a category: that of lost samples. Known where samples are counted, but not in views
	 * and merged trees.
	 */
	uint64_t weight_ns;
};

struct ls_profile_category {
	const char *name;
	uint32_t node;
	uint32_t owner; /* if the profile is split by owner: see profile_split.h */
};

/* A line of source text, for those who look at the profile: see source_lines.h. */
struct ls_profile_text {
	const char *source; /* of the functions whose lines these are */
	uint32_t line;
	const char *text; /* without its line feed; valid UTF-8 without control characters */
};

/* A command that a session received, or its own decision: see control.h and overhead.h. */
struct ls_profile_event {
	uint64_t time_ns; /* wall clock since the session's start */
	const char *kind; /* "pause", "resume", "mark", "write" or "frequency" */
	const char *text; /* a mark's text, or the new frequency; NULL: none */
};

/* A sample on the timeline, for charts: the node at which its stack ended. */
struct ls_profile_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t node;    /* see ls_profile.sample_nodes */
	uint32_t thread;  /* its id */
};

/* What sampling cost the targets and the host, if that cost was limited (--max-overhead). */
struct ls_profile_overhead {
	uint32_t limit_ppm;      /* of the targets' CPU time; 0: none, and nothing is known */
	uint64_t interrupts_ns;  /* timer interrupts */
	uint64_t bpf_ns;         /* BPF programs run by these */
	uint64_t own_ns;         /* CPU time of luaspy itself */
	uint64_t period_ns;      /* of the current frequency */
	uint64_t lowered_ns;     /* wall clock time at a frequency lowered to keep the limit */
	uint64_t period_most_ns; /* of the lowest such frequency; 0: it was never lowered */
};

/* How the profile was recorded: what luaspy found and decided, for the file and the terminal. */
struct ls_profile_recorder {
	const char *version;     /* of luaspy */
	const char *host;        /* uname's nodename */
	const char *target;      /* "lua5.4 app.lua (pid 42)" */
	const char *interpreter; /* "Lua 5.4.4 in /usr/bin/lua5.4, static, stripped"; NULL: none */
	const char *layout;      /* the vote with its evidence; NULL: undecided */
	/*
	 * gc: how the garbage collectors were found whose time goes to the function GC, set even if
	 * there is no such time; NULL: none was found. gc_unknown: why others were not found, whose
	 * time goes to the functions that they interrupted; NULL: there are no others.
	 */
	const char *gc;
	const char *gc_unknown;
	uint64_t period_ns;
	uint64_t start_ms;    /* Unix time */
	uint64_t duration_ns; /* wall clock */
	uint64_t cpu_ns;      /* what the kernel charged the target, all threads; without pauses */
	uint64_t paused_ns;   /* wall clock */
	const struct ls_profile_event *events; /* sorted by time */
	uint32_t event_count;
	uint64_t events_left_out; /* events beyond the maximum that is kept */
	uint64_t samples;         /* ticks seen: the sum of `classes` */
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t collected;     /* samples with a function garbage-collected before it was read */
	uint64_t unsampled_ns;  /* CPU time that no sample covers */
	uint64_t unnamed_calls; /* call sites whose name could not be read */
	uint64_t unknown_lines; /* samples whose leaf's line could not be read */
	uint64_t unkept_lines;  /* samples whose leaf's line the VM does not keep */
	uint64_t vma_busy;      /* look-ups of stack bounds that the kernel refused (EBUSY) */
	uint64_t evicted_functions; /* evictions of functions with too few samples */
	uint64_t evicted_samples;   /* at or below an "(other)" for evicted functions and calls */
	uint64_t lost_records;      /* of functions, threads and processes: no room for them */
	uint64_t missed_processes;  /* that could not be inspected or sampled */
	uint64_t ignored_samples;   /* in functions removed by --ignore */
	uint64_t untimed_samples;   /* for which ls_profile.samples had no room */
	uint64_t timed_from_ns;     /* CLOCK_MONOTONIC at start_ms */
	struct ls_profile_overhead overhead;
};

/* Whether it is the garbage collector's function, named as in ScriptProfiler. */
static inline bool profile__is_gc(const struct ls_profile_function *function)
{
	return function->source && function->name && !strcmp(function->source, "GC") &&
	       !strcmp(function->name, "GC") && !function->line;
}

/*
 * Pseudo functions: for stacks without script, without known script, time that no sample covers,
 * and coroutine starts; for functions that were collected before they were read, frames beyond the
 * deepest, and what was pruned; and in views, for script in coroutines that were not selected, and
 * for ignored functions. V8 has one for what is no script.
 */
#define PROFILE_HOST             "(host)"
#define PROFILE_UNREADABLE       "(unreadable)"
#define PROFILE_UNSAMPLED        "(unsampled)"
#define PROFILE_COROUTINE        "(coroutine)"
#define PROFILE_COLLECTED        "(collected)"
#define PROFILE_TRUNCATED        "(truncated)"
#define PROFILE_OTHER            "(other)"
#define PROFILE_OTHER_COROUTINES "(other coroutines)"
#define PROFILE_IGNORED          "(ignored)"
#define PROFILE_V8_PROGRAM       "(program)"

/* Whether it is one of these. Functions in files of others may lack a source, too. */
static inline bool profile__is_pseudo(const struct ls_profile_function *function)
{
	static const char *const names[] = {
		PROFILE_HOST,      PROFILE_UNREADABLE, PROFILE_UNSAMPLED, PROFILE_COROUTINE,
		PROFILE_COLLECTED, PROFILE_TRUNCATED,  PROFILE_OTHER,     PROFILE_OTHER_COROUTINES,
		PROFILE_IGNORED,   PROFILE_V8_PROGRAM,
	};

	for (size_t i = 0;
	     !function->source && function->name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(function->name, names[i]))
			return true;
	return false;
}

/* Whether it stands for time outside of script. */
static inline bool profile__is_outside(const struct ls_profile_function *function)
{
	return !function->source && function->name &&
	       (!strcmp(function->name, PROFILE_HOST) ||
		!strcmp(function->name, PROFILE_UNREADABLE) ||
		!strcmp(function->name, PROFILE_UNSAMPLED));
}

/*
 * Names, and sources, of the functions that have the time of a virtual machine's compiler, and that
 * of leaving the machine code that it made.
 */
#define PROFILE_COMPILER   "JIT compiler"
#define PROFILE_TRACE_EXIT "trace exit"

/* If categories are processes: the category of all processes without Lua. */
#define PROFILE_WITHOUT_INTERPRETER "(no interpreter)"

/* Whether it is the pseudo function above the first function of a coroutine or main thread. */
static inline bool profile__starts_coroutine(const struct ls_profile_function *function)
{
	return !function->source && function->name && !strcmp(function->name, PROFILE_COROUTINE);
}

/* Nodes and functions are arrays indexed by id: element 0 is unused. */
struct ls_profile {
	const struct ls_profile_function *functions;
	uint32_t function_count;             /* highest id */
	const struct ls_profile_line *lines; /* contiguous for each function, sorted by line */
	uint32_t line_count;
	const struct ls_profile_node *nodes;
	uint32_t node_count; /* highest id; a parent's id is lower than its children's */
	const struct ls_profile_category *categories;
	uint32_t category_count;
	const struct ls_profile_sample *samples; /* sorted by time; NULL: not kept */
	size_t sample_count;
	const struct ls_profile_text *texts; /* those of one source together; NULL: none */
	size_t text_count;
	const uint32_t *sample_nodes; /* by a sample's node: the node here; NULL: the same */
	uint32_t sample_node_count;   /* highest index */
	struct ls_profile_recorder recorder;
};

#endif
