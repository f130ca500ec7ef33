/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "summary/call_paths.h"
#include "summary/function_label.h"

#define LINES_MOST  500
#define SMALL_PARTS 200  /* less than one such part of the whole is not shown by itself */
#define TINY_PARTS  1000 /* nor counted if all of it is less than one of these */
#define ROOM_LEAST  16
#define LINE_SIZE   (FUNCTION_LABEL_SIZE + 1024)

#define TIME_COLUMNS 10

struct sibling {
	uint64_t total_us, self_us;
	uint32_t parent, node;
	bool is_small;
};

struct walk {
	const struct printer *printer;
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	struct call_paths_part *part;
	struct sibling *siblings; /* all nodes, by parent, the largest first */
	uint32_t *places;         /* of nodes among them */
	uint32_t *first_children; /* places of nodes' largest children; node_count: none */
	uint32_t level;
};

static const char *name_of(const struct walk *walk, uint32_t node);

/* The small ones come last, whatever the order. For qsort_r(). */
static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct sibling *a = left, *b = right;
	const struct walk *walk = context;
	enum row_order by = walk->part->choice ? walk->part->choice->order : ROW_ORDER_TOTAL;
	int order = 0;

	if (a->parent != b->parent)
		return a->parent > b->parent ? 1 : -1;
	if (a->is_small != b->is_small)
		return a->is_small ? 1 : -1;
	if (by == ROW_ORDER_NAME)
		order = strcmp(name_of(walk, a->node), name_of(walk, b->node));
	if (!order && by == ROW_ORDER_SELF)
		order = (a->self_us < b->self_us) - (a->self_us > b->self_us);
	if (!order)
		order = (a->total_us < b->total_us) - (a->total_us > b->total_us);
	return order ? order : (a->node > b->node) - (a->node < b->node);
}

/* Hidden nodes count as if they had no time. */
static void fill_siblings(struct walk *walk)
{
	const struct row_choice *choice = walk->part->choice;
	uint64_t least_us = choice ? choice->least_us : walk->part->whole_us / SMALL_PARTS;

	for (uint32_t id = 1; id <= walk->profile->node_count; id++) {
		bool is_hidden = choice && choice->hidden && choice->hidden[id];
		uint64_t us = is_hidden ? 0 : walk->totals->node_total_us[id];
		bool needs_self = choice && choice->order == ROW_ORDER_SELF;

		walk->siblings[id - 1] = (struct sibling){
			.total_us = us,
			.self_us = needs_self
					   ? totals__node_self_us(walk->profile, walk->totals, id)
					   : 0,
			.parent = walk->profile->nodes[id].parent,
			.node = id,
			.is_small = !us || us < least_us};
	}
}

static int sort_siblings(struct walk *walk)
{
	uint32_t count = walk->profile->node_count;

	walk->siblings = calloc((size_t)count + 1, sizeof(*walk->siblings));
	walk->places = calloc((size_t)count + 1, sizeof(*walk->places));
	walk->first_children = calloc((size_t)count + 1, sizeof(*walk->first_children));
	if (!walk->siblings || !walk->places || !walk->first_children)
		return -ENOMEM;
	fill_siblings(walk);
	if (count)
		qsort_r(walk->siblings, count, sizeof(*walk->siblings), compare_siblings, walk);
	for (uint32_t id = 0; id <= count; id++)
		walk->first_children[id] = count;
	for (uint32_t at = count; at; at--) {
		walk->places[walk->siblings[at - 1].node] = at - 1;
		walk->first_children[walk->siblings[at - 1].parent] = at - 1;
	}
	return 0;
}

static const char *category_name(const struct ls_profile *profile, uint32_t node)
{
	for (uint32_t i = 0; i < profile->category_count; i++)
		if (profile->categories[i].node == node)
			return profile->categories[i].name;
	return "";
}

static const char *name_of(const struct walk *walk, uint32_t node)
{
	uint32_t function = walk->profile->nodes[node].function;
	const char *name = function ? walk->profile->functions[function].name : NULL;

	if (!function)
		return category_name(walk->profile, node);
	return name && *name ? name : "<anonymous>";
}

/* Prints the shares and, in its place, what they are of. */
static void put_line(struct walk *walk, uint64_t total_us, const char *self,
		     const struct function_label *label)
{
	const struct call_paths_part *part = walk->part;
	unsigned width = walk->printer->width, indent = 2 * walk->level;
	unsigned begin = 2 + 6 + 2 + (part->has_self ? 6 + 2 : 0);
	char text[FUNCTION_LABEL_SIZE], line[LINE_SIZE], total[UNITS_SIZE], time[UNITS_SIZE] = "";

	if (part->has_times) {
		printer__format_time(walk->printer, total_us, time, sizeof(time));
		begin += TIME_COLUMNS + 2;
	}
	indent = begin + (indent < width / 3 ? indent : width / 3);
	function_label__fit(label, width > indent + ROOM_LEAST ? width - indent : ROOM_LEAST, 0,
			    walk->printer->utf8, text, sizeof(text));
	units__format_share(total_us, part->whole_us, total, sizeof(total));
	snprintf(line, sizeof(line), "  %6s%s%*s%s%*s%*s%s", total, part->has_self ? "  " : "",
		 part->has_self ? 6 : 0, self, part->has_times ? "  " : "",
		 part->has_times ? TIME_COLUMNS : 0, time,
		 (int)(indent - begin + 2 > 256 ? 256 : indent - begin + 2), "", text);
	printer__styled(walk->printer, printer__heat(total_us, part->whole_us), line);
	walk->part->lines_left--;
}

