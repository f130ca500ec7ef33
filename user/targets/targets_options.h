/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which processes a session is about. */
#ifndef LS_TARGETS_OPTIONS_H
#define LS_TARGETS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "recording/parts.h"
#include "targets/grouping.h"
#include "targets/process_filter.h"

struct inspector;

struct targets_options {
	struct inspector *inspector; /* borrowed */
	const pid_t *pids;           /* borrowed */
	size_t count;
	int is_system_wide;       /* all processes that hold Lua, and no `pids` */
	struct process_wish wish; /* which of those */
	const char *layout;       /* forced; NULL: samples decide */
	int waits;                /* a process without Lua yet is not an error */
	int follows_children;
	enum grouping_kind merge_by; /* which processes share a category, or a part */
	struct parts *parts;         /* with profiles of their own; borrowed; NULL: none */
	int is_launched;             /* luaspy started it: it is about to execute its program */
	int has_run;                 /* before targets__attach(): it may have children */
	int is_paused;               /* initially */
};

#endif
