/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/summary.h"

#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "base/text_list.h"
#include "base/units.h"
#include "profile/script_split.h"
#include "summary/accounting.h"
#include "summary/call_paths.h"
#include "summary/function_label.h"
#include "summary/hottest_functions.h"
#include "summary/printer.h"
#include "summary/process_table.h"

#define RELEASE_SIZE  64
#define NEARLY_ALL    95 /* percent of CPU time: so much script needs no mention */
#define RELEASES_MOST 64

/*
 * The releases among "Lua 5.1.5 in /usr/bin/x, static; Lua 5.4.6 in ...": which files they are in
 * was logged.
 */
static const char *find_releases(const char *interpreters, struct text_list *list)
{
	for (int i = 0; interpreters && *interpreters && i < RELEASES_MOST; i++) {
		const char *end = strstr(interpreters, "; "), *in = strstr(interpreters, " in ");
		char release[RELEASE_SIZE];

		if (in && (!end || in < end)) {
			snprintf(release, sizeof(release), "%.*s", (int)(in - interpreters),
				 interpreters);
			text_list__add(list, release);
		}
		interpreters = end ? end + 2 : NULL;
	}
	return text_list__end(list);
}

/*
 * ", 1,000 Hz"; ", 250 to 1,000 Hz" if it was lowered to keep a limit. Recordings that were added
 * up may have had several: "".
 */
static void format_frequency(const struct ls_profile_recorder *recorder, char *to, size_t size)
{
	char asked[UNITS_SIZE], lowest[UNITS_SIZE] = "";

	strcpy(to, "");
	if (!recorder->period_ns && recorder->samples)
		return;
	units__format_frequency(recorder->period_ns, asked, sizeof(asked));
	if (recorder->overhead.period_most_ns) {
		units__format_frequency(recorder->overhead.period_most_ns, lowest, sizeof(lowest));
		strcpy(strchr(lowest, ' '), " to ");
	}
	snprintf(to, size, ", %s%s", lowest, asked);
}

void summary__print_headline(const struct printer *printer,
			     const struct ls_profile_recorder *recorder)
{
	char cpu[UNITS_SIZE], wall[UNITS_SIZE], paused[UNITS_SIZE], frequency[2 * UNITS_SIZE + 2];
	char line[PRINTER_TEXT_SIZE], text[PRINTER_TEXT_SIZE];
	struct text_list list = {.text = ""};
	const char *releases = find_releases(recorder->interpreter, &list);
	const char *target = recorder->target ? recorder->target : "nothing";

	units__format_time(recorder->cpu_ns, cpu, sizeof(cpu));
	units__format_time(recorder->duration_ns, wall, sizeof(wall));
	units__format_time(recorder->paused_ns, paused, sizeof(paused));
	format_frequency(recorder, frequency, sizeof(frequency));
	snprintf(line, sizeof(line), "%s: %s, %s of CPU time in %s%s%s%s", target,
		 releases ? releases : "no interpreter", cpu, wall,
		 recorder->paused_ns ? ", paused for " : "", recorder->paused_ns ? paused : "",
		 frequency);
	printer__wrapped(printer, "", log__printable(line, text, sizeof(text)));
}

/* Appends a clause of the line of health. */
static void __attribute__((format(printf, 3, 4)))
append(char *to, size_t size, const char *format, ...)
{
	size_t length = strlen(to);
	va_list arguments;

	if (length)
		length += (size_t)snprintf(to + length, size - length, "; ");
	va_start(arguments, format);
	vsnprintf(to + length, size - length, format, arguments);
	va_end(arguments);
}

/* Says why a limit was not kept: luaspy's own work is nearly the same at every frequency. */
static void append_cost(char *text, size_t size, const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	uint64_t cost_ns = overhead->interrupts_ns + overhead->bpf_ns + overhead->own_ns;
	char cost[UNITS_SIZE], own[UNITS_SIZE], limit[UNITS_SIZE];

	if (!overhead->limit_ppm)
		return;
	units__format_share(cost_ns, recorder->cpu_ns, cost, sizeof(cost));
	units__format_share(overhead->own_ns, recorder->cpu_ns, own, sizeof(own));
	units__format_percent(overhead->limit_ppm, limit, sizeof(limit));
	if (cost_ns / overhead->limit_ppm <= recorder->cpu_ns / PPM)
		append(text, size, "luaspy cost %s", cost);
	else
		append(text, size,
		       "luaspy cost %s instead of %s: a lower frequency does not reduce its own "
		       "work (%s)",
		       cost, limit, own);
}

static void append_gc(char *text, size_t size, const struct ls_profile_recorder *recorder,
		      uint64_t gc_us, uint64_t all_us)
{
	char share[UNITS_SIZE];

	units__format_share(gc_us, all_us, share, sizeof(share));
	if (recorder->gc)
		append(text, size, "GC %s%s", share,
		       recorder->gc_unknown ? " (unknown for some)" : "");
	else if (recorder->gc_unknown)
		append(text, size, "GC unknown");
}

/* Then shares of script and GC say nothing: luaspy may not have recognised the interpreter. */
static bool is_without_script(const struct ls_profile_recorder *recorder)
{
	return recorder->samples && recorder->classes[LS_SAMPLE_HOST] == recorder->samples;
}

