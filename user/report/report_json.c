/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The views as JSON, for scripts. Times are sums, in microseconds of CPU time. */
#include <errno.h>
#include <stdlib.h>

#include "derived/call_arcs.h"
#include "json/json_field.h"
#include "report/bottom_up.h"
#include "report/hot_lines.h"
#include "report/report.h"
#include "report/search.h"
#include "summary/hottest_functions.h"
#include "summary/process_table.h"

#define NS_PER_US 1000
#define TEXT_SIZE 8192 /* of a line of source, escaped */

static void put_label(struct json_writer *writer, const struct ls_profile_function *function)
{
	json_field__text(writer, "Name", function->name);
	json_field__text(writer, "Source", function->source);
	if (function->line)
		json_field__uint(writer, "Line", function->line);
	if (function->flags & LS_FUNCTION_NATIVE)
		json_field__uint(writer, "IsNative", 1);
	if (function->flags & LS_FUNCTION_PLUGIN)
		json_field__uint(writer, "IsPlugin", 1);
}

static void put_function(struct json_writer *writer, const struct report *report, uint32_t id,
			 bool is_neighbor)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	const struct ls_profile_function *function = &profile->functions[id];

	json_writer__object(writer);
	json_field__uint(writer, "Id", id);
	put_label(writer, function);
	json_field__uint(writer, "SelfUs", report->totals->function_self_us[id]);
	json_field__uint(writer, "TotalUs", report->totals->function_total_us[id]);
	if (is_neighbor)
		json_field__uint(writer, "IsNeighbor", 1);
	json_writer__end_object(writer);
}

/* The ids of the functions that the options leave, malloc()ed. 0 or -ENOMEM. */
static int choose_functions(const struct report *report, uint32_t **functions, uint32_t *count)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	uint8_t *hidden = report->search ? search__hide_functions(report->search, profile) : NULL;
	const struct row_choice choice = {.order = report->order,
					  .limit = report->limit,
					  .least_us = report__least_us(report),
					  .hidden = hidden};
	int error = report->search && !hidden ? -ENOMEM : 0;

	if (!error)
		error = hottest_functions__choose(profile, report->totals, &choice, functions,
						  count);
	free(hidden);
	return error;
}

static int put_functions(struct json_writer *writer, const struct report *report)
{
	uint32_t *functions = NULL, count = 0;
	int error = choose_functions(report, &functions, &count);

	json_field__array_lines(writer, "Functions");
	for (uint32_t i = 0; i < count && !error; i++)
		put_function(writer, report, functions[i], false);
	json_writer__end_array(writer);
	free(functions);
	return error;
}

static void put_category(struct json_writer *writer, const struct report *report, uint32_t index)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	const struct ls_profile_category *category = &profile->categories[index];

	json_writer__object(writer);
	json_field__uint(writer, "Id", profile->function_count + 1 + index);
	json_field__text(writer, "Name", category->name);
	json_field__uint(writer, "ScriptUs",
			 process_table__script_us(profile, report->totals, category));
	json_field__uint(writer, "TotalUs", report->totals->node_total_us[category->node]);
	json_writer__end_object(writer);
}

static bool is_chosen(const struct report *report, const struct ls_profile_category *category)
{
	if (report->totals->node_total_us[category->node] < report__least_us(report))
		return false;
	return !report->search || report->view != REPORT_PROCESSES ||
	       search__matches_name(report->search, category->name);
}

/* Those that are chosen, and those with a mark, by index. `marks` may be NULL. */
static void put_categories(struct json_writer *writer, const struct report *report,
			   const uint8_t *marks)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);

	json_field__array_lines(writer, "Categories");
	for (uint32_t i = 0; i < profile->category_count; i++)
		if ((marks && marks[i]) || is_chosen(report, &profile->categories[i]))
			put_category(writer, report, i);
	json_writer__end_array(writer);
}

static void put_node(struct json_writer *writer, const struct ls_profile *profile,
		     const struct ls_totals *totals, uint32_t id)
{
	const struct ls_profile_node *node = &profile->nodes[id];

	json_writer__object(writer);
	json_field__uint(writer, "Id", id);
	json_field__uint(writer, "Parent", node->parent);
	for (uint32_t i = 0; !node->parent && i < profile->category_count; i++)
		if (profile->categories[i].node == id)
			json_field__text(writer, "Category", profile->categories[i].name);
	if (node->function)
		put_label(writer, &profile->functions[node->function]);
	json_field__uint(writer, "SelfUs", totals__node_self_us(profile, totals, id));
	json_field__uint(writer, "TotalUs", totals->node_total_us[id]);
	json_writer__end_object(writer);
}

