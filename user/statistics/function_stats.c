/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "statistics/function_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/call_tree.h"
#include "statistics/function_stats_internal.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* NULL when out of memory. */
static struct process_stats *add_group(struct function_stats *stats, const char *name)
{
	struct process_stats **groups = stats->groups, *group;

	if (stats->group_count == stats->group_room) {
		size_t room = stats->group_room ? 2 * stats->group_room : 16;

		groups = reallocarray(groups, room, sizeof(struct process_stats *));
		if (!groups)
			return NULL;
		stats->groups = groups;
		stats->group_room = room;
	}
	group = process_stats__new(name, ++stats->ids);
	if (group)
		groups[stats->group_count++] = group;
	return group;
}

struct function_stats *function_stats__new(bool is_of_many)
{
	struct function_stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return NULL;
	stats->is_of_many = is_of_many;
	if (is_of_many)
		return stats;
	stats->the_only = add_group(stats, NULL);
	if (stats->the_only)
		return stats;
	function_stats__free(stats);
	return NULL;
}

void function_stats__free(struct function_stats *stats)
{
	struct process_stats *group, *next;

	if (!stats)
		return;
	HASH_ITER (hh, stats->by_name, group, next) {
		HASH_DEL(stats->by_name, group);
		process_stats__free(group);
	}
	/* All other groups are in the hash table. */
	process_stats__free(stats->earlier);
	process_stats__free(stats->the_only);
	known_functions__free(&stats->known);
	function_calls__free(stats->calls);
	free(stats->categories);
	free(stats->groups);
	free(stats->rows);
	free(stats->processes);
	free(stats);
}

/* The group that counts the category, made on first use. NULL when out of memory. */
static struct process_stats *find_group(struct function_stats *stats, const char *name)
{
	struct process_stats *group;

	if (stats->the_only)
		return stats->the_only;
	HASH_FIND_STR(stats->by_name, name, group);
	if (group)
		return group->into ? group->into : group;
	group = add_group(stats, name);
	if (!group)
		return NULL;
	HASH_ADD_KEYPTR(hh, stats->by_name, group->name, strlen(group->name), group);
	if (HASH_HAS_ADDED(group))
		return group;
	stats->group_count--;
	process_stats__free(group);
	return NULL;
}

/* Adds new categories. 0 or -ENOMEM. */
static int take_categories(struct function_stats *stats, const struct ls_profile *profile)
{
	struct stats_category *categories = stats->categories;

	if (profile->category_count <= stats->category_count)
		return 0;
	categories = reallocarray(categories, profile->category_count, sizeof(*categories));
	if (!categories)
		return -ENOMEM;
	stats->categories = categories;
	for (uint32_t i = stats->category_count; i < profile->category_count; i++) {
		struct process_stats *group = find_group(stats, profile->categories[i].name);

		if (!group)
			return -ENOMEM;
		categories[i] =
			(struct stats_category){.group = group, .next = group->first_category};
		group->first_category = i + 1;
		stats->category_count = i + 1;
	}
	return 0;
}

/* Counts groups that have changed; with `all`, all groups. 0 or -ENOMEM. */
static int count(struct function_stats *stats, struct stats_walk *walk, bool all)
{
	const struct ls_profile *profile = walk->profile;
	int error = 0;

	for (uint32_t i = 0; i < stats->category_count; i++) {
		struct stats_category *category = &stats->categories[i];
		const struct stats_totals *totals = &walk->totals[profile->categories[i].node];

		category->group->cpu.look_ns += totals->self_ns;
		category->group->has_news |= all || totals->samples != category->samples;
		category->samples = totals->samples;
	}
	for (size_t i = 0; i < stats->group_count && !error; i++) {
		struct process_stats *group = stats->groups[i];
		struct stats_samples samples = {0};

		process_stats__settle(group);
		if (!group->has_news)
			continue;
		group->has_news = false;
		for (uint32_t at = group->first_category; at; at = stats->categories[at - 1].next)
			stats_walk__count(walk, profile->categories[at - 1].node, &samples);
		error = process_stats__take(group, walk, samples);
	}
	return error;
}

static void add_up(struct function_stats *stats, const struct stats_walk *walk)
{
	const struct ls_profile_recorder *recorder = &walk->profile->recorder;
	struct stats_sums *sums = &stats->now;

	/* For a process that is gone, the kernel reports no time, but the profile has it soon. */
	stats->cpu_ns = most(stats->cpu_ns, most(recorder->cpu_ns, walk->totals[0].self_ns));
	sums->cpu_ns = stats->cpu_ns;
	if (stats->the_only)
		stats->the_only->cpu.look_ns = stats->cpu_ns;
	stats_sums__take(sums, recorder);
	sums->weight_ns = walk->totals[0].weight_ns;
	for (size_t i = 0; i < stats->group_count; i++) {
		sums->script_ns += stats->groups[i]->now.script_ns;
		script_split__add(&sums->split, &stats->groups[i]->now.split);
	}
	sums->gc_ns = walk->totals[0].gc_ns;
}

