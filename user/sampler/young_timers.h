/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Timers of the processors, which sample threads that are young.
 *
 * The timers of a new thread first tick after a whole period of its CPU time. If many threads do
 * the same and end early, all their samples show the same places, and a thread that lives for less
 * than a period has none. A processor's timer comes at any point of a new thread's first period. It
 * also interrupts everything else that runs there, so it is on only while young threads keep
 * ending, and ticks once per millisecond at most.
 */
#ifndef LS_YOUNG_TIMERS_H
#define LS_YOUNG_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include <bpf/libbpf.h>

#include "sampler/timer_set.h"

struct luaspy_bpf;

struct young_timers {
	struct timer_set *sets; /* one per processor that has one */
	int count;
	bool is_on;
	uint64_t ends;       /* how many threads had ended young by counted_ns */
	uint64_t counted_ns; /* all times are CLOCK_MONOTONIC */
	uint64_t wanted_ns;  /* when young threads last kept ending; 0: never */
	uint64_t varied_ns;
};

/*
 * Opens a timer for each processor that is online, initially off. If any cannot be opened, or would
 * take files that threads' timers may need, there are none at all: see young_timers__adapt().
 */
void young_timers__open(struct young_timers *young, struct luaspy_bpf *core);
void young_timers__close(struct young_timers *young);

/*
 * Switches the timers off or on, by how many threads have ended young lately, and gives them new
 * random periods around `period_ns`, which is that of the threads' timers. Call it every few dozen
 * milliseconds. `is_paused`: nothing is to be sampled. Without timers, this does nothing: threads
 * are sampled by their own timers alone.
 */
void young_timers__adapt(struct young_timers *young, struct luaspy_bpf *core, uint64_t period_ns,
			 bool is_paused);

#endif
