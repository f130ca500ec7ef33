/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_CLOCK_H
#define LS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* A clock such as CLOCK_MONOTONIC, in nanoseconds. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

#endif
