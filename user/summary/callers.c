/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "profile/call_tree.h"
#include "profile/function_looks.h"
#include "summary/call_paths.h"
#include "summary/function_label.h"

#define NS_PER_US      UINT64_C(1000)
#define FUNCTIONS_MOST 20
#define DEPTH          16 /* callers of callers */
#define LINES_MOST     500

/* The functions that were asked for, and what calls them as a tree from them upwards. */
struct callers {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	uint32_t functions[FUNCTIONS_MOST];
	uint32_t count, left_out;
	uint8_t *is_inside; /* by node, whether it is at or below a call of one function */
	uint8_t *numbers;   /* by function: which of the above it is, from 1; 0: none */
	struct call_tree *tree;
};

static void find_functions(struct callers *callers, const char *wanted)
{
	const struct ls_profile_function *functions = callers->profile->functions;

	for (uint32_t id = 1; id <= callers->profile->function_count; id++) {
		uint32_t at = 0;

		if (!function_looks__fit(&functions[id], wanted))
			continue;
		while (at < callers->count &&
		       function_looks__compare(&functions[callers->functions[at]], &functions[id]))
			at++;
		if (at == FUNCTIONS_MOST) {
			callers->left_out++;
			continue;
		}
		if (at == callers->count)
			callers->functions[callers->count++] = id;
		callers->numbers[id] = (uint8_t)(at + 1);
	}
}

/* Adds the callers of a node, outwards. Calls of a function by itself are one. */
static int add_callers(struct callers *callers, uint32_t node, uint32_t to)
{
	const struct ls_profile_node *nodes = callers->profile->nodes;
	uint32_t last = nodes[node].function;
	uint64_t us = callers->totals->node_total_us[node];

	for (int depth = 0; depth <= DEPTH && nodes[nodes[node].parent].function;) {
		node = nodes[node].parent;
		if (nodes[node].function == last)
			continue;
		last = nodes[node].function;
		to = call_tree__child(callers->tree, to, last);
		depth++;
	}
	if (!to)
		return -ENOMEM;
	call_tree__add(callers->tree, to, 0, us * NS_PER_US);
	return 0;
}

/* Only outermost calls of it are looked at: their time includes that of the inner ones. */
static int add_function(struct callers *callers, uint32_t index)
{
	const struct ls_profile_node *nodes = callers->profile->nodes;
	char name[UNITS_SIZE];
	uint32_t category, root;
	int error = 0;

	snprintf(name, sizeof(name), "%" PRIu32, index);
	category = call_tree__category(callers->tree, name);
	root = call_tree__child(callers->tree, category, callers->functions[index]);
	if (!root)
		return -ENOMEM;
	for (uint32_t id = 1; id <= callers->profile->node_count && !error; id++) {
		bool is_call = callers->numbers[nodes[id].function] == index + 1;
		bool is_inside = callers->is_inside[nodes[id].parent];

		callers->is_inside[id] = is_inside || is_call;
		if (is_call && !is_inside)
			error = add_callers(callers, id, root);
	}
	return error;
}

/* Prints the tree of each function. */
static int print_trees(const struct callers *callers, const struct printer *printer)
{
	struct ls_profile upwards = *callers->profile;
	struct call_paths_part part = {.depth = DEPTH + 1, .lines_left = LINES_MOST};
	struct ls_totals totals;
	int error;

	call_tree__export(callers->tree, &upwards);
	upwards.line_count = 0;
	error = totals__compute(&upwards, &totals);
	for (uint32_t i = 0; i < upwards.category_count && !error; i++) {
		part.root = upwards.categories[i].node;
		part.whole_us = totals.node_total_us[part.root];
		error = call_paths__print_part(printer, &upwards, &totals, &part);
	}
	totals__free(&totals);
	if (part.is_cut)
		printer__line(printer, "  callers further away are left out");
	if (part.is_full)
		printer__line(printer, "  what comes after these lines is left out");
	return error;
}

static int print_callers(struct callers *callers, const struct printer *printer, const char *wanted)
{
	int error = 0;

	callers->is_inside = calloc((size_t)callers->profile->node_count + 1, 1);
	callers->numbers = calloc((size_t)callers->profile->function_count + 1, 1);
	callers->tree = call_tree__new();
	if (!callers->is_inside || !callers->numbers || !callers->tree)
		return -ENOMEM;
	find_functions(callers, wanted);
	if (!callers->count) {
		printer__line(printer, "  none: no function in the profile has that name or place");
		return 0;
	}
	for (uint32_t i = 0; i < callers->count && !error; i++)
		error = add_function(callers, i);
	return error ? error : print_trees(callers, printer);
}

void call_paths__print_callers(const struct printer *printer, const struct ls_profile *profile,
			       const struct ls_totals *totals, const char *wanted)
{
	struct callers callers = {.profile = profile, .totals = totals};
	char title[PRINTER_TEXT_SIZE], name[PRINTER_TEXT_SIZE / 2];

	printer__line(printer, "");
	snprintf(title, sizeof(title), "Callers of %s, by share of its total time",
		 log__printable(wanted, name, sizeof(name)));
	printer__line(printer, title);
	if (print_callers(&callers, printer, wanted))
		printer__line(printer, "  out of memory");
	if (callers.left_out)
		printer__line(printer, "  more functions have that name: give CHUNK:LINE");
	free(callers.is_inside);
	free(callers.numbers);
	call_tree__free(callers.tree);
}
