/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "statistics/function_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "statistics/function_stats_internal.h"
#include "statistics/weighed_tree.h"

/* The trees that are counted: the newest, the one before it, and that of the reset. */
enum { NOW, BEFORE, BASE, TREES };

/* What functions are to the chosen one. */
enum { CALLER, CALLEE, SIDES };

struct weight {
	uint64_t total, gc;
};

/* A caller or callee: its weights in the process that is being counted, and its time in all. */
struct side {
	struct weight weights[TREES];
	struct stats_times recent, all;
	uint32_t open; /* how often such a call is on the path: only the outermost counts */
};

struct slot {
	struct side sides[SIDES];
	bool is_touched;
};

struct function_calls {
	struct weighed_tree trees[TREES];
	uint64_t times_ns[TREES];
	struct calls_choice choice;
	uint32_t chosen;    /* its key */
	struct slot *slots; /* by key */
	uint32_t *touched;  /* keys whose slots are in use */
	uint32_t touched_count;
	bool has_weights;          /* in the process that is being counted */
	struct side total, itself; /* of the chosen function */
	struct stats_row *rows;
	size_t row_count;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void function_calls__free(struct function_calls *calls)
{
	if (!calls)
		return;
	for (int tree = 0; tree < TREES; tree++)
		weighed_tree__free(&calls->trees[tree]);
	free(calls->slots);
	free(calls->touched);
	free(calls->rows);
	free(calls);
}

/* NULL when out of memory. */
static struct function_calls *calls_of(struct function_stats *stats)
{
	if (!stats->calls)
		stats->calls = calloc(1, sizeof(*stats->calls));
	return stats->calls;
}

void function_calls__follow(struct function_stats *stats, bool are_reused)
{
	struct function_calls *calls = stats->calls;

	if (!calls)
		return;
	for (int tree = 0; tree < TREES && are_reused; tree++)
		weighed_tree__follow_ids(&calls->trees[tree], &stats->known);
	/* The rows borrow names, which an update may free. */
	calls->row_count = 0;
}

int function_calls__see(struct function_stats *stats, const struct ls_profile *profile,
			uint64_t time_ns)
{
	struct function_calls *calls = calls_of(stats);

	if (!calls)
		return -ENOMEM;
	weighed_tree__free(&calls->trees[BEFORE]);
	calls->trees[BEFORE] = calls->trees[NOW];
	calls->times_ns[BEFORE] = calls->times_ns[NOW];
	calls->times_ns[NOW] = time_ns;
	return weighed_tree__make(&calls->trees[NOW], profile, &stats->known);
}

void function_calls__forget(struct function_stats *stats)
{
	if (!stats->calls)
		return;
	weighed_tree__free(&stats->calls->trees[NOW]);
	weighed_tree__free(&stats->calls->trees[BEFORE]);
}

bool function_calls__have_tree(const struct function_stats *stats)
{
	return stats->calls && !weighed_tree__is_empty(&stats->calls->trees[NOW]);
}

int function_calls__reset(struct function_stats *stats, const struct ls_profile *profile)
{
	struct function_calls *calls = calls_of(stats);

	if (!calls)
		return -ENOMEM;
	weighed_tree__free(&calls->trees[BASE]);
	return weighed_tree__make(&calls->trees[BASE], profile, &stats->known);
}

/* A walk through one category of one of the trees. */
struct walk {
	struct function_calls *calls;
	const struct known_functions *known;
	const struct weighed_node *nodes;
	int tree;
	uint32_t plugins;     /* functions on the path of a plugin's chunk */
	uint32_t chosen_open; /* calls of the chosen function on the path */
};

static void touch(struct function_calls *calls, uint32_t key)
{
	if (!calls->slots[key].is_touched)
		calls->touched[calls->touched_count++] = key;
	calls->slots[key].is_touched = true;
}

/* The call that a node stands for, as the keys of both functions; 0: none called it. */
struct call {
	uint32_t caller, callee;
};

/* `walk->plugins` counts what is above the node. */
static struct call call_of(const struct walk *walk, uint32_t id)
{
	const struct weighed_node *node = &walk->nodes[id];
	bool is_plugin = walk->known->by_id[node->function].is_plugin;

	return (struct call){
		known_functions__key(walk->nodes[node->parent].function, walk->plugins > 0),
		known_functions__key(node->function, walk->plugins > 0 || is_plugin),
	};
}

/* The side to which the call counts; NULL: it is no call of the chosen function, nor by it. */
static struct side *side_of(const struct walk *walk, struct call call)
{
	struct function_calls *calls = walk->calls;

