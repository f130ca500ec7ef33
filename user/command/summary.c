/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "log.h"
#include "terminal.h"
#include "units.h"

#define NS_PER_US     UINT64_C(1000)
#define WIDTH_DEFAULT 80
#define WIDTH_BARE    64   /* below it, the table leaves out bars and totals */
#define TEXT_SIZE     2560 /* a chunk name of LS_SOURCE_LEN bytes, all escaped, and a line */
#define PREFIX_SIZE   128
#define TOP_COUNT     10
#define BAR_COLUMNS   8
#define PLUGIN        " <plugin>"
#define NAME_COLUMNS  12 /* that a long source leaves to the name */

struct printer {
	FILE *stream;
	unsigned width;
	bool utf8;
};

struct top {
	uint32_t functions[TOP_COUNT];
	unsigned count;
};

/* One row of the table of functions, its cells ready to print. */
struct row {
	char self[UNITS_SIZE], time[UNITS_SIZE], total[UNITS_SIZE];
	char name[TEXT_SIZE], source[TEXT_SIZE];
	uint64_t self_us;
};

struct columns {
	unsigned time, name, source;
};

/* Every line goes through here, which is why none is longer than the terminal. */
static void put_line(const struct printer *printer, const char *line)
{
	size_t bytes = terminal__fit(line, printer->width, NULL);

	while (bytes && line[bytes - 1] == ' ')
		bytes--;
	fprintf(printer->stream, "%.*s\n", (int)bytes, line);
}

/* How many bytes of `text` go on a line: up to the last blank that fits, else what fits. */
static size_t break_line(const char *text, unsigned columns)
{
	size_t fits = terminal__fit(text, columns, NULL), end = fits;

	if (!text[fits])
		return fits;
	while (end && text[end] != ' ')
		end--;
	return end ? end : fits;
}

/* `text` right of `prefix`, over as many lines as it needs. */
static void put_wrapped(const struct printer *printer, const char *prefix, const char *text)
{
	char line[PREFIX_SIZE + TEXT_SIZE];
	unsigned indent = terminal__width(prefix);
	/* Never too narrow for one character, which is what makes the loop end. */
	unsigned room = printer->width > indent + 8 ? printer->width - indent : 8;

	do {
		size_t bytes = break_line(text, room);

		snprintf(line, sizeof(line), "%s%*s%.*s", prefix,
			 (int)(indent - terminal__width(prefix)), "", (int)bytes, text);
		put_line(printer, line);
		text += bytes + strspn(text + bytes, " ");
		prefix = "";
	} while (*text);
}

static void put_fact(const struct printer *printer, const char *label, const char *value)
{
	char prefix[PREFIX_SIZE], text[TEXT_SIZE];

	snprintf(prefix, sizeof(prefix), "  %-11s  ", label);
	put_wrapped(printer, prefix, log__printable(value, text, sizeof(text)));
}

static void print_frequency(const struct printer *printer,
			    const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	char asked[UNITS_SIZE], lowest[UNITS_SIZE], clock[UNITS_SIZE], limit[UNITS_SIZE];
	char text[TEXT_SIZE];

	units__format_frequency(recorder->period_ns, asked, sizeof(asked));
	units__format_frequency(overhead->period_most_ns, lowest, sizeof(lowest));
	units__format_clock(overhead->lowered_ns, clock, sizeof(clock));
	units__format_percent(overhead->limit_ppm, limit, sizeof(limit));
	if (overhead->period_most_ns)
		snprintf(text, sizeof(text), "%s; for %s less, down to %s, to keep to %s", asked,
			 clock, lowest, limit);
	else
		snprintf(text, sizeof(text), "%s", asked);
	put_fact(printer, "frequency", text);
}

