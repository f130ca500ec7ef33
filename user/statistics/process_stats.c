/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "statistics/process_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The counts of a function during an update. */
struct stats_slot {
	struct stats_times times;
	uint32_t open; /* how often it is on the path: only the outermost call counts */
	bool is_touched;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_totals(struct stats_totals *to, const struct stats_totals *totals)
{
	to->samples += totals->samples;
	to->weight_ns += totals->weight_ns;
	to->self_ns += totals->self_ns;
	to->gc_samples += totals->gc_samples;
	to->gc_ns += totals->gc_ns;
}

static const struct known_function *whole_of(const struct ls_profile *profile,
					     const struct known_functions *known, uint32_t node)
{
	return &known->by_id[known_functions__whole(profile, profile->nodes[node].function)];
}

int stats_walk__begin(struct stats_walk *walk, const struct ls_profile *profile,
		      const struct known_functions *known)
{
	size_t keys = 2 * ((size_t)known->count + 1);

	*walk = (struct stats_walk){
		.profile = profile,
		.known = known,
		.totals = calloc((size_t)profile->node_count + 1, sizeof(*walk->totals)),
		.slots = calloc(keys, sizeof(*walk->slots)),
		.touched = calloc(keys, sizeof(*walk->touched)),
	};
	if (!walk->totals || !walk->slots || !walk->touched)
		return -ENOMEM;
	/* Parents have lower ids: in descending order, a node is complete when reached. */
	for (uint32_t id = profile->node_count; id; id--) {
		const struct ls_profile_node *node = &profile->nodes[id];
		struct stats_totals *totals = &walk->totals[id];

		totals->samples += node->samples;
		totals->weight_ns += node->weight_ns;
		totals->self_ns += node->self_ns;
		if (whole_of(profile, known, id)->part == SCRIPT_GC) {
			totals->gc_samples = totals->samples;
			totals->gc_ns = totals->weight_ns;
		}
		add_totals(&walk->totals[node->parent], totals);
	}
	return 0;
}

void stats_walk__end(struct stats_walk *walk)
{
	free(walk->totals);
	free(walk->slots);
	free(walk->touched);
}

static bool is_plugin(const struct stats_walk *walk, uint32_t node)
{
	return whole_of(walk->profile, walk->known, node)->is_plugin;
}

/* The key of a node that is the last on the path. */
static uint32_t key_of(const struct stats_walk *walk, uint32_t node)
{
	uint32_t id = known_functions__whole(walk->profile, walk->profile->nodes[node].function);

	return known_functions__key(id, walk->plugins > 0);
}

/* Leaves `id`, and ancestors with no further child. Returns the next node; 0: end of the tree. */
static uint32_t leave(struct stats_walk *walk, uint32_t root, uint32_t id)
{
	while (id != root) {
		const struct ls_profile_node *node = &walk->profile->nodes[id];

		walk->slots[key_of(walk, id)].open--;
		walk->plugins -= is_plugin(walk, id);
		if (node->next_sibling)
			return node->next_sibling;
		id = node->parent;
	}
	return 0;
}

static struct stats_slot *touch(struct stats_walk *walk, uint32_t key)
{
	struct stats_slot *slot = &walk->slots[key];

