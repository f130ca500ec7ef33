/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often a session may sample for what samples cost to stay within a share of its targets' CPU
 * time. What one sample costs does not depend on how many there are, so that from a window of them
 * follows what any frequency would cost.
 *
 * Luaspy also has costs that no frequency changes, such as looking for processes. They are taken
 * out of the share first, but leave half of it at least: where targets are nearly idle, no
 * frequency would make up for them.
 *
 * The frequency is lowered at once, and raised, one step at a time, when that would have been
 * cheap enough for a while; the while doubles each time that this proves wrong. Until then, what
 * one odd window did is taken back at once if the next is cheap: a virtual machine that stands
 * still in the middle of a sample makes it seem dear.
 */
#ifndef LS_BUDGET_H
#define LS_BUDGET_H

#include <stdint.h>

/* Never below 10 Hz, or what was asked for if that is less. */
#define BUDGET_PERIOD_MAX_NS 100000000

struct budget {
	double share;         /* of the targets' CPU time */
	double fixed;         /* of that, what is spent whatever the frequency; smoothed */
	double user_ns;       /* a sample, outside of the targets; smoothed */
	uint64_t period_ns;   /* that was asked for */
	uint32_t divisor;     /* of the frequency that was asked for: a power of two */
	uint32_t former;      /* divisor, of which the last window made this one; else 0 */
	uint64_t cheap_ns;    /* for how long a step more would have been cheap enough */
	uint64_t patience_ns; /* for how long it has to be */
	uint64_t raised_ns;   /* since the frequency was raised last */
	int has_raised;       /* and not been lowered since */
};

/* What was measured since the last one. */
struct budget_window {
	uint64_t time_ns; /* wall clock */
	uint64_t cpu_ns;  /* of the targets */
	uint64_t samples;
	uint64_t target_ns; /* that samples took from the targets: interrupts and BPF */
	uint64_t user_ns;   /* that luaspy took to take them in */
	uint64_t fixed_ns;  /* that it took besides */
};

/* Whether there is enough in it to judge by. */
int budget_window__is_full(const struct budget_window *window);

/* `share` above 0; `tick_ns` is what a sample costs at the very least. */
void budget__start(struct budget *budget, double share, uint64_t period_ns, uint64_t tick_ns);

/* Takes in a window that is full. Whether the divisor is another from here on. */
int budget__judge(struct budget *budget, const struct budget_window *window);

#endif
