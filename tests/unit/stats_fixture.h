/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes as a recording has them, and the statistics that look at them. A sample stands for 1 ns
 * unless the test says otherwise, and is charged that: then times are numbers of samples. To be
 * included after cmocka.h.
 */
#ifndef TEST_STATS_FIXTURE_H
#define TEST_STATS_FIXTURE_H

#include "profile/call_tree.h"
#include "profile/functions.h"
#include "statistics/function_stats.h"

#define S UINT64_C(1000000000)

struct stats_fixture {
	struct functions *functions;
	struct call_tree *tree;
	struct function_stats *stats;
	uint64_t time_ns;
	uint32_t period_ns; /* of timers from now on */
	uint64_t cpu_ns;    /* what the kernel tells; 0: what was charged */
	uint64_t complete, dropped, evicted;
	uint64_t late[4];          /* CPU time of the first that live, which was not charged yet */
	uint32_t work, rest, host; /* functions: two scripts' first lines, and PROFILE_HOST */
};

/* For a test, whose state is the fixture: of one process, or of many. */
int stats_fixture__set_up_one(void **state);
int stats_fixture__set_up_many(void **state);
int stats_fixture__tear_down(void **state);

uint32_t stats_fixture__script(struct stats_fixture *stats_fixture, const char *source,
			       uint32_t line);

/* Samples of a stack, whose functions end with 0, leaf last. */
void stats_fixture__sample(struct stats_fixture *stats_fixture, const char *category,
			   uint64_t count, const uint32_t *stack);

#define stats_fixture__sample_stack(stats_fixture, category, count, ...)                           \
	stats_fixture__sample(stats_fixture, category, count, (const uint32_t[]){__VA_ARGS__, 0})

/* Of these so many were lost. */
void stats_fixture__lose(struct stats_fixture *stats_fixture, const char *category, uint64_t count);

/* The function is gone, with all samples; what takes the place of its own is then to be sampled. */
void stats_fixture__evict(struct stats_fixture *stats_fixture, uint32_t gone, uint64_t samples);

/* The profile so far, valid until the next sample. */
void stats_fixture__export(const struct stats_fixture *stats_fixture, struct ls_profile *profile);

/*
 * Updates the statistics a second later. Of many processes, only these are alive; NULL ends them.
 */
void stats_fixture__look(struct stats_fixture *stats_fixture, const char *const *living);

#define stats_fixture__look_at(stats_fixture, ...)                                                 \
	stats_fixture__look(stats_fixture, (const char *const[]){__VA_ARGS__, NULL})

/* The process of that name, and the function's row in it; NULL: there is none. */
const struct stats_process *stats_fixture__process(const struct stats_fixture *stats_fixture,
						   const char *name);
const struct stats_row *stats_fixture__row(const struct stats_fixture *stats_fixture,
					   const char *name, uint32_t function);

/* The row is there, and has these times. */
void stats_fixture__expect(const struct stats_fixture *stats_fixture, const char *name,
			   uint32_t function, uint64_t recent_self, uint64_t recent_total,
			   uint64_t self, uint64_t total);

#endif