static void print_overhead(const struct printer *printer,
			   const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	uint64_t all_ns = overhead->interrupts_ns + overhead->bpf_ns + overhead->own_ns;
	char all[UNITS_SIZE], interrupts[UNITS_SIZE], bpf[UNITS_SIZE], own[UNITS_SIZE];
	char text[TEXT_SIZE];

	if (!overhead->limit_ppm)
		return;
	units__format_share(all_ns, recorder->cpu_ns, all, sizeof(all));
	units__format_share(overhead->interrupts_ns, recorder->cpu_ns, interrupts,
			    sizeof(interrupts));
	units__format_share(overhead->bpf_ns, recorder->cpu_ns, bpf, sizeof(bpf));
	units__format_share(overhead->own_ns, recorder->cpu_ns, own, sizeof(own));
	snprintf(text, sizeof(text), "%s of CPU time: interrupts %s, BPF %s, luaspy %s", all,
		 interrupts, bpf, own);
	put_fact(printer, "overhead", text);
}

/* What is not recorded is no part of what CPU time is a share of. */
static void print_clock(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	char text[TEXT_SIZE], clock[UNITS_SIZE], paused[UNITS_SIZE], share[UNITS_SIZE];
	uint64_t paused_ns = recorder->paused_ns < recorder->duration_ns ? recorder->paused_ns
									 : recorder->duration_ns;

	units__format_clock(recorder->duration_ns, clock, sizeof(clock));
	snprintf(text, sizeof(text), "%s%s%s", clock, paused_ns ? ", paused for " : "",
		 paused_ns ? units__format_clock(paused_ns, paused, sizeof(paused)) : "");
	put_fact(printer, "wall clock", text);
	units__format_share(recorder->cpu_ns, recorder->duration_ns - paused_ns, share,
			    sizeof(share));
	snprintf(text, sizeof(text), "%s, %s of the wall clock%s",
		 units__format_clock(recorder->cpu_ns, clock, sizeof(clock)), share,
		 paused_ns ? " without pauses" : "");
	put_fact(printer, "CPU time", text);
}

static void print_header(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	char text[TEXT_SIZE];

	put_wrapped(printer, "", log__printable(recorder->target, text, sizeof(text)));
	put_fact(printer, "interpreter", recorder->interpreter ? recorder->interpreter : "none");
	put_fact(printer, "layout", recorder->layout ? recorder->layout : "undecided");
	print_clock(printer, recorder);
	print_frequency(printer, recorder);
	print_overhead(printer, recorder);
}

/* A line of accounting: what, how much, its share, why. `width` is that of the amounts. */
static void put_amount(const struct printer *printer, const char *label, int width,
		       const char *amount, const char *share, const char *why)
{
	char prefix[PREFIX_SIZE];

	snprintf(prefix, sizeof(prefix), "  %-10s  %*s  %6s  ", label, width, amount, share);
	put_wrapped(printer, prefix, why);
}

static void put_rule(const struct printer *printer, int width)
{
	char prefix[PREFIX_SIZE], rule[PREFIX_SIZE];

	memset(rule, '-', sizeof(rule));
	snprintf(prefix, sizeof(prefix), "  %.*s", 10 + 2 + width + 2 + 6, rule);
	put_line(printer, prefix);
}

struct reason {
	enum ls_sample_class class;
	const char *sentence;
};

static const struct reason reasons[LS_WALK_ERROR_COUNT] = {
#define X(code, class, counter, sentence) [LS_WALK_##code] = {LS_SAMPLE_##class, sentence},
	LS_WALK_ERRORS(X)
#undef X
};

/* In the order of reading, not in that of the enum: the usual first. */
static const struct {
	enum ls_sample_class class;
	const char *label;
	const char *why; /* where the walk gives no reason */
} classes[] = {
	{LS_SAMPLE_COMPLETE, "complete", ""},
	{LS_SAMPLE_HOST, "host", ""},
	{LS_SAMPLE_TRUNCATED, "truncated", ""},
	{LS_SAMPLE_TORN, "torn", ""},
	{LS_SAMPLE_UNREADABLE, "unreadable", ""},
	{LS_SAMPLE_DROPPED, "dropped", "no room in the ring buffer"},
};

