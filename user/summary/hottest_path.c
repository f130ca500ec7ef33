/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "base/units.h"
#include "summary/call_paths.h"
#include "summary/function_label.h"

#define STEPS_MOST  256
#define LINES_FIRST 6 /* these two of a long path, and a line for what is between them */
#define LINES_LAST  5
#define LEAST_PARTS 20 /* a child with less than one such part of all ends the path */
#define FORK_PARTS  3  /* likewise, of its parent's time */
#define ALIKE       95 /* percent of the first one's time that share a line with it */
#define ROOM_LEAST  16
#define LINE_SIZE   (FUNCTION_LABEL_SIZE + 2 * UNITS_SIZE)
#define RECURSIVE   " (recursive)"

/* A function on the path. Calls by itself below it are part of it. */
struct step {
	uint32_t function;
	bool is_recursive;
	uint64_t total_us;
};

struct path {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	struct step steps[STEPS_MOST];
	unsigned count;
	uint32_t *front, *next; /* the nodes of the last step; room for those of the next */
	uint32_t front_count;
	uint64_t *children_us; /* by function */
	uint8_t *is_on_path;   /* by function */
};

/* A category's time in script. */
static uint64_t script_us(const struct path *path, uint32_t category)
{
	const struct ls_profile *profile = path->profile;
	uint32_t child = profile->nodes[category].first_child;
	uint64_t us = 0;

	for (; child; child = profile->nodes[child].next_sibling)
		if (!profile__is_outside(&profile->functions[profile->nodes[child].function]))
			us += path->totals->node_total_us[child];
	return us;
}

static const struct ls_profile_category *find_category(const struct path *path)
{
	const struct ls_profile_category *hottest = NULL;
	uint64_t most_us = 0;

	for (uint32_t i = 0; i < path->profile->category_count; i++) {
		uint64_t us = script_us(path, path->profile->categories[i].node);

		if (us > most_us) {
			most_us = us;
			hottest = &path->profile->categories[i];
		}
	}
	return hottest;
}

/*
 * Sums up the children of the front by function; those that are on the path already join the front.
 * Returns the function with the most time, 0 if there is none.
 */
static uint32_t sum_up_children(struct path *path)
{
	const struct ls_profile_node *nodes = path->profile->nodes;
	uint32_t hottest = 0;

	for (uint32_t i = 0; i < path->front_count; i++) {
		uint32_t child = nodes[path->front[i]].first_child;

		for (; child; child = nodes[child].next_sibling) {
			uint32_t function = nodes[child].function;

			if (profile__is_outside(&path->profile->functions[function]))
				continue;
			if (path->is_on_path[function]) {
				path->front[path->front_count++] = child;
				path->steps[path->count - 1].is_recursive = true;
				continue;
			}
			path->children_us[function] += path->totals->node_total_us[child];
			if (path->children_us[function] > path->children_us[hottest])
				hottest = function;
		}
	}
	return hottest;
}

/* Makes the front's children that call `function` the front, and forgets the sums. */
static void go_down(struct path *path, uint32_t function)
{
	const struct ls_profile_node *nodes = path->profile->nodes;
	uint32_t *front = path->front, count = 0;

	for (uint32_t i = 0; i < path->front_count; i++) {
		uint32_t child = nodes[path->front[i]].first_child;

		for (; child; child = nodes[child].next_sibling) {
			path->children_us[nodes[child].function] = 0;
			if (nodes[child].function == function)
				path->next[count++] = child;
		}
	}
	path->front = path->next;
	path->next = front;
	path->front_count = count;
	path->is_on_path[function] = 1;
}

static void find_steps(struct path *path, const struct ls_profile_category *category)
{
	uint64_t above_us = script_us(path, category->node), us;
	uint32_t hottest;

	path->front[0] = category->node;
	path->front_count = 1;
	while (path->count < STEPS_MOST) {
		hottest = sum_up_children(path);
		us = path->children_us[hottest];
		if (!hottest || us < path->totals->all_us / LEAST_PARTS ||
		    us < above_us / FORK_PARTS)
			break;
		go_down(path, hottest);
		path->steps[path->count++] = (struct step){.function = hottest, .total_us = us};
		above_us = us;
	}
}

/* The end of the steps from `first` on that have nearly the same time: they share a line. */
static unsigned find_end(const struct path *path, unsigned first)
{
	unsigned end = first + 1;

	while (end < path->count &&
	       path->steps[end].total_us >= path->steps[first].total_us * ALIKE / 100)
		end++;
	return end;
}

static void make_label(const struct path *path, unsigned step, struct function_label *label)
{
	size_t length;

	function_label__make(&path->profile->functions[path->steps[step].function], label);
	length = strlen(label->name);
	if (path->steps[step].is_recursive)
		snprintf(label->name + length, sizeof(label->name) - length, RECURSIVE);
}