int function_stats__begin(struct function_stats *stats, uint64_t time_ns,
			  const struct ls_profile *profile)
{
	struct stats_walk walk = {0};
	bool have_changed, is_pruned;
	int error = known_functions__take(&stats->known, profile, &have_changed);

	stats->now = (struct stats_sums){.elapsed_ns = time_ns};
	if (!stats->base.elapsed_ns) {
		stats->base.elapsed_ns = time_ns;
		stats->before.elapsed_ns = time_ns;
	}
	stats->look_ns = time_ns;
	is_pruned = profile->recorder.evicted_samples != stats->evicted_samples;
	stats->evicted_samples = profile->recorder.evicted_samples;
	if (!error)
		function_calls__follow(stats, have_changed);
	if (!error)
		error = take_categories(stats, profile);
	if (!error)
		error = stats_walk__begin(&walk, profile, &stats->known);
	stats->living = 0;
	for (size_t i = 0; i < stats->group_count; i++) {
		stats->groups[i]->living = 0;
		stats->groups[i]->cpu.look_ns = 0;
	}
	if (!error)
		error = count(stats, &walk, have_changed || is_pruned);
	if (!error)
		add_up(stats, &walk);
	stats_walk__end(&walk);
	return error;
}

int function_stats__see_living(struct function_stats *stats, const char *category, uint64_t late_ns)
{
	struct process_stats *group = find_group(stats, category);

	if (!group)
		return -ENOMEM;
	group->cpu.look_ns += late_ns;
	if (!strcmp(category, PROFILE_WITHOUT_INTERPRETER))
		return 0;
	group->living++;
	stats->living++;
	return 0;
}

/* Only real processes can end, not the pseudo categories. */
static bool can_end(const struct function_stats *stats, const struct process_stats *group)
{
	return group->name && group != stats->earlier && strcmp(group->name, CALL_TREE_OTHER) &&
	       strcmp(group->name, PROFILE_WITHOUT_INTERPRETER);
}

/* The index of the group that ended first; group_count: none has. */
static size_t find_first_ended(const struct function_stats *stats)
{
	size_t first = stats->group_count;

	for (size_t i = 0; i < stats->group_count; i++) {
		const struct process_stats *group = stats->groups[i];

		if (group->ended_ns && (first == stats->group_count ||
					group->ended_ns < stats->groups[first]->ended_ns))
			first = i;
	}
	return first;
}

/* Folds a group into stats->earlier. 0 or -ENOMEM. */
static int fold(struct function_stats *stats, size_t at)
{
	struct process_stats *group = stats->groups[at];
	uint32_t *last;
	int error;

	if (!stats->earlier)
		stats->earlier = add_group(stats, STATS_ENDED_EARLIER);
	if (!stats->earlier)
		return -ENOMEM;
	error = process_stats__fold(group, stats->earlier);
	if (error)
		return error;
	for (last = &group->first_category; *last; last = &stats->categories[*last - 1].next)
		stats->categories[*last - 1].group = stats->earlier;
	*last = stats->earlier->first_category;
	stats->earlier->first_category = group->first_category;
	stats->groups[at] = stats->groups[--stats->group_count];
	stats->folded++;
	return 0;
}

/* Removes a group that was alive but has no category in the profile. */
static void forget(struct function_stats *stats, size_t at)
{
	struct process_stats *group = stats->groups[at];

	HASH_DEL(stats->by_name, group);
	process_stats__free(group);
	stats->groups[at] = stats->groups[--stats->group_count];
}

/* Finds groups that have ended, and folds all but the last STATS_ENDED_KEPT. 0 or -ENOMEM. */
static int take_ends(struct function_stats *stats)
{
	size_t i = 0;
	int error = 0;

	stats->ended = 0;
	while (i < stats->group_count) {
		struct process_stats *group = stats->groups[i];

		if (group->living || !can_end(stats, group)) {
			group->ended_ns = 0;
		} else if (!group->first_category) {
			forget(stats, i);
			continue;
		} else if (!group->ended_ns) {
			group->ended_ns = stats->look_ns;
		}
		stats->ended += group->ended_ns != 0;
		i++;
	}
	while (stats->ended > STATS_ENDED_KEPT && !error) {
		error = fold(stats, find_first_ended(stats));
		stats->ended--;
	}
	return error;
}

