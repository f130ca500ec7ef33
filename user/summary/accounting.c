/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/accounting.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"

#define NS_PER_US   UINT64_C(1000)
#define PREFIX_SIZE 128
#define MANY        100 /* one such part of all is more than what is lost as a rule */

/* Lines below a title, which appears with the first of them. */
struct section {
	const struct printer *printer;
	const char *title; /* NULL: none, only a blank line */
	bool has_begun;
};

static void begin(struct section *section)
{
	if (section->has_begun)
		return;
	printer__line(section->printer, "");
	if (section->title)
		printer__line(section->printer, section->title);
	section->has_begun = true;
}

static bool are_many(uint64_t part, uint64_t all)
{
	return part > all / MANY;
}

static void print_frequency(struct section *section, const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	char lowest[UNITS_SIZE], time[UNITS_SIZE], limit[UNITS_SIZE], text[PRINTER_TEXT_SIZE];

	if (!overhead->period_most_ns)
		return;
	units__format_frequency(overhead->period_most_ns, lowest, sizeof(lowest));
	units__format_time(overhead->lowered_ns, time, sizeof(time));
	units__format_percent(overhead->limit_ppm, limit, sizeof(limit));
	snprintf(text, sizeof(text), "lowered for %s, down to %s, to keep to %s", time, lowest,
		 limit);
	begin(section);
	printer__fact(section->printer, "frequency", text);
}

static void print_overhead(struct section *section, const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	char interrupts[UNITS_SIZE], bpf[UNITS_SIZE], own[UNITS_SIZE], text[PRINTER_TEXT_SIZE];

	if (!overhead->limit_ppm)
		return;
	units__format_share(overhead->interrupts_ns, recorder->cpu_ns, interrupts,
			    sizeof(interrupts));
	units__format_share(overhead->bpf_ns, recorder->cpu_ns, bpf, sizeof(bpf));
	units__format_share(overhead->own_ns, recorder->cpu_ns, own, sizeof(own));
	snprintf(text, sizeof(text), "interrupts %s, BPF %s, luaspy %s of CPU time", interrupts,
		 bpf, own);
	begin(section);
	printer__fact(section->printer, "overhead", text);
}

/* CPU time as a share of the wall clock without pauses, which are not recorded. */
static void print_cpu_share(struct section *section, const struct ls_profile_recorder *recorder)
{
	uint64_t paused_ns = recorder->paused_ns < recorder->duration_ns ? recorder->paused_ns
									 : recorder->duration_ns;
	char text[PRINTER_TEXT_SIZE], share[UNITS_SIZE];

	units__format_share(recorder->cpu_ns, recorder->duration_ns - paused_ns, share,
			    sizeof(share));
	snprintf(text, sizeof(text), "%s of the wall clock%s", share,
		 paused_ns ? " without pauses" : "");
	begin(section);
	printer__fact(section->printer, "CPU share", text);
}

/* The vote of a single interpreter was logged when it ended, unless it was forced or undecided. */
static void print_layout(struct section *section, const struct ls_profile_recorder *recorder,
			 bool all)
{
	const char *layout = recorder->layout;

	if (layout && (!all || strstr(layout, ", agreed on by ")))
		return;
	begin(section);
	printer__fact(section->printer, "layout", layout ? layout : "undecided");
}