/* Bottom-up, nodes have self time alone: of the outermost function, as called by those below. */
static void put_path(struct json_writer *writer, const struct ls_profile *profile,
		     const struct ls_totals *totals, uint32_t id)
{
	const struct ls_profile_node *node = &profile->nodes[id];

	json_writer__object(writer);
	json_field__uint(writer, "Id", id);
	json_field__uint(writer, "Parent",
			 profile->nodes[node->parent].function ? node->parent : 0);
	put_label(writer, &profile->functions[node->function]);
	json_field__uint(writer, "Us", totals->node_total_us[id]);
	json_writer__end_object(writer);
}

typedef void put_of_node(struct json_writer *writer, const struct ls_profile *profile,
			 const struct ls_totals *totals, uint32_t id);

static int compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* The most time first. No child is before its parent, whose id is lower. For qsort_r(). */
static int compare_totals(const void *left, const void *right, void *context)
{
	const struct ls_totals *totals = context;
	uint64_t a = totals->node_total_us[*(const uint32_t *)left];
	uint64_t b = totals->node_total_us[*(const uint32_t *)right];

	return a != b ? (a < b) - (a > b) : compare_ids(left, right);
}

/* Leaves of `count` nodes those with the most time, and returns how many there are. */
static uint32_t cut_nodes(const struct report *report, const struct ls_totals *totals,
			  uint32_t *nodes, uint32_t count)
{
	if (count <= report->limit)
		return count;
	qsort_r(nodes, count, sizeof(*nodes), compare_totals, (void *)totals);
	qsort(nodes, report->limit, sizeof(*nodes), compare_ids);
	return report->limit;
}

/* Parents come before their children, and are there if these are. Nodes are not sorted by time. */
static int put_nodes(struct json_writer *writer, const struct report *report,
		     const struct ls_profile *profile, const struct ls_totals *totals,
		     put_of_node *put)
{
	bool has_categories = put == put_node;
	uint8_t *hidden = report->search ? search__hide_nodes(report->search, profile) : NULL;
	uint32_t *nodes = calloc((size_t)profile->node_count + 1, sizeof(*nodes)), count = 0;
	uint64_t least_us = report__least_us(report);
	int error = nodes && (hidden || !report->search) ? 0 : -ENOMEM;

	for (uint32_t id = 1; id <= profile->node_count && !error; id++)
		if ((has_categories || profile->nodes[id].function) && (!hidden || !hidden[id]) &&
		    totals->node_total_us[id] >= least_us)
			nodes[count++] = id;
	if (!error)
		count = cut_nodes(report, totals, nodes, count);
	json_field__array_lines(writer, "Nodes");
	for (uint32_t i = 0; i < count; i++)
		put(writer, profile, totals, nodes[i]);
	json_writer__end_array(writer);
	free(hidden);
	free(nodes);
	return error;
}

static int put_bottom_up(struct json_writer *writer, const struct report *report)
{
	struct bottom_up *bottom_up;
	int error = bottom_up__new(selected_profile__profile(report->selected), report->totals,
				   report__least_us(report), &bottom_up);

	if (error)
		return error;
	error = put_nodes(writer, report, bottom_up__profile(bottom_up),
			  bottom_up__totals(bottom_up), put_path);
	json_field__uint(writer, "IsCut", bottom_up__is_cut(bottom_up));
	bottom_up__free(bottom_up);
	return error;
}

enum { MARK_CHOSEN = 1, MARK_NEIGHBOR };

static bool is_shown(const struct call_arc *arc, const uint8_t *marks)
{
	return marks[arc->caller] == MARK_CHOSEN || marks[arc->callee] == MARK_CHOSEN;
}

/* Marks, by id, the chosen functions and what calls them or is called by them. */
static void mark(const struct call_arcs *arcs, const uint32_t *functions, uint32_t count,
		 uint8_t *marks)
{
	for (uint32_t i = 0; i < count; i++)
		marks[functions[i]] = MARK_CHOSEN;
	for (size_t i = 0; i < arcs->count; i++) {
		const struct call_arc *arc = &arcs->arcs[i];

		if (!is_shown(arc, marks))
			continue;
		if (!marks[arc->caller])
			marks[arc->caller] = MARK_NEIGHBOR;
		if (!marks[arc->callee])
			marks[arc->callee] = MARK_NEIGHBOR;
	}
}