/* The walk error that alone accounts for the class: it needs no line of its own. */
static const char *only_reason(const struct ls_profile_recorder *recorder,
			       enum ls_sample_class class)
{
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		if (reasons[error].class == class && error != LS_WALK_NONE &&
		    recorder->errors[error] == recorder->classes[class])
			return reasons[error].sentence;
	return NULL;
}

static void print_class(const struct printer *printer, const struct ls_profile_recorder *recorder,
			size_t index, int width)
{
	enum ls_sample_class class = classes[index].class;
	uint64_t samples = recorder->classes[class];
	bool usual = class == LS_SAMPLE_COMPLETE || class == LS_SAMPLE_HOST;
	char count[UNITS_SIZE], share[UNITS_SIZE];
	const char *only = samples ? only_reason(recorder, class) : NULL;

	if (samples || usual)
		put_amount(printer, classes[index].label, width,
			   units__format_count(samples, count, sizeof(count)),
			   units__format_share(samples, recorder->samples, share, sizeof(share)),
			   only ? only : classes[index].why);
	for (int error = 0; !only && error < LS_WALK_ERROR_COUNT; error++)
		if (reasons[error].class == class && error != LS_WALK_NONE &&
		    recorder->errors[error])
			put_amount(
				printer, "", width,
				units__format_count(recorder->errors[error], count, sizeof(count)),
				"", reasons[error].sentence);
}

static void print_samples(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	char all[UNITS_SIZE], share[UNITS_SIZE], text[TEXT_SIZE];
	int width = (int)strlen(units__format_count(recorder->samples, all, sizeof(all)));
	uint64_t sum = 0;

	put_line(printer, "");
	put_line(printer, "Samples");
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		print_class(printer, recorder, i, width);
		sum += recorder->classes[classes[i].class];
	}
	put_rule(printer, width);
	put_amount(printer, "all", width, all,
		   units__format_share(recorder->samples, recorder->samples, share, sizeof(share)),
		   "");
	if (sum != recorder->samples) {
		snprintf(text, sizeof(text),
			 "the classes add up to %" PRIu64 " samples: please report this", sum);
		put_wrapped(printer, "  ", text);
	}
}

static void put_time(const struct printer *printer, const char *label, uint64_t us, uint64_t all_us,
		     const char *why)
{
	char clock[UNITS_SIZE], all[UNITS_SIZE], share[UNITS_SIZE];
	int width = (int)strlen(units__format_clock(all_us * NS_PER_US, all, sizeof(all)));

	put_amount(printer, label, width, units__format_clock(us * NS_PER_US, clock, sizeof(clock)),
		   units__format_share(us, all_us, share, sizeof(share)), why);
}

/* Charged time outside of script, in the functions that stand for it. */
static const struct {
	const char *function, *label, *why;
} outside[] = {
	{"(host)", "host", "no script is on the stack"},
	{"(unreadable)", "unreadable", "the stack could not be read"},
	{"(unsampled)", "unsampled", "covered by no sample"},
};

#define OUTSIDE_COUNT (sizeof(outside) / sizeof(outside[0]))

static void add_up_outside(const struct ls_profile *profile, const struct ls_totals *totals,
			   uint64_t us[OUTSIDE_COUNT])
{
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		for (size_t i = 0; i < OUTSIDE_COUNT; i++)
			if (!function->source && function->name &&
			    !strcmp(function->name, outside[i].function))
				us[i] += totals->function_self_us[id];
	}
}