	if (call.caller == call.callee)
		return NULL;
	if (call.callee == calls->chosen)
		return &calls->slots[call.caller].sides[CALLER];
	return call.caller == calls->chosen ? &calls->slots[call.callee].sides[CALLEE] : NULL;
}

static void add_weight(struct weight *to, const struct weighed_node *node)
{
	to->total += node->total_ns;
	to->gc += node->gc_ns;
}

static void enter(struct walk *walk, uint32_t id)
{
	struct function_calls *calls = walk->calls;
	const struct weighed_node *node = &walk->nodes[id];
	struct call call = call_of(walk, id);
	struct side *side = side_of(walk, call);

	walk->plugins += walk->known->by_id[node->function].is_plugin;
	calls->has_weights |= side || call.callee == calls->chosen;
	if (side) {
		touch(calls, call.callee == calls->chosen ? call.caller : call.callee);
		if (!side->open++)
			add_weight(&side->weights[walk->tree], node);
	}
	if (call.callee != calls->chosen)
		return;
	calls->itself.weights[walk->tree].total += node->self_ns;
	if (!walk->chosen_open++)
		add_weight(&calls->total.weights[walk->tree], node);
}

/* Leaves `id`, and ancestors with no further child. Returns the next node; 0: end of the tree. */
static uint32_t leave(struct walk *walk, uint32_t root, uint32_t id)
{
	while (id != root) {
		const struct weighed_node *node = &walk->nodes[id];
		struct call call;
		struct side *side;

		walk->plugins -= walk->known->by_id[node->function].is_plugin;
		call = call_of(walk, id);
		side = side_of(walk, call);
		if (side)
			side->open--;
		walk->chosen_open -= call.callee == walk->calls->chosen;
		if (node->next_sibling)
			return node->next_sibling;
		id = node->parent;
	}
	return 0;
}

static void walk_category(struct function_stats *stats, int tree, uint32_t category)
{
	const struct weighed_tree *from = &stats->calls->trees[tree];
	struct walk walk = {
		.calls = stats->calls, .known = &stats->known, .nodes = from->nodes, .tree = tree};
	uint32_t root, id;

	if (category >= from->category_count)
		return;
	root = from->categories[category];
	for (id = from->nodes[root].first_child; id;) {
		enter(&walk, id);
		id = from->nodes[id].first_child ? from->nodes[id].first_child
						 : leave(&walk, root, id);
	}
}

/* The weight that a tree lacks is what was pruned into "(other)", which has it instead. */
static void move_to_other(struct function_calls *calls, uint32_t other, int side, int tree)
{
	struct side *to = &calls->slots[other].sides[side];
	struct weight *base = &to->weights[tree];

	for (uint32_t i = 0; i < calls->touched_count; i++) {
		const struct weight *weights = calls->slots[calls->touched[i]].sides[side].weights;

		base->total += weights[tree].total - least(weights[tree].total, weights[NOW].total);
	}
	base->total = least(base->total, to->weights[NOW].total);
}

static struct stats_times difference(const struct side *side, int tree)
{
	const struct weight *now = &side->weights[NOW], *then = &side->weights[tree];

