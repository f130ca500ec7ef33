/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "hottest_functions.h"
#include "log.h"
#include "printer.h"
#include "units.h"

#define NS_PER_US   UINT64_C(1000)
#define PREFIX_SIZE 128

static void print_frequency(const struct printer *printer,
			    const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	char asked[UNITS_SIZE], lowest[UNITS_SIZE], clock[UNITS_SIZE], limit[UNITS_SIZE];
	char text[PRINTER_TEXT_SIZE];

	units__format_frequency(recorder->period_ns, asked, sizeof(asked));
	units__format_frequency(overhead->period_most_ns, lowest, sizeof(lowest));
	units__format_clock(overhead->lowered_ns, clock, sizeof(clock));
	units__format_percent(overhead->limit_ppm, limit, sizeof(limit));
	if (overhead->period_most_ns)
		snprintf(text, sizeof(text), "%s; for %s less, down to %s, to keep to %s", asked,
			 clock, lowest, limit);
	else
		snprintf(text, sizeof(text), "%s", asked);
	printer__fact(printer, "frequency", text);
}

static void print_overhead(const struct printer *printer,
			   const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	uint64_t all_ns = overhead->interrupts_ns + overhead->bpf_ns + overhead->own_ns;
	char all[UNITS_SIZE], interrupts[UNITS_SIZE], bpf[UNITS_SIZE], own[UNITS_SIZE];
	char text[PRINTER_TEXT_SIZE];

	if (!overhead->limit_ppm)
		return;
	units__format_share(all_ns, recorder->cpu_ns, all, sizeof(all));
	units__format_share(overhead->interrupts_ns, recorder->cpu_ns, interrupts,
			    sizeof(interrupts));
	units__format_share(overhead->bpf_ns, recorder->cpu_ns, bpf, sizeof(bpf));
	units__format_share(overhead->own_ns, recorder->cpu_ns, own, sizeof(own));
	snprintf(text, sizeof(text), "%s of CPU time: interrupts %s, BPF %s, luaspy %s", all,
		 interrupts, bpf, own);
	printer__fact(printer, "overhead", text);
}

/* What is not recorded is no part of what CPU time is a share of. */
static void print_clock(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	char text[PRINTER_TEXT_SIZE], clock[UNITS_SIZE], paused[UNITS_SIZE], share[UNITS_SIZE];
	uint64_t paused_ns = recorder->paused_ns < recorder->duration_ns ? recorder->paused_ns
									 : recorder->duration_ns;

	units__format_clock(recorder->duration_ns, clock, sizeof(clock));
	snprintf(text, sizeof(text), "%s%s%s", clock, paused_ns ? ", paused for " : "",
		 paused_ns ? units__format_clock(paused_ns, paused, sizeof(paused)) : "");
	printer__fact(printer, "wall clock", text);
	units__format_share(recorder->cpu_ns, recorder->duration_ns - paused_ns, share,
			    sizeof(share));
	snprintf(text, sizeof(text), "%s, %s of the wall clock%s",
		 units__format_clock(recorder->cpu_ns, clock, sizeof(clock)), share,
		 paused_ns ? " without pauses" : "");
	printer__fact(printer, "CPU time", text);
}

static void print_header(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	char text[PRINTER_TEXT_SIZE];

	printer__wrapped(printer, "", log__printable(recorder->target, text, sizeof(text)));
	printer__fact(printer, "interpreter",
		      recorder->interpreter ? recorder->interpreter : "none");
	printer__fact(printer, "layout", recorder->layout ? recorder->layout : "undecided");
	print_clock(printer, recorder);
	print_frequency(printer, recorder);
	print_overhead(printer, recorder);
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

static void print_samples(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	char all[UNITS_SIZE], share[UNITS_SIZE], text[PRINTER_TEXT_SIZE];
	int width = (int)strlen(units__format_count(recorder->samples, all, sizeof(all)));
	uint64_t sum = 0;

	printer__line(printer, "");
	printer__line(printer, "Samples");
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		print_class(printer, recorder, i, width);
		sum += recorder->classes[classes[i].class];
	}
	printer__rule(printer, width);
	printer__amount(
		printer, "all", width, all,
		units__format_share(recorder->samples, recorder->samples, share, sizeof(share)),
		"");
	if (sum != recorder->samples) {
		snprintf(text, sizeof(text),
			 "the classes add up to %" PRIu64 " samples: please report this", sum);
		printer__wrapped(printer, "  ", text);
	}
}