/* A part of the script's time, and so beside the table and not in it. */
static void print_collector(const struct printer *printer, const struct ls_profile *profile,
			    const struct ls_totals *totals)
{
	const struct ls_profile_recorder *recorder = &profile->recorder;
	char text[TEXT_SIZE], share[UNITS_SIZE], why[TEXT_SIZE];
	uint64_t us = 0;

	if (!recorder->collector)
		return;
	for (uint32_t id = 1; id <= profile->function_count; id++)
		if (profile__is_collector(&profile->functions[id]))
			us += totals->function_self_us[id];
	if (recorder->collector_is_known)
		snprintf(text, sizeof(text), "GC: %s of CPU time, part of script",
			 units__format_share(us, totals->all_us, share, sizeof(share)));
	else
		snprintf(text, sizeof(text), "GC: not known (%.2000s)",
			 log__printable(recorder->collector, why, sizeof(why)));
	put_wrapped(printer, "  ", text);
}

static void print_cpu_time(const struct printer *printer, const struct ls_profile *profile,
			   const struct ls_totals *totals)
{
	uint64_t us[OUTSIDE_COUNT] = {0}, script_us = totals->all_us;
	char clock[UNITS_SIZE];

	add_up_outside(profile, totals, us);
	for (size_t i = 0; i < OUTSIDE_COUNT; i++)
		script_us -= us[i] < script_us ? us[i] : script_us;
	put_line(printer, "");
	put_line(printer, "CPU time");
	put_time(printer, "script", script_us, totals->all_us, "");
	for (size_t i = 0; i < OUTSIDE_COUNT; i++)
		if (us[i] || i == 0)
			put_time(printer, outside[i].label, us[i], totals->all_us, outside[i].why);
	units__format_clock(totals->all_us * NS_PER_US, clock, sizeof(clock));
	put_rule(printer, (int)strlen(clock));
	put_time(printer, "all", totals->all_us, totals->all_us, "");
	print_collector(printer, profile, totals);
}

static void print_remarks(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	const struct {
		uint64_t count;
		const char *what;
	} remarks[] = {
		{recorder->collected, "samples with a function that was collected before it "
				      "could be read"},
		{recorder->unnamed_calls, "calls whose name could not be read"},
		{recorder->unknown_lines, "samples whose line could not be read"},
		{recorder->vma_busy, "look-ups of stack bounds that the kernel refused (EBUSY)"},
		{recorder->evicted_samples, "samples in (other) or below"},
		{recorder->evicted_functions,
		 "functions, seen too seldom to be kept apart, that went into (other)"},
		{recorder->ignored_samples, "samples in functions that are ignored, which their "
					    "callers have"},
		{recorder->untimed_samples, "samples, the last ones, that found no room in the "
					    "timeline"},
		{recorder->lost_records,
		 "records besides samples that found no room in the ring buffer"},
		{recorder->missed_processes,
		 "processes that could not be looked into, or be sampled"},
		{recorder->events_left_out, "marks and pauses beyond those that are kept"},
	};
	size_t widest = 0;
	bool any = false;
	char count[UNITS_SIZE], prefix[PREFIX_SIZE];

	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++) {
		size_t length = strlen(units__format_count(remarks[i].count, count, sizeof(count)));

		any |= remarks[i].count != 0;
		widest = length > widest ? length : widest;
	}
	if (any) {
		put_line(printer, "");
		put_line(printer, "Also counted");
	}
	for (size_t i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++) {
		if (!remarks[i].count)
			continue;
		snprintf(prefix, sizeof(prefix), "  %*s  ", (int)widest,
			 units__format_count(remarks[i].count, count, sizeof(count)));
		put_wrapped(printer, prefix, remarks[i].what);
	}
}

/* Equal self times keep one order from run to run: by total, then by id. */
static bool is_hotter(const struct ls_totals *totals, uint32_t a, uint32_t b)
{
	if (totals->function_self_us[a] != totals->function_self_us[b])
		return totals->function_self_us[a] > totals->function_self_us[b];
	return totals->function_total_us[a] > totals->function_total_us[b];
}

static struct top find_top(const struct ls_profile *profile, const struct ls_totals *totals)
{
	struct top top = {.count = 0};

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		unsigned at = top.count;

