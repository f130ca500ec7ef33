/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who calls one function, and what it calls: counted from the call tree for that function alone.
 * They belong to the statistics (function_stats.h), whose processes and hidden parts they share.
 *
 * A caller has the time of the function while that caller called it, and a callee its own time
 * while the function called it, what it called included. A sample counts once for each of them,
 * however often one called the other, so with recursion they may have more than the function in
 * all. A function that calls itself is neither.
 */
#ifndef LS_FUNCTION_CALLS_H
#define LS_FUNCTION_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "statistics/function_stats.h"

struct calls_choice {
	uint32_t function; /* as in struct stats_row; 0: none */
	bool is_plugin;
	uint32_t process; /* its id; 0: in all of them */
};

/*
 * Takes the call tree from the profile, which is that of the last update, or has gone on since;
 * `time_ns` is CLOCK_MONOTONIC. What grew since the tree before is recent. function_calls__forget()
 * frees both trees, of 40 bytes a node. 0 or -ENOMEM.
 */
int function_calls__see(struct function_stats *stats, const struct ls_profile *profile,
			uint64_t time_ns);
void function_calls__forget(struct function_stats *stats);
bool function_calls__have_tree(const struct function_stats *stats);

/* Counts from the tree. 0 or -ENOMEM. */
int function_calls__count(struct function_stats *stats, const struct calls_choice *choice);

/*
 * After function_stats__reset(): what the profile has by now does not count any more. This takes a
 * copy of its tree. 0 or -ENOMEM.
 */
int function_calls__reset(struct function_stats *stats, const struct ls_profile *profile);

/*
 * The chosen function, its callers and callees, in no particular order; none if it is hidden or not
 * known any more. Their times are `total` alone, and `process` means nothing. A caller with the
 * function 0 stands for calls from no function. Valid until the next update or count.
 */
const struct stats_row *function_calls__rows(const struct function_stats *stats, size_t *count);

/* The row of the function itself; NULL: there is none. */
const struct stats_row *function_calls__chosen(const struct function_stats *stats);

/* The time to which `recent` of the rows refers; 0: it is not known yet. */
uint64_t function_calls__recent_ns(const struct function_stats *stats);

/* Whether the id of a function has been reused at the last update. */
bool function_calls__is_reused(const struct function_stats *stats, uint32_t function);

#endif
