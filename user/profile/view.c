/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/view.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/call_tree.h"

struct view {
	struct ls_profile profile;
	struct ls_profile_function *functions; /* `from`'s, plugin twins, `other`, `ignored` */
	struct call_tree *tree;
	uint32_t *places; /* by old node: the new node that has its time and samples */
};

/* The state of an old node, from which its children's is derived. */
struct standing {
	uint32_t category; /* its category's new node */
	uint32_t below;    /* the new node below which its children are */
	bool is_shown;     /* in a coroutine that was selected */
	bool is_start;     /* each child is the first function of a coroutine */
	bool is_plugin;
};

/* Which patterns a function matches. */
struct fitting {
	bool is_coroutine, is_plugin, is_ignored;
};

struct viewing {
	const struct ls_profile *from;
	const struct view_options *options;
	struct view *view;
	struct standing *standings; /* by old node */
	struct fitting *fittings;   /* by old function */
	uint32_t other, ignored;    /* new functions */
};

bool view_options__are_any(const struct view_options *options)
{
	return options->coroutines.count || options->plugins.count || options->ignored.count;
}

static int fit_functions(struct viewing *viewing)
{
	const struct view_options *options = viewing->options;

	for (uint32_t id = 1; id <= viewing->from->function_count; id++) {
		const struct ls_profile_function *function = &viewing->from->functions[id];
		int starts = patterns__fit(&options->coroutines, function);
		int goes = patterns__fit(&options->ignored, function);

		if (starts < 0 || goes < 0)
			return -ENOMEM;
		viewing->fittings[id] = (struct fitting){
			.is_coroutine = starts,
			.is_plugin = patterns__fit_chunk(&options->plugins, function),
			.is_ignored = goes,
		};
	}
	return 0;
}

/* The plugin twin of function `i` is `i` + count; a twin that no node uses does not matter. */
static void make_functions(struct viewing *viewing)
{
	struct ls_profile_function *functions = viewing->view->functions;
	uint32_t count = viewing->from->function_count;

	for (uint32_t id = 1; id <= count; id++) {
		functions[id] = viewing->from->functions[id];
		functions[count + id] = functions[id];
		functions[count + id].flags |= LS_FUNCTION_PLUGIN;
		if (functions[id].function)
			functions[count + id].function += count;
	}
	viewing->other = 2 * count + 1;
	viewing->ignored = 2 * count + 2;
	functions[viewing->other].name = PROFILE_OTHER_COROUTINES;
	functions[viewing->ignored].name = PROFILE_IGNORED;
	viewing->view->profile.functions = functions;
	viewing->view->profile.function_count = 2 * count + 2;
}

static uint32_t child(struct viewing *viewing, uint32_t parent, uint32_t function)
{
	return call_tree__child(viewing->view->tree, parent, function);
}

/* "(host)" and the like, right below a category: no script, so in no coroutine. */
static bool is_outside(const struct viewing *viewing, const struct ls_profile_node *node)
{
	const struct ls_profile_function *function = &viewing->from->functions[node->function];

	return !function->source && !viewing->from->nodes[node->parent].parent &&
	       !profile__starts_coroutine(function);
}

/* Places a node of a shown stack. Returns the new node for its time; 0 when out of memory. */
static uint32_t show_node(struct viewing *viewing, const struct ls_profile_node *node,
			  struct standing *standing)
{
	const struct ls_profile *from = viewing->from;
	uint32_t function = node->function, parent = standing->below;

	/* The garbage collector goes below the node with its caller's time, ignored or not. */
	if (profile__is_gc(&from->functions[function]))
		parent = viewing->view->places[node->parent];
	if (viewing->fittings[function].is_ignored)
		return parent == standing->category ? child(viewing, parent, viewing->ignored)
						    : parent;
	if (standing->is_plugin)
		function += from->function_count;
	standing->below = child(viewing, parent, function);
	return standing->below;
}

/* The same for any node; `standing` is its parent's on entry, and its own on return. */
static uint32_t place_node(struct viewing *viewing, const struct ls_profile_node *node,
			   struct standing *standing)
{
	const struct ls_profile_function *function = &viewing->from->functions[node->function];
	bool is_first = standing->is_start;

