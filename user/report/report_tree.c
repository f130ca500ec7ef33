/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The call tree, from the root down and from each function up. */
#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/bottom_up.h"
#include "report/report_views.h"
#include "report/search.h"
#include "summary/call_paths.h"

static void print_end(const struct report *report, const struct printer *printer,
		      const struct call_paths_part *part)
{
	char text[UNITS_SIZE + 64], count[UNITS_SIZE];

	if (part->lines_left == report->limit) {
		printer__line(printer, "  none");
		return;
	}
	if (!part->is_full)
		return;
	units__format_count(report->limit, count, sizeof(count));
	snprintf(text, sizeof(text), "what comes after %s lines is left out (--limit)", count);
	printer__wrapped(printer, "  ", text);
}

/* The children of `root` as a tree, of a profile with its totals. Bottom-up, all time is self. */
static int print_tree(const struct report *report, const struct printer *printer,
		      const struct ls_profile *profile, const struct ls_totals *totals,
		      uint32_t root, bool has_self)
{
	bool is_by_total = !has_self && report->order == ROW_ORDER_SELF;
	uint8_t *hidden = report->search ? search__hide_nodes(report->search, profile) : NULL;
	const struct row_choice choice = {.order = is_by_total ? ROW_ORDER_TOTAL : report->order,
					  .least_us = report__least_us(report),
					  .hidden = hidden};
	struct call_paths_part part = {.root = root,
				       .depth = UINT32_MAX,
				       .whole_us = report->totals->all_us,
				       .has_self = has_self,
				       .has_times = true,
				       .choice = &choice,
				       .lines_left = report->limit};
	int error = report->search && !hidden ? -ENOMEM : 0;

	if (!error)
		error = call_paths__print_part(printer, profile, totals, &part);
	if (!error)
		print_end(report, printer, &part);
	free(hidden);
	return error;
}

int report_tree__print(const struct report *report, const struct printer *printer)
{
	static const char *const titles[] = {
		[ROW_ORDER_SELF] = "Call tree, by self time",
		[ROW_ORDER_TOTAL] = "Call tree, by total time",
		[ROW_ORDER_NAME] = "Call tree, by name",
	};
	const struct ls_profile *profile = selected_profile__profile(report->selected);
	uint32_t root = profile->category_count == 1 ? profile->categories[0].node : 0;

	printer__styled(printer, PRINTER_TITLE, titles[report->order]);
	printer__line(printer, "   total    self        time  function");
	return print_tree(report, printer, profile, report->totals, root, true);
}

int report_bottom_up__print(const struct report *report, const struct printer *printer)
{
	struct bottom_up *bottom_up;
	int error = bottom_up__new(selected_profile__profile(report->selected), report->totals,
				   report__least_us(report), &bottom_up);
	const struct ls_profile *profile;

	if (error)
		return error;
	profile = bottom_up__profile(bottom_up);
	printer__styled(printer, PRINTER_TITLE,
			"Functions by self time, and below each its callers");
	printer__line(printer, "    self        time  function");
	error = print_tree(report, printer, profile, bottom_up__totals(bottom_up),
			   profile->category_count ? profile->categories[0].node : 0, false);
	if (bottom_up__is_cut(bottom_up))
		printer__line(printer, "  callers further away are left out");
	bottom_up__free(bottom_up);
	return error;
}
