/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"

/* A function of one process, as it was at the last look; its place in the array is its id. */
struct entry {
	char *source, *name;
	uint32_t line;
	struct tally_counts now, base, recent; /* base: at the reset */
};

struct process {
	pid_t pid;
	struct entry *entries;
	uint32_t entry_count; /* highest id */
	uint64_t cpu_ns;
};

struct tally {
	struct process *processes;
	size_t process_count;
	struct tally_row *rows;
	size_t row_count, row_room;
	struct tally_sums now, before, base; /* elapsed_ns of these is a time, not a span */
	struct tally_sums recent, all;
};

struct tally *tally__new(void)
{
	return calloc(1, sizeof(struct tally));
}

static void empty(struct entry *entry)
{
	free(entry->source);
	free(entry->name);
	*entry = (struct entry){0};
}

void tally__free(struct tally *tally)
{
	if (!tally)
		return;
	for (size_t i = 0; i < tally->process_count; i++) {
		for (uint32_t id = 1; id <= tally->processes[i].entry_count; id++)
			empty(&tally->processes[i].entries[id]);
		free(tally->processes[i].entries);
	}
	free(tally->processes);
	free(tally->rows);
	free(tally);
}

void tally__begin(struct tally *tally, uint64_t time_ns)
{
	tally->now = (struct tally_sums){.elapsed_ns = time_ns};
	if (!tally->base.elapsed_ns) {
		tally->base.elapsed_ns = time_ns;
		tally->before.elapsed_ns = time_ns;
	}
}

/* Where a function stands at a line, it is still the function. */
static uint32_t whole_function(const struct ls_profile *profile, uint32_t id)
{
	const struct ls_profile_function *function = &profile->functions[id];

	return function->current_line && function->function ? function->function : id;
}

/* Leaves `id` and every ancestor that it was the last child of. 0 at the end of the tree. */
static uint32_t leave(const struct ls_profile *profile, uint32_t root, uint32_t id, uint32_t *open)
{
	while (id != root) {
		const struct ls_profile_node *node = &profile->nodes[id];

		open[whole_function(profile, node->function)]--;
		if (node->next_sibling)
			return node->next_sibling;
		id = node->parent;
	}
	return 0;
}

/* `open` counts, by function, how often it is on the path: the outermost counts for all. */
static void count_below(const struct ls_profile *profile, uint32_t root,
			const uint64_t *node_totals, uint32_t *open, struct tally_counts *counts)
{
	uint32_t id = profile->nodes[root].first_child;

	while (id) {
		const struct ls_profile_node *node = &profile->nodes[id];
		uint32_t function = whole_function(profile, node->function);

		counts[function].self += node->samples;
		if (!open[function]++)
			counts[function].total += node_totals[id];
		id = node->first_child ? node->first_child : leave(profile, root, id, open);
	}
}

/* Of each function by id; NULL when out of memory. */
static struct tally_counts *count(const struct ls_profile *profile)
{
	uint64_t *node_totals = calloc((size_t)profile->node_count + 1, sizeof(*node_totals));
	uint32_t *open = calloc((size_t)profile->function_count + 1, sizeof(*open));
	struct tally_counts *counts = calloc((size_t)profile->function_count + 1, sizeof(*counts));