	if (!slot->is_touched)
		walk->touched[walk->touched_count++] = key;
	slot->is_touched = true;
	return slot;
}

/* Whether it is a pseudo function that stands for stacks without known script. */
static bool is_no_script(const struct ls_profile *profile, uint32_t id)
{
	const struct ls_profile_function *function = &profile->functions[id];

	return !function->source && function->name &&
	       (!strcmp(function->name, PROFILE_HOST) ||
		!strcmp(function->name, PROFILE_UNREADABLE));
}

static void count_node(struct stats_walk *walk, uint32_t id, struct stats_samples *samples)
{
	const struct stats_totals *totals = &walk->totals[id];
	enum script_part part = whole_of(walk->profile, walk->known, id)->part;
	struct stats_slot *slot;

	walk->plugins += is_plugin(walk, id);
	slot = touch(walk, key_of(walk, id));
	slot->times.self += walk->profile->nodes[id].weight_ns;
	if (part < SCRIPT_PARTS)
		samples->split.time[part] += walk->profile->nodes[id].weight_ns;
	if (slot->open++)
		return;
	slot->times.total += totals->weight_ns;
	slot->times.gc += totals->gc_ns;
}

/* A function that is the first of a stack. */
static void count_first(const struct stats_walk *walk, uint32_t id, struct stats_samples *samples)
{
	const struct stats_totals *totals = &walk->totals[id];
	struct stats_part *gc = &samples->parts[STATS_HIDDEN_GC];

	if (is_no_script(walk->profile, walk->profile->nodes[id].function))
		samples->script_ns -= totals->weight_ns;
	if (is_plugin(walk, id)) {
		samples->parts[STATS_HIDDEN_PLUGINS].count += totals->samples - totals->gc_samples;
		samples->parts[STATS_HIDDEN_PLUGINS].weight_ns += totals->weight_ns - totals->gc_ns;
		gc = &samples->parts[STATS_HIDDEN_ALL];
	}
	gc->count += totals->gc_samples;
	gc->weight_ns += totals->gc_ns;
}

void stats_walk__count(struct stats_walk *walk, uint32_t root, struct stats_samples *samples)
{
	const struct ls_profile *profile = walk->profile;
	uint64_t lost_ns = profile->nodes[root].weight_ns;
	uint32_t id = profile->nodes[root].first_child;

	samples->count += walk->totals[root].samples;
	samples->weight_ns += walk->totals[root].weight_ns - lost_ns;
	samples->script_ns += walk->totals[root].weight_ns - lost_ns;
	samples->lost_ns += lost_ns;
	while (id) {
		const struct ls_profile_node *node = &profile->nodes[id];

		count_node(walk, id, samples);
		if (node->parent == root)
			count_first(walk, id, samples);
		id = node->first_child ? node->first_child : leave(walk, root, id);
	}
}

/* The weight of samples moved from functions to "(other)": of all, and of those until the reset. */
struct moved {
	uint64_t all, base;
};

/*
 * Updates an entry to the function's current times. What these lack went into "(other)" when the
 * tree was pruned. If the id was reused, so did all that the entry had.
 */
static void update(struct stats_entry *entry, bool has_changed, struct stats_times times,
		   struct moved *moved)
{
	uint64_t lost;

	if (has_changed) {
		moved->all += entry->now.self;
		moved->base += entry->base.self;
		*entry = (struct stats_entry){.key = entry->key};
	}
	lost = entry->now.self - least(entry->now.self, times.self);
	moved->all += lost;
	moved->base += least(lost, entry->base.self);
	entry->recent.self = times.self - least(times.self, entry->now.self);
	entry->recent.total =
		most(entry->recent.self, times.total - least(times.total, entry->now.total));
	entry->recent.gc = least(entry->recent.total, times.gc - least(times.gc, entry->now.gc));
	entry->base.self = least(entry->base.self, times.self);
	entry->base.total = least(entry->base.total, times.total);
	entry->base.gc = least(entry->base.gc, times.gc);
	entry->now = times;
}

/* Samples that were pruned into "(other)" are not recent there. */
static void correct_other(struct stats_entry *other, const struct moved *moved)
{
	other->recent.self -= least(other->recent.self, moved->all);
	other->recent.total -= least(other->recent.total, moved->all);
	other->recent.gc = least(other->recent.gc, other->recent.total);
	other->base.self = least(other->base.self + moved->base, other->now.self);
	other->base.total = least(other->base.total + moved->base, other->now.total);
}

/* Makes room for `count` more entries. 0 or -ENOMEM. */
static int reserve(struct process_stats *group, uint32_t count)
{
	uint32_t room = group->entry_room;
	struct stats_entry *entries;

	if (group->entry_count + count <= room)
		return 0;
	room = (uint32_t)most(group->entry_count + count, 2ULL * room);
	entries = reallocarray(group->entries, room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	group->entries = entries;
	group->entry_room = room;
	return 0;
}

static void update_entries(struct process_stats *group, struct stats_walk *walk,
			   struct moved *moved)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < group->entry_count; i++) {
		struct stats_entry entry = group->entries[i];
		struct stats_slot *slot = &walk->slots[entry.key];

