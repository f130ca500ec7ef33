/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "format/call_arcs.h"

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
};

static int make_tables(struct walk *walk)
{
	const struct ls_profile *profile = walk->profile;
	size_t nodes = (size_t)profile->node_count + 1;
	size_t functions = (size_t)profile->function_count + profile->category_count + 1;

	walk->functions = calloc(nodes, sizeof(uint32_t));
	walk->node_samples = calloc(nodes, sizeof(uint64_t));
	walk->open = calloc(functions, sizeof(uint32_t));
	if (!walk->functions || !walk->node_samples || !walk->open)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->node_count; id++)
		walk->functions[id] = profile->nodes[id].function;
	for (uint32_t i = 0; i < profile->category_count; i++)
		walk->functions[profile->categories[i].node] = profile->function_count + 1 + i;
	for (uint32_t id = profile->node_count; id; id--) {
		walk->node_samples[id] += profile->nodes[id].samples;
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
}

static int add_arc(struct walk *walk, struct entry *entry)
{
	struct call_arcs *arcs = walk->arcs;

	if (arcs->count == walk->room) {
		size_t room = walk->room ? 2 * walk->room : 256;
		struct call_arc *more = reallocarray(arcs->arcs, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		arcs->arcs = more;
		walk->room = room;
	}
	entry->at = arcs->count++;
	arcs->arcs[entry->at] =
		(struct call_arc){.caller = entry->key.caller, .callee = entry->key.callee};
	HASH_ADD(hh, walk->table, key, sizeof(entry->key), entry);
	return HASH_HAS_ADDED(entry) ? 0 : -ENOMEM;
}

/* The arc, made on first use; NULL when out of memory. Valid until the next one is made. */
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

static int enter(struct walk *walk, uint32_t id)
{
	uint32_t parent = walk->profile->nodes[id].parent, function = walk->functions[id];
	struct call_arc *arc;

	if (walk->open[function]++ || !parent)
		return 0;
	arc = find_arc(walk, walk->functions[parent], function);
	if (!arc)
		return -ENOMEM;
	arc->us += walk->totals->node_total_us[id];
	arc->samples += walk->node_samples[id];
	return 0;
}

static int walk_tree(struct walk *walk, uint32_t root)
{
	const struct ls_profile_node *nodes = walk->profile->nodes;
	uint32_t id = root;

	for (;;) {
		int err = enter(walk, id);

		if (err)
			return err;
		if (nodes[id].first_child) {
			id = nodes[id].first_child;
			continue;
		}
		for (; id != root && !nodes[id].next_sibling; id = nodes[id].parent)
			walk->open[walk->functions[id]]--;
		walk->open[walk->functions[id]]--;
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
	int err = make_tables(&walk);

	*arcs = (struct call_arcs){};
	for (uint32_t i = 0; i < profile->category_count && !err; i++)
		err = walk_tree(&walk, profile->categories[i].node);
	free_tables(&walk);
	if (!err && arcs->count)
		qsort(arcs->arcs, arcs->count, sizeof(*arcs->arcs), compare);
	return err;
}

void call_arcs__free(struct call_arcs *arcs)
{
	free(arcs->arcs);
	*arcs = (struct call_arcs){};
}
