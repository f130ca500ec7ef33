/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * To be preloaded: SET_BACK_AFTER milliseconds after the program began, its time of day goes back
 * by SET_BACK_BY seconds; all other clocks are unaffected.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct timespec begin;

__attribute__((constructor)) static void note_begin(void)
{
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &begin);
}

static long number(const char *variable)
{
	const char *value = getenv(variable);

	return value ? strtol(value, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	struct timespec since;
	long failed = syscall(SYS_clock_gettime, clock, now);

	if (failed || clock != CLOCK_REALTIME)
		return (int)failed;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &since);
	if ((since.tv_sec - begin.tv_sec) * 1000 + (since.tv_nsec - begin.tv_nsec) / 1000000 >=
	    number("SET_BACK_AFTER"))
		now->tv_sec -= number("SET_BACK_BY");
	return 0;
}

time_t time(time_t *seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (seconds)
		*seconds = now.tv_sec;
	return now.tv_sec;
}
