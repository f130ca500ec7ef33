/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Luaspy's cost: measured continuously, reported in the profile, and kept within a share of its
 * targets' CPU time by sampling less often (see budget.h). Without a limit it does nothing.
 */
#ifndef LS_OVERHEAD_H
#define LS_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "sampler/sampler.h"
#include "session/budget.h"
#include "session/pauses.h"
#include "worker/inspector.h"
#include "target.h"

/* Cumulative costs up to a point in time. */
struct overhead_sum {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t samples; /* ticks that took one */
	uint64_t ticks, clocked_ns, bpf_ns;
	uint64_t own_ns; /* luaspy's CPU time, its workers' included */
	uint64_t handing_ns;
};

struct overhead {
	uint32_t limit_ppm;      /* 0: none */
	struct sampler *sampler; /* borrowed, and so are the inspector and the pauses */
	struct inspector *inspector;
	struct pauses *pauses; /* holds the events */
	uint64_t period_ns;    /* requested */
	uint64_t tick_ns;
	struct budget budget;
	struct overhead_sum profile; /* costs when the open profile began */
	struct overhead_sum window;  /* costs when the budget's window began */
	/* Of the open profile: */
	uint64_t lowered_ns;   /* time at a lowered frequency, until changed_ns */
	uint64_t changed_ns;   /* CLOCK_MONOTONIC: the last change, or the profile's start */
	uint32_t divisor_most; /* highest divisor of the requested frequency */
	uint32_t changes;
	/* Of the session: */
	bool was_lowered, was_restored; /* each of these was logged */
};

/*
 * Measures the cost of a tick on this machine. If `limit_ppm` is 0, this and all functions below do
 * nothing.
 */
void overhead__open(struct overhead *overhead, struct inspector *inspector, uint32_t limit_ppm,
		    uint64_t period_ns, struct sampler *sampler, struct pauses *pauses);

/*
 * To be called when the session begins to sample. Here and below, `counters` are those of the last
 * drain.
 */
void overhead__start(struct overhead *overhead, const struct ls_counters *counters);

/* To be called after each drain. Returns whether it changed the sampler's period. */
int overhead__judge(struct overhead *overhead, const struct ls_counters *counters);

/* A profile ended at `end_ns` and the next begins there. Call after pauses__restart(). */
void overhead__restart(struct overhead *overhead, const struct ls_counters *counters,
		       uint64_t end_ns);

/* Fills in the recorder's overhead for a profile that ends at `end_ns`. */
void overhead__export(const struct overhead *overhead, const struct ls_counters *counters,
		      uint64_t end_ns, struct ls_profile_recorder *recorder);

#endif
