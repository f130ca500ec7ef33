/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * When many threads are busy, the reader needs more than its fair share of CPU time: with 20 of
 * them on 2 processors that had other work as well, at 10 kHz and a stack depth of 100, 62 to 74%
 * of the samples found the buffer full.
 */
#define RAISED (-10)

void priority__raise(void)
{
	const struct sched_param ordinary = {};

	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) || errno)
		return;
	/* musl's wrapper always fails. SCHED_RESET_ON_FORK first, so children do not inherit. */
	if (syscall(SYS_sched_getscheduler, 0) == SCHED_OTHER &&
	    !syscall(SYS_sched_setscheduler, 0, SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary))
		setpriority(PRIO_PROCESS, 0, RAISED);
}
