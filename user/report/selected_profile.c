/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/selected_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/call_tree.h"
#include "profile/function_looks.h"
#include "report/report_recorder.h"

struct selected_profile {
	struct ls_profile profile;
	struct ls_profile_function *functions;
	struct ls_profile_line *lines;
	struct call_tree *tree;
	struct report_recorder *recorder;
	uint64_t all_ns, kept_ns;
	uint32_t without_lines;
};

/* A function of one of the profiles. */
struct member {
	const struct ls_profile_function *function;
	uint32_t place; /* among all functions, from 0 */
};

/* Self time of a function of the result at a line. */
struct line_part {
	uint32_t function, line;
	uint64_t ns, samples;
};

/* What is known of a node of the profile at hand. */
struct standing {
	uint32_t category; /* its category's new node; 0: not made yet */
	uint32_t node;     /* the new node; 0: none */
	uint32_t index;    /* of its category */
	bool is_hidden;    /* it or an ancestor is left out */
	bool is_inside;    /* of the focus, or there is none */
	bool is_used;      /* it or a descendant that is shown has time or samples */
};

struct selecting {
	const struct ls_profile *const *profiles;
	size_t count;
	const struct selection *selection;
	struct selected_profile *made;
	uint32_t *first;   /* by profile: the place of its function 1, less 1 */
	uint32_t *numbers; /* by place: the function of the result */
	uint8_t *fits;     /* by function of the result: whether it is the focus */
	/* By function of the result: the time of its nodes without a line, all of it and shown. */
	uint64_t *whole_ns, *shown_ns;
	struct line_part *parts;
	size_t part_count;
	struct standing *standings; /* by node of the profile at hand */
	uint32_t *categories;       /* likewise by category: its new node; 0: not made yet */
};

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	int order = function_looks__compare(a->function, b->function);

	return order ? order : (a->place > b->place) - (a->place < b->place);
}

static struct member *list_members(struct selecting *selecting, size_t *count)
{
	struct member *members;
	size_t place = 0;

	for (size_t i = 0; i < selecting->count; i++) {
		selecting->first[i] = (uint32_t)place - 1;
		place += selecting->profiles[i]->function_count;
	}
	*count = place;
	members = calloc(place + 1, sizeof(*members));
	place = 0;
	for (size_t i = 0; members && i < selecting->count; i++)
		for (uint32_t id = 1; id <= selecting->profiles[i]->function_count; id++, place++)
			members[place] = (struct member){&selecting->profiles[i]->functions[id],
							 (uint32_t)place};
	return members;
}

/* Numbers the functions of the result: those that look alike are one. */
static int join_functions(struct selecting *selecting)
{
	struct selected_profile *made = selecting->made;
	size_t count;
	struct member *members = list_members(selecting, &count);
	uint32_t number = 0;

	selecting->numbers = calloc(count + 1, sizeof(*selecting->numbers));
	made->functions = calloc(count + 2, sizeof(*made->functions));
	selecting->fits = calloc(count + 2, sizeof(*selecting->fits));
	selecting->whole_ns = calloc(count + 2, sizeof(*selecting->whole_ns));
	selecting->shown_ns = calloc(count + 2, sizeof(*selecting->shown_ns));
	if (!members || !selecting->numbers || !made->functions || !selecting->fits ||
	    !selecting->whole_ns || !selecting->shown_ns) {
		free(members);
		return -ENOMEM;
	}
	qsort(members, count, sizeof(*members), compare_members);
	for (size_t i = 0; i < count; i++) {
		const struct ls_profile_function *function = members[i].function;

		if (!i || function_looks__compare(members[i - 1].function, function) != 0)
			made->functions[++number] =
				(struct ls_profile_function){.source = function->source,
							     .name = function->name,
							     .line = function->line,
							     .flags = function->flags};
		selecting->numbers[members[i].place] = number;
	}
	free(members);
	made->profile.functions = made->functions;
	made->profile.function_count = number;
	return 0;
}

static uint32_t number_of(const struct selecting *selecting, size_t profile, uint32_t function)
{
	return selecting->numbers[selecting->first[profile] + function];
}

static bool is_left_out(const struct selection *selection,
			const struct ls_profile_function *function)
{
	return (selection->no_gc && profile__is_gc(function)) ||
	       (selection->no_plugins && function->flags & LS_FUNCTION_PLUGIN);
}