static void put_node(struct walk *walk, uint32_t node)
{
	uint32_t function = walk->profile->nodes[node].function;
	struct function_label label = {.name = ""};
	char self[UNITS_SIZE] = "";

	if (function)
		function_label__make(&walk->profile->functions[function], &label);
	else
		log__printable(category_name(walk->profile, node), label.name, sizeof(label.name));
	if (walk->part->has_self)
		units__format_share(totals__node_self_us(walk->profile, walk->totals, node),
				    walk->part->whole_us, self, sizeof(self));
	put_line(walk, walk->totals->node_total_us[node], self, &label);
}

/* Counts the siblings from `at` on, which are all small. */
static void put_others(struct walk *walk, uint32_t at)
{
	uint32_t parent = walk->siblings[at].parent, count = 0;
	struct function_label label = {.name = ""};
	char number[UNITS_SIZE];
	uint64_t us = 0;

	for (; at < walk->profile->node_count && walk->siblings[at].parent == parent; at++) {
		us += walk->siblings[at].total_us;
		count += walk->siblings[at].total_us != 0;
	}
	if (us < walk->part->whole_us / TINY_PARTS || !us)
		return;
	snprintf(label.name, sizeof(label.name), "%s %s other%s",
		 walk->printer->utf8 ? "\u2026" : "...",
		 units__format_count(count, number, sizeof(number)), count == 1 ? "" : "s");
	put_line(walk, us, "", &label);
}

/* The place after the parent of `at`, or after an ancestor without a further sibling. */
static uint32_t leave(struct walk *walk, uint32_t at)
{
	const uint32_t end = walk->profile->node_count;

	while (walk->siblings[at].parent != walk->part->root) {
		at = walk->places[walk->siblings[at].parent];
		walk->level--;
		if (at + 1 < end && walk->siblings[at + 1].parent == walk->siblings[at].parent)
			return at + 1;
	}
	return end;
}

/* The place after `at`, which was printed: its children's, or that of what comes after it. */
static uint32_t go_on(struct walk *walk, uint32_t at)
{
	const uint32_t end = walk->profile->node_count;
	uint32_t child = walk->first_children[walk->siblings[at].node];

	if (child < end && walk->level + 1 < walk->part->depth) {
		walk->level++;
		return child;
	}
	if (child < end && !walk->siblings[child].is_small)
		walk->part->is_cut = true;
	if (at + 1 < end && walk->siblings[at + 1].parent == walk->siblings[at].parent)
		return at + 1;
	return leave(walk, at);
}

int call_paths__print_part(const struct printer *printer, const struct ls_profile *profile,
			   const struct ls_totals *totals, struct call_paths_part *part)
{
	struct walk walk = {.printer = printer, .profile = profile, .totals = totals, .part = part};
	int error = sort_siblings(&walk);
	uint32_t at = error ? 0 : walk.first_children[part->root];

	while (!error && at < profile->node_count && part->lines_left) {
		if (walk.siblings[at].is_small) {
			put_others(&walk, at);
			at = leave(&walk, at);
		} else {
			put_node(&walk, walk.siblings[at].node);
			at = go_on(&walk, at);
		}
	}
	part->is_full = !error && at < profile->node_count;
	free(walk.siblings);
	free(walk.places);
	free(walk.first_children);
	return error;
}

void call_paths__print_tree(const struct printer *printer, const struct ls_profile *profile,
			    const struct ls_totals *totals, uint32_t depth)
{
	struct call_paths_part part = {
		.root = profile->category_count == 1 ? profile->categories[0].node : 0,
		.depth = profile->category_count == 1 ? depth : depth + 1,
		.whole_us = totals->all_us,
		.has_self = true,
		.lines_left = LINES_MOST,
	};
	char text[PRINTER_TEXT_SIZE];

	printer__line(printer, "");
	printer__line(printer, "Call tree, by total time");
	printer__line(printer, "   total    self  function");
	if (call_paths__print_part(printer, profile, totals, &part))
		printer__line(printer, "  out of memory");
	if (part.is_cut) {
		snprintf(text, sizeof(text), "calls deeper than %u are left out (--tree=DEPTH)",
			 depth);
		printer__wrapped(printer, "  ", text);
	}
	if (part.is_full) {
		snprintf(text, sizeof(text), "what comes after %d lines is left out", LINES_MOST);
		printer__wrapped(printer, "  ", text);
	}
}
