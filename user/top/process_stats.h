/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The statistics of one process, by function. For function_stats.c alone. */
#ifndef LS_PROCESS_STATS_H
#define LS_PROCESS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "profile/profile.h"
#include "top/function_stats.h"

/* A function as it was at the last update; its index in the array is its id. */
struct stats_function {
	char *source, *name;
	uint32_t line;
	bool is_native;
	bool has_changed; /* its id has been reused since the previous update */
};

/* CPU time that a function's samples stand for: see ls_profile_node.weight_ns. */
struct stats_entry {
	uint32_t function;
	struct stats_times now, base, recent; /* base: at the reset */
};

/* The samples of a process. */
struct stats_samples {
	uint64_t count;     /* without lost ones */
	uint64_t weight_ns; /* CPU time that they stand for */
	uint64_t script_ns; /* of that, with script on the stack */
	uint64_t lost_ns;   /* what lost samples stand for */
};

/* CPU time that the kernel charged the process. */
struct stats_cpu {
	uint64_t look_ns; /* added up during an update */
	uint64_t now_ns, base_ns, recent_ns;
};

struct process_stats {
	char *name;                 /* NULL: there is only one process */
	struct process_stats *into; /* has the counts since it was folded; NULL: it was not */
	uint32_t id;
	uint32_t first_category; /* first of its categories: an index + 1; 0: none */
	struct stats_entry *entries;
	uint32_t entry_count, entry_room;
	struct stats_samples now, base, recent;
	struct stats_cpu cpu;
	uint32_t living;
	uint64_t ended_ns; /* when its end was noticed; 0: it has not ended */
	bool has_news;     /* must be counted */
	bool has_recent;   /* perhaps: process_stats__settle() must clear it */
	UT_hash_handle hh; /* by `name` */
};

/* Sums of a node and all below it. */
struct stats_totals {
	uint64_t samples, weight_ns, self_ns;
};

/* What counting needs of the profile, the same for all groups of an update. */
struct stats_walk {
	const struct ls_profile *profile;
	const struct stats_function *functions;
	struct stats_totals *totals; /* by node; [0]: of all nodes */
	struct stats_slot *slots;
	uint32_t *touched; /* functions encountered, whose slots are in use */
	uint32_t touched_count;
};

/*
 * `functions` are those of the profile, and those for which groups have entries: ids up to
 * `function_count`. 0 or -ENOMEM. Free with stats_walk__end(), also after a failure.
 */
int stats_walk__begin(struct stats_walk *walk, const struct ls_profile *profile,
		      const struct stats_function *functions, uint32_t function_count);
void stats_walk__end(struct stats_walk *walk);

/*
 * stats_walk__count() adds a category to the counts in the walk's slots and to `samples`.
 * process_stats__take() then gives these to the group, and clears the slots. 0 or -ENOMEM.
 */
void stats_walk__count(struct stats_walk *walk, uint32_t category_node,
		       struct stats_samples *samples);
int process_stats__take(struct process_stats *group, struct stats_walk *walk,
			struct stats_samples samples);

/*
 * cpu.look_ns is all that the process was charged up to this update. It is less than before if it
 * lacks time of one that has just ended, which is not reported yet.
 */
void process_stats__take_cpu(struct process_stats *group);

/* The samples since the reset. */
struct stats_samples process_stats__all(const struct process_stats *group);

/* CPU time of samples of that weight, among those since the previous update, or the reset. */
uint64_t process_stats__recent_ns(const struct process_stats *group, uint64_t weight_ns);
uint64_t process_stats__all_ns(const struct process_stats *group, uint64_t weight_ns);

/* Clears the recent counts. */
void process_stats__settle(struct process_stats *group);

/* Restarts the counts. */
void process_stats__reset(struct process_stats *group);

/* Moves all counts of `from` to `into`. 0; -ENOMEM: nothing has changed. */
int process_stats__fold(struct process_stats *from, struct process_stats *into);

/* NULL when out of memory; `name` is copied, and may be NULL. __free() takes NULL. */
struct process_stats *process_stats__new(const char *name, uint32_t id);
void process_stats__free(struct process_stats *group);

#endif
