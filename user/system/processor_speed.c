/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/processor_speed.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

#define NUMBERS  2048 /* to sort: no processor predicts the branches of that */
#define ATTEMPTS 2    /* the faster one counts: the first begins with cold caches */

/* More than servers take, which is 130 to 230 us: all of them have the same limits. */
#define SERVER_NS UINT64_C(250000)

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* Returns the CPU time that it takes to sort the numbers of a linear congruential generator. */
static uint64_t time_sort(void)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint32_t numbers[NUMBERS] = {1};

	for (size_t i = 1; i < NUMBERS; i++)
		numbers[i] = numbers[i - 1] * 1664525 + 1013904223;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

/* Returns the CPU time of a sort, between a server's and PROCESSOR_SPEED_SLOWEST times that. */
static uint64_t measure(void)
{
	uint64_t fastest_ns = UINT64_MAX;

	for (int i = 0; i < ATTEMPTS; i++) {
		uint64_t ns = time_sort();

		if (ns < fastest_ns)
			fastest_ns = ns;
	}
	log_debug("sorting %d numbers takes %.2f ms of CPU time", NUMBERS,
		  (double)fastest_ns / 1e6);
	if (fastest_ns < SERVER_NS)
		return SERVER_NS;
	return fastest_ns < SERVER_NS * PROCESSOR_SPEED_SLOWEST
		       ? fastest_ns
		       : SERVER_NS * PROCESSOR_SPEED_SLOWEST;
}

uint64_t processor_speed__scale(uint64_t ns)
{
	static uint64_t sort_ns;

	if (!sort_ns)
		sort_ns = measure();
	return (uint64_t)((double)ns / (double)SERVER_NS * (double)sort_ns);
}
