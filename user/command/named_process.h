/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one process that a name, a user and a cgroup choose (--name without --system). */
#ifndef LS_NAMED_PROCESS_H
#define LS_NAMED_PROCESS_H

#include "command/exit_status.h"
#include "command/lua_processes.h"

/*
 * Sets *pid to the only process that fits and holds a profiled interpreter. EXIT_OK; EXIT_USAGE:
 * several fit, which were listed; EXIT_NOTHING: none does, and what there is was reported;
 * EXIT_FAILED, likewise reported.
 */
enum exit_status named_process__find(const struct process_criteria *criteria,
				     bool leaves_command_lines, pid_t *pid);

/* All processes with an interpreter; `criteria` may be NULL. 0, or -errno after reporting it. */
int named_process__find_all(const struct process_criteria *criteria, bool leaves_command_lines,
			    struct lua_processes *processes);

#endif