/* Joins the names of the steps from `first` to before `end`. False: they are too long. */
static bool join_names(const struct path *path, unsigned first, unsigned end, unsigned room,
		       char *to, size_t size)
{
	struct function_label label;
	size_t length = 0;

	for (unsigned step = first; step < end; step++) {
		make_label(path, step, &label);
		length += (size_t)snprintf(to + length, size - length, "%s%s",
					   step > first ? " > " : "", label.name);
		if (length >= size || terminal__width(to) > room)
			return false;
	}
	return true;
}

/* Prints the steps from `first` to before `end` as one line, with the place of the last. */
static void put_steps(const struct printer *printer, const struct path *path, unsigned first,
		      unsigned end)
{
	char names[PRINTER_TEXT_SIZE], text[FUNCTION_LABEL_SIZE], line[LINE_SIZE];
	char share[UNITS_SIZE];
	unsigned room = printer->width > 10 + ROOM_LEAST ? printer->width - 10 : ROOM_LEAST;
	const char *dots = printer->utf8 ? "\u2026" : "...";
	struct function_label label, top;
	unsigned place;
	bool fits;

	make_label(path, end - 1, &label);
	make_label(path, first, &top);
	/* Names go before a long path. */
	place = function_label__place_width(&label);
	place = 2 + (place < room * 2 / 5 ? place : room * 2 / 5);
	fits = join_names(path, first, end, room - place, names, sizeof(names));
	if (!fits && end - first > 2) {
		snprintf(names, sizeof(names), "%.*s > %s %u more > %.*s", PRINTER_TEXT_SIZE / 3,
			 top.name, dots, end - first - 2, PRINTER_TEXT_SIZE / 3, label.name);
		fits = terminal__width(names) <= room - place;
	}
	if (!fits && end - first == 1)
		snprintf(names, sizeof(names), "%s", label.name);
	else if (!fits)
		snprintf(names, sizeof(names), "%s %u more > %.*s", dots, end - first - 1,
			 PRINTER_TEXT_SIZE / 2, label.name);
	snprintf(label.name, sizeof(label.name), "%s", names);
	function_label__fit(&label, room, 0, printer->utf8, text, sizeof(text));
	units__format_share(path->steps[end - 1].total_us, path->totals->all_us, share,
			    sizeof(share));
	snprintf(line, sizeof(line), "  %6s  %s", share, text);
	printer__line(printer, line);
}

static void put_path(const struct printer *printer, const struct path *path)
{
	unsigned lines = 0, line = 0;
	char text[UNITS_SIZE * 2];

	for (unsigned step = 0; step < path->count; step = find_end(path, step))
		lines++;
	for (unsigned step = 0, end; step < path->count; step = end, line++) {
		end = find_end(path, step);
		if (lines <= LINES_FIRST + 1 + LINES_LAST || line < LINES_FIRST ||
		    line >= lines - LINES_LAST) {
			put_steps(printer, path, step, end);
		} else if (line == LINES_FIRST) {
			snprintf(text, sizeof(text), "          %s %u more",
				 printer->utf8 ? "\u2026" : "...",
				 lines - LINES_FIRST - LINES_LAST);
			printer__line(printer, text);
		}
	}
}

static void put_category(const struct printer *printer, const struct path *path,
			 const struct ls_profile_category *category)
{
	char line[PRINTER_TEXT_SIZE], name[PRINTER_TEXT_SIZE - UNITS_SIZE], share[UNITS_SIZE];

	uint64_t us = path->totals->node_total_us[category->node];

	if (path->profile->category_count < 2 || us >= path->totals->all_us / 100 * ALIKE)
		return;
	units__format_share(us, path->totals->all_us, share, sizeof(share));
	snprintf(line, sizeof(line), "  %6s  %s", share,
		 log__printable(category->name, name, sizeof(name)));
	printer__line(printer, line);
}

void call_paths__print_hottest(const struct printer *printer, const struct ls_profile *profile,
			       const struct ls_totals *totals)
{
	size_t nodes = (size_t)profile->node_count + 1;
	size_t functions = (size_t)profile->function_count + 1;
	struct path path = {
		.profile = profile,
		.totals = totals,
		.front = calloc(nodes, sizeof(uint32_t)),
		.next = calloc(nodes, sizeof(uint32_t)),
		.children_us = calloc(functions, sizeof(uint64_t)),
		.is_on_path = calloc(functions, sizeof(uint8_t)),
	};
	bool has_room = path.front && path.next && path.children_us && path.is_on_path;
	const struct ls_profile_category *category = has_room ? find_category(&path) : NULL;

	if (category)
		find_steps(&path, category);
	if (path.count || !has_room) {
		printer__line(printer, "");
		printer__line(printer, "Hottest path, by total time");
	}
	if (!has_room)
		printer__line(printer, "  out of memory");
	if (path.count) {
		put_category(printer, &path, category);
		put_path(printer, &path);
	}
	free(path.front);
	free(path.next);
	free(path.children_us);
	free(path.is_on_path);
}