static void append_samples(char *text, size_t size, const struct ls_profile_recorder *recorder)
{
	uint64_t whole = recorder->classes[LS_SAMPLE_COMPLETE] + recorder->classes[LS_SAMPLE_HOST];
	char share[UNITS_SIZE], count[UNITS_SIZE];

	units__format_share(whole, recorder->samples, share, sizeof(share));
	units__format_count(recorder->samples, count, sizeof(count));
	if (is_without_script(recorder))
		append(text, size, "no script in %s sample%s", count,
		       recorder->samples == 1 ? "" : "s");
	else if (recorder->samples)
		append(text, size, "%s of %s sample%s whole", share, count,
		       recorder->samples == 1 ? "" : "s");
	else
		append(text, size, "no samples");
}

static void append_script(char *text, size_t size, const struct ls_profile *profile,
			  const struct ls_totals *totals, const struct script_split *split)
{
	uint64_t script_us = accounting__script_us(profile, totals);
	char share[UNITS_SIZE], parts[SCRIPT_SPLIT_SIZE];

	units__format_share(script_us, totals->all_us, share, sizeof(share));
	if (totals->all_us && script_us / NEARLY_ALL < totals->all_us / 100)
		append(text, size, "script %s of CPU time", share);
	script_split__describe(split, totals->all_us, parts, sizeof(parts));
	if (script_split__has_compiled(split))
		append(text, size, "%s", parts);
}

static void print_health(const struct printer *printer, const struct ls_profile *profile,
			 const struct ls_totals *totals, const struct summary_options *options)
{
	const struct script_split split = script_split__of(profile, totals);
	const struct ls_profile_recorder *recorder = &profile->recorder;
	bool has_script = !is_without_script(recorder);
	char text[PRINTER_TEXT_SIZE] = "";

	if (!options->is_part)
		append_samples(text, sizeof(text), recorder);
	if (has_script)
		append_script(text, sizeof(text), profile, totals, &split);
	/* The GC time of coroutines that were not selected is not known. */
	if (has_script && !options->without_gc && !accounting__unselected_us(profile, totals))
		append_gc(text, sizeof(text), recorder, split.time[SCRIPT_GC], totals->all_us);
	if (!options->is_part)
		append_cost(text, sizeof(text), recorder);
	printer__line(printer, "");
	if (*text)
		printer__wrapped(printer, "", text);
}

void summary__print_on(const struct printer *printer, const struct ls_profile *profile,
		       const struct ls_totals *totals, const struct summary_options *options)
{
	summary__print_headline(printer, &profile->recorder);
	process_table__print(printer, profile, totals, options->words);
	hottest_functions__print(printer, profile, totals, options->words);
	call_paths__print_hottest(printer, profile, totals);
	if (options->tree_depth)
		call_paths__print_tree(printer, profile, totals, options->tree_depth);
	if (options->callers)
		call_paths__print_callers(printer, profile, totals, options->callers);
	print_health(printer, profile, totals, options);
}

void summary__print(const struct ls_profile *profile, const struct ls_totals *totals,
		    const struct summary_options *options, FILE *stream)
{
	const struct printer printer = printer__on(stream);

	summary__print_on(&printer, profile, totals, options);
}

void summary__print_accounting(const struct ls_profile *profile, const struct ls_totals *totals,
			       bool all, FILE *stream)
{
	const struct printer printer = printer__on(stream);

	accounting__print(&printer, profile, totals, all);
}

static uint64_t category_us(const struct ls_totals *totals,
			    const struct ls_profile_category *category)
{
	return totals->node_total_us[category->node];
}

/* Writes "5 processes, ": those with CPU time; "" if there is one category. */
static void put_count(const struct ls_profile *profile, const struct ls_totals *totals,
		      const struct category_words *words, char *text, size_t size)
{
	char number[UNITS_SIZE];
	uint32_t count = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < profile->category_count; i++)
		count += category_us(totals, &profile->categories[i]) &&
			 strcmp(profile->categories[i].name, PROFILE_WITHOUT_INTERPRETER);
	if (profile->category_count > 1 && count)
		snprintf(text, size, "%s %s, ", units__format_count(count, number, sizeof(number)),
			 count == 1 ? words->one : words->many);
}

/* Appends ", most in lua5.4 app.lua (pid 42) 61.0%" if there are several. */
static void append_category(const struct ls_profile *profile, const struct ls_totals *totals,
			    char *text, size_t size)
{
	const struct ls_profile_category *most = profile->categories;
	char name[PRINTER_TEXT_SIZE], share[UNITS_SIZE];
	size_t length = strlen(text);

	if (profile->category_count < 2)
		return;
	for (uint32_t i = 1; i < profile->category_count; i++)
		if (category_us(totals, &profile->categories[i]) > category_us(totals, most))
			most = &profile->categories[i];
	units__format_share(category_us(totals, most), totals->all_us, share, sizeof(share));
	snprintf(text + length, size - length, ", most in %s %s",
		 log__printable(most->name, name, sizeof(name)), share);
}

void summary__describe(const struct ls_profile *profile, const struct ls_totals *totals,
		       const struct category_words *words, char *text, size_t size)
{
	uint32_t hottest = hottest_functions__first(profile, totals);
	char cpu[UNITS_SIZE], share[UNITS_SIZE];
	struct function_label label;
	size_t length;

	put_count(profile, totals, words, text, size);
	length = strlen(text);
	snprintf(text + length, size - length, "%s of CPU time",
		 units__format_time(profile->recorder.cpu_ns, cpu, sizeof(cpu)));
	append_category(profile, totals, text, size);
	if (!hottest)
		return;
	function_label__make(&profile->functions[hottest], &label);
	units__format_share(totals->function_self_us[hottest], totals->all_us, share,
			    sizeof(share));
	length = strlen(text);
	snprintf(text + length, size - length, ", hottest %s %s", label.name, share);
}
