/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes a session is about. */
#ifndef LS_TARGETS_OPTIONS_H
#define LS_TARGETS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "process/process_filter.h"
#include "recording/grouping.h"
#include "recording/subprofiles.h"

struct inspector;

#define PIDS_MAX 1024

/* From the command line, from which it borrows its strings. */
struct target_choice {
	pid_t pids[PIDS_MAX]; /* no duplicates */
	size_t pid_count;
	bool children; /* and the processes that these start */
	bool system;   /* instead, all processes that run Lua */
	struct process_criteria
		criteria;            /* which of the `system` ones; or the only one that fits */
	enum grouping_kind merge_by; /* which processes share a category, or a subprofile */
	const char *layout;    /* forced, a name that layout__find() knows; NULL: samples decide */
	bool waits;            /* a process without Lua yet is not an error */
	bool no_command_lines; /* call processes by their names alone */
	bool no_source;        /* leave source text alone: callers name functions */
};

static inline bool target_choice__is_of_many(const struct target_choice *choice)
{
	return choice->pid_count > 1 || choice->children || choice->system;
}

struct targets_options {
	const struct target_choice *choice; /* borrowed */
	struct inspector *inspector;        /* borrowed */
	struct subprofiles *subprofiles;    /* with profiles of their own; borrowed; NULL: none */
	bool is_launched; /* luaspy started it: it is about to execute its program */
	bool has_run;     /* before targets__attach(): it may have children */
	bool is_paused;   /* initially */
};

#endif