		update(&entry, known_functions__of(walk->known, entry.key)->has_changed,
		       slot->times, moved);
		slot->times = (struct stats_times){0};
		/* Otherwise, its samples now belong to other functions, and nothing is left. */
		if (entry.now.total)
			group->entries[kept++] = entry;
	}
	group->entry_count = kept;
}

static uint64_t minus(uint64_t now, uint64_t before)
{
	return now - least(now, before);
}

static struct stats_samples difference(const struct stats_samples *now,
				       const struct stats_samples *before)
{
	struct stats_samples samples = {
		.count = minus(now->count, before->count),
		.weight_ns = minus(now->weight_ns, before->weight_ns),
		.script_ns = minus(now->script_ns, before->script_ns),
		.lost_ns = minus(now->lost_ns, before->lost_ns),
		.split = script_split__since(&now->split, &before->split),
	};

	for (unsigned kinds = 1; kinds <= STATS_HIDDEN_ALL; kinds++) {
		const struct stats_part *from = &before->parts[kinds], *to = &now->parts[kinds];

		samples.parts[kinds].count = minus(to->count, from->count);
		samples.parts[kinds].weight_ns = minus(to->weight_ns, from->weight_ns);
	}
	return samples;
}

struct stats_part process_stats__hidden(const struct stats_samples *samples, unsigned kinds)
{
	struct stats_part part = {0};

	for (unsigned any = 1; any <= STATS_HIDDEN_ALL; any++) {
		if (!(any & kinds))
			continue;
		part.count += samples->parts[any].count;
		part.weight_ns += samples->parts[any].weight_ns;
	}
	return part;
}

int process_stats__take(struct process_stats *group, struct stats_walk *walk,
			struct stats_samples samples)
{
	int error = reserve(group, walk->touched_count);
	struct moved moved = {0};

	if (!error)
		update_entries(group, walk, &moved);
	for (uint32_t i = 0; i < walk->touched_count; i++) {
		struct stats_slot *slot = &walk->slots[walk->touched[i]];
		struct stats_entry entry = {.key = walk->touched[i]};

		update(&entry, false, slot->times, &moved);
		/* Most of what it has is not recent: it counted as another function's before. */
		if (known_functions__of(walk->known, entry.key)->has_parted)
			entry.recent = (struct stats_times){0};
		if (!error && slot->times.total)
			group->entries[group->entry_count++] = entry;
		*slot = (struct stats_slot){0};
	}
	walk->touched_count = 0;
	if (error)
		return error;
	for (uint32_t i = 0; i < group->entry_count && moved.all; i++)
		if (group->entries[i].key == known_functions__key(walk->known->other, false))
			correct_other(&group->entries[i], &moved);
	group->recent = difference(&samples, &group->now);
	group->has_recent = true;
	group->now = samples;
	return 0;
}

void process_stats__take_cpu(struct process_stats *group)
{
	struct stats_cpu *cpu = &group->cpu;
	uint64_t now_ns = most(cpu->look_ns, cpu->now_ns);

	cpu->recent_ns = now_ns - cpu->now_ns;
	cpu->now_ns = now_ns;
}

struct stats_samples process_stats__all(const struct process_stats *group)
{
	return difference(&group->now, &group->base);
}

static uint64_t share(uint64_t ns, uint64_t weight_ns, const struct stats_samples *samples)
{
	uint64_t all_ns = samples->weight_ns + samples->lost_ns;

	return all_ns ? (uint64_t)((unsigned __int128)ns * weight_ns / all_ns) : 0;
}

