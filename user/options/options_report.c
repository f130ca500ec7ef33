/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "options/options_offline.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "options/output_options.h"
#include "reader/input_format.h"
#include "top/listing.h"

#define LIMIT_MAX         10000
#define LIMIT_MAX_TEXT    "10000"
#define FUNCTIONS_DEFAULT 30
#define TREE_DEFAULT      200
#define TREE_LEAST_PPM    5000 /* 0.5% */
#define FUNCTION_TEXT     "a function's name, or CHUNK:LINE of its definition"

static const char report_help[] =
	"Examples:\n"
	"  luaspy report profile.json                       its functions, by self time\n"
	"  luaspy report profile.json --view tree           the call tree\n"
	"  luaspy report profile.json --view lines          hot lines and their text\n"
	"  luaspy report profile.json --focus work --view tree  only calls of work\n"
	"  luaspy report profile.json out.json --sort total     two as one\n"
	"  luaspy report profile.json --json --view callgraph   for a script\n"
	"\n"
	"Usage: luaspy report FILE... [OPTION]...\n"
	"\n"
	"Prints what a recording has, without root and without the process. Several are\n"
	"added up: functions that look alike are one, and so are processes or threads of\n"
	"the same name.\n"
	"\n" INPUT_FORMAT_HELP "\n"
	"\n"
	"Self time is that in the function itself; total time includes what it called,\n"
	"and counts recursion once. Shares are of the CPU time of all that is shown.\n"
	"\n"
	"Views:\n"
	"      --view=VIEW      functions (the default); tree: who calls whom; bottom-up:\n"
	"                       functions, and below each who called it; callgraph: each\n"
	"                       function between its callers and callees; lines: hot\n"
	"                       lines with their text; processes: these, or the\n"
	"                       threads that were recorded; or summary: what record\n"
	"                       prints\n"
	"      --sort=COLUMN    self, total or name (default: total in the tree and the\n"
	"                       call graph, else self)\n"
	"      --limit=N        rows at most, 1 to " LIMIT_MAX_TEXT
	" (default: 200 in trees, else 30;\n"
	"                       with --json: no limit)\n"
	"      --min=PERCENT    only what has this share of total time or more, 0.01 to\n"
	"                       100%, or none (default: 0.5% in trees, else none, as with\n"
	"                       --json)\n"
	"      --average[=SPAN]  show times as CPU time per SPAN of wall clock, 1s (the\n"
	"                       default), 1m, 5m or 10m, on average over the recording\n"
	"\n"
	"What to show:\n"
	"      --focus=FUNCTION  only calls of that function, and what they call: its\n"
	"                       name, or CHUNK:LINE of its definition, where CHUNK may\n"
	"                       lack leading folders. Stacks begin there\n"
	"      --search=TEXT    only functions whose name or place contains TEXT; in\n"
	"                       trees also what leads to them and what they call. TEXT\n"
	"                       in lower case ignores case\n"
	"      --no-gc          leave out the garbage collector; totals follow\n"
	"      --no-plugins     leave out plugins and what they call; totals follow\n"
	"      --no-source      do not read source text for the lines. It is read from\n"
	"                       files in this folder or that of the recording, unless\n"
	"                       they changed since\n"
	"\n"
	"Output:\n"
	"      --json           write JSON: times in microseconds, never averaged\n"
	"\n"
	"  -h, --help           show this help\n"
	"\n"
	"On a terminal, the text has colors, unless NO_COLOR is set, and goes through\n"
	"PAGER, or less. It is as wide as the terminal, or as COLUMNS says.\n"
	"\n"
	"Exit status:\n"
	"  0  the report was printed\n"
	"  1  luaspy failed\n"
	"  2  the command line is wrong\n";

enum {
	OPTION_VIEW = 256,
	OPTION_SORT,
	OPTION_LIMIT,
	OPTION_MIN,
	OPTION_FOCUS,
	OPTION_SEARCH,
	OPTION_NO_GC,
	OPTION_NO_PLUGINS,
	OPTION_NO_SOURCE,
	OPTION_JSON,
	OPTION_AVERAGE = USAGE_VALUE_OPTIONAL,
};

static const struct usage_option accepted[] = {
	{OPTION_VIEW, "--view", REPORT_VIEWS_TEXT},
	{OPTION_SORT, "--sort", "self, total or name"},
	{OPTION_LIMIT, "--limit", "a number of rows, 1 to " LIMIT_MAX_TEXT},
	{OPTION_MIN, "--min", "0.01 to 100%, such as 1 or 0.5%, or none"},
	{OPTION_AVERAGE, "--average", LISTING_AVERAGES},
	{OPTION_FOCUS, "--focus", FUNCTION_TEXT},
	{OPTION_SEARCH, "--search", "a part of a function's name, or of its place CHUNK:LINE"},
	{OPTION_NO_GC, "--no-gc", NULL},
	{OPTION_NO_PLUGINS, "--no-plugins", NULL},
	{OPTION_NO_SOURCE, "--no-source", NULL},
	{OPTION_JSON, "--json", NULL},
	{'h', "--help", NULL},
	{0, NULL, NULL},
};

