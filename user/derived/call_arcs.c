/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "derived/call_arcs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"

struct entry {
	struct {
		uint32_t caller, callee;
	} key;
	size_t at; /* in the array of arcs */
	UT_hash_handle hh;
};

struct walk {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	struct call_arcs *arcs;
	size_t room;
	struct entry *table;
	uint32_t *functions;    /* by node */
	uint64_t *node_samples; /* at or below a node */
	uint32_t *open;         /* by function: how often it is on the path */
	size_t *arc_above;      /* by function on the path: the arc to its outermost call, plus 1 */
	size_t *arc_to;         /* by node on the path: its arc; not of categories */
	uint32_t *open_arcs;    /* by arc: how often it is on the path */
};

static int make_tables(struct walk *walk)
{
	const struct ls_profile *profile = walk->profile;
	size_t nodes = (size_t)profile->node_count + 1;
	size_t functions = (size_t)profile->function_count + profile->category_count + 1;

	walk->functions = calloc(nodes, sizeof(uint32_t));
	walk->node_samples = calloc(nodes, sizeof(uint64_t));
	walk->open = calloc(functions, sizeof(uint32_t));
	walk->arc_above = calloc(functions, sizeof(size_t));
	walk->arc_to = calloc(nodes, sizeof(size_t));
	if (!walk->functions || !walk->node_samples || !walk->open || !walk->arc_above ||
	    !walk->arc_to)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->node_count; id++)
		walk->functions[id] = profile->nodes[id].function;
	for (uint32_t i = 0; i < profile->category_count; i++)
		walk->functions[profile->categories[i].node] = profile->function_count + 1 + i;
	for (uint32_t id = 1; id <= profile->node_count; id++)
		walk->arcs->has_samples |= profile->nodes[id].samples != 0;
	for (uint32_t id = profile->node_count; id; id--) {
		walk->node_samples[id] += walk->arcs->has_samples
						  ? profile->nodes[id].samples
						  : totals__node_self_us(profile, walk->totals, id);
		walk->node_samples[profile->nodes[id].parent] += walk->node_samples[id];
	}
	return 0;
}

static void free_tables(struct walk *walk)
{
	struct entry *entry, *next;

	HASH_ITER (hh, walk->table, entry, next) {
		HASH_DEL(walk->table, entry);
		free(entry);
	}
	free(walk->functions);
	free(walk->node_samples);
	free(walk->open);
	free(walk->arc_above);
	free(walk->arc_to);
	free(walk->open_arcs);
}

static int make_room(struct walk *walk)
{
	size_t room = walk->room ? 2 * walk->room : 256;
	struct call_arc *arcs = reallocarray(walk->arcs->arcs, room, sizeof(*arcs));
	uint32_t *open_arcs;

	if (!arcs)
		return -ENOMEM;
	walk->arcs->arcs = arcs;
	open_arcs = reallocarray(walk->open_arcs, room, sizeof(*open_arcs));
	if (!open_arcs)
		return -ENOMEM;
	walk->open_arcs = open_arcs;
	walk->room = room;
	return 0;
}

static int add_arc(struct walk *walk, struct entry *entry)
{
	struct call_arcs *arcs = walk->arcs;

	if (arcs->count == walk->room && make_room(walk))
		return -ENOMEM;
	entry->at = arcs->count++;
	arcs->arcs[entry->at] =
		(struct call_arc){.caller = entry->key.caller, .callee = entry->key.callee};
	walk->open_arcs[entry->at] = 0;
	HASH_ADD(hh, walk->table, key, sizeof(entry->key), entry);
	return HASH_HAS_ADDED(entry) ? 0 : -ENOMEM;
}

/* Returns the arc, made on first use; NULL: out of memory. Valid until the next one is made. */
static struct call_arc *find_arc(struct walk *walk, uint32_t caller, uint32_t callee)
{
	struct entry wanted = {.key = {caller, callee}}, *entry;

	HASH_FIND(hh, walk->table, &wanted.key, sizeof(wanted.key), entry);
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			return NULL;
		entry->key = wanted.key;
		if (add_arc(walk, entry)) {
			free(entry);
			return NULL;
		}
	}
	return &walk->arcs->arcs[entry->at];
}

static void add_call(struct walk *walk, uint32_t id, struct call_arc *arc)
{
	size_t at = (size_t)(arc - walk->arcs->arcs);

	walk->arc_to[id] = at;
	if (!walk->open_arcs[at]++)
		arc->calls += walk->node_samples[id];
	if (walk->open[arc->callee])
		return;
	arc->us += walk->totals->node_total_us[id];
	arc->samples += walk->node_samples[id];
	walk->arc_above[arc->callee] = at + 1;
}

static int enter(struct walk *walk, uint32_t id)
{
	uint32_t parent = walk->profile->nodes[id].parent, function = walk->functions[id];
	struct call_arc *arc;

	if (parent) {
		arc = find_arc(walk, walk->functions[parent], function);
		if (!arc)
			return -ENOMEM;
		add_call(walk, id, arc);
	}
	walk->open[function]++;
	if (walk->arc_above[function])
		walk->arcs->arcs[walk->arc_above[function] - 1].self_us +=
			totals__node_self_us(walk->profile, walk->totals, id);
	return 0;
}

