/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/young_timers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "luaspy.skel.h"
#include "target.h"

/*
 * A thread is young for so many periods of its CPU time. The first sample that its own timers take
 * after that shows much the same place of each thread, but is only one of nine.
 */
#define YOUNG_PERIODS 8

/*
 * The timers are worth their cost if more than ENDS_LEAST threads end young in COUNTED_PERIODS.
 * They stay on for LASTS_PERIODS.
 */
#define ENDS_LEAST      3
#define COUNTED_PERIODS 250
#define LASTS_PERIODS   2000

/*
 * Whatever else runs on the processors pays for their ticks: 2% of its time at this period. Where
 * the threads' own timers have a shorter one, a thread is young only until these tick.
 */
#define PERIOD_LEAST_NS UINT64_C(1000000)

/* A new period restarts the timer, which loses at most one tick of this many. */
#define VARIED_PERIODS 50

/* The period of the timers until they are first switched on. */
#define IDLE_PERIOD_NS UINT64_C(1000000000)

void young_timers__open(struct young_timers *young, struct luaspy_bpf *core)
{
	int processors = libbpf_num_possible_cpus(), error = 0;

	*young = (struct young_timers){};
	young->sets = processors > 0 ? calloc((size_t)processors, sizeof(*young->sets)) : NULL;
	for (int cpu = 0; young->sets && cpu < processors && !error; cpu++) {
		error = timer_set__open_on(&young->sets[young->count], cpu, IDLE_PERIOD_NS,
					   core->progs.sample_young);
		if (!error)
			young->count++;
		else if (error == -ENODEV)
			error = 0;
	}
	if (error)
		young_timers__close(young);
}

void young_timers__close(struct young_timers *young)
{
	for (int i = 0; i < young->count; i++)
		timer_set__close(&young->sets[i]);
	free(young->sets);
	*young = (struct young_timers){};
}

static void note_ends(struct young_timers *young, uint64_t ends, uint64_t period_ns,
		      uint64_t now_ns)
{
	if (young->counted_ns && ends - young->ends > ENDS_LEAST)
		young->wanted_ns = now_ns;
	else if (now_ns - young->counted_ns < COUNTED_PERIODS * period_ns)
		return;
	young->ends = ends;
	young->counted_ns = now_ns;
}

static void switch_all(struct young_timers *young, bool on)
{
	if (young->is_on == on)
		return;
	young->is_on = on;
	log_debug("the timers of the processors %s threads that are young",
		  on ? "sample" : "no longer sample");
	young->varied_ns = 0; /* the period of the threads' timers may have changed */
	for (int i = 0; i < young->count; i++)
		timer_set__switch(&young->sets[i], on);
}

static void vary(struct young_timers *young, uint64_t period_ns, uint64_t now_ns)
{
	if (now_ns - young->varied_ns < VARIED_PERIODS * period_ns)
		return;
	young->varied_ns = now_ns;
	for (int i = 0; i < young->count; i++)
		timer_set__vary(&young->sets[i], period_ns);
}

void young_timers__adapt(struct young_timers *young, struct luaspy_bpf *core, uint64_t period_ns,
			 bool is_paused)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool is_frequent = period_ns < PERIOD_LEAST_NS;

	if (!young->count)
		return;
	core->bss->young_ns =
		(is_frequent ? timer_set__count(period_ns) : YOUNG_PERIODS) * period_ns;
	note_ends(young, core->bss->young_ends, period_ns, now_ns);
	switch_all(young, !is_paused && young->wanted_ns &&
				  now_ns - young->wanted_ns < LASTS_PERIODS * period_ns);
	core->bss->young_sampling = !young->is_on ? LS_YOUNG_BY_OWN
				    : is_frequent ? LS_YOUNG_BY_BOTH
						  : LS_YOUNG_BY_PROCESSORS;
	if (young->is_on)
		vary(young, is_frequent ? PERIOD_LEAST_NS : period_ns, now_ns);
}
