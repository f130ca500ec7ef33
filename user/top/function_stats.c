/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/function_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/call_tree.h"
#include "top/process_stats.h"

/* A category of the profile, at the same index. */
struct category {
	struct process_stats *group;
	uint64_t samples; /* at the last update */
	uint32_t next;    /* the group's next category: an index + 1; 0: none */
};

struct function_stats {
	bool is_of_many;
	struct stats_function *functions; /* by id */
	uint32_t function_count;          /* highest id */
	struct category *categories;
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
};

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

static void empty(struct stats_function *function)
{
	free(function->source);
	free(function->name);
	*function = (struct stats_function){0};
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
	for (uint32_t id = 1; id <= stats->function_count; id++)
		empty(&stats->functions[id]);
	free(stats->functions);
	free(stats->categories);
	free(stats->groups);
	free(stats->rows);
	free(stats->processes);
	free(stats);
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* 0 or -ENOMEM. */
static int set_text(char **to, const char *text)
{
	char *copy = NULL;

	if (is_same_text(*to, text))
		return 0;
	if (text) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	free(*to);
	*to = copy;
	return 0;
}

/* A pseudo function's name never changes; another function is still the same if its name does. */
static bool is_same(const struct stats_function *known, const struct ls_profile_function *function)
{
	return known->line == function->line &&
	       known->is_native == !!(function->flags & LS_FUNCTION_NATIVE) &&
	       is_same_text(known->source, function->source) &&
	       (function->source || is_same_text(known->name, function->name));
}

static int reserve_functions(struct function_stats *stats, uint32_t count)
{
	struct stats_function *functions;

	if (stats->functions && count <= stats->function_count)
		return 0;
	functions = reallocarray(stats->functions, (size_t)count + 1, sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	if (!stats->functions)
		functions[0] = (struct stats_function){0};
	stats->functions = functions;
	memset(functions + stats->function_count + 1, 0,
	       (size_t)(count - stats->function_count) * sizeof(*functions));
	stats->function_count = count;
	return 0;
}

/* *have_changed: an id now belongs to another function. 0 or -ENOMEM. */
static int take_functions(struct function_stats *stats, const struct ls_profile *profile,
			  bool *have_changed)
{
	uint32_t known = stats->function_count;
	int error = reserve_functions(stats, profile->function_count);

	*have_changed = false;
	for (uint32_t id = 1; id <= profile->function_count && !error; id++) {
		const struct ls_profile_function *from = &profile->functions[id];
		struct stats_function *function = &stats->functions[id];

		function->has_changed = id <= known && !is_same(function, from);
		*have_changed |= function->has_changed;
		function->line = from->line;
		function->is_native = from->flags & LS_FUNCTION_NATIVE;
		error = set_text(&function->source, from->source);
		if (!error)
			error = set_text(&function->name, from->name);
	}
	return error;
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
	struct category *categories = stats->categories;

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
		categories[i] = (struct category){.group = group, .next = group->first_category};
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
		struct category *category = &stats->categories[i];
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

static uint64_t gc_ns(const struct ls_profile *profile)
{
	uint64_t ns = 0;
	uint32_t gc = 0;

	for (uint32_t id = 1; id <= profile->function_count && !gc; id++)
		gc = profile__is_gc(&profile->functions[id]) ? id : 0;
	for (uint32_t id = 1; id <= profile->node_count && gc; id++)
		if (profile->nodes[id].function == gc)
			ns += profile->nodes[id].weight_ns;
	return ns;
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
	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++) {
		sums->classes[class] = recorder->classes[class];
		sums->samples += recorder->classes[class];
	}
	memcpy(sums->errors, recorder->errors, sizeof(sums->errors));
	sums->weight_ns = walk->totals[0].weight_ns;
	for (size_t i = 0; i < stats->group_count; i++)
		sums->script_ns += stats->groups[i]->now.script_ns;
	sums->gc_ns = gc_ns(walk->profile);
	sums->not_kept = recorder->lost_records + recorder->evicted_samples;
	sums->missed = recorder->missed_processes;
}

int function_stats__begin(struct function_stats *stats, uint64_t time_ns,
			  const struct ls_profile *profile)
{
	struct stats_walk walk = {0};
	bool have_changed, is_pruned;
	int error = take_functions(stats, profile, &have_changed);

	stats->now = (struct stats_sums){.elapsed_ns = time_ns};
	if (!stats->base.elapsed_ns) {
		stats->base.elapsed_ns = time_ns;
		stats->before.elapsed_ns = time_ns;
	}
	stats->look_ns = time_ns;
	is_pruned = profile->recorder.evicted_samples != stats->evicted_samples;
	stats->evicted_samples = profile->recorder.evicted_samples;
	if (!error)
		error = take_categories(stats, profile);
	if (!error)
		error = stats_walk__begin(&walk, profile, stats->functions, stats->function_count);
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

static struct stats_sums difference(const struct stats_sums *now, const struct stats_sums *before)
{
	struct stats_sums sums = {
		.elapsed_ns = now->elapsed_ns - before->elapsed_ns,
		.cpu_ns = now->cpu_ns - least(now->cpu_ns, before->cpu_ns),
		.samples = now->samples - before->samples,
		.weight_ns = now->weight_ns - least(now->weight_ns, before->weight_ns),
		.script_ns = now->script_ns - least(now->script_ns, before->script_ns),
		.gc_ns = now->gc_ns - least(now->gc_ns, before->gc_ns),
		.not_kept = now->not_kept - least(now->not_kept, before->not_kept),
		.missed = now->missed - least(now->missed, before->missed),
	};

	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		sums.classes[class] = now->classes[class] - before->classes[class];
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		sums.errors[error] = now->errors[error] - before->errors[error];
	return sums;
}

static int add_row(struct function_stats *stats, uint32_t process, const struct stats_entry *entry)
{
	const struct process_stats *group = stats->groups[process];
	const struct stats_function *function = &stats->functions[entry->function];
	struct stats_row *rows = stats->rows;

	if (stats->row_count == stats->row_room) {
		size_t room = stats->row_room ? 2 * stats->row_room : 64;

		rows = reallocarray(rows, room, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		stats->rows = rows;
		stats->row_room = room;
	}
	rows[stats->row_count++] = (struct stats_row){
		.process = process,
		.function = entry->function,
		.source = function->source,
		.name = function->name,
		.line = function->line,
		.is_native = function->is_native,
		.recent = {process_stats__recent_ns(group, entry->recent.self),
			   process_stats__recent_ns(group, entry->recent.total)},
		.all = {process_stats__all_ns(group, entry->now.self - entry->base.self),
			process_stats__all_ns(group, entry->now.total - entry->base.total)},
	};
	return 0;
}

static int make_processes(struct function_stats *stats)
{
	struct stats_process *processes = reallocarray(
		stats->processes, stats->group_count ? stats->group_count : 1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	stats->processes = processes;
	stats->process_count = stats->group_count;
	for (size_t i = 0; i < stats->group_count; i++) {
		const struct process_stats *group = stats->groups[i];
		struct stats_samples all = process_stats__all(group);

		processes[i] = (struct stats_process){
			.id = group->id,
			.name = group->name,
			.living = group->living,
			.has_ended = group->ended_ns || (group == stats->earlier && !group->living),
			.recent_ns = group->cpu.recent_ns,
			.all_ns = group->cpu.now_ns - group->cpu.base_ns,
			.samples = all.count,
			.weight_ns = all.weight_ns,
			.script_ns = all.script_ns,
		};
	}
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

			if (entry->now.total > entry->base.total || entry->recent.total)
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
	stats->recent = difference(&stats->now, &stats->before);
	stats->all = difference(&stats->now, &stats->base);
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
