/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Statistics of functions that a test makes up, looked at twice a second apart. */
#ifndef TEST_SHOWING_H
#define TEST_SHOWING_H

#include "statistics/function_stats.h"

struct shown_function {
	const char *source, *name;
	uint32_t line;
	uint64_t before, recent; /* samples of its own, before the look before and since */
	const char *caller;      /* its name; NULL: none. Comes before in the array */
};

#define SHOWN_MAX 200

/*
 * Free with function_stats__free(). `processes`, "lua5.4 (pid 1)" and so on, have the same
 * functions; ids are places in the array.
 */
struct function_stats *showing__stats(const struct shown_function *functions, uint32_t count,
				      int processes);

/* A look at them a second later, at their calls, too (function_calls__see()). */
void showing__look(struct function_stats *stats, const struct shown_function *functions,
		   uint32_t count, int processes, bool is_first);

#endif
