/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "reader/cpuprofile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "reader/parsed_label.h"

#define NS_PER_US INT64_C(1000)
#define ROOT      1 /* the first node */

/* Twice as much is still a number that a recording can hold. */
#define TIME_MOST_US ((int64_t)(JSON_READER_UINT_MAX / 2))

/* A sample, once the times are known. */
struct timed {
	int64_t us; /* since the start */
	size_t order;
	uint32_t node; /* index from 1 */
};

int cpuprofile__refuse(struct cpuprofile *file, const char *format, ...)
{
	va_list args;

	if (!json_reader__has_failed(&file->json)) {
		va_start(args, format);
		vsnprintf(file->reason, INPUT_REASON_SIZE, format, args);
		va_end(args);
	}
	json_reader__fail(&file->json, "");
	return -EINVAL;
}

static struct cpuprofile_node *node_at(const struct cpuprofile *file, uint32_t index)
{
	return (struct cpuprofile_node *)file->nodes.items + index - 1;
}

/* Gives the children of a node their parent. */
static int adopt(struct cpuprofile *file, uint32_t index)
{
	const struct cpuprofile_node *node = node_at(file, index);
	const uint64_t *ids = file->edges.items;

	for (size_t i = 0; i < node->edge_count; i++) {
		uint64_t id = ids[node->first_edge + i];
		uint32_t child = id_map__find(&file->ids, id);

		if (!child)
			return cpuprofile__refuse(file,
						  "node %" PRIu64 " has the child %" PRIu64
						  ", but there is no such node",
						  node->id, id);
		if (child == ROOT || node_at(file, child)->parent)
			return cpuprofile__refuse(file, "node %" PRIu64 " has %s", id,
						  child == ROOT ? "a parent, but is the root"
								: "two parents");
		node_at(file, child)->parent = index;
	}
	return 0;
}

/* Whether the nodes below the root are categories: see read_cpuprofile.c. */
static bool has_categories(const struct cpuprofile *file)
{
	const struct cpuprofile_node *root = node_at(file, ROOT);
	const uint64_t *ids = file->edges.items;

	for (size_t i = 0; i < root->edge_count; i++) {
		const struct cpuprofile_node *node =
			node_at(file, id_map__find(&file->ids, ids[root->first_edge + i]));

		if (node->has_place || node->is_own)
			return false;
	}
	return !file->has_scripts && root->edge_count;
}

/* 0 when out of memory. */
static uint32_t make_child(struct cpuprofile *file, uint32_t parent,
			   const struct ls_profile_function *function)
{
	uint32_t id = profile_builder__function(file->loaded->builder, function);

	return id ? call_tree__child(profile_builder__tree(file->loaded->builder), parent, id) : 0;
}

/* Makes the node of a function below `parent`, or if that is 0, a category. 0: out of memory. */
static uint32_t make_node(struct cpuprofile *file, struct cpuprofile_node *node, uint32_t parent)
{
	if (!parent)
		return call_tree__category(profile_builder__tree(file->loaded->builder),
					   *node->name ? parsed_label__text(node->name) : "(root)");
	if (node->label)
		parsed_label__name(node->label, &node->function);
	return make_child(file, parent, &node->function);
}

/* Makes the node of the garbage collector below another one. */
static uint32_t make_gc(struct cpuprofile *file, uint32_t parent)
{
	static const struct ls_profile_function gc = {.source = "GC", .name = "GC"};

	return make_child(file, parent, &gc);
}

/* Makes a node whose parent was made. */
static int make(struct cpuprofile *file, struct cpuprofile_node *node, bool has_them)
{
	uint32_t parent = node->parent ? node_at(file, node->parent)->made : 0;

	if (!node->parent && has_them)
		return 0;
	if (node->parent == ROOT && (node->is_gc || node->is_idle))
		node->made = parent;
	else
		node->made = make_node(file, node, parent);
	return node->made ? 0 : -ENOMEM;
}

/*
 * Makes the nodes, parents first. Each has one parent, and the root none, so the nodes that can be
 * reached from the root are a tree. Others are refused.
 */
static int make_nodes(struct cpuprofile *file)
{
	size_t count = file->nodes.count, done = 0, listed = 1;
	uint32_t *order = calloc(count, sizeof(*order));
	const uint64_t *ids = file->edges.items;
	bool has_them = has_categories(file);
	int error = order ? 0 : -ENOMEM;

	if (order)
		order[0] = ROOT;
	while (!error && done < listed) {
		struct cpuprofile_node *node = node_at(file, order[done++]);

		error = make(file, node, has_them);
		for (size_t i = 0; i < node->edge_count; i++)
			order[listed++] = id_map__find(&file->ids, ids[node->first_edge + i]);
	}
	free(order);
	if (!error && listed < count)
		error = cpuprofile__refuse(file, "%zu of %zu nodes are not below the root",
					   count - listed, count);
	return error;
}