		if (!profile->functions[id].source || !totals->function_self_us[id])
			continue;
		while (at && is_hotter(totals, id, top.functions[at - 1]))
			at--;
		if (at == TOP_COUNT)
			continue;
		if (top.count < TOP_COUNT)
			top.count++;
		memmove(&top.functions[at + 1], &top.functions[at],
			(top.count - at - 1) * sizeof(top.functions[0]));
		top.functions[at] = id;
	}
	return top;
}

/* The line with the most of a function's own time: " (:14 62.0%)". Nothing where none is known. */
static void append_hottest_line(const struct ls_profile *profile, const struct ls_totals *totals,
				uint32_t id, char *to, size_t size)
{
	const struct ls_profile_function *function = &profile->functions[id];
	uint32_t hottest = function->first_line;
	char share[UNITS_SIZE];
	size_t length = strlen(to);

	if (!function->line_count)
		return;
	for (uint32_t at = hottest; at < function->first_line + function->line_count; at++)
		if (totals->line_self_us[at] > totals->line_self_us[hottest])
			hottest = at;
	units__format_share(totals->line_self_us[hottest], totals->function_self_us[id], share,
			    sizeof(share));
	snprintf(to + length, size - length, " (:%" PRIu32 " %s)", profile->lines[hottest].line,
		 share);
}

static void fill_row(const struct ls_profile *profile, const struct ls_totals *totals, uint32_t id,
		     bool with_lines, struct row *row)
{
	const struct ls_profile_function *function = &profile->functions[id];
	bool has_name = function->name && *function->name;
	size_t length;

	row->self_us = totals->function_self_us[id];
	units__format_share(row->self_us, totals->all_us, row->self, sizeof(row->self));
	units__format_time(row->self_us * NS_PER_US, row->time, sizeof(row->time));
	units__format_share(totals->function_total_us[id], totals->all_us, row->total,
			    sizeof(row->total));
	log__printable(has_name ? function->name : "<anonymous>", row->name,
		       sizeof(row->name) - sizeof(PLUGIN));
	if (function->flags & LS_FUNCTION_PLUGIN)
		strcat(row->name, PLUGIN);
	log__printable(function->source, row->source, sizeof(row->source) - 3 * UNITS_SIZE);
	length = strlen(row->source);
	if (function->line || function->current_line)
		snprintf(row->source + length, sizeof(row->source) - length, ":%" PRIu32,
			 function->current_line ? function->current_line : function->line);
	if (with_lines)
		append_hottest_line(profile, totals, id, row->source, sizeof(row->source));
}

/* The two text columns as wide as their longest cells; what is too long goes where room is left. */
static struct columns find_columns(const struct row *rows, unsigned count, unsigned room,
				   bool is_bare)
{
	struct columns columns = {.time = 4, .name = 8, .source = 6};
	unsigned fixed, share;

	for (unsigned i = 0; i < count; i++) {
		unsigned time = terminal__width(rows[i].time), name = terminal__width(rows[i].name);
		unsigned source = terminal__width(rows[i].source);

		columns.time = time > columns.time ? time : columns.time;
		columns.name = name > columns.name ? name : columns.name;
		columns.source = source > columns.source ? source : columns.source;
	}
	fixed = 2 + 2 + 2 + 6 + 2 + columns.time + 2 + 2 + (is_bare ? 0 : 6 + 2 + BAR_COLUMNS + 2);
	room = room > fixed + 2 * NAME_COLUMNS ? room - fixed : 2 * NAME_COLUMNS;
	if (columns.name + columns.source <= room)
		return columns;
	share = room * 2 / 5;
	if (columns.name > share)
		columns.name = room - columns.source > share && columns.source < room
				       ? room - columns.source
				       : share;
	columns.source = room - columns.name;
	return columns;
}