/* 0 or -ENOMEM. */
static int reserve_row(struct function_stats *stats)
{
	size_t room = stats->row_room ? 2 * stats->row_room : 64;
	struct stats_row *rows;

	if (stats->row_count < stats->row_room)
		return 0;
	rows = reallocarray(stats->rows, room, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	stats->rows = rows;
	stats->row_room = room;
	return 0;
}

static int add_row(struct function_stats *stats, uint32_t process, const struct stats_entry *entry)
{
	const struct process_stats *group = stats->groups[process];
	const struct stats_times *now = &entry->now, *base = &entry->base;
	struct stats_row *row;

	if (reserve_row(stats))
		return -ENOMEM;
	row = &stats->rows[stats->row_count++];
	*row = function_stats__make_row(stats, entry->key);
	row->process = process;
	row->recent = function_stats__show(
		stats, (struct stats_times){
			       process_stats__recent_ns(group, entry->recent.self),
			       process_stats__recent_ns(group, entry->recent.total),
			       process_stats__recent_ns(group, entry->recent.gc),
		       });
	row->all = function_stats__show(
		stats, (struct stats_times){
			       process_stats__all_ns(group, now->self - base->self),
			       process_stats__all_ns(group, now->total - base->total),
			       process_stats__all_ns(group, now->gc - base->gc),
		       });
	return 0;
}

static void fill_process(const struct function_stats *stats, const struct process_stats *group,
			 struct stats_process *process)
{
	struct stats_samples all = process_stats__all(group);
	struct stats_part hidden = process_stats__hidden(&all, stats->hidden);
	struct stats_part recent = process_stats__hidden(&group->recent, stats->hidden);
	uint64_t all_ns = group->cpu.now_ns - group->cpu.base_ns;

	*process = (struct stats_process){
		.id = group->id,
		.name = group->name,
		.living = group->living,
		.has_ended = group->ended_ns || (group == stats->earlier && !group->living),
		.recent_ns = group->cpu.recent_ns -
			     least(group->cpu.recent_ns,
				   process_stats__recent_ns(group, recent.weight_ns)),
		.all_ns = all_ns - least(all_ns, process_stats__all_ns(group, hidden.weight_ns)),
		.samples = all.count - least(all.count, hidden.count),
		.weight_ns = all.weight_ns - least(all.weight_ns, hidden.weight_ns),
		.script_ns = all.script_ns - least(all.script_ns, hidden.weight_ns),
		.recent_weight_ns = group->recent.weight_ns + group->recent.lost_ns,
		.recent_split = group->recent.split,
		.all_split = all.split,
	};
}

static int make_processes(struct function_stats *stats)
{
	struct stats_process *processes = reallocarray(
		stats->processes, stats->group_count ? stats->group_count : 1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	stats->processes = processes;
	stats->process_count = stats->group_count;
	for (size_t i = 0; i < stats->group_count; i++)
		fill_process(stats, stats->groups[i], &processes[i]);
	return 0;
}

/* 0 or -ENOMEM. */
static int make_rows(struct function_stats *stats)
{
	int error = make_processes(stats);

	stats->row_count = 0;
	for (size_t i = 0; i < stats->group_count; i++) {
		const struct process_stats *group = stats->groups[i];

		for (uint32_t at = 0; at < group->entry_count && !error; at++) {
			const struct stats_entry *entry = &group->entries[at];

			if ((entry->now.total > entry->base.total || entry->recent.total) &&
			    !function_stats__leaves_out(stats, entry->key))
				error = add_row(stats, (uint32_t)i, entry);
		}
	}
	return error;
}

int function_stats__end(struct function_stats *stats)
{
	int error;

	for (size_t i = 0; i < stats->group_count; i++)
		process_stats__take_cpu(stats->groups[i]);
	error = take_ends(stats);
	stats->recent = stats_sums__since(&stats->now, &stats->before);
	stats->all = stats_sums__since(&stats->now, &stats->base);
	stats->before = stats->now;
	return error ? error : make_rows(stats);
}

int function_stats__reset(struct function_stats *stats)
{
	stats->base = stats->now;
	stats->recent = stats->all = (struct stats_sums){0};
	for (size_t i = 0; i < stats->group_count; i++)
		process_stats__reset(stats->groups[i]);
	return make_rows(stats);
}

void function_stats__set_plugins(struct function_stats *stats, const struct patterns *plugins)
{
	stats->known.plugins = plugins;
}

int function_stats__hide(struct function_stats *stats, unsigned kinds)
{
	int error;

	stats->hidden = kinds & STATS_HIDDEN_ALL;
	error = make_rows(stats);
	return error ? error : function_calls__make_rows(stats);
}

unsigned function_stats__hidden(const struct function_stats *stats)
{
	return stats->hidden;
}

const struct stats_row *function_stats__rows(const struct function_stats *stats, size_t *count)
{
	*count = stats->row_count;
	return stats->rows;
}

const struct stats_process *function_stats__processes(const struct function_stats *stats,
						      size_t *count)
{
	*count = stats->process_count;
	return stats->processes;
}

bool function_stats__is_of_many(const struct function_stats *stats)
{
	return stats->is_of_many;
}

size_t function_stats__living(const struct function_stats *stats)
{
	return stats->living;
}

size_t function_stats__ended(const struct function_stats *stats)
{
	return stats->ended + stats->folded;
}

const struct stats_sums *function_stats__recent(const struct function_stats *stats)
{
	return &stats->recent;
}

const struct stats_sums *function_stats__all(const struct function_stats *stats)
{
	return &stats->all;
}
