/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a report shows, and of which profile: what all its views take. */
#ifndef LS_REPORT_DATA_H
#define LS_REPORT_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "profile/profile.h"
#include "profile/totals.h"
#include "report/selected_profile.h"
#include "report/source_text.h"
#include "summary/row_choice.h"

enum report_view {
	REPORT_FUNCTIONS,
	REPORT_TREE,
	REPORT_BOTTOM_UP,
	REPORT_CALLGRAPH,
	REPORT_LINES,
	REPORT_PROCESSES,
	REPORT_SUMMARY,
	REPORT_VIEWS,
};

/* The names of the views, for '--view', and as a list for messages. */
#define REPORT_VIEWS_TEXT "functions, tree, bottom-up, callgraph, lines, processes or summary"
extern const char *const report_views[REPORT_VIEWS];

struct report {
	const struct selected_profile *selected;
	const struct ls_totals *totals; /* of the selected profile */
	struct selection selection;
	struct source_folders folders; /* where source text may be, see source_text.h */
	bool no_source;
	enum report_view view;
	enum row_order order;
	uint32_t limit;     /* of rows, or of calls in trees */
	uint32_t least_ppm; /* of all CPU time that is shown */
	const char *search; /* only what it matches; NULL: all */
};

/* The least total time to be shown, in microseconds. */
static inline uint64_t report__least_us(const struct report *report)
{
	return (uint64_t)((unsigned __int128)report->totals->all_us * report->least_ppm / PPM);
}

#endif