static int set_view(const char *value, struct report_options *report)
{
	for (int view = 0; view < REPORT_VIEWS; view++)
		if (!strcmp(value, report_views[view])) {
			report->view = (enum report_view)view;
			return 0;
		}
	return -EINVAL;
}

static int set_order(const char *value, struct report_options *report)
{
	static const char *const names[] = {
		[ROW_ORDER_SELF] = "self", [ROW_ORDER_TOTAL] = "total", [ROW_ORDER_NAME] = "name"};

	for (int order = ROW_ORDER_SELF; order <= ROW_ORDER_NAME; order++)
		if (!strcmp(value, names[order])) {
			report->order = (enum row_order)order;
			report->has_order = true;
			return 0;
		}
	return -EINVAL;
}

static int set_average(const char *value, struct report_options *report)
{
	int found = value ? listing__find_average(value) : 1;

	if (found <= 0)
		return -EINVAL;
	report->average_s = (uint32_t)found;
	return 0;
}

static int set_text(const char *value, const char **text)
{
	*text = value;
	return *value ? 0 : -EINVAL;
}

/* Takes an option without a value; false: it is none. */
static bool set_flag(int letter, struct report_options *report)
{
	switch (letter) {
	case OPTION_NO_GC:
		report->selection.no_gc = true;
		return true;
	case OPTION_NO_PLUGINS:
		report->selection.no_plugins = true;
		return true;
	case OPTION_NO_SOURCE:
		report->no_source = true;
		return true;
	case OPTION_JSON:
		report->json = true;
		return true;
	}
	return false;
}

static int set_option(int letter, struct report_options *report)
{
	switch (letter) {
	case OPTION_VIEW:
		return set_view(optarg, report);
	case OPTION_SORT:
		return set_order(optarg, report);
	case OPTION_LIMIT:
		return usage__parse_number(optarg, LIMIT_MAX, &report->limit);
	case OPTION_MIN:
		report->has_least = true;
		return units__parse_limit(optarg, &report->least_ppm);
	case OPTION_AVERAGE:
		return set_average(optarg, report);
	case OPTION_FOCUS:
		return set_text(optarg, &report->selection.focus);
	case OPTION_SEARCH:
		return set_text(optarg, &report->search);
	}
	return set_flag(letter, report) ? 0 : -ENOTSUP;
}

/*
 * Returns the value of --average, or NULL if it has none. The next word is the value, as in
 * "--average 1s", unless a file has that name.
 */
static const char *average_of(int argc, char **argv)
{
	const char *word = !optarg && optind < argc ? argv[optind] : NULL;

	if (!word || listing__find_average(word) <= 0 || !access(word, F_OK))
		return optarg;
	optind++;
	return word;
}

/* Sets what was not given. */
static enum options_verdict complete(struct report_options *report)
{
	bool is_tree = report->view == REPORT_TREE || report->view == REPORT_BOTTOM_UP;
	bool is_by_total = report->view == REPORT_TREE || report->view == REPORT_CALLGRAPH;

	if (!report->file_count) {
		log_error("missing file: which recording? (try 'luaspy report profile.json')");
		return OPTIONS_WRONG;
	}
	if (report->json && report->average_s) {
		log_error("'--json' excludes '--average' (divide its times by 'WallUs')");
		return OPTIONS_WRONG;
	}
	if (!report->has_order && is_by_total)
		report->order = ROW_ORDER_TOTAL;
	if (!report->limit && report->json)
		report->limit = UINT32_MAX;
	else if (!report->limit)
		report->limit = is_tree ? TREE_DEFAULT : FUNCTIONS_DEFAULT;
	if (!report->has_least && is_tree && !report->json)
		report->least_ppm = TREE_LEAST_PPM;
	return OPTIONS_RUN;
}

enum options_verdict options_report__parse(int argc, char **argv, struct report_options *report)
{
	enum options_verdict verdict = OPTIONS_RUN;
	int letter, error;

	usage__begin();
	report->files = argv + 1;
	while ((letter = usage__next_or_word(accepted, argc, argv)) != -1) {
		if (letter == 'h')
			return options_report__help();
		if (letter == '?' || letter == ':')
			return usage__refuse_option(accepted, argv[0], letter, argv[optind - 1]);
		if (letter == USAGE_WORD)
			verdict =
				output_options__add_input(argc, argv, &report->file_count, optarg);
		if (verdict != OPTIONS_RUN)
			return verdict;
		if (letter == USAGE_WORD)
			continue;
		if (letter == OPTION_AVERAGE)
			optarg = (char *)average_of(argc, argv);
		error = set_option(letter, report);
		if (error)
			return usage__refuse_value(accepted, letter, optarg, error);
	}
	return complete(report);
}

enum options_verdict options_report__help(void)
{
	return usage__print(report_help);
}
