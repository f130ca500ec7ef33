/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A target that works between two lines of its input, watched from before the first to after the
 * last: what it was charged then is known exactly.
 */
#ifndef TEST_WATCHED_H
#define TEST_WATCHED_H

#include <stdbool.h>

#include "spying.h"

struct watched {
	struct scriptprofile *profile;
	double cpu_us;    /* of the process, all its threads, by the kernel's clock */
	const char *said; /* by the target */
};

/*
 * `words` start the target, which says "ready", waits for a line, works, says a line that begins
 * with `end` and waits again. The stage owns what is returned.
 */
struct watched watched__run(struct stage *stage, const char *frequency, const char *end,
			    const char *const *words);
#define watch(stage, frequency, end, ...)                                                          \
	watched__run(stage, frequency, end, (const char *const[]){__VA_ARGS__, NULL})

/*
 * Whether the share of `us` in `all_us` is not `expected`, within the 99.99% interval of a binomial
 * distribution with so many samples and `slack` that the truth itself is unsure of. Tells where it
 * is not.
 */
bool share_is_wrong(const char *what, double us, double all_us, double expected, double samples,
		    double slack);

#endif