static void leave(struct walk *walk, uint32_t id)
{
	walk->open[walk->functions[id]]--;
	if (walk->profile->nodes[id].parent)
		walk->open_arcs[walk->arc_to[id]]--;
}

static int walk_tree(struct walk *walk, uint32_t root)
{
	const struct ls_profile_node *nodes = walk->profile->nodes;
	uint32_t id = root;

	for (;;) {
		int error = enter(walk, id);

		if (error)
			return error;
		if (nodes[id].first_child) {
			id = nodes[id].first_child;
			continue;
		}
		for (; id != root && !nodes[id].next_sibling; id = nodes[id].parent)
			leave(walk, id);
		leave(walk, id);
		if (id == root)
			return 0;
		id = nodes[id].next_sibling;
	}
}

static int compare(const void *left, const void *right)
{
	const struct call_arc *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

int call_arcs__make(const struct ls_profile *profile, const struct ls_totals *totals,
		    struct call_arcs *arcs)
{
	struct walk walk = {.profile = profile, .totals = totals, .arcs = arcs};
	int error;

	*arcs = (struct call_arcs){};
	error = make_tables(&walk);
	for (uint32_t i = 0; i < profile->category_count && !error; i++)
		error = walk_tree(&walk, profile->categories[i].node);
	free_tables(&walk);
	if (!error && arcs->count)
		qsort(arcs->arcs, arcs->count, sizeof(*arcs->arcs), compare);
	return error;
}

void call_arcs__free(struct call_arcs *arcs)
{
	free(arcs->arcs);
	*arcs = (struct call_arcs){};
}

/* Tarjan's search for strongly connected functions. All arrays are by function. */
struct search {
	const struct call_arc *arcs;
	size_t *next, *end; /* of its arcs: the first not followed yet; the end */
	uint32_t *order;    /* in which it was visited, from 1; 0: not yet */
	uint32_t *lowest;   /* low link: lowest order on `open` that it reaches */
	uint32_t *path,
		*open; /* stacks: those being searched; those whose cycle is not known yet */
	bool *is_open;
	uint32_t depth, opened, met;
	uint32_t *cycles, cycle_count;
};

static int make_search(struct search *search, const struct call_arcs *arcs, uint32_t functions)
{
	size_t size = (size_t)functions + 1;

	search->next = calloc(size, sizeof(size_t));
	search->end = calloc(size, sizeof(size_t));
	search->order = calloc(size, sizeof(uint32_t));
	search->lowest = calloc(size, sizeof(uint32_t));
	search->path = calloc(size, sizeof(uint32_t));
	search->open = calloc(size, sizeof(uint32_t));
	search->is_open = calloc(size, sizeof(bool));
	if (!search->next || !search->end || !search->order || !search->lowest || !search->path ||
	    !search->open || !search->is_open)
		return -ENOMEM;
	for (size_t i = 0; i < arcs->count; i++) {
		uint32_t caller = arcs->arcs[i].caller;

		if (!search->end[caller])
			search->next[caller] = i;
		search->end[caller] = i + 1;
	}
	return 0;
}

static void free_search(struct search *search)
{
	free(search->next);
	free(search->end);
	free(search->order);
	free(search->lowest);
	free(search->path);
	free(search->open);
	free(search->is_open);
}

static void meet(struct search *search, uint32_t function)
{
	search->order[function] = search->lowest[function] = ++search->met;
	search->path[search->depth++] = function;
	search->open[search->opened++] = function;
	search->is_open[function] = true;
}

/* `first` and those opened after it form a strongly connected component. */
static void close_cycle(struct search *search, uint32_t first)
{
	bool is_cycle = search->open[search->opened - 1] != first;
	uint32_t function;

	search->cycle_count += is_cycle;
	do {
		function = search->open[--search->opened];
		search->is_open[function] = false;
		search->cycles[function] = is_cycle ? search->cycle_count : 0;
	} while (function != first);
}

static void lower(struct search *search, uint32_t function, uint32_t order)
{
	if (search->lowest[function] > order)
		search->lowest[function] = order;
}

static void search_from(struct search *search, uint32_t first)
{
	meet(search, first);
	while (search->depth) {
		uint32_t function = search->path[search->depth - 1], callee;

		if (search->next[function] < search->end[function]) {
			callee = search->arcs[search->next[function]++].callee;
			if (!search->order[callee])
				meet(search, callee);
			else if (search->is_open[callee])
				lower(search, function, search->order[callee]);
			continue;
		}
		if (--search->depth)
			lower(search, search->path[search->depth - 1], search->lowest[function]);
		if (search->lowest[function] == search->order[function])
			close_cycle(search, function);
	}
}

int64_t call_arcs__find_cycles(const struct call_arcs *arcs, uint32_t functions, uint32_t *cycles)
{
	struct search search = {.arcs = arcs->arcs, .cycles = cycles};
	int error = make_search(&search, arcs, functions);

	for (uint32_t function = 1; function <= functions && !error; function++)
		if (!search.order[function])
			search_from(&search, function);
	free_search(&search);
	return error ? error : (int64_t)search.cycle_count;
}
