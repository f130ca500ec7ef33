/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The statistics of one process, by function. */
#ifndef LS_PROCESS_STATS_H
#define LS_PROCESS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "profile/profile.h"
#include "profile/script_split.h"
#include "statistics/function_stats.h"
#include "statistics/known_functions.h"

/* CPU time that a function's samples stand for: see ls_profile_node.weight_ns. */
struct stats_entry {
	uint32_t key;                         /* known_functions__key() */
	struct stats_times now, base, recent; /* base: at the reset */
};

/* Samples that can be hidden. */
struct stats_part {
	uint64_t count, weight_ns;
};

/* The samples of a process. */
struct stats_samples {
	uint64_t count;            /* without lost ones */
	uint64_t weight_ns;        /* CPU time that they stand for */
	uint64_t script_ns;        /* of that, with script on the stack */
	uint64_t lost_ns;          /* what lost samples stand for */
	struct script_split split; /* of `weight_ns` */
	/* Those that are hidden with any of the kinds that the index is made of (enum
	 * stats_hidden). */
	struct stats_part parts[STATS_HIDDEN_ALL + 1];
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
	uint64_t gc_samples, gc_ns; /* of these, in the garbage collector */
};

/* What counting needs of the profile, the same for all groups of an update. */
struct stats_walk {
	const struct ls_profile *profile;
	const struct known_functions *known;
	struct stats_totals *totals; /* by node; [0]: of all nodes */
	struct stats_slot *slots;    /* by key */
	uint32_t *touched;           /* keys encountered, whose slots are in use */
	uint32_t touched_count;
	uint32_t plugins; /* how many functions on the path are of a plugin's chunk */
};

/*
 * `known` has the functions of the profile, and those for which groups have entries. 0 or -ENOMEM.
 * Free with stats_walk__end(), also after a failure.
 */
int stats_walk__begin(struct stats_walk *walk, const struct ls_profile *profile,
		      const struct known_functions *known);
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

/* Those of `samples` that are hidden with these kinds (enum stats_hidden). */
struct stats_part process_stats__hidden(const struct stats_samples *samples, unsigned kinds);

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
