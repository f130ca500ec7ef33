/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of a luaspy, by what /proc says of them, and a process's time in what it wrote.
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

/* A process and what descends from it. */
struct spies spies__family(pid_t pid);

/* The letter of /proc/PID/stat; 0: there is no such process. */
char spies__state(pid_t pid);

/* It has not ended, whether or not somebody has waited for it. */
bool spies__is_alive(pid_t pid);

/*
 * Whether any has not ended. The kernel may hold one until somebody's file system answers: after
 * SIGKILL it runs no more, and counts only where `even_held`.
 */
bool spies__any_alive(const struct spies *spies, bool even_held);

/* What all of them took that were ever noticed, those that have ended included. */
struct spies_cost {
	struct spies spies;
	double seconds[SPIES_MOST]; /* of CPU time, of each */
	double all_seconds;
	long peak_kb;         /* VmHWM of those that live at once */
	double stall_seconds; /* how late whoever measures got a processor, at most */
};

/* To be called every now and then while the process lives, which sleeps so long in between. */
void spies__measure(pid_t pid, double pause_seconds, struct spies_cost *cost);

/* The category of a process, which is called "lua5.4 app.lua", say; 0: there is none. */
int64_t spies__time_us(const struct scriptprofile *profile, const char *name, pid_t pid);

#endif
