/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each function with its callers above it and its callees below, as gprof shows them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "derived/call_arcs.h"
#include "report/report_views.h"
#include "report/search.h"
#include "summary/function_label.h"
#include "summary/hottest_functions.h"

#define ARCS_MOST  10 /* callers, and callees, of a function that have a line of their own */
#define TIME_WIDTH 10
#define LINE_SIZE  (FUNCTION_LABEL_SIZE + 512)
#define ROOM_LEAST 16

struct callgraph {
	const struct report *report;
	const struct printer *printer;
	const struct ls_profile *profile;
	struct call_arcs arcs;
	struct call_arc *to;   /* by callee, then the largest first */
	struct call_arc *from; /* by caller, likewise */
};

static int compare_to(const void *left, const void *right)
{
	const struct call_arc *a = left, *b = right;

	if (a->callee != b->callee)
		return a->callee > b->callee ? 1 : -1;
	if (a->us != b->us)
		return a->us < b->us ? 1 : -1;
	return (a->caller > b->caller) - (a->caller < b->caller);
}

static int compare_from(const void *left, const void *right)
{
	const struct call_arc *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller > b->caller ? 1 : -1;
	if (a->us != b->us)
		return a->us < b->us ? 1 : -1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

/* The first arc to that function, or from it. */
static size_t find_first(const struct callgraph *graph, uint32_t function, bool is_to)
{
	size_t low = 0, high = graph->arcs.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t at = is_to ? graph->to[middle].callee : graph->from[middle].caller;

		if (at < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A function, or behind the functions a category. */
static void make_label(const struct ls_profile *profile, uint32_t id, struct function_label *label)
{
	const char *name = "";

	if (id <= profile->function_count) {
		function_label__make(&profile->functions[id], label);
		return;
	}
	*label = (struct function_label){.name = ""};
	if (id - profile->function_count - 1 < profile->category_count)
		name = profile->categories[id - profile->function_count - 1].name;
	log__printable(name, label->name, sizeof(label->name));
}

static void put_line(const struct callgraph *graph, const char *shares, uint64_t us,
		     const char *role, uint32_t id, enum printer_style style)
{
	unsigned begin = 2 + 6 + 2 + 6 + 2 + TIME_WIDTH + 2 + (unsigned)strlen(role);
	unsigned width = graph->printer->width;
	char text[FUNCTION_LABEL_SIZE], line[LINE_SIZE], time[UNITS_SIZE];
	struct function_label label;

	make_label(graph->profile, id, &label);
	function_label__fit(&label, width > begin + ROOM_LEAST ? width - begin : ROOM_LEAST, 0,
			    graph->printer->utf8, text, sizeof(text));
	printer__format_time(graph->printer, us, time, sizeof(time));
	snprintf(line, sizeof(line), "  %14s  %*s  %s%s", shares, TIME_WIDTH, time, role, text);
	printer__styled(graph->printer, style, line);
}

static void put_rest(const struct callgraph *graph, uint32_t count, uint64_t us, const char *role)
{
	char line[LINE_SIZE], time[UNITS_SIZE], number[UNITS_SIZE];

	printer__format_time(graph->printer, us, time, sizeof(time));
	units__format_count(count, number, sizeof(number));
	snprintf(line, sizeof(line), "  %14s  %*s  %s%s others", "", TIME_WIDTH, time, role,
		 number);
	printer__styled(graph->printer, PRINTER_FAINT, line);
}

/* Arcs without time are calls of what is on the stack already: recursion, counted once. */
static void put_arcs(const struct callgraph *graph, uint32_t function, bool is_to)
{
	const struct call_arc *arcs = is_to ? graph->to : graph->from;
	const char *role = is_to ? "  from " : "  to ";
	uint32_t shown = 0, others = 0;
	uint64_t others_us = 0;

	for (size_t at = find_first(graph, function, is_to); at < graph->arcs.count; at++) {
		const struct call_arc *arc = &arcs[at];

		if ((is_to ? arc->callee : arc->caller) != function)
			break;
		if (!arc->us)
			continue;
		if (shown++ < ARCS_MOST) {
			put_line(graph, "", arc->us, role, is_to ? arc->caller : arc->callee,
				 PRINTER_PLAIN);
			continue;
		}
		others++;
		others_us += arc->us;
	}
	if (others)
		put_rest(graph, others, others_us, role);
}

static void put_function(const struct callgraph *graph, uint32_t id)
{
	const struct ls_totals *totals = graph->report->totals;
	char total[UNITS_SIZE], self[UNITS_SIZE], shares[2 * UNITS_SIZE + 4];

	units__format_share(totals->function_total_us[id], totals->all_us, total, sizeof(total));
	units__format_share(totals->function_self_us[id], totals->all_us, self, sizeof(self));
	snprintf(shares, sizeof(shares), "%6s  %6s", total, self);
	printer__line(graph->printer, "");
	put_arcs(graph, id, true);
	put_line(graph, shares, totals->function_total_us[id], "", id,
		 graph->printer->has_color ? PRINTER_HOT : PRINTER_PLAIN);
	put_arcs(graph, id, false);
}

static int sort_arcs(struct callgraph *graph)
{
	size_t count = graph->arcs.count;

	graph->to = calloc(count + 1, sizeof(*graph->to));
	graph->from = calloc(count + 1, sizeof(*graph->from));
	if (!graph->to || !graph->from)
		return -ENOMEM;
	if (!count)
		return 0;
	memcpy(graph->to, graph->arcs.arcs, count * sizeof(*graph->to));
	memcpy(graph->from, graph->arcs.arcs, count * sizeof(*graph->from));
	qsort(graph->to, count, sizeof(*graph->to), compare_to);
	qsort(graph->from, count, sizeof(*graph->from), compare_from);
	return 0;
}

static int put_functions(const struct callgraph *graph)
{
	static const char *const titles[] = {
		[ROW_ORDER_SELF] = "Call graph, functions by self time",
		[ROW_ORDER_TOTAL] = "Call graph, functions by total time",
		[ROW_ORDER_NAME] = "Call graph, functions by name",
	};
	const struct report *report = graph->report;
	uint8_t *hidden =
		report->search ? search__hide_functions(report->search, graph->profile) : NULL;
	const struct row_choice choice = {.order = report->order,
					  .limit = report->limit,
					  .least_us = report__least_us(report),
					  .hidden = hidden};
	uint32_t *functions = NULL, count = 0;
	int error = report->search && !hidden ? -ENOMEM : 0;

	if (!error)
		error = hottest_functions__choose(graph->profile, report->totals, &choice,
						  &functions, &count);
	if (!error) {
		printer__styled(graph->printer, PRINTER_TITLE, titles[report->order]);
		printer__line(graph->printer, "   total    self        time  function");
	}
	for (uint32_t i = 0; i < count && !error; i++)
		put_function(graph, functions[i]);
	if (!error && !count)
		printer__line(graph->printer, "  none");
	free(functions);
	free(hidden);
	return error;
}

int report_callgraph__print(const struct report *report, const struct printer *printer)
{
	struct callgraph graph = {.report = report,
				  .printer = printer,
				  .profile = selected_profile__profile(report->selected)};
	int error = call_arcs__make(graph.profile, report->totals, &graph.arcs);

	if (!error)
		error = sort_arcs(&graph);
	if (!error)
		error = put_functions(&graph);
	free(graph.to);
	free(graph.from);
	call_arcs__free(&graph.arcs);
	return error;
}