	return (struct stats_times){.total = now->total - least(now->total, then->total),
				    .gc = now->gc - least(now->gc, then->gc)};
}

/* Adds the time for which the weights of a process stand. */
static void take_weights(const struct process_stats *group, struct side *side, bool has_before)
{
	struct stats_times all = difference(side, BASE), recent = {0};

	if (has_before)
		recent = difference(side, BEFORE);
	side->all.total += process_stats__all_ns(group, all.total);
	side->all.gc += process_stats__all_ns(group, all.gc);
	side->recent.total += process_stats__recent_ns(group, recent.total);
	side->recent.gc += process_stats__recent_ns(group, recent.gc);
	for (int tree = 0; tree < TREES; tree++)
		side->weights[tree] = (struct weight){0};
}

static void count_group(struct function_stats *stats, const struct process_stats *group)
{
	struct function_calls *calls = stats->calls;
	uint32_t other = known_functions__key(stats->known.other, false);
	bool has_before = !weighed_tree__is_empty(&calls->trees[BEFORE]);

	calls->has_weights = false;
	for (uint32_t at = group->first_category; at; at = stats->categories[at - 1].next)
		for (int tree = 0; tree < TREES; tree++)
			walk_category(stats, tree, at - 1);
	if (!calls->has_weights)
		return;
	for (int side = 0; side < SIDES && other && calls->slots[other].is_touched; side++) {
		move_to_other(calls, other, side, BEFORE);
		move_to_other(calls, other, side, BASE);
	}
	for (uint32_t i = 0; i < calls->touched_count; i++)
		for (int side = 0; side < SIDES; side++)
			take_weights(group, &calls->slots[calls->touched[i]].sides[side],
				     has_before);
	take_weights(group, &calls->total, has_before);
	take_weights(group, &calls->itself, has_before);
}

static void add_row(struct function_stats *stats, uint32_t key, enum stats_role role,
		    const struct side *side)
{
	struct function_calls *calls = stats->calls;
	struct stats_row *row = &calls->rows[calls->row_count];
	bool has_any = side->all.total || side->recent.total;

	if (role != STATS_CHOSEN && (!has_any || function_stats__leaves_out(stats, key)))
		return;
	*row = function_stats__make_row(stats, key);
	if (!row->function)
		row->name = "(no caller)";
	row->role = role;
	row->recent = function_stats__show(stats, side->recent);
	row->all = function_stats__show(stats, side->all);
	calls->row_count++;
}

int function_calls__make_rows(struct function_stats *stats)
{
	struct function_calls *calls = stats->calls;
	size_t most;

	if (!calls)
		return 0;
	most = 2 + (size_t)SIDES * calls->touched_count;
	free(calls->rows);
	calls->rows = calloc(most, sizeof(*calls->rows));
	calls->row_count = 0;
	if (!calls->rows)
		return -ENOMEM;
	if (!calls->choice.function || function_stats__leaves_out(stats, calls->chosen))
		return 0;
	add_row(stats, calls->chosen, STATS_CHOSEN, &calls->total);
	add_row(stats, calls->chosen, STATS_ITSELF, &calls->itself);
	for (uint32_t i = 0; i < calls->touched_count; i++) {
		uint32_t key = calls->touched[i];

		add_row(stats, key, STATS_CALLER, &calls->slots[key].sides[CALLER]);
		add_row(stats, key, STATS_CALLEE, &calls->slots[key].sides[CALLEE]);
	}
	return 0;
}

/* Slots for all functions, which are empty. 0 or -ENOMEM. */
static int clear(struct function_stats *stats)
{
	struct function_calls *calls = stats->calls;
	size_t keys = 2 * ((size_t)stats->known.count + 1);

	free(calls->slots);
	free(calls->touched);
	calls->slots = calloc(keys, sizeof(*calls->slots));
	calls->touched = calloc(keys, sizeof(*calls->touched));
	calls->touched_count = 0;
	calls->row_count = 0;
	calls->total = calls->itself = (struct side){0};
	return calls->slots && calls->touched ? 0 : -ENOMEM;
}

int function_calls__count(struct function_stats *stats, const struct calls_choice *choice)
{
	struct function_calls *calls = calls_of(stats);

	if (!calls || clear(stats))
		return -ENOMEM;
	calls->choice = *choice;
	if (choice->function > stats->known.count)
		calls->choice.function = 0;
	calls->chosen = known_functions__key(calls->choice.function, choice->is_plugin);
	for (size_t i = 0; i < stats->group_count && calls->choice.function; i++)
		if (!choice->process || stats->groups[i]->id == choice->process)
			count_group(stats, stats->groups[i]);
	return function_calls__make_rows(stats);
}

const struct stats_row *function_calls__rows(const struct function_stats *stats, size_t *count)
{
	*count = stats->calls ? stats->calls->row_count : 0;
	return stats->calls ? stats->calls->rows : NULL;
}

const struct stats_row *function_calls__chosen(const struct function_stats *stats)
{
	return stats->calls && stats->calls->row_count ? &stats->calls->rows[0] : NULL;
}

uint64_t function_calls__recent_ns(const struct function_stats *stats)
{
	const struct function_calls *calls = stats->calls;

	if (!calls || weighed_tree__is_empty(&calls->trees[BEFORE]))
		return 0;
	return calls->times_ns[NOW] - calls->times_ns[BEFORE];
}

bool function_calls__is_reused(const struct function_stats *stats, uint32_t function)
{
	return function <= stats->known.count && stats->known.by_id[function].has_changed;
}
