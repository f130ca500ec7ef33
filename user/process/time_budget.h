/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much of luaspy's CPU time a target may cause: a grant, plus a twentieth of the time of one or
 * more processors since the first request. What is spent beyond that must be paid off before more
 * is allowed.
 */
#ifndef LS_TIME_BUDGET_H
#define LS_TIME_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Grants on a server, which processor_speed__scale() adapts to this machine: for reading the memory
 * of one process, for reading its mapped files (the largest that was tried takes 0.16 s;
 * BENCH=reading make bench), and for both in all processes of one user.
 */
#define TIME_BUDGET_PROCESS_NS UINT64_C(200000000)
#define TIME_BUDGET_MAPPED_NS  UINT64_C(500000000)
#define TIME_BUDGET_USER_NS    UINT64_C(2000000000)
#define TIME_BUDGET_DIVISOR    20

/* Zeroed: no request yet. */
struct time_budget {
	uint64_t start_ns; /* of the first request, CLOCK_MONOTONIC; 0: none yet */
	uint64_t spent_ns;
};

/* Whether any budget is left with this grant and the time of this many processors. */
bool time_budget__allows(struct time_budget *budget, uint64_t grant_ns, unsigned int processors);
void time_budget__spend(struct time_budget *budget, uint64_t ns);

/* Spends what is left of the grant and of the time so far, if anything is. */
void time_budget__use_up(struct time_budget *budget, uint64_t grant_ns, unsigned int processors);

#endif