uint64_t process_stats__recent_ns(const struct process_stats *group, uint64_t weight_ns)
{
	return share(group->cpu.recent_ns, weight_ns, &group->recent);
}

uint64_t process_stats__all_ns(const struct process_stats *group, uint64_t weight_ns)
{
	struct stats_samples all = process_stats__all(group);

	return share(group->cpu.now_ns - group->cpu.base_ns, weight_ns, &all);
}

void process_stats__settle(struct process_stats *group)
{
	if (!group->has_recent)
		return;
	group->has_recent = false;
	group->recent = (struct stats_samples){0};
	for (uint32_t i = 0; i < group->entry_count; i++)
		group->entries[i].recent = (struct stats_times){0};
}

void process_stats__reset(struct process_stats *group)
{
	group->base = group->now;
	group->recent = (struct stats_samples){0};
	group->cpu.base_ns = group->cpu.now_ns;
	group->cpu.recent_ns = 0;
	for (uint32_t i = 0; i < group->entry_count; i++) {
		group->entries[i].base = group->entries[i].now;
		group->entries[i].recent = (struct stats_times){0};
	}
}

static void add(struct stats_times *to, const struct stats_times *times)
{
	to->self += times->self;
	to->total += times->total;
	to->gc += times->gc;
}

static void add_samples(struct stats_samples *to, const struct stats_samples *samples)
{
	to->count += samples->count;
	to->weight_ns += samples->weight_ns;
	to->script_ns += samples->script_ns;
	to->lost_ns += samples->lost_ns;
	script_split__add(&to->split, &samples->split);
	for (unsigned kinds = 1; kinds <= STATS_HIDDEN_ALL; kinds++) {
		to->parts[kinds].count += samples->parts[kinds].count;
		to->parts[kinds].weight_ns += samples->parts[kinds].weight_ns;
	}
}

static void add_cpu(struct stats_cpu *to, const struct stats_cpu *cpu)
{
	to->now_ns += cpu->now_ns;
	to->base_ns += cpu->base_ns;
	to->recent_ns += cpu->recent_ns;
}

static int by_key(const void *a, const void *b)
{
	uint32_t left = ((const struct stats_entry *)a)->key;
	uint32_t right = ((const struct stats_entry *)b)->key;

	return left < right ? -1 : left > right;
}

/* Merges entries of the same function into the first of them. */
static void merge_entries(struct process_stats *group)
{
	uint32_t kept = 0;

	qsort(group->entries, group->entry_count, sizeof(*group->entries), by_key);
	for (uint32_t i = 0; i < group->entry_count; i++) {
		struct stats_entry *entry = &group->entries[i], *last = &group->entries[kept];

		if (!kept || last[-1].key != entry->key) {
			*last = *entry;
			kept++;
			continue;
		}
		add(&last[-1].now, &entry->now);
		add(&last[-1].base, &entry->base);
		add(&last[-1].recent, &entry->recent);
	}
	group->entry_count = kept;
}

int process_stats__fold(struct process_stats *from, struct process_stats *into)
{
	if (reserve(into, from->entry_count))
		return -ENOMEM;
	if (from->entry_count) {
		memcpy(into->entries + into->entry_count, from->entries,
		       from->entry_count * sizeof(*from->entries));
		into->entry_count += from->entry_count;
		merge_entries(into);
	}
	add_samples(&into->now, &from->now);
	add_samples(&into->base, &from->base);
	add_samples(&into->recent, &from->recent);
	add_cpu(&into->cpu, &from->cpu);
	into->has_recent = true;
	free(from->entries);
	from->entries = NULL;
	from->entry_count = from->entry_room = 0;
	from->into = into;
	return 0;
}

struct process_stats *process_stats__new(const char *name, uint32_t id)
{
	struct process_stats *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->id = id;
	if (!name)
		return group;
	group->name = strdup(name);
	if (group->name)
		return group;
	free(group);
	return NULL;
}

void process_stats__free(struct process_stats *group)
{
	if (!group)
		return;
	free(group->entries);
	free(group->name);
	free(group);
}
