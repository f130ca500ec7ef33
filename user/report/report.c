/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "report/report_views.h"
#include "report/search.h"
#include "summary/call_paths.h"
#include "summary/category_words.h"
#include "summary/hottest_functions.h"
#include "summary/process_table.h"
#include "summary/summary.h"

#define NS_PER_US 1000
#define NOTE_SIZE (PRINTER_TEXT_SIZE + 8 * UNITS_SIZE)

const char *const report_views[REPORT_VIEWS] = {
	[REPORT_FUNCTIONS] = "functions", [REPORT_TREE] = "tree",
	[REPORT_BOTTOM_UP] = "bottom-up", [REPORT_CALLGRAPH] = "callgraph",
	[REPORT_LINES] = "lines",         [REPORT_PROCESSES] = "processes",
	[REPORT_SUMMARY] = "summary",
};

/*
 * "process" and "processes", if the categories of the profile are called like those; else thread.
 */
static const struct category_words *words_of(const struct ls_profile *profile)
{
	uint32_t processes = 0;

	for (uint32_t i = 0; i < profile->category_count; i++)
		processes += strstr(profile->categories[i].name, "(pid ") != NULL;
	return category_words__of(processes ? CATEGORY_PROCESS : CATEGORY_THREAD, GROUPING_NONE);
}

static int print_functions(const struct report *report, const struct printer *printer)
{
	static const char *const titles[] = {
		[ROW_ORDER_SELF] = "Functions, by self time",
		[ROW_ORDER_TOTAL] = "Functions, by total time",
		[ROW_ORDER_NAME] = "Functions, by name",
	};
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	uint8_t *hidden = report->search ? search__hide_functions(report->search, profile) : NULL;
	struct row_choice choice = {.order = report->order,
				    .limit = report->limit,
				    .least_us = report__least_us(report),
				    .hidden = hidden};
	uint32_t *functions = NULL, count = 0;
	int error = report->search && !hidden ? -ENOMEM : 0;

	if (!error)
		error = hottest_functions__choose(profile, report->totals, &choice, &functions,
						  &count);
	if (!error)
		error = hottest_functions__print_chosen(printer, profile, report->totals,
							words_of(profile), &choice,
							titles[report->order]);
	if (!error && !count)
		printer__line(printer, "  none");
	free(functions);
	free(hidden);
	return error;
}

static int print_processes(const struct report *report, const struct printer *printer)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	uint8_t *hidden = report->search ? search__hide_categories(report->search, profile) : NULL;
	const struct row_choice choice = {.order = report->order,
					  .limit = report->limit,
					  .least_us = report__least_us(report),
					  .hidden = hidden};
	int error = report->search && !hidden ? -ENOMEM : 0;

	if (!error)
		error = process_table__print_chosen(printer, profile, report->totals,
						    words_of(profile), &choice);
	free(hidden);
	return error;
}

/* Says what shares are of, if that is not all. */
static void print_notes(const struct report *report, const struct printer *printer)
{
	uint64_t all_ns = selected_profile__all_ns(report->selected);
	uint64_t kept_ns = selected_profile__kept_ns(report->selected);
	char share[UNITS_SIZE], name[PRINTER_TEXT_SIZE / 2], text[NOTE_SIZE], wall[UNITS_SIZE];
	const struct selection *selection = &report->selection;
	uint32_t average = printer->average_s;

	units__format_share(kept_ns, all_ns, share, sizeof(share));
	if (selection->focus || selection->no_gc || selection->no_plugins) {
		snprintf(text, sizeof(text), "shares are of %s of CPU time:%s%s%s%s%s", share,
			 selection->focus ? " calls of " : "",
			 selection->focus ? log__printable(selection->focus, name, sizeof(name))
					  : "",
			 selection->no_gc ? " without GC" : "",
			 selection->no_gc && selection->no_plugins ? "," : "",
			 selection->no_plugins ? " without plugins" : "");
		printer__wrapped(printer, "", text);
	}
	if (average) {
		units__format_time(printer->wall_ns, wall, sizeof(wall));
		snprintf(text, sizeof(text), "times are CPU time per %u %s, on average over %s",
			 average < 60 ? average : average / 60, average < 60 ? "s" : "min", wall);
		printer__wrapped(printer, "", text);
	}
}

/* Files of other programs do not say what was recorded, nor what became of samples. */
static bool is_ours(const struct ls_profile_recorder *recorder)
{
	return recorder->target && (recorder->interpreter || recorder->samples);
}

static void print_headline(const struct report *report, const struct printer *printer)
{
	const struct ls_profile_recorder *recorder =
		&selected_profile__profile(report->selected)->recorder;
	char cpu[UNITS_SIZE], wall[UNITS_SIZE], line[PRINTER_TEXT_SIZE], text[PRINTER_TEXT_SIZE];

	if (is_ours(recorder)) {
		summary__print_headline(printer, recorder);
		return;
	}
	units__format_time(selected_profile__all_ns(report->selected), cpu, sizeof(cpu));
	units__format_time(recorder->duration_ns, wall, sizeof(wall));
	snprintf(line, sizeof(line), "%s%s%s%s%s", recorder->target ? recorder->target : "",
		 recorder->target ? ": " : "", cpu, recorder->duration_ns ? " in " : "",
		 recorder->duration_ns ? wall : "");
	printer__wrapped(printer, "", log__printable(line, text, sizeof(text)));
}

static void print_summary(const struct report *report, const struct printer *printer)
{
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	const struct selection *selection = &report->selection;
	const struct summary_options options = {.words = words_of(profile),
						.is_part = selection->focus || selection->no_gc ||
							   selection->no_plugins,
						.without_gc = selection->no_gc};

	if (!is_ours(&profile->recorder)) {
		print_headline(report, printer);
		process_table__print(printer, profile, report->totals, options.words);
		hottest_functions__print(printer, profile, report->totals, options.words);
		call_paths__print_hottest(printer, profile, report->totals);
		return;
	}
	summary__print_on(printer, profile, report->totals, &options);
}

int report__print(const struct report *report, const struct printer *printer)
{
	if (report->view == REPORT_SUMMARY) {
		print_summary(report, printer);
		print_notes(report, printer);
		return 0;
	}
	print_headline(report, printer);
	print_notes(report, printer);
	printer__line(printer, "");
	switch (report->view) {
	case REPORT_TREE:
		return report_tree__print(report, printer);
	case REPORT_BOTTOM_UP:
		return report_bottom_up__print(report, printer);
	case REPORT_CALLGRAPH:
		return report_callgraph__print(report, printer);
	case REPORT_LINES:
		return report_lines__print(report, printer);
	case REPORT_PROCESSES:
		return print_processes(report, printer);
	default:
		return print_functions(report, printer);
	}
}
