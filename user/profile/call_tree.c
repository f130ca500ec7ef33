/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/call_tree.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash_table.h"

#define FIRST_NODES      1024
#define FIRST_CATEGORIES 16

/* The hash key is the owner and the name, without its NUL. */
struct category {
	UT_hash_handle hh;
	uint32_t node;
	uint32_t owner;
	char name[];
};

/*
 * Nodes are found through a hash table of our own: uthash's handle of 56 bytes is larger than the
 * node of 40, and a tree may hold millions. Slots hold node ids, 0 if empty, with linear probing;
 * nodes are never removed, and at least half of the slots are empty.
 */
struct call_tree {
	struct ls_profile_node *nodes;
	uint32_t node_count;
	uint32_t node_capacity; /* ids, 0 included; a power of two */
	uint32_t *slots;
	uint32_t slot_mask;
	uint64_t seed;
	struct ls_profile_category *categories;
	uint32_t category_count;
	uint32_t category_capacity;
	struct category *by_key;
	char *key; /* to look up a category: the owner, then the name */
	size_t key_room;
};

struct call_tree *call_tree__new(void)
{
	struct call_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->node_capacity = FIRST_NODES;
	tree->nodes = calloc(FIRST_NODES, sizeof(*tree->nodes));
	tree->slot_mask = 2 * FIRST_NODES - 1;
	tree->slots = calloc(2 * FIRST_NODES, sizeof(*tree->slots));
	if (!tree->nodes || !tree->slots) {
		call_tree__free(tree);
		return NULL;
	}
	/* The target chooses the stacks: an unknown seed keeps it from choosing collisions. */
	if (getrandom(&tree->seed, sizeof(tree->seed), GRND_NONBLOCK) < 0)
		tree->seed = (uintptr_t)tree;
	return tree;
}

void call_tree__free(struct call_tree *tree)
{
	struct category *category, *next;

	if (!tree)
		return;
	HASH_ITER (hh, tree->by_key, category, next) {
		HASH_DEL(tree->by_key, category);
		free(category);
	}
	free(tree->key);
	free(tree->categories);
	free(tree->slots);
	free(tree->nodes);
	free(tree);
}

/* The finalizer of MurmurHash3: every bit of the key reaches the low bits that choose the slot. */
static uint32_t hash_key(const struct call_tree *tree, uint32_t parent, uint32_t function)
{
	uint64_t hash = ((uint64_t)parent << 32 | function) ^ tree->seed;

	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdULL;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ULL;
	return (uint32_t)(hash ^ hash >> 33);
}

/* The slot that holds the node, or the empty one where it belongs. */
static uint32_t *find_slot(const struct call_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t at = hash_key(tree, parent, function) & tree->slot_mask;

	while (tree->slots[at]) {
		const struct ls_profile_node *node = &tree->nodes[tree->slots[at]];

		if (node->parent == parent && node->function == function)
			break;
		at = (at + 1) & tree->slot_mask;
	}
	return &tree->slots[at];
}

static int grow_slots(struct call_tree *tree, uint32_t count)
{
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -1;
	free(tree->slots);
	tree->slots = slots;
	tree->slot_mask = count - 1;
	for (uint32_t id = 1; id <= tree->node_count; id++) {
		const struct ls_profile_node *node = &tree->nodes[id];

		if (node->parent)
			*find_slot(tree, node->parent, node->function) = id;
	}
	return 0;
}

/* Room for one more node and its slot. */
static int reserve_node(struct call_tree *tree)
{
	uint32_t capacity = tree->node_capacity;
	struct ls_profile_node *nodes;

	if (tree->node_count + 1 < capacity)
		return 0;
	if (capacity > UINT32_MAX / 4)
		return -1;
	capacity *= 2;
	nodes = reallocarray(tree->nodes, capacity, sizeof(*nodes));
	if (!nodes)
		return -1;
	tree->nodes = nodes;
	if (grow_slots(tree, 2 * capacity))
		return -1;
	tree->node_capacity = capacity;
	return 0;
}

static uint32_t append_node(struct call_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t id = ++tree->node_count;
	struct ls_profile_node *node = &tree->nodes[id];

	*node = (struct ls_profile_node){.parent = parent, .function = function};
	if (parent) {
		node->next_sibling = tree->nodes[parent].first_child;
		tree->nodes[parent].first_child = id;
	}
	return id;
}

