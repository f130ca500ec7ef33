/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Of 20 busy threads on 2 processors that had other work as well, at 10 kHz, 62 to 74% of the
 * samples found the buffer full while its reader waited for its turn like they did; none with this.
 */
#define RAISED (-10)

void priority__raise(void)
{
	const struct sched_param ordinary = {};

	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) || errno)
		return;
	/* By the system call: musl's function always fails. First this, that nothing inherits. */
	if (syscall(SYS_sched_getscheduler, 0) == SCHED_OTHER &&
	    !syscall(SYS_sched_setscheduler, 0, SCHED_OTHER | SCHED_RESET_ON_FORK, &ordinary))
		setpriority(PRIO_PROCESS, 0, RAISED);
}