/* Its full length is `most`; eighths of a column where the terminal has them. */
static void format_bar(const struct printer *printer, uint64_t value, uint64_t most, char *to,
		       size_t size)
{
	static const char *const parts[] = {"",       "\u258f", "\u258e", "\u258d",
					    "\u258c", "\u258b", "\u258a", "\u2589"};
	unsigned eighths = (unsigned)((value * BAR_COLUMNS * 8 + most / 2) / most);
	unsigned columns = 0;

	to[0] = '\0';
	if (!printer->utf8)
		eighths = (eighths + 4) / 8 * 8;
	for (; columns < eighths / 8 && columns < BAR_COLUMNS; columns++)
		strncat(to, printer->utf8 ? "\u2588" : "#", size - strlen(to) - 1);
	if (eighths % 8 && columns++ < BAR_COLUMNS)
		strncat(to, parts[eighths % 8], size - strlen(to) - 1);
	for (; columns < BAR_COLUMNS; columns++)
		strncat(to, " ", size - strlen(to) - 1);
}

static void put_row(const struct printer *printer, const struct columns *columns, unsigned rank,
		    const struct row *row, uint64_t most_us)
{
	char name[TEXT_SIZE], source[TEXT_SIZE], bar[PREFIX_SIZE], middle[2 * PREFIX_SIZE] = "";
	char line[2 * TEXT_SIZE + 4 * PREFIX_SIZE];

	terminal__cell(row->name, columns->name, false, printer->utf8, name, sizeof(name));
	terminal__cell(row->source, columns->source, true, printer->utf8, source, sizeof(source));
	format_bar(printer, row->self_us, most_us, bar, sizeof(bar));
	if (printer->width >= WIDTH_BARE)
		snprintf(middle, sizeof(middle), "%6s  %s  ", row->total, bar);
	snprintf(line, sizeof(line), "  %2u  %6s  %*s  %s%s  %s", rank, row->self,
		 (int)columns->time, row->time, middle, name, source);
	put_line(printer, line);
}

/* With the hottest lines if no cell has to be cut for them. */
static struct columns fill_rows(const struct printer *printer, const struct ls_profile *profile,
				const struct ls_totals *totals, const struct top *top,
				struct row *rows)
{
	bool is_bare = printer->width < WIDTH_BARE;
	struct columns columns = {0};

	for (int with_lines = !is_bare; with_lines >= 0; with_lines--) {
		bool fits = true;

		for (unsigned i = 0; i < top->count; i++)
			fill_row(profile, totals, top->functions[i], with_lines, &rows[i]);
		columns = find_columns(rows, top->count, printer->width, is_bare);
		for (unsigned i = 0; i < top->count; i++)
			fits &= terminal__width(rows[i].source) <= columns.source &&
				terminal__width(rows[i].name) <= columns.name;
		if (fits)
			break;
	}
	return columns;
}

static void print_top(const struct printer *printer, const struct ls_profile *profile,
		      const struct ls_totals *totals)
{
	struct top top = find_top(profile, totals);
	struct row rows[TOP_COUNT];
	struct columns columns;
	char head[PREFIX_SIZE];
	bool is_bare = printer->width < WIDTH_BARE;

	put_line(printer, "");
	put_line(printer, "Hottest functions, by self time");
	if (!top.count) {
		put_line(printer, "  none: no script used CPU time");
		return;
	}
	columns = fill_rows(printer, profile, totals, &top, rows);
	snprintf(head, sizeof(head), "      %6s  %*s  %s%-*s  source", "self", (int)columns.time,
		 "time", is_bare ? "" : " total            ", (int)columns.name, "function");
	put_line(printer, head);
	for (unsigned i = 0; i < top.count; i++)
		put_row(printer, &columns, i + 1, &rows[i], rows[0].self_us);
}

void summary__print(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	unsigned columns = terminal__columns(fileno(stream));
	const struct printer printer = {
		.stream = stream,
		.width = columns ? columns : WIDTH_DEFAULT,
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};

	print_header(&printer, &profile->recorder);
	print_samples(&printer, &profile->recorder);
	print_cpu_time(&printer, profile, totals);
	print_remarks(&printer, &profile->recorder);
	print_top(&printer, profile, totals);
}