static int compare_timed(const void *left, const void *right)
{
	const struct timed *a = left, *b = right;

	if (a->us != b->us)
		return a->us < b->us ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Gives each sample its time. V8 writes some of them out of order. */
static int time_samples(struct cpuprofile *file, struct timed *timed)
{
	const uint64_t *ids = file->samples.items;
	const int64_t *deltas = file->deltas.items;
	int64_t us = 0;
	bool is_sorted = true;

	for (size_t i = 0; i < file->samples.count; i++) {
		us += deltas[i];
		is_sorted &= deltas[i] >= 0;
		timed[i] = (struct timed){us, i, id_map__find(&file->ids, ids[i])};
		if (!timed[i].node)
			return cpuprofile__refuse(file,
						  "sample %zu is of node %" PRIu64
						  ", but there is no such node",
						  i + 1, ids[i]);
		if (us > TIME_MOST_US || us < -TIME_MOST_US)
			return cpuprofile__refuse(file, "the time of sample %zu is out of range",
						  i + 1);
	}
	if (!is_sorted)
		qsort(timed, file->samples.count, sizeof(*timed), compare_timed);
	return 0;
}

/* How long sample `i` lasts. */
static uint64_t duration_us(const struct cpuprofile *file, const struct timed *timed, size_t i)
{
	int64_t end_us =
		file->end_us > file->start_us ? (int64_t)(file->end_us - file->start_us) : 0;

	if (i + 1 < file->samples.count)
		end_us = timed[i + 1].us;
	return end_us > timed[i].us ? (uint64_t)(end_us - timed[i].us) : 0;
}

/*
 * Returns the profile's node that a sample is charged to, or 0. A sample of the garbage collector
 * is charged below the node of the function that was sampled before, `last`.
 */
static uint32_t target_of(struct cpuprofile *file, uint32_t index, uint32_t *last)
{
	const struct cpuprofile_node *node = node_at(file, index);
	bool is_below_root = node->parent == ROOT;

	if (is_below_root && node->is_idle)
		return *last = 0;
	if (is_below_root && node->is_gc)
		return make_gc(file, *last ? *last : node->made);
	*last = node->is_own ? 0 : node->made;
	return node->made;
}

static void add_time(struct cpuprofile *file, uint32_t node, uint64_t samples, uint64_t ns)
{
	call_tree__add(profile_builder__tree(file->loaded->builder), node, samples, ns);
	file->charged_ns += ns;
}

static int charge_samples(struct cpuprofile *file, const struct timed *timed)
{
	struct profile_builder *builder = file->loaded->builder;
	int64_t first_us = timed[0].us < 0 ? timed[0].us : 0;
	uint32_t last = 0;
	int error = 0;

	for (size_t i = 0; i < file->samples.count && !error; i++) {
		uint32_t node = target_of(file, timed[i].node, &last);
		uint64_t us = duration_us(file, timed, i);
		const struct ls_profile_sample sample = {
			.time_ns = (uint64_t)(NS_PER_US * (timed[i].us - first_us)),
			.node = node,
			.thread = 1};

		/* A sample of the root without time just ends the list. */
		if (!node || (timed[i].node == ROOT && !us))
			continue;
		add_time(file, node, 1, (uint64_t)NS_PER_US * us);
		error = profile_builder__add_sample(builder, &sample);
	}
	return error;
}

/* Divides the time among the nodes by their hits. */
static void charge_hits(struct cpuprofile *file)
{
	uint64_t all = 0, ns = 0;

	if (file->end_us > file->start_us)
		ns = (uint64_t)NS_PER_US * (file->end_us - file->start_us);
	for (uint32_t i = 1; i <= file->nodes.count; i++)
		all += node_at(file, i)->hits;
	for (uint32_t i = 1; i <= file->nodes.count && all; i++) {
		const struct cpuprofile_node *node = node_at(file, i);

		uint32_t last = 0, target = target_of(file, i, &last);

		if (target)
			add_time(file, target, node->hits,
				 (uint64_t)((unsigned __int128)ns * node->hits / all));
	}
}

static int charge(struct cpuprofile *file)
{
	struct timed *timed;
	int error;

	if (file->samples.count != file->deltas.count)
		return cpuprofile__refuse(file, "it has %zu samples, but %zu timeDeltas",
					  file->samples.count, file->deltas.count);
	if (!file->samples.count) {
		charge_hits(file);
		return 0;
	}
	timed = calloc(file->samples.count, sizeof(*timed));
	error = timed ? time_samples(file, timed) : -ENOMEM;
	if (!error)
		error = charge_samples(file, timed);
	free(timed);
	return error;
}

int cpuprofile__make(struct cpuprofile *file)
{
	struct ls_profile_recorder recorder = {.version = LOADED_PROFILE_VERSION};
	int error = 0;

	if (!file->nodes.count)
		return cpuprofile__refuse(file, "no .cpuprofile: it has no nodes");
	if (file->end_us > file->start_us && file->end_us - file->start_us > TIME_MOST_US)
		return cpuprofile__refuse(file, "endTime is out of range");
	for (uint32_t i = 1; i <= file->nodes.count && !error; i++)
		error = adopt(file, i);
	if (!error)
		error = make_nodes(file);
	if (!error)
		error = charge(file);
	if (error)
		return error;
	if (file->end_us > file->start_us)
		recorder.duration_ns = (uint64_t)NS_PER_US * (file->end_us - file->start_us);
	recorder.cpu_ns = file->charged_ns;
	return profile_builder__finish(file->loaded->builder, &recorder);
}