	if (!node_totals || !open || !counts) {
		free(counts);
		counts = NULL;
		goto cleanup;
	}
	/* A parent's id is lower than its children's: backwards, each is complete in its turn. */
	for (uint32_t id = profile->node_count; id; id--) {
		node_totals[id] += profile->nodes[id].samples;
		if (profile->nodes[id].parent)
			node_totals[profile->nodes[id].parent] += node_totals[id];
	}
	for (uint32_t id = 1; id <= profile->node_count; id++)
		if (!profile->nodes[id].parent)
			count_below(profile, id, node_totals, open, counts);
cleanup:
	free(node_totals);
	free(open);
	return counts;
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

static bool is_script(const struct ls_profile_function *function)
{
	return function->source != NULL;
}

static bool is_other(const struct ls_profile_function *function)
{
	return !is_script(function) && is_same_text(function->name, CALL_TREE_OTHER);
}

/* The names of pseudo functions never change; those of others may, and they stay the same. */
static bool is_same(const struct entry *entry, const struct ls_profile_function *function)
{
	return entry->line == function->line && is_same_text(entry->source, function->source) &&
	       (is_script(function) || is_same_text(entry->name, function->name));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Takes in what a function has by now. What it had and has no more went into "(other)" when the
 * tree was pruned, or itself did and this is another: added to *moved and, of what was there
 * before the reset, to *moved_base. 0 or -ENOMEM.
 */
static int update(struct entry *entry, const struct ls_profile_function *function,
		  struct tally_counts counts, uint64_t *moved, uint64_t *moved_base)
{
	uint64_t lost;

	if (!is_same(entry, function)) {
		*moved += entry->now.self;
		*moved_base += entry->base.self;
		empty(entry);
		entry->line = function->line;
	}
	if (set_text(&entry->source, function->source) || set_text(&entry->name, function->name))
		return -ENOMEM;
	lost = entry->now.self - least(entry->now.self, counts.self);
	*moved += lost;
	*moved_base += least(lost, entry->base.self);
	entry->recent.self = counts.self - least(counts.self, entry->now.self);
	entry->recent.total =
		most(entry->recent.self, counts.total - least(counts.total, entry->now.total));
	entry->base.self = least(entry->base.self, counts.self);
	entry->base.total = least(entry->base.total, counts.total);
	entry->now = counts;
	return 0;
}

/* Samples that were pruned into "(other)" are not recent there. */
static void correct_other(struct entry *other, uint64_t moved, uint64_t moved_base)
{
	other->recent.self -= least(other->recent.self, moved);
	other->recent.total -= least(other->recent.total, moved);
	other->base.self = least(other->base.self + moved_base, other->now.self);
	other->base.total = least(other->base.total + moved_base, other->now.total);
}

/* 0 or -ENOMEM. */
static int update_all(struct process *process, const struct ls_profile *profile,
		      const struct tally_counts *counts)
{
	uint64_t moved = 0, moved_base = 0;
	uint32_t other = 0;
	int error = 0;

	for (uint32_t id = 1; id <= profile->function_count && !error; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		error = update(&process->entries[id], function, counts[id], &moved, &moved_base);
		if (is_other(function))
			other = id;
	}
	if (other)
		correct_other(&process->entries[other], moved, moved_base);
	return error;
}

static struct process *find_process(struct tally *tally, pid_t pid)
{
	struct process *processes;

	for (size_t i = 0; i < tally->process_count; i++)
		if (tally->processes[i].pid == pid)
			return &tally->processes[i];
	processes = reallocarray(tally->processes, tally->process_count + 1, sizeof(*processes));
	if (!processes)
		return NULL;
	tally->processes = processes;
	processes[tally->process_count] = (struct process){.pid = pid};
	return &processes[tally->process_count++];
}

/* Room for so many functions, those that are new empty. 0 or -ENOMEM. */
static int make_room(struct process *process, uint32_t function_count)
{
	struct entry *entries;

	if (process->entries && function_count <= process->entry_count)
		return 0;
	entries = reallocarray(process->entries, (size_t)function_count + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	if (!process->entries)
		entries[0] = (struct entry){0};
	process->entries = entries;
	memset(entries + process->entry_count + 1, 0,
	       (size_t)(function_count - process->entry_count) * sizeof(*entries));
	process->entry_count = function_count;
	return 0;
}

static void add_up(struct tally_sums *sums, struct process *process,
		   const struct ls_profile *profile, const struct tally_counts *counts)
{
	const struct ls_profile_recorder *recorder = &profile->recorder;

	/* Of a process that is gone the kernel does not tell it. */
	process->cpu_ns = most(process->cpu_ns, recorder->cpu_ns);
	sums->cpu_ns += process->cpu_ns;
	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++) {
		sums->classes[class] += recorder->classes[class];
		sums->samples += recorder->classes[class];
	}
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		sums->errors[error] += recorder->errors[error];
	sums->script += recorder->classes[LS_SAMPLE_COMPLETE] + recorder->classes[LS_SAMPLE_TORN] +
			recorder->classes[LS_SAMPLE_TRUNCATED];
	sums->not_kept += recorder->lost_records + recorder->evicted_samples;
	for (uint32_t id = 1; id <= profile->function_count; id++)
		if (profile__is_collector(&profile->functions[id]))
			sums->collector += counts[id].self;
}

int tally__add(struct tally *tally, pid_t pid, const struct ls_profile *profile)
{
	struct process *process = find_process(tally, pid);
	struct tally_counts *counts = count(profile);
	int error = -ENOMEM;

	if (process && counts && !make_room(process, profile->function_count)) {
		add_up(&tally->now, process, profile, counts);
		error = update_all(process, profile, counts);
	}
	free(counts);
	return error;
}

static struct tally_sums difference(const struct tally_sums *now, const struct tally_sums *before)
{
	struct tally_sums sums = {
		.elapsed_ns = now->elapsed_ns - before->elapsed_ns,
		.cpu_ns = now->cpu_ns - least(now->cpu_ns, before->cpu_ns),
		.samples = now->samples - before->samples,
		.script = now->script - before->script,
		.collector = now->collector - before->collector,
		.not_kept = now->not_kept - least(now->not_kept, before->not_kept),
	};

	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		sums.classes[class] = now->classes[class] - before->classes[class];
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		sums.errors[error] = now->errors[error] - before->errors[error];
	return sums;
}

static int add_row(struct tally *tally, pid_t pid, uint32_t id, const struct entry *entry)
{
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
		.pid = pid,
		.function = id,
		.source = entry->source,
		.name = entry->name,
		.line = entry->line,
		.recent = entry->recent,
		.all = {entry->now.self - entry->base.self, entry->now.total - entry->base.total},
	};
	return 0;
}

/* 0 or -ENOMEM. */
static int make_rows(struct tally *tally)
{
	int error = 0;

	tally->row_count = 0;
	for (size_t i = 0; i < tally->process_count; i++) {
		const struct process *process = &tally->processes[i];

		for (uint32_t id = 1; id <= process->entry_count && !error; id++) {
			const struct entry *entry = &process->entries[id];

			if (entry->now.total > entry->base.total || entry->recent.total)
				error = add_row(tally, process->pid, id, entry);
		}
	}
	return error;
}

int tally__end(struct tally *tally)
{
	tally->recent = difference(&tally->now, &tally->before);
	tally->all = difference(&tally->now, &tally->base);
	tally->before = tally->now;
	return make_rows(tally);
}

int tally__reset(struct tally *tally)
{
	tally->base = tally->now;
	tally->recent = tally->all = (struct tally_sums){0};
	for (size_t i = 0; i < tally->process_count; i++)
		for (uint32_t id = 1; id <= tally->processes[i].entry_count; id++) {
			struct entry *entry = &tally->processes[i].entries[id];

			entry->base = entry->now;
			entry->recent = (struct tally_counts){0};
		}
	return make_rows(tally);
}

const struct tally_row *tally__rows(const struct tally *tally, size_t *count)
{
	*count = tally->row_count;
	return tally->rows;
}

size_t tally__processes(const struct tally *tally)
{
	return tally->process_count;
}

const struct tally_sums *tally__recent(const struct tally *tally)
{
	return &tally->recent;
}

const struct tally_sums *tally__all(const struct tally *tally)
{
	return &tally->all;
}

uint64_t tally__ns(const struct tally_sums *sums, uint64_t samples)
{
	if (!sums->samples)
		return 0;
	return (uint64_t)((unsigned __int128)sums->cpu_ns * samples / sums->samples);
}
