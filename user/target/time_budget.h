/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much CPU time of luaspy's a target may cause by what it holds in memory. Honest ones never
 * come near: a fifth of a second, and a twentieth of the time since the beginning.
 */
#ifndef LS_TIME_BUDGET_H
#define LS_TIME_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define TIME_BUDGET_GRANT_NS 200000000ULL
#define TIME_BUDGET_DIVISOR  20

struct time_budget {
	uint64_t start_ns; /* CLOCK_MONOTONIC; 0: nothing was asked for yet */
	uint64_t begun_ns; /* CPU time of this thread when the work in hand began */
	uint64_t spent_ns;
};

/* Whether there is some left: then the work may begin, and time_budget__end() has to follow. */
bool time_budget__begin(struct time_budget *budget);
void time_budget__end(struct time_budget *budget);

#endif
