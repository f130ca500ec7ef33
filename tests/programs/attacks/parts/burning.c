/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "burning.h"

#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 10000000

static int64_t clock_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void burn(int percent, double seconds)
{
	int64_t end = clock_now_ns(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
	struct timespec rest = {.tv_nsec = SLICE_NS / 100 * (100 - percent)};
	volatile unsigned int count = 0;

	do {
		int64_t stop = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + SLICE_NS / 100 * percent;

		while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) < stop)
			for (int i = 0; i < 1000; i++)
				count++;
		nanosleep(&rest, NULL);
	} while (seconds <= 0 || clock_now_ns(CLOCK_MONOTONIC) < end);
}

void give_up(const char *what)
{
	perror(what);
	exit(1);
}

void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

void become_user(uid_t user)
{
	if (geteuid())
		return;
	if (setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user))
		give_up("cannot become another user");
	/* Changing the user clears the parent-death signal that the parent asked for. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}
