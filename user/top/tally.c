/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "tally_group.h"

/* Of the profile, by its place there. */
struct category {
	struct tally_group *group;
	uint64_t samples; /* at the last look */
	uint32_t next;    /* of the group's: an index + 1; 0: none */
};

struct tally {
	bool is_of_many;
	struct tally_function *functions; /* by id */
	uint32_t function_count;          /* highest id */
	struct category *categories;
	uint32_t category_count;
	struct tally_group *by_name;  /* those that were folded, too */
	struct tally_group **groups;  /* the others */
	struct tally_group *earlier;  /* what they were folded into; NULL: none was yet */
	struct tally_group *the_only; /* where all is one process */
	size_t group_count, group_room;
	uint32_t ids;
	uint64_t look_ns;
	uint64_t evicted_samples; /* there are more whenever the tree was pruned */
	uint64_t cpu_ns;
	size_t living, ended, folded;
	struct tally_row *rows;
	size_t row_count, row_room;
	struct tally_process *processes;
	size_t process_count;
	struct tally_sums now, before, base; /* elapsed_ns of these is a time, not a span */
	struct tally_sums recent, all;
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
static struct tally_group *add_group(struct tally *tally, const char *name)
{
	struct tally_group **groups = tally->groups, *group;

	if (tally->group_count == tally->group_room) {
		size_t room = tally->group_room ? 2 * tally->group_room : 16;

		groups = reallocarray(groups, room, sizeof(struct tally_group *));
		if (!groups)
			return NULL;
		tally->groups = groups;
		tally->group_room = room;
	}
	group = tally_group__new(name, ++tally->ids);
	if (group)
		groups[tally->group_count++] = group;
	return group;
}

struct tally *tally__new(bool is_of_many)
{
	struct tally *tally = calloc(1, sizeof(*tally));

