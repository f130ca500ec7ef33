/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What luaspy costs: measured all the time, told in the file, and held to a share of its targets'
 * CPU time by sampling less often (see budget.h). Without a limit it does nothing.
 */
#ifndef LS_OVERHEAD_H
#define LS_OVERHEAD_H

#include <stdint.h>

#include "budget.h"
#include "pauses.h"
#include "profile.h"
#include "sampler.h"
#include "target.h"

/* All that was ever spent until a moment. */
struct overhead_sum {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t ticks, clocked_ns, bpf_ns;
	uint64_t own_ns; /* luaspy's CPU time */
	uint64_t handing_ns;
};

struct overhead {
	uint32_t limit_ppm;      /* 0: none */
	struct sampler *sampler; /* borrowed, and so are the pauses */
	struct pauses *pauses;   /* has the events */
	uint64_t period_ns;      /* that was asked for */
	uint64_t tick_ns;
	struct budget budget;
	struct overhead_sum profile; /* where the open profile began */
	struct overhead_sum window;  /* where the window of the budget did */
	/* Of the open profile: */
	uint64_t lowered_ns;   /* for how long the frequency was lower, until changed_ns */
	uint64_t changed_ns;   /* CLOCK_MONOTONIC: the last change, or its start */
	uint32_t divisor_most; /* of the frequency that was asked for */
	uint32_t changes;
	/* Of the session: */
	int was_lowered, was_restored; /* and that was said */
};

/* Measures what a tick costs here. With a limit of 0 it and all that follows do nothing. */
void overhead__open(struct overhead *overhead, uint32_t limit_ppm, uint64_t period_ns,
		    struct sampler *sampler, struct pauses *pauses);

/* The session begins to sample now. Here and below, `counters` are those of the last drain. */
void overhead__start(struct overhead *overhead, const struct ls_counters *counters);

/* To be called whenever all was drained. Whether the sampler's period is another from here on. */
int overhead__look(struct overhead *overhead, const struct ls_counters *counters);

/* A profile ended at `end_ns`, where another begins; after pauses__restart(). */
void overhead__restart(struct overhead *overhead, const struct ls_counters *counters,
		       uint64_t end_ns);

/* Fills in what the recorder says of it, for a profile that ends at `end_ns`. */
void overhead__export(const struct overhead *overhead, const struct ls_counters *counters,
		      uint64_t end_ns, struct ls_profile_recorder *recorder);

#endif
