/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often a session may sample if the cost is to stay within a share of its targets' CPU time.
 * The cost of one sample does not depend on how many are taken, so a window of samples tells what
 * any frequency would cost.
 *
 * Luaspy also has costs that no frequency changes, such as looking for processes. They are
 * subtracted from the share first, but at least half of it remains: if targets are nearly idle, no
 * frequency would make up for them.
 *
 * The frequency is lowered immediately, but raised one step at a time, once the next step would
 * have been cheap enough for a while. That time doubles each time a raise proves wrong. Until it
 * has doubled, a reduction caused by one outlier window is undone as soon as the next window is
 * cheap, once after each raise: a virtual machine that is stopped in the middle of a sample makes
 * it look expensive.
 */
#ifndef LS_BUDGET_H
#define LS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Never below 10 Hz, or below the requested frequency if that is less. */
#define BUDGET_PERIOD_MAX_NS 100000000

struct budget {
	double share;         /* of the targets' CPU time */
	double fixed;         /* likewise: costs that no frequency changes; smoothed */
	double user_ns;       /* cost of a sample outside the targets; smoothed */
	uint64_t period_ns;   /* requested */
	uint32_t divisor;     /* of the requested frequency: a power of two */
	uint32_t former;      /* divisor before the last window raised it; 0: it did not */
	uint64_t cheap_ns;    /* for how long one step up would have been cheap enough */
	uint64_t patience_ns; /* how long that must be for a step up */
	uint64_t raised_ns;   /* time since the frequency was last raised */
	bool has_raised;      /* and neither proved wrong nor confirmed since then */
	bool has_undone;      /* since then: a reduction that one outlier caused */
};

/* Measurements since the previous window. */
struct budget_window {
	uint64_t time_ns; /* wall clock */
	uint64_t cpu_ns;  /* of the targets */
	uint64_t samples;
	uint64_t target_ns; /* taken from the targets by samples: interrupts and BPF */
	uint64_t user_ns;   /* taken by luaspy to receive them */
	uint64_t fixed_ns;  /* luaspy's other CPU time */
};

/* Whether the window is long enough to judge by. */
bool budget_window__is_full(const struct budget_window *window);

/* `share` is above 0; `tick_ns` is the minimum cost of a sample. */
void budget__start(struct budget *budget, double share, uint64_t period_ns, uint64_t tick_ns);

/* Takes in a full window. Returns whether the divisor changed. */
int budget__judge(struct budget *budget, const struct budget_window *window);

#endif