	if (!tally)
		return NULL;
	tally->is_of_many = is_of_many;
	if (is_of_many)
		return tally;
	tally->the_only = add_group(tally, NULL);
	if (tally->the_only)
		return tally;
	tally__free(tally);
	return NULL;
}

static void empty(struct tally_function *function)
{
	free(function->source);
	free(function->name);
	*function = (struct tally_function){0};
}

void tally__free(struct tally *tally)
{
	struct tally_group *group, *next;

	if (!tally)
		return;
	HASH_ITER (hh, tally->by_name, group, next) {
		HASH_DEL(tally->by_name, group);
		tally_group__free(group);
	}
	/* All others are in the table. */
	tally_group__free(tally->earlier);
	tally_group__free(tally->the_only);
	for (uint32_t id = 1; id <= tally->function_count; id++)
		empty(&tally->functions[id]);
	free(tally->functions);
	free(tally->categories);
	free(tally->groups);
	free(tally->rows);
	free(tally->processes);
	free(tally);
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

/* The names of pseudo functions never change; those of others may, and they stay the same. */
static bool is_same(const struct tally_function *known, const struct ls_profile_function *function)
{
	return known->line == function->line && is_same_text(known->source, function->source) &&
	       (function->source || is_same_text(known->name, function->name));
}

static int reserve_functions(struct tally *tally, uint32_t count)
{
	struct tally_function *functions;

	if (tally->functions && count <= tally->function_count)
		return 0;
	functions = reallocarray(tally->functions, (size_t)count + 1, sizeof(*functions));
	if (!functions)
		return -ENOMEM;
	if (!tally->functions)
		functions[0] = (struct tally_function){0};
	tally->functions = functions;
	memset(functions + tally->function_count + 1, 0,
	       (size_t)(count - tally->function_count) * sizeof(*functions));
	tally->function_count = count;
	return 0;
}

/* *have_changed: an id is another function's. 0 or -ENOMEM. */
static int take_functions(struct tally *tally, const struct ls_profile *profile, bool *have_changed)
{
	uint32_t known = tally->function_count;
	int error = reserve_functions(tally, profile->function_count);

	*have_changed = false;
	for (uint32_t id = 1; id <= profile->function_count && !error; id++) {
		const struct ls_profile_function *from = &profile->functions[id];
		struct tally_function *function = &tally->functions[id];

		function->has_changed = id <= known && !is_same(function, from);
		*have_changed |= function->has_changed;
		function->line = from->line;
		error = set_text(&function->source, from->source);
		if (!error)
			error = set_text(&function->name, from->name);
	}
	return error;
}

/* That of the category, where it is counted; made at first sight. NULL when out of memory. */
static struct tally_group *find_group(struct tally *tally, const char *name)
{
	struct tally_group *group;

	if (tally->the_only)
		return tally->the_only;
	HASH_FIND_STR(tally->by_name, name, group);
	if (group)
		return group->into ? group->into : group;
	group = add_group(tally, name);
	if (!group)
		return NULL;
	HASH_ADD_KEYPTR(hh, tally->by_name, group->name, strlen(group->name), group);
	if (HASH_HAS_ADDED(group))
		return group;
	tally->group_count--;
	tally_group__free(group);
	return NULL;
}

/* Those that are new. 0 or -ENOMEM. */
static int take_categories(struct tally *tally, const struct ls_profile *profile)
{
	struct category *categories = tally->categories;

	if (profile->category_count <= tally->category_count)
		return 0;
	categories = reallocarray(categories, profile->category_count, sizeof(*categories));
	if (!categories)
		return -ENOMEM;
	tally->categories = categories;
	for (uint32_t i = tally->category_count; i < profile->category_count; i++) {
		struct tally_group *group = find_group(tally, profile->categories[i].name);

		if (!group)
			return -ENOMEM;
		categories[i] = (struct category){.group = group, .next = group->first_category};
		group->first_category = i + 1;
		tally->category_count = i + 1;
	}
	return 0;
}

/* Counts what has changed; with `all`, what has not, too. 0 or -ENOMEM. */
static int count(struct tally *tally, struct tally_walk *walk, bool all)
{
	const struct ls_profile *profile = walk->profile;
	int error = 0;

	for (uint32_t i = 0; i < tally->category_count; i++) {
		struct category *category = &tally->categories[i];
		const struct tally_totals *totals = &walk->totals[profile->categories[i].node];

		category->group->cpu.look_ns += totals->self_ns;
		category->group->has_news |= all || totals->samples != category->samples;
		category->samples = totals->samples;
	}
	for (size_t i = 0; i < tally->group_count && !error; i++) {
		struct tally_group *group = tally->groups[i];
		struct tally_samples samples = {0};

		tally_group__settle(group);
		if (!group->has_news)
			continue;
		group->has_news = false;
		for (uint32_t at = group->first_category; at; at = tally->categories[at - 1].next)
			tally_walk__count(walk, profile->categories[at - 1].node, &samples);
		error = tally_group__take(group, walk, samples);
	}
	return error;
}

static uint64_t collector_ns(const struct ls_profile *profile)
{
	uint64_t ns = 0;
	uint32_t collector = 0;

	for (uint32_t id = 1; id <= profile->function_count && !collector; id++)
		collector = profile__is_collector(&profile->functions[id]) ? id : 0;
	for (uint32_t id = 1; id <= profile->node_count && collector; id++)
		if (profile->nodes[id].function == collector)
			ns += profile->nodes[id].weight_ns;
	return ns;
}

static void add_up(struct tally *tally, const struct tally_walk *walk)
{
	const struct ls_profile_recorder *recorder = &walk->profile->recorder;
	struct tally_sums *sums = &tally->now;

	/* Of a process that is gone the kernel does not tell it, but the profile has it soon. */
	tally->cpu_ns = most(tally->cpu_ns, most(recorder->cpu_ns, walk->totals[0].self_ns));
	sums->cpu_ns = tally->cpu_ns;
	if (tally->the_only)
		tally->the_only->cpu.look_ns = tally->cpu_ns;
	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++) {
		sums->classes[class] = recorder->classes[class];
		sums->samples += recorder->classes[class];
	}
	memcpy(sums->errors, recorder->errors, sizeof(sums->errors));
	sums->weight_ns = walk->totals[0].weight_ns;
	for (size_t i = 0; i < tally->group_count; i++)
		sums->script_ns += tally->groups[i]->now.script_ns;
	sums->collector_ns = collector_ns(walk->profile);
	sums->not_kept = recorder->lost_records + recorder->evicted_samples;
	sums->missed = recorder->missed_processes;
}

int tally__begin(struct tally *tally, uint64_t time_ns, const struct ls_profile *profile)
{
	struct tally_walk walk = {0};
	bool have_changed, is_pruned;
	int error = take_functions(tally, profile, &have_changed);

	tally->now = (struct tally_sums){.elapsed_ns = time_ns};
	if (!tally->base.elapsed_ns) {
		tally->base.elapsed_ns = time_ns;
		tally->before.elapsed_ns = time_ns;
	}
	tally->look_ns = time_ns;
	is_pruned = profile->recorder.evicted_samples != tally->evicted_samples;
	tally->evicted_samples = profile->recorder.evicted_samples;
	if (!error)
		error = take_categories(tally, profile);
	if (!error)
		error = tally_walk__begin(&walk, profile, tally->functions, tally->function_count);
	tally->living = 0;
	for (size_t i = 0; i < tally->group_count; i++) {
		tally->groups[i]->living = 0;
		tally->groups[i]->cpu.look_ns = 0;
	}
	if (!error)
		error = count(tally, &walk, have_changed || is_pruned);
	if (!error)
		add_up(tally, &walk);
	tally_walk__end(&walk);
	return error;
}

int tally__see_living(struct tally *tally, const char *category, uint64_t late_ns)
{
	struct tally_group *group = find_group(tally, category);

	if (!group)
		return -ENOMEM;
	group->cpu.look_ns += late_ns;
	if (!strcmp(category, PROFILE_WITHOUT_LUA))
		return 0;
	group->living++;
	tally->living++;
	return 0;
}

/* Categories of whatever there may be are of nobody that could end. */
static bool can_end(const struct tally *tally, const struct tally_group *group)
{
	return group->name && group != tally->earlier && strcmp(group->name, CALL_TREE_OTHER) &&
	       strcmp(group->name, PROFILE_WITHOUT_LUA);
}

/* The place of the one that ended first; group_count: none has. */
static size_t find_first_ended(const struct tally *tally)
{
	size_t first = tally->group_count;

	for (size_t i = 0; i < tally->group_count; i++) {
		const struct tally_group *group = tally->groups[i];

		if (group->ended_ns && (first == tally->group_count ||
					group->ended_ns < tally->groups[first]->ended_ns))
			first = i;
	}
	return first;
}

/* 0 or -ENOMEM. */
static int fold(struct tally *tally, size_t at)
{
	struct tally_group *group = tally->groups[at];
	uint32_t *last;
	int error;

	if (!tally->earlier)
		tally->earlier = add_group(tally, TALLY_ENDED_EARLIER);
	if (!tally->earlier)
		return -ENOMEM;
	error = tally_group__fold(group, tally->earlier);
	if (error)
		return error;
	for (last = &group->first_category; *last; last = &tally->categories[*last - 1].next)
		tally->categories[*last - 1].group = tally->earlier;
	*last = tally->earlier->first_category;
	tally->earlier->first_category = group->first_category;
	tally->groups[at] = tally->groups[--tally->group_count];
	tally->folded++;
	return 0;
}

/* It was nothing but alive. */
static void forget(struct tally *tally, size_t at)
{
	struct tally_group *group = tally->groups[at];

	HASH_DEL(tally->by_name, group);
	tally_group__free(group);
	tally->groups[at] = tally->groups[--tally->group_count];
}

/* Who has ended, and how much of that is kept. 0 or -ENOMEM. */
static int take_ends(struct tally *tally)
{
	size_t i = 0;
	int error = 0;

	tally->ended = 0;
	while (i < tally->group_count) {
		struct tally_group *group = tally->groups[i];

		if (group->living || !can_end(tally, group)) {
			group->ended_ns = 0;
		} else if (!group->first_category) {
			forget(tally, i);
			continue;
		} else if (!group->ended_ns) {
			group->ended_ns = tally->look_ns;
		}
		tally->ended += group->ended_ns != 0;
		i++;
	}
	while (tally->ended > TALLY_ENDED_KEPT && !error) {
		error = fold(tally, find_first_ended(tally));
		tally->ended--;
	}
	return error;
}

static struct tally_sums difference(const struct tally_sums *now, const struct tally_sums *before)
{
	struct tally_sums sums = {
		.elapsed_ns = now->elapsed_ns - before->elapsed_ns,
		.cpu_ns = now->cpu_ns - least(now->cpu_ns, before->cpu_ns),
		.samples = now->samples - before->samples,
		.weight_ns = now->weight_ns - least(now->weight_ns, before->weight_ns),
		.script_ns = now->script_ns - least(now->script_ns, before->script_ns),
		.collector_ns = now->collector_ns - least(now->collector_ns, before->collector_ns),
		.not_kept = now->not_kept - least(now->not_kept, before->not_kept),
		.missed = now->missed - least(now->missed, before->missed),
	};

	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		sums.classes[class] = now->classes[class] - before->classes[class];
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		sums.errors[error] = now->errors[error] - before->errors[error];
	return sums;
}

static int add_row(struct tally *tally, uint32_t process, const struct tally_entry *entry)
{
	const struct tally_group *group = tally->groups[process];
	const struct tally_function *function = &tally->functions[entry->function];
	struct tally_row *rows = tally->rows;

	if (tally->row_count == tally->row_room) {
		size_t room = tally->row_room ? 2 * tally->row_room : 64;

		rows = reallocarray(rows, room, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		tally->rows = rows;
		tally->row_room = room;
	}
	rows[tally->row_count++] = (struct tally_row){
		.process = process,
		.function = entry->function,
		.source = function->source,
		.name = function->name,
		.line = function->line,
		.recent = {tally_group__recent_ns(group, entry->recent.self),
			   tally_group__recent_ns(group, entry->recent.total)},
		.all = {tally_group__all_ns(group, entry->now.self - entry->base.self),
			tally_group__all_ns(group, entry->now.total - entry->base.total)},
	};
	return 0;
}

static int make_processes(struct tally *tally)
{
	struct tally_process *processes = reallocarray(
		tally->processes, tally->group_count ? tally->group_count : 1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	tally->processes = processes;
	tally->process_count = tally->group_count;
	for (size_t i = 0; i < tally->group_count; i++) {
		const struct tally_group *group = tally->groups[i];
		struct tally_samples all = tally_group__all(group);

		processes[i] = (struct tally_process){
			.id = group->id,
			.name = group->name,
			.living = group->living,
			.has_ended = group->ended_ns || (group == tally->earlier && !group->living),
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
static int make_rows(struct tally *tally)
{
	int error = make_processes(tally);

	tally->row_count = 0;
	for (size_t i = 0; i < tally->group_count; i++) {
		const struct tally_group *group = tally->groups[i];

		for (uint32_t at = 0; at < group->entry_count && !error; at++) {
			const struct tally_entry *entry = &group->entries[at];

			if (entry->now.total > entry->base.total || entry->recent.total)
				error = add_row(tally, (uint32_t)i, entry);
		}
	}
	return error;
}

int tally__end(struct tally *tally)
{
	int error;

	for (size_t i = 0; i < tally->group_count; i++)
		tally_group__take_cpu(tally->groups[i]);
	error = take_ends(tally);
	tally->recent = difference(&tally->now, &tally->before);
	tally->all = difference(&tally->now, &tally->base);
	tally->before = tally->now;
	return error ? error : make_rows(tally);
}

int tally__reset(struct tally *tally)
{
	tally->base = tally->now;
	tally->recent = tally->all = (struct tally_sums){0};
	for (size_t i = 0; i < tally->group_count; i++)
		tally_group__reset(tally->groups[i]);
	return make_rows(tally);
}

const struct tally_row *tally__rows(const struct tally *tally, size_t *count)
{
	*count = tally->row_count;
	return tally->rows;
}

const struct tally_process *tally__processes(const struct tally *tally, size_t *count)
{
	*count = tally->process_count;
	return tally->processes;
}

bool tally__is_of_many(const struct tally *tally)
{
	return tally->is_of_many;
}

size_t tally__living(const struct tally *tally)
{
	return tally->living;
}

size_t tally__ended(const struct tally *tally)
{
	return tally->ended + tally->folded;
}

const struct tally_sums *tally__recent(const struct tally *tally)
{
	return &tally->recent;
}

const struct tally_sums *tally__all(const struct tally *tally)
{
	return &tally->all;
}