static void put_calls(struct json_writer *writer, const struct call_arcs *arcs,
		      const uint8_t *marks)
{
	json_field__array_lines(writer, "Calls");
	for (size_t i = 0; i < arcs->count; i++) {
		if (!is_shown(&arcs->arcs[i], marks))
			continue;
		json_writer__object(writer);
		json_field__uint(writer, "Caller", arcs->arcs[i].caller);
		json_field__uint(writer, "Callee", arcs->arcs[i].callee);
		json_field__uint(writer, "Us", arcs->arcs[i].us);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void put_graph(struct json_writer *writer, const struct report *report,
		      const struct call_arcs *arcs, const uint32_t *functions, uint32_t count,
		      uint8_t *marks)
{
	uint32_t all = selected_profile__profile(report->selected)->function_count;

	mark(arcs, functions, count, marks);
	json_field__array_lines(writer, "Functions");
	for (uint32_t i = 0; i < count; i++)
		put_function(writer, report, functions[i], false);
	for (uint32_t id = 1; id <= all; id++)
		if (marks[id] == MARK_NEIGHBOR)
			put_function(writer, report, id, true);
	json_writer__end_array(writer);
	put_categories(writer, report, marks + all + 1);
	put_calls(writer, arcs, marks);
}

/* The calls of the chosen functions, whose other ends are listed, too. */
static int put_callgraph(struct json_writer *writer, const struct report *report)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	uint8_t *marks = calloc((size_t)profile->function_count + profile->category_count + 1, 1);
	uint32_t *functions = NULL, count = 0;
	struct call_arcs arcs = {};
	int error = marks ? choose_functions(report, &functions, &count) : -ENOMEM;

	if (!error)
		error = call_arcs__make(profile, report->totals, &arcs);
	if (!error)
		put_graph(writer, report, &arcs, functions, count, marks);
	call_arcs__free(&arcs);
	free(functions);
	free(marks);
	return error;
}

static void put_line(struct json_writer *writer, const struct report *report,
		     const struct source_text *source, const struct hot_line *line)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	char text[TEXT_SIZE];

	json_writer__object(writer);
	json_field__text(writer, "Source", line->source);
	json_field__uint(writer, "Line", line->line);
	json_field__text(writer, "Function", profile->functions[line->function].name);
	json_field__uint(writer, "SelfUs", line->self_us);
	if (source && source_text__format_line(source, line->line, text, sizeof(text))) {
		json_field__printable(writer, "Text", text);
	}
	json_writer__end_object(writer);
}

static int put_lines(struct json_writer *writer, const struct report *report)
{
	struct source_text *source = NULL;
	struct hot_line *lines = NULL;
	const char *open = "";
	size_t count = 0;
	int error = hot_lines__list(report, &lines, &count);

	json_field__array_lines(writer, "Lines");
	for (size_t i = 0; i < count && !error; i++) {
		if (!report->no_source && lines[i].source != open) {
			source_text__close(source);
			source_text__open(lines[i].source, &report->folders, &source);
			open = lines[i].source;
		}
		put_line(writer, report, source, &lines[i]);
	}
	json_writer__end_array(writer);
	json_field__uint(writer, "FunctionsLeftOut",
			 selected_profile__without_lines(report->selected));
	source_text__close(source);
	free(lines);
	return error;
}

static int put_view(struct json_writer *writer, const struct report *report)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);

	switch (report->view) {
	case REPORT_TREE:
		return put_nodes(writer, report, profile, report->totals, put_node);
	case REPORT_BOTTOM_UP:
		return put_bottom_up(writer, report);
	case REPORT_CALLGRAPH:
		return put_callgraph(writer, report);
	case REPORT_LINES:
		return put_lines(writer, report);
	case REPORT_SUMMARY:
		put_categories(writer, report, NULL);
		return put_functions(writer, report);
	case REPORT_PROCESSES:
		put_categories(writer, report, NULL);
		return 0;
	default:
		return put_functions(writer, report);
	}
}

int report__write_json(const struct report *report, FILE *stream)
{
	const struct ls_profile_recorder *recorder =
		&selected_profile__profile(report->selected)->recorder;
	struct json_writer writer;
	int error, failed;

	json_writer__init(&writer, stream);
	json_writer__object(&writer);
	json_field__text(&writer, "View", report_views[report->view]);
	json_field__text(&writer, "Target", recorder->target);
	json_field__text(&writer, "Interpreter", recorder->interpreter);
	json_field__uint(&writer, "WallUs",
			 (recorder->duration_ns - recorder->paused_ns) / NS_PER_US);
	json_field__uint(&writer, "CpuUs", selected_profile__all_ns(report->selected) / NS_PER_US);
	json_field__uint(&writer, "ShownUs", report->totals->all_us);
	json_field__uint(&writer, "Samples", recorder->samples);
	error = put_view(&writer, report);
	json_writer__end_object(&writer);
	failed = json_writer__finish(&writer);
	return error ? error : failed;
}