static int reserve_category(struct call_tree *tree)
{
	uint32_t capacity = tree->category_capacity;
	struct ls_profile_category *categories;

	if (tree->category_count < capacity)
		return 0;
	capacity = capacity ? 2 * capacity : FIRST_CATEGORIES;
	categories = reallocarray(tree->categories, capacity, sizeof(*categories));
	if (!categories)
		return -1;
	tree->categories = categories;
	tree->category_capacity = capacity;
	return 0;
}

/* Builds tree->key. Returns its length, or 0 when out of memory. */
static size_t make_key(struct call_tree *tree, uint32_t owner, const char *name)
{
	size_t length = strlen(name), room = sizeof(owner) + length;

	if (room > tree->key_room) {
		char *key = realloc(tree->key, 2 * room);

		if (!key)
			return 0;
		tree->key = key;
		tree->key_room = 2 * room;
	}
	memcpy(tree->key, &owner, sizeof(owner));
	memcpy(tree->key + sizeof(owner), name, length);
	return room;
}

static uint32_t add_category(struct call_tree *tree, uint32_t owner, const char *name)
{
	size_t length = strlen(name);
	struct category *category;

	if (reserve_node(tree) || reserve_category(tree))
		return 0;
	category = malloc(sizeof(*category) + length + 1);
	if (!category)
		return 0;
	memcpy(category->name, name, length + 1);
	category->owner = owner;
	category->node = tree->node_count + 1;
	HASH_ADD_KEYPTR(hh, tree->by_key, &category->owner, sizeof(owner) + length, category);
	if (!HASH_HAS_ADDED(category)) {
		free(category);
		return 0;
	}
	append_node(tree, 0, 0);
	tree->categories[tree->category_count++] = (struct ls_profile_category){
		.name = category->name,
		.node = category->node,
		.owner = owner,
	};
	return category->node;
}

uint32_t call_tree__category_of(struct call_tree *tree, uint32_t owner, const char *name)
{
	size_t length = make_key(tree, owner, name);
	struct category *category;

	if (!length)
		return 0;
	HASH_FIND(hh, tree->by_key, tree->key, length, category);
	if (!category && tree->category_count >= CALL_TREE_CATEGORIES_MAX) {
		name = CALL_TREE_OTHER;
		length = make_key(tree, owner, name);
		if (!length)
			return 0;
		HASH_FIND(hh, tree->by_key, tree->key, length, category);
	}
	return category ? category->node : add_category(tree, owner, name);
}

uint32_t call_tree__category(struct call_tree *tree, const char *name)
{
	return call_tree__category_of(tree, 0, name);
}

uint32_t call_tree__child(struct call_tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t *slot;

	if (!parent || parent > tree->node_count)
		return 0;
	slot = find_slot(tree, parent, function);
	if (*slot)
		return *slot;
	if (reserve_node(tree))
		return 0;
	slot = find_slot(tree, parent, function);
	*slot = append_node(tree, parent, function);
	return *slot;
}

uint32_t call_tree__parent(const struct call_tree *tree, uint32_t node)
{
	return tree->nodes[node].parent;
}

uint32_t call_tree__function(const struct call_tree *tree, uint32_t node)
{
	return tree->nodes[node].function;
}

uint32_t call_tree__nodes(const struct call_tree *tree)
{
	return tree->node_count;
}

void call_tree__count(struct call_tree *tree, uint32_t node, uint64_t period_ns)
{
	tree->nodes[node].samples++;
	tree->nodes[node].weight_ns += period_ns;
}

void call_tree__weigh(struct call_tree *tree, uint32_t node, uint64_t ns)
{
	tree->nodes[node].weight_ns += ns;
}

void call_tree__charge(struct call_tree *tree, uint32_t node, uint64_t ns)
{
	tree->nodes[node].self_ns += ns;
}

void call_tree__add(struct call_tree *tree, uint32_t node, uint64_t samples, uint64_t ns)
{
	tree->nodes[node].samples += samples;
	tree->nodes[node].self_ns += ns;
}

void call_tree__export(const struct call_tree *tree, struct ls_profile *profile)
{
	profile->nodes = tree->nodes;
	profile->node_count = tree->node_count;
	profile->categories = tree->categories;
	profile->category_count = tree->category_count;
}
