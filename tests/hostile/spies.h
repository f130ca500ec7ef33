/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of a luaspy, as /proc shows them, and a process's time in the files that it wrote.
 */
#ifndef TEST_SPIES_H
#define TEST_SPIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "scriptprofile.h"

#define SPIES_MOST 4096

struct spies {
	pid_t pids[SPIES_MOST];
	int count;
};

/* A process and its descendants. */
struct spies spies__family(pid_t pid);

/* The state's letter in /proc/PID/status; 0: there is no such process. */
char spies__state(pid_t pid);

/* Whether it has not ended; a zombie has. */
bool spies__is_alive(pid_t pid);

/*
 * Whether any has not ended. The kernel may hold one until somebody's file system answers: after
 * SIGKILL it no longer runs, and counts only if `even_held`.
 */
bool spies__any_alive(const struct spies *spies, bool even_held);

/* What all processes took that were ever noticed, including those that have ended. */
struct spies_cost {
	struct spies spies;
	double seconds[SPIES_MOST]; /* of CPU time, of each */
	double all_seconds;
	long peak_kb;         /* VmHWM of those that live at once */
	double stall_seconds; /* how late whoever measures got a processor, at most */
};

/* Measures once, then sleeps. Call it again and again while the process lives. */
void spies__measure(pid_t pid, double pause_seconds, struct spies_cost *cost);

/* The time of a process's category, called "lua5.4 app.lua", say; 0: there is none. */
int64_t spies__time_us(const struct scriptprofile *profile, const char *name, pid_t pid);

#endif