static void print_facts(const struct printer *printer, const struct ls_profile_recorder *recorder,
			bool all)
{
	struct section section = {.printer = printer};

	print_layout(&section, recorder, all);
	if (all)
		print_cpu_share(&section, recorder);
	print_frequency(&section, recorder);
	if (all)
		print_overhead(&section, recorder);
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

/* In the order of display, not that of the enum: the usual classes first. */
static const struct {
	enum ls_sample_class class;
	const char *label;
	const char *why; /* if the walk gives no reason */
} classes[] = {
	{LS_SAMPLE_COMPLETE, "complete", ""},
	{LS_SAMPLE_HOST, "host", ""},
	{LS_SAMPLE_TRUNCATED, "truncated", ""},
	{LS_SAMPLE_TORN, "torn", ""},
	{LS_SAMPLE_UNREADABLE, "unreadable", ""},
	{LS_SAMPLE_DROPPED, "dropped", "no room in the ring buffer"},
};

/*
 * The sentence of the walk error that alone accounts for the class, which then needs no line of its
 * own. NULL: there is no such error.
 */
static const char *only_reason(const struct ls_profile_recorder *recorder,
			       enum ls_sample_class class)
{
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		if (reasons[error].class == class && error != LS_WALK_NONE &&
		    recorder->errors[error] == recorder->classes[class])
			return reasons[error].sentence;
	return NULL;
}

static bool is_usual(enum ls_sample_class class)
{
	return class == LS_SAMPLE_COMPLETE || class == LS_SAMPLE_HOST;
}

static void print_class(const struct printer *printer, const struct ls_profile_recorder *recorder,
			size_t index, int width)
{
	enum ls_sample_class class = classes[index].class;
	uint64_t samples = recorder->classes[class];
	char count[UNITS_SIZE], share[UNITS_SIZE];
	const char *only = samples ? only_reason(recorder, class) : NULL;

	if (samples || is_usual(class))
		printer__amount(
			printer, classes[index].label, width,
			units__format_count(samples, count, sizeof(count)),
			units__format_share(samples, recorder->samples, share, sizeof(share)),
			only ? only : classes[index].why);
	for (int error = 0; !only && error < LS_WALK_ERROR_COUNT; error++)
		if (reasons[error].class == class && error != LS_WALK_NONE &&
		    recorder->errors[error])
			printer__amount(
				printer, "", width,
				units__format_count(recorder->errors[error], count, sizeof(count)),
				"", reasons[error].sentence);
}

/* Without `all`, only those that are not usual, and only if they are many. */
static void print_samples(const struct printer *printer, const struct ls_profile_recorder *recorder,
			  bool all)
{
	struct section section = {.printer = printer, .title = "Samples"};
	char count[UNITS_SIZE], share[UNITS_SIZE], text[PRINTER_TEXT_SIZE];
	int width = (int)strlen(units__format_count(recorder->samples, count, sizeof(count)));
	uint64_t sum = 0, usual = recorder->classes[LS_SAMPLE_COMPLETE];
	bool is_shown;

	usual += recorder->classes[LS_SAMPLE_HOST];
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		sum += recorder->classes[classes[i].class];
	is_shown = all || are_many(sum - usual, recorder->samples);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && is_shown; i++) {
		if (!all && is_usual(classes[i].class))
			continue;
		begin(&section);
		print_class(printer, recorder, i, width);
	}
	if (all) {
		printer__rule(printer, width);
		printer__amount(printer, "all", width, count,
				units__format_share(recorder->samples, recorder->samples, share,
						    sizeof(share)),
				"");
	}
	if (sum == recorder->samples)
		return;
	begin(&section);
	snprintf(text, sizeof(text), "the classes add up to %s samples: please report this",
		 units__format_count(sum, count, sizeof(count)));
	printer__wrapped(printer, "  ", text);
}

/* Pseudo functions that hold the charged time outside of script. */
static const struct {
	const char *function, *label, *why;
} outside[] = {
	{PROFILE_HOST, "host", "no script is on the stack"},
	{PROFILE_UNREADABLE, "unreadable", "the stack could not be read"},
	{PROFILE_UNSAMPLED, "unsampled", "covered by no sample"},
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

uint64_t accounting__script_us(const struct ls_profile *profile, const struct ls_totals *totals)
{
	uint64_t us[OUTSIDE_COUNT] = {0}, script_us = totals->all_us;

	add_up_outside(profile, totals, us);
	for (size_t i = 0; i < OUTSIDE_COUNT; i++)
		script_us -= us[i] < script_us ? us[i] : script_us;
	return script_us;
}

uint64_t accounting__unselected_us(const struct ls_profile *profile, const struct ls_totals *totals)
{
	uint64_t us = 0;

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		if (profile__is_pseudo(function) &&
		    !strcmp(function->name, PROFILE_OTHER_COROUTINES))
			us += totals->function_self_us[id];
	}
	return us;
}

static void put_time(const struct printer *printer, const char *label, uint64_t us, uint64_t all_us,
		     int width, const char *why)
{
	char time[UNITS_SIZE], share[UNITS_SIZE];

	printer__amount(printer, label, width,
			units__format_time(us * NS_PER_US, time, sizeof(time)),
			units__format_share(us, all_us, share, sizeof(share)), why);
}

static int time_width(uint64_t us)
{
	char time[UNITS_SIZE];

	return (int)strlen(units__format_time(us * NS_PER_US, time, sizeof(time)));
}

