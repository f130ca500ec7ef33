/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes as a recording has them, and the tally that looks at them. A sample stands for 1 ns
 * unless the test says otherwise, and is charged that: then times are numbers of samples. To be
 * included after cmocka.h.
 */
#ifndef TEST_TALLYING_H
#define TEST_TALLYING_H

#include "call_tree.h"
#include "functions.h"
#include "tally.h"

#define S UINT64_C(1000000000)

struct tallying {
	struct functions *functions;
	struct call_tree *tree;
	struct tally *tally;
	uint64_t time_ns;
	uint32_t period_ns; /* of timers from now on */
	uint64_t cpu_ns;    /* what the kernel tells; 0: what was charged */
	uint64_t complete, dropped, evicted;
	uint64_t late[4];          /* CPU time of the first that live, which was not charged yet */
	uint32_t work, rest, host; /* functions: two scripts' first lines, and PROFILE_HOST */
};

/* For a test, whose state is the fixture: of one process, or of many. */
int tallying__set_up_one(void **state);
int tallying__set_up_many(void **state);
int tallying__tear_down(void **state);

uint32_t tallying__script(struct tallying *tallying, const char *source, uint32_t line);

/* Samples of a stack, whose functions end with 0, leaf last. */
void tallying__sample(struct tallying *tallying, const char *category, uint64_t count,
		      const uint32_t *stack);

#define tallying__sample_stack(tallying, category, count, ...)                                     \
	tallying__sample(tallying, category, count, (const uint32_t[]){__VA_ARGS__, 0})

/* Of these so many were lost. */
void tallying__lose(struct tallying *tallying, const char *category, uint64_t count);

/* The function is gone, with all samples; what takes the place of its own is then to be sampled. */
void tallying__evict(struct tallying *tallying, uint32_t gone, uint64_t samples);

/* A look a second later. Of many, only these are alive, NULL coming after the last. */
void tallying__look(struct tallying *tallying, const char *const *living);

#define tallying__look_at(tallying, ...)                                                           \
	tallying__look(tallying, (const char *const[]){__VA_ARGS__, NULL})

/* The process of that name, and the function's row in it; NULL: there is none. */
const struct tally_process *tallying__process(const struct tallying *tallying, const char *name);
const struct tally_row *tallying__row(const struct tallying *tallying, const char *name,
				      uint32_t function);

/* The row is there, and has these times. */
void tallying__expect(const struct tallying *tallying, const char *name, uint32_t function,
		      uint64_t recent_self, uint64_t recent_total, uint64_t self, uint64_t total);

#endif
