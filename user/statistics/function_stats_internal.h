/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What function_stats.c and function_calls.c share. */
#ifndef LS_FUNCTION_STATS_INTERNAL_H
#define LS_FUNCTION_STATS_INTERNAL_H

#include "statistics/function_stats.h"
#include "statistics/known_functions.h"
#include "statistics/process_stats.h"

struct function_calls;

/* A category of the profile, at the same index. */
struct stats_category {
	struct process_stats *group;
	uint64_t samples; /* at the last update */
	uint32_t next;    /* the group's next category: an index + 1; 0: none */
};

struct function_stats {
	bool is_of_many;
	unsigned hidden; /* enum stats_hidden */
	struct known_functions known;
	struct stats_category *categories;
	uint32_t category_count;
	struct process_stats *by_name;  /* by category, folded ones included */
	struct process_stats **groups;  /* those that were not folded */
	struct process_stats *earlier;  /* into which they were folded; NULL: none yet */
	struct process_stats *the_only; /* if the whole profile is one process */
	size_t group_count, group_room;
	uint32_t ids;
	uint64_t look_ns;
	uint64_t evicted_samples; /* grows whenever the tree is pruned */
	uint64_t cpu_ns;
	size_t living, ended, folded;
	struct stats_row *rows;
	size_t row_count, row_room;
	struct stats_process *processes;
	size_t process_count;
	struct stats_sums now, before, base; /* their elapsed_ns is a point in time, not a span */
	struct stats_sums recent, all;
	struct function_calls *calls; /* NULL: none yet */
};

/* The parts of function_calls.c that follow the statistics. */
void function_calls__free(struct function_calls *calls); /* takes NULL */
/* There is an update, after which ids of functions may have been reused. */
void function_calls__follow(struct function_stats *stats, bool are_reused);
int function_calls__make_rows(struct function_stats *stats); /* 0 or -ENOMEM */

/* What two states of the sums differ by; elapsed_ns becomes a span. */
struct stats_sums stats_sums__since(const struct stats_sums *now, const struct stats_sums *before);

/* Adds what the profile's recorder counted. */
void stats_sums__take(struct stats_sums *sums, const struct ls_profile_recorder *recorder);

/* The entry of a function as a row, which still lacks its process and its times. */
struct stats_row function_stats__make_row(const struct function_stats *stats, uint32_t key);

/* Whether the rows of a function are left out, and times without what is hidden. */
bool function_stats__leaves_out(const struct function_stats *stats, uint32_t key);
struct stats_times function_stats__show(const struct function_stats *stats,
					struct stats_times times);

#endif