/* Decides which nodes are shown: parents come first, and then what is used by their children. */
static void stand(struct selecting *selecting, size_t index)
{
	const struct ls_profile *from = selecting->profiles[index];
	struct standing *standings = selecting->standings;

	for (uint32_t i = 0; i < from->category_count; i++)
		standings[from->categories[i].node].index = i;
	for (uint32_t id = 1; id <= from->node_count; id++) {
		const struct ls_profile_node *node = &from->nodes[id];
		struct standing *standing = &standings[id];

		if (!node->parent) {
			standing->is_inside = !selecting->selection->focus;
			continue;
		}
		*standing = standings[node->parent];
		standing->is_hidden |=
			is_left_out(selecting->selection, &from->functions[node->function]);
		standing->is_inside |=
			selecting->fits[number_of(selecting, index, node->function)] != 0;
	}
	for (uint32_t id = from->node_count; id; id--) {
		struct standing *standing = &standings[id];

		standing->is_used |= (from->nodes[id].self_ns || from->nodes[id].samples) &&
				     !standing->is_hidden && standing->is_inside;
		standings[from->nodes[id].parent].is_used |= standing->is_used;
	}
}

static int make_category(struct selecting *selecting, const struct ls_profile *from,
			 const struct standing *standing)
{
	uint32_t *node = &selecting->categories[standing->index];

	if (!*node)
		*node = call_tree__category(selecting->made->tree,
					    from->categories[standing->index].name);
	return *node ? 0 : -ENOMEM;
}

/* Adds a node that is shown. */
static int add_node(struct selecting *selecting, size_t index, uint32_t id)
{
	const struct ls_profile *from = selecting->profiles[index];
	const struct ls_profile_node *node = &from->nodes[id];
	struct standing *standing = &selecting->standings[id];
	uint32_t parent = selecting->standings[node->parent].node;
	int error = make_category(selecting, from, standing);

	if (error)
		return error;
	if (!parent)
		parent = selecting->categories[standing->index];
	standing->node = node->parent
				 ? call_tree__child(selecting->made->tree, parent,
						    number_of(selecting, index, node->function))
				 : parent;
	if (!standing->node)
		return -ENOMEM;
	call_tree__add(selecting->made->tree, standing->node, node->samples, node->self_ns);
	selecting->made->kept_ns += node->self_ns;
	return 0;
}

/* Notes the time of a node, for the lines of its function. */
static void note_line(struct selecting *selecting, size_t index, uint32_t id, bool is_shown)
{
	const struct ls_profile *from = selecting->profiles[index];
	const struct ls_profile_node *node = &from->nodes[id];
	const struct ls_profile_function *function = &from->functions[node->function];
	uint32_t number;

	selecting->made->all_ns += node->self_ns;
	if (!node->function)
		return;
	number = number_of(selecting, index, node->function);
	if (!function->current_line) {
		selecting->whole_ns[number] += node->self_ns;
		selecting->shown_ns[number] += is_shown ? node->self_ns : 0;
	} else if (is_shown && (node->self_ns || node->samples)) {
		selecting->parts[selecting->part_count++] = (struct line_part){
			number, function->current_line, node->self_ns, node->samples};
	}
}

static int add_profile(struct selecting *selecting, size_t index)
{
	const struct ls_profile *from = selecting->profiles[index];
	int error = 0;

	selecting->standings = calloc((size_t)from->node_count + 1, sizeof(struct standing));
	selecting->categories = calloc((size_t)from->category_count + 1, sizeof(uint32_t));
	if (!selecting->standings || !selecting->categories)
		error = -ENOMEM;
	if (!error)
		stand(selecting, index);
	for (uint32_t id = 1; id <= from->node_count && !error; id++) {
		const struct standing *standing = &selecting->standings[id];
		bool is_shown = standing->is_used && standing->is_inside && !standing->is_hidden;

		note_line(selecting, index, id, is_shown);
		if (is_shown)
			error = add_node(selecting, index, id);
	}
	free(selecting->standings);
	free(selecting->categories);
	selecting->standings = NULL;
	selecting->categories = NULL;
	return error;
}

/* The histograms of functions that are shown as a whole: others have no part of them to show. */
static void add_histograms(struct selecting *selecting)
{
	for (size_t i = 0; i < selecting->count; i++) {
		const struct ls_profile *from = selecting->profiles[i];

		for (uint32_t id = 1; id <= from->function_count; id++) {
			const struct ls_profile_function *function = &from->functions[id];
			uint32_t number = number_of(selecting, i, id);
			uint32_t end = function->first_line + function->line_count;

			if (function->current_line || !function->line_count ||
			    !selecting->shown_ns[number])
				continue;
			if (selecting->shown_ns[number] != selecting->whole_ns[number]) {
				selecting->made->without_lines++;
				continue;
			}
			for (uint32_t at = function->first_line; at < end; at++)
				selecting->parts[selecting->part_count++] = (struct line_part){
					number, from->lines[at].line, from->lines[at].self_ns,
					from->lines[at].samples};
		}
	}
}

