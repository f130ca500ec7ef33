/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recent and overall CPU time of functions, from a profile that is examined repeatedly while it
 * grows. How much time a process took is what the kernel charged it. Samples show which of its
 * functions took it: they are available immediately, while the time charged to them arrives in
 * windows of many samples. Each sample weighs as much as the period of the timer that took it, and
 * all samples of a process, lost ones included, share its CPU time.
 */
#ifndef LS_FUNCTION_STATS_H
#define LS_FUNCTION_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/patterns.h"
#include "profile/profile.h"
#include "profile/script_split.h"

/*
 * In ns. `total` includes callees; recursion counts once. `gc` is the time of the garbage collector
 * in `total`, unless that is hidden: then it is not in `total`.
 */
struct stats_times {
	uint64_t self, total, gc;
};

/* What can be hidden, as bits. */
enum stats_hidden {
	STATS_HIDDEN_GC = 1,      /* the garbage collector */
	STATS_HIDDEN_PLUGINS = 2, /* functions of plugins, and all that they call */
	STATS_HIDDEN_ALL = 3,
};

/* What a row of function_calls__rows() is to the function that was chosen. */
enum stats_role {
	STATS_CALLER,
	STATS_CHOSEN, /* the function; its `total` */
	STATS_ITSELF, /* its `self` */
	STATS_CALLEE,
};

struct stats_row {
	uint32_t process;          /* its index in function_stats__processes() */
	uint32_t function;         /* its id in the profile */
	const char *source, *name; /* as in struct ls_profile_function */
	uint32_t line;
	bool is_native;            /* it ran as machine code */
	bool is_plugin;            /* run by a plugin; identifies the row, with the ids above */
	enum stats_role role;      /* only of function_calls__rows() */
	struct stats_times recent; /* CPU time since the previous update */
	struct stats_times all;    /* since the start, or function_stats__reset() */
};

/* A process, or several that are shown as one. */
struct stats_process {
	uint32_t id;                /* the same in every update */
	const char *name;           /* its category's */
	uint32_t living;            /* how many of its processes are alive */
	bool has_ended;             /* none is alive any more, and they were sampled */
	uint64_t recent_ns, all_ns; /* CPU time during the same spans as a row's */
	uint64_t samples;   /* since the start, or function_stats__reset(); likewise below */
	uint64_t weight_ns; /* CPU time that they stand for */
	uint64_t script_ns; /* of that, with script on the stack */
	/* With what is hidden, since the previous update: as in struct stats_sums. */
	uint64_t recent_weight_ns;
	struct script_split recent_split;
	struct script_split all_split; /* likewise, since the start or the reset */
};

/* Sums of all processes, for one of the same two spans of time. */
struct stats_sums {
	uint64_t elapsed_ns; /* wall clock */
	uint64_t cpu_ns;     /* what the kernel charged */
	uint64_t samples;    /* lost ones included */
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t errors[LS_WALK_ERROR_COUNT];
	uint64_t weight_ns;        /* CPU time that samples stand for, lost ones included */
	uint64_t script_ns;        /* of that, with script on the stack */
	uint64_t gc_ns;            /* of that, in the garbage collector */
	struct script_split split; /* of that */
	uint64_t not_kept;         /* lost records, and samples that went into "(other)" */
	uint64_t missed;           /* processes that could not be sampled */
};

struct function_stats;

/*
 * `is_of_many`: each category of the profile is a process, or several that are shown as one; else
 * the whole profile is one process. NULL when out of memory. Free with function_stats__free(),
 * which takes NULL.
 */
struct function_stats *function_stats__new(bool is_of_many);
void function_stats__free(struct function_stats *stats);

/*
 * Functions of chunks that `plugins` fit, and all that they call, are those of plugins: the same
 * functions called by others have rows of their own (see profile/view.h). To be called before the
 * first update. `plugins` is borrowed.
 */
void function_stats__set_plugins(struct function_stats *stats, const struct patterns *plugins);

/*
 * Leaves out what is in `kinds` (enum stats_hidden), at once and in all further updates, as
 * Roblox's ScriptProfiler does. The garbage collector's rows are left out, and its time is not in
 * any total. Rows of plugins are left out; their time is not in the counts of a process if they are
 * the first functions of a stack, but in those of functions that call them. 0 or -ENOMEM.
 */
int function_stats__hide(struct function_stats *stats, unsigned kinds);
unsigned function_stats__hidden(const struct function_stats *stats);

/*
 * One update, in three parts. begin(): the time by CLOCK_MONOTONIC, and the profile as recorded (no
 * view, not merged), which has the categories of the previous update and perhaps more. If
 * `is_of_many`, see_living() for each living process: its category, PROFILE_WITHOUT_INTERPRETER for
 * all that have no Lua, and its CPU time that the profile does not have yet. Then end(). Ids of
 * functions may be reused between updates (functions__evict()), and names may change. 0; -ENOMEM:
 * the counts are those of the previous update, and there must be no further update.
 *
 * The last STATS_ENDED_KEPT processes that have ended are kept apart. Earlier ones are merged into
 * one, STATS_ENDED_EARLIER, which also includes new processes of their categories.
 */
#define STATS_ENDED_KEPT    256
#define STATS_ENDED_EARLIER "(ended earlier)"
int function_stats__begin(struct function_stats *stats, uint64_t time_ns,
			  const struct ls_profile *profile);
int function_stats__see_living(struct function_stats *stats, const char *category,
			       uint64_t late_ns);
int function_stats__end(struct function_stats *stats);

/* Restarts all counts after the last update. 0 or -ENOMEM. */
int function_stats__reset(struct function_stats *stats);

/*
 * Functions that were sampled since the reset, and processes that were or are alive, in no
 * particular order. Valid until the next update or reset.
 */
const struct stats_row *function_stats__rows(const struct function_stats *stats, size_t *count);
const struct stats_process *function_stats__processes(const struct function_stats *stats,
						      size_t *count);

bool function_stats__is_of_many(const struct function_stats *stats);

/* How many processes are alive, and how many categories have none left. */
size_t function_stats__living(const struct function_stats *stats);
size_t function_stats__ended(const struct function_stats *stats);

const struct stats_sums *function_stats__recent(const struct function_stats *stats);
const struct stats_sums *function_stats__all(const struct function_stats *stats);

#endif