/* Without `all`, only what no sample tells of, and only if it is much. */
static void print_times(struct section *section, const struct ls_profile *profile,
			const struct ls_totals *totals, bool all)
{
	uint64_t us[OUTSIDE_COUNT] = {0}, script_us = accounting__script_us(profile, totals);
	int width = time_width(totals->all_us), script_width = time_width(script_us);

	add_up_outside(profile, totals, us);
	width = all && script_width > width ? script_width : width;
	for (size_t i = 0; i < OUTSIDE_COUNT; i++)
		width = time_width(us[i]) > width ? time_width(us[i]) : width;
	if (all) {
		begin(section);
		put_time(section->printer, "script", script_us, totals->all_us, width, "");
	}
	for (size_t i = 0; i < OUTSIDE_COUNT; i++) {
		bool is_host = !strcmp(outside[i].function, PROFILE_HOST);

		if (all ? !us[i] && !is_host : is_host || !are_many(us[i], totals->all_us))
			continue;
		begin(section);
		put_time(section->printer, outside[i].label, us[i], totals->all_us, width,
			 outside[i].why);
	}
	if (!all)
		return;
	printer__rule(section->printer, width);
	put_time(section->printer, "all", totals->all_us, totals->all_us, width, "");
}

static void print_cpu_time(const struct printer *printer, const struct ls_profile *profile,
			   const struct ls_totals *totals, bool all)
{
	struct section section = {.printer = printer, .title = "CPU time"};
	const struct ls_profile_recorder *recorder = &profile->recorder;
	char text[PRINTER_TEXT_SIZE], why[PRINTER_TEXT_SIZE];

	print_times(&section, profile, totals, all);
	if (!recorder->gc_unknown)
		return;
	snprintf(text, sizeof(text), "GC: unknown%s (%.2000s)", recorder->gc ? " for some" : "",
		 log__printable(recorder->gc_unknown, why, sizeof(why)));
	begin(&section);
	printer__wrapped(printer, "  ", text);
}

/* How many of something there were, and what happened to them. */
struct remark {
	bool is_wrong; /* not what was asked for, nor what always happens */
	uint64_t count;
	const char *one, *many, *what;
};

static void print_remark(const struct printer *printer, const struct remark *remark, int width)
{
	char count[UNITS_SIZE], prefix[PREFIX_SIZE], text[PRINTER_TEXT_SIZE];

	units__format_count(remark->count, count, sizeof(count));
	snprintf(prefix, sizeof(prefix), "  %*s  ", width, count);
	snprintf(text, sizeof(text), "%s%s", remark->count == 1 ? remark->one : remark->many,
		 remark->what);
	printer__wrapped(printer, prefix, text);
}

static bool is_shown(const struct remark *remark, bool all)
{
	return remark->count && (all || remark->is_wrong);
}

static void print_remarks(const struct printer *printer, const struct ls_profile_recorder *recorder,
			  bool all)
{
	const struct remark remarks[] = {
		{are_many(recorder->collected, recorder->samples), recorder->collected, "sample",
		 "samples", " with a function that was collected before it could be read"},
		{false, recorder->unnamed_calls, "call", "calls", " whose name could not be read"},
		{are_many(recorder->unknown_lines, recorder->samples), recorder->unknown_lines,
		 "sample", "samples", " whose line could not be read"},
		{false, recorder->unkept_lines, "sample", "samples",
		 " whose line the VM does not keep, as in machine code"},
		{false, recorder->vma_busy, "look-up", "look-ups",
		 " of stack bounds that the kernel refused (EBUSY)"},
		{true, recorder->evicted_samples, "sample", "samples", " in (other) or below"},
		{true, recorder->evicted_functions, "function", "functions",
		 ", too rare to be kept apart, that went into (other)"},
		{false, recorder->ignored_samples, "sample", "samples",
		 " in ignored functions, charged to their callers"},
		{true, recorder->untimed_samples, "sample, the last one,",
		 "samples, the last ones,", " that found no room in the timeline"},
		{true, recorder->lost_records, "record", "records",
		 " besides samples that found no room in the ring buffer"},
		{true, recorder->missed_processes, "process", "processes",
		 " that could not be inspected or sampled"},
		{true, recorder->events_left_out, "mark or pause", "marks and pauses",
		 " beyond the limit"},
	};
	const size_t kinds = sizeof(remarks) / sizeof(remarks[0]);
	struct section section = {.printer = printer, .title = "Also counted"};
	char count[UNITS_SIZE];
	int width = 0;

	for (size_t i = 0; i < kinds; i++) {
		int digits = (int)strlen(units__format_count(remarks[i].count, count, UNITS_SIZE));

		width = is_shown(&remarks[i], all) && digits > width ? digits : width;
	}
	for (size_t i = 0; i < kinds; i++) {
		if (!is_shown(&remarks[i], all))
			continue;
		begin(&section);
		print_remark(printer, &remarks[i], width);
	}
}

void accounting__print(const struct printer *printer, const struct ls_profile *profile,
		       const struct ls_totals *totals, bool all)
{
	print_facts(printer, &profile->recorder, all);
	print_samples(printer, &profile->recorder, all);
	print_cpu_time(printer, profile, totals, all);
	print_remarks(printer, &profile->recorder, all);
}