	standing->is_start = profile__starts_coroutine(function);
	if (standing->is_start)
		return viewing->view->places[node->parent];
	standing->is_plugin |= viewing->fittings[node->function].is_plugin;
	if (is_first && viewing->fittings[node->function].is_coroutine)
		standing->is_shown = true;
	if (standing->is_shown || is_outside(viewing, node))
		return show_node(viewing, node, standing);
	return child(viewing, standing->category, viewing->other);
}

static int place_categories(struct viewing *viewing)
{
	const struct ls_profile *from = viewing->from;

	for (uint32_t i = 0; i < from->category_count; i++) {
		uint32_t id = from->categories[i].node;
		uint32_t node = call_tree__category(viewing->view->tree, from->categories[i].name);

		if (!node)
			return -ENOMEM;
		viewing->view->places[id] = node;
		viewing->standings[id] = (struct standing){
			.category = node,
			.below = node,
			.is_shown = !viewing->options->coroutines.count,
		};
	}
	return 0;
}

static int place_nodes(struct viewing *viewing)
{
	const struct ls_profile *from = viewing->from;
	uint32_t *places = viewing->view->places;
	int error = place_categories(viewing);

	for (uint32_t id = 1; !error && id <= from->node_count; id++) {
		const struct ls_profile_node *node = &from->nodes[id];

		if (node->parent) {
			viewing->standings[id] = viewing->standings[node->parent];
			places[id] = place_node(viewing, node, &viewing->standings[id]);
		}
		if (places[id])
			call_tree__add(viewing->view->tree, places[id], node->samples,
				       node->self_ns);
		else
			error = -ENOMEM;
	}
	return error;
}

/* The number of samples that were moved, for the file and the summary. */
static uint64_t count_ignored(const struct viewing *viewing)
{
	uint64_t samples = 0;

	for (uint32_t id = 1; id <= viewing->from->node_count; id++) {
		const struct ls_profile_node *node = &viewing->from->nodes[id];

		if (viewing->fittings[node->function].is_ignored && viewing->standings[id].is_shown)
			samples += node->samples;
	}
	return samples;
}

static int allocate(struct viewing *viewing)
{
	size_t nodes = (size_t)viewing->from->node_count + 1;
	size_t functions = (size_t)viewing->from->function_count + 1;
	struct view *view = viewing->view;

	viewing->standings = calloc(nodes, sizeof(*viewing->standings));
	viewing->fittings = calloc(functions, sizeof(*viewing->fittings));
	view->functions = calloc(2 * functions + 1, sizeof(*view->functions));
	view->places = calloc(nodes, sizeof(*view->places));
	view->tree = call_tree__new();
	return viewing->standings && viewing->fittings && view->functions && view->places &&
			       view->tree
		       ? 0
		       : -ENOMEM;
}

int view__new(const struct ls_profile *from, const struct view_options *options, struct view **made)
{
	struct viewing viewing = {.from = from, .options = options};
	int error = -ENOMEM;

	*made = NULL;
	viewing.view = calloc(1, sizeof(*viewing.view));
	if (!viewing.view)
		return error;
	viewing.view->profile = *from;
	error = allocate(&viewing);
	if (!error)
		error = fit_functions(&viewing);
	if (error)
		goto cleanup;
	make_functions(&viewing);
	error = place_nodes(&viewing);
	if (error)
		goto cleanup;
	call_tree__export(viewing.view->tree, &viewing.view->profile);
	viewing.view->profile.sample_nodes = viewing.view->places;
	viewing.view->profile.sample_node_count = from->node_count;
	viewing.view->profile.recorder.ignored_samples = count_ignored(&viewing);
	*made = viewing.view;
	viewing.view = NULL;
cleanup:
	free(viewing.standings);
	free(viewing.fittings);
	view__free(viewing.view);
	return error;
}

void view__free(struct view *view)
{
	if (!view)
		return;
	call_tree__free(view->tree);
	free(view->functions);
	free(view->places);
	free(view);
}

const struct ls_profile *view__profile(const struct view *view)
{
	return &view->profile;
}
