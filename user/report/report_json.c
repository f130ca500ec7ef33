/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The views as JSON, for scripts. Times are sums, in microseconds of CPU time. */
#include <errno.h>
#include <stdlib.h>

#include "format/call_arcs.h"
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

static void put_function(struct json_writer *writer, const struct report *report, uint32_t id)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	const struct ls_profile_function *function = &profile->functions[id];

	json_writer__object(writer);
	json_field__uint(writer, "Id", id);
	put_label(writer, function);
	json_field__uint(writer, "SelfUs", report->totals->function_self_us[id]);
	json_field__uint(writer, "TotalUs", report->totals->function_total_us[id]);
	json_writer__end_object(writer);
}

static int put_functions(struct json_writer *writer, const struct report *report)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	uint8_t *hidden = report->search ? search__hide_functions(report->search, profile) : NULL;
	const struct row_choice choice = {.order = report->order,
					  .limit = report->limit,
					  .least_us = report__least_us(report),
					  .hidden = hidden};
	uint32_t *functions = NULL, count = 0;
	int error = report->search && !hidden ? -ENOMEM : 0;

	if (!error)
		error = hottest_functions__choose(profile, report->totals, &choice, &functions,
						  &count);
	json_field__array_lines(writer, "Functions");
	for (uint32_t i = 0; i < count && !error; i++)
		put_function(writer, report, functions[i]);
	json_writer__end_array(writer);
	free(functions);
	free(hidden);
	return error;
}

static void put_categories(struct json_writer *writer, const struct report *report)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);

	json_field__array_lines(writer, "Categories");
	for (uint32_t i = 0; i < profile->category_count; i++) {
		const struct ls_profile_category *category = &profile->categories[i];
		uint64_t us = report->totals->node_total_us[category->node];

		if (us < report__least_us(report) ||
		    (report->search && report->view == REPORT_PROCESSES &&
		     !search__matches_name(report->search, category->name)))
			continue;
		json_writer__object(writer);
		json_field__uint(writer, "Id", profile->function_count + 1 + i);
		json_field__text(writer, "Name", category->name);
		json_field__uint(writer, "ScriptUs",
				 process_table__script_us(profile, report->totals, category));
		json_field__uint(writer, "TotalUs", us);
		json_writer__end_object(writer);
	}
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

/* Parents come before their children. Nodes are not sorted, nor limited: their order is theirs. */
static int put_nodes(struct json_writer *writer, const struct report *report,
		     const struct ls_profile *profile, const struct ls_totals *totals,
		     put_of_node *put)
{
	bool has_categories = put == put_node;
	uint8_t *hidden = report->search ? search__hide_nodes(report->search, profile) : NULL;
	uint64_t least_us = report__least_us(report);

	if (report->search && !hidden)
		return -ENOMEM;
	json_field__array_lines(writer, "Nodes");
	for (uint32_t id = 1; id <= profile->node_count; id++)
		if ((has_categories || profile->nodes[id].function) && (!hidden || !hidden[id]) &&
		    totals->node_total_us[id] >= least_us)
			put(writer, profile, totals, id);
	json_writer__end_array(writer);
	free(hidden);
	return 0;
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

static int put_callgraph(struct json_writer *writer, const struct report *report)
{
	struct call_arcs arcs;
	int error = put_functions(writer, report);

	put_categories(writer, report);
	if (!error)
		error = call_arcs__make(selected_profile__profile(report->selected), report->totals,
					&arcs);
	if (error)
		return error;
	json_field__array_lines(writer, "Calls");
	for (size_t i = 0; i < arcs.count; i++) {
		json_writer__object(writer);
		json_field__uint(writer, "Caller", arcs.arcs[i].caller);
		json_field__uint(writer, "Callee", arcs.arcs[i].callee);
		json_field__uint(writer, "Us", arcs.arcs[i].us);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
	call_arcs__free(&arcs);
	return 0;
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
		put_categories(writer, report);
		return put_functions(writer, report);
	case REPORT_PROCESSES:
		put_categories(writer, report);
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