static int compare_parts(const void *left, const void *right)
{
	const struct line_part *a = left, *b = right;

	if (a->function != b->function)
		return a->function > b->function ? 1 : -1;
	return (a->line > b->line) - (a->line < b->line);
}

static int join_lines(struct selecting *selecting)
{
	struct selected_profile *made = selecting->made;
	struct ls_profile_line *line = NULL;
	uint32_t count = 0, last = 0;

	made->lines = calloc(selecting->part_count + 1, sizeof(*made->lines));
	if (!made->lines)
		return -ENOMEM;
	qsort(selecting->parts, selecting->part_count, sizeof(*selecting->parts), compare_parts);
	for (size_t i = 0; i < selecting->part_count; i++) {
		const struct line_part *part = &selecting->parts[i];
		struct ls_profile_function *function = &made->functions[part->function];

		if (!line || part->function != last || part->line != line->line) {
			if (part->function != last)
				function->first_line = count;
			function->line_count++;
			line = &made->lines[count++];
			line->line = part->line;
		}
		last = part->function;
		line->self_ns += part->ns;
		line->samples += part->samples;
	}
	made->profile.lines = made->lines;
	made->profile.line_count = count;
	return 0;
}

/* 0; -ENOENT: none fits. */
static int find_focus(struct selecting *selecting)
{
	const struct ls_profile *profile = &selecting->made->profile;
	bool is_found = !selecting->selection->focus;

	for (uint32_t id = 1; id <= profile->function_count && selecting->selection->focus; id++) {
		selecting->fits[id] =
			function_looks__fit(&profile->functions[id], selecting->selection->focus);
		is_found |= selecting->fits[id] != 0;
	}
	return is_found ? 0 : -ENOENT;
}

static int allocate(struct selecting *selecting)
{
	uint64_t functions = 0, parts = 0;

	for (size_t i = 0; i < selecting->count; i++) {
		functions += selecting->profiles[i]->function_count;
		parts += (uint64_t)selecting->profiles[i]->line_count +
			 selecting->profiles[i]->node_count;
	}
	if (functions >= UINT32_MAX - 1 || parts >= UINT32_MAX)
		return -EOVERFLOW;
	selecting->first = calloc(selecting->count, sizeof(*selecting->first));
	selecting->parts = calloc(parts + 1, sizeof(*selecting->parts));
	selecting->made->tree = call_tree__new();
	return selecting->first && selecting->parts && selecting->made->tree ? 0 : -ENOMEM;
}

static int make(struct selecting *selecting)
{
	struct selected_profile *made = selecting->made;
	int error = allocate(selecting);

	if (!error)
		error = join_functions(selecting);
	if (!error)
		error = find_focus(selecting);
	for (size_t i = 0; i < selecting->count && !error; i++)
		error = add_profile(selecting, i);
	if (error)
		return error;
	add_histograms(selecting);
	error = join_lines(selecting);
	if (!error)
		error = report_recorder__new(selecting->profiles, selecting->count,
					     &made->recorder);
	if (error)
		return error;
	call_tree__export(made->tree, &made->profile);
	made->profile.recorder = *report_recorder__get(made->recorder);
	return 0;
}

int selected_profile__new(const struct ls_profile *const *profiles, size_t count,
			  const struct selection *selection, struct selected_profile **selected)
{
	struct selecting selecting = {.profiles = profiles, .count = count, .selection = selection};
	int error = -ENOMEM;

	*selected = NULL;
	selecting.made = calloc(1, sizeof(*selecting.made));
	if (selecting.made)
		error = make(&selecting);
	free(selecting.first);
	free(selecting.numbers);
	free(selecting.fits);
	free(selecting.whole_ns);
	free(selecting.shown_ns);
	free(selecting.parts);
	if (error)
		selected_profile__free(selecting.made);
	else
		*selected = selecting.made;
	return error;
}

void selected_profile__free(struct selected_profile *selected)
{
	if (!selected)
		return;
	call_tree__free(selected->tree);
	report_recorder__free(selected->recorder);
	free(selected->functions);
	free(selected->lines);
	free(selected);
}

const struct ls_profile *selected_profile__profile(const struct selected_profile *selected)
{
	return &selected->profile;
}

uint64_t selected_profile__all_ns(const struct selected_profile *selected)
{
	return selected->all_ns;
}

uint64_t selected_profile__kept_ns(const struct selected_profile *selected)
{
	return selected->kept_ns;
}

uint32_t selected_profile__without_lines(const struct selected_profile *selected)
{
	return selected->without_lines;
}