static void put_time(const struct printer *printer, const char *label, uint64_t us, uint64_t all_us,
		     const char *why)
{
	char clock[UNITS_SIZE], all[UNITS_SIZE], share[UNITS_SIZE];
	int width = (int)strlen(units__format_clock(all_us * NS_PER_US, all, sizeof(all)));

	printer__amount(printer, label, width,
			units__format_clock(us * NS_PER_US, clock, sizeof(clock)),
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
	const char *unknown = recorder->collector_unknown;
	char text[PRINTER_TEXT_SIZE], share[UNITS_SIZE], why[PRINTER_TEXT_SIZE];
	uint64_t us = 0;

	if (!recorder->collector && !unknown)
		return;
	for (uint32_t id = 1; id <= profile->function_count; id++)
		if (profile__is_collector(&profile->functions[id]))
			us += totals->function_self_us[id];
	units__format_share(us, totals->all_us, share, sizeof(share));
	log__printable(unknown, why, sizeof(why));
	if (!unknown)
		snprintf(text, sizeof(text), "GC: %s of CPU time, part of script", share);
	else if (!recorder->collector)
		snprintf(text, sizeof(text), "GC: not known (%.2000s)", why);
	else
		snprintf(text, sizeof(text),
			 "GC: %s of CPU time, part of script; not known of some (%.2000s)", share,
			 why);
	printer__wrapped(printer, "  ", text);
}

static void print_cpu_time(const struct printer *printer, const struct ls_profile *profile,
			   const struct ls_totals *totals)
{
	uint64_t us[OUTSIDE_COUNT] = {0}, script_us = totals->all_us;
	char clock[UNITS_SIZE];

	add_up_outside(profile, totals, us);
	for (size_t i = 0; i < OUTSIDE_COUNT; i++)
		script_us -= us[i] < script_us ? us[i] : script_us;
	printer__line(printer, "");
	printer__line(printer, "CPU time");
	put_time(printer, "script", script_us, totals->all_us, "");
	for (size_t i = 0; i < OUTSIDE_COUNT; i++)
		if (us[i] || i == 0)
			put_time(printer, outside[i].label, us[i], totals->all_us, outside[i].why);
	units__format_clock(totals->all_us * NS_PER_US, clock, sizeof(clock));
	printer__rule(printer, (int)strlen(clock));
	put_time(printer, "all", totals->all_us, totals->all_us, "");
	print_collector(printer, profile, totals);
}

/* So many of something, and what was the matter with them. */
struct remark {
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

static void print_remarks(const struct printer *printer, const struct ls_profile_recorder *recorder)
{
	const struct remark remarks[] = {
		{recorder->collected, "sample", "samples",
		 " with a function that was collected before it could be read"},
		{recorder->unnamed_calls, "call", "calls", " whose name could not be read"},
		{recorder->unknown_lines, "sample", "samples", " whose line could not be read"},
		{recorder->vma_busy, "look-up", "look-ups",
		 " of stack bounds that the kernel refused (EBUSY)"},
		{recorder->evicted_samples, "sample", "samples", " in (other) or below"},
		{recorder->evicted_functions, "function", "functions",
		 ", seen too seldom to be kept apart, that went into (other)"},
		{recorder->ignored_samples, "sample", "samples",
		 " in functions that are ignored, which their callers have"},
		{recorder->untimed_samples, "sample, the last one,", "samples, the last ones,",
		 " that found no room in the timeline"},
		{recorder->lost_records, "record", "records",
		 " besides samples that found no room in the ring buffer"},
		{recorder->missed_processes, "process", "processes",
		 " that could not be looked into, or be sampled"},
		{recorder->events_left_out, "mark or pause", "marks and pauses",
		 " beyond those that are kept"},
	};
	const size_t kinds = sizeof(remarks) / sizeof(remarks[0]);
	char count[UNITS_SIZE];
	int width = 0;

	for (size_t i = 0; i < kinds; i++) {
		int digits = (int)strlen(units__format_count(remarks[i].count, count, UNITS_SIZE));

		width = remarks[i].count && digits > width ? digits : width;
	}
	if (width) {
		printer__line(printer, "");
		printer__line(printer, "Also counted");
	}
	for (size_t i = 0; i < kinds; i++)
		if (remarks[i].count)
			print_remark(printer, &remarks[i], width);
}

void summary__print(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	const struct printer printer = printer__on(stream);

	print_header(&printer, &profile->recorder);
	print_samples(&printer, &profile->recorder);
	print_cpu_time(&printer, profile, totals);
	print_remarks(&printer, &profile->recorder);
	hottest_functions__print(&printer, profile, totals);
}
