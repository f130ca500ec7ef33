/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/tick_cost.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "sampler/timer_set.h"

#define PERIOD_NS  50000 /* 32 ticks take 1.6 ms */
#define GAPS       32
#define GAPS_LEAST 8
#define STEPS      64 /* gaps whose median is the undisturbed one */
#define LIMIT_NS   10000000

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static uint64_t median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

/* How long one reading of the clock takes, from call to call. */
static uint64_t measure_step(void)
{
	uint64_t steps[STEPS], before = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < STEPS; i++) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		steps[i] = now - before;
		before = now;
	}
	return median(steps, STEPS);
}

/* Finds gaps longer than a reading takes, and subtracts the reading. Returns their number. */
static size_t find_gaps(uint64_t step_ns, uint64_t *gaps)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), before = start, now = start;
	size_t count = 0;

	while (count < GAPS && now - start < LIMIT_NS) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - before > 2 * step_ns + 200)
			gaps[count++] = now - before - step_ns;
		before = now;
	}
	return count;
}

uint64_t tick_cost__measure(struct bpf_program *program)
{
	uint64_t gaps[GAPS], step_ns = measure_step();
	struct timer_set timers;
	size_t count;

	if (timer_set__open(&timers, gettid(),
			    &(struct timer_options){.period_ns = PERIOD_NS, .timers = 1}, program))
		return TICK_COST_DEFAULT_NS;
	count = find_gaps(step_ns, gaps);
	timer_set__close(&timers);
	return count < GAPS_LEAST ? TICK_COST_DEFAULT_NS : median(gaps, count);
}
