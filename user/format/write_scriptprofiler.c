/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "format/write_scriptprofiler.h"
#include "json/json_field.h"
#include "profile/script_split.h"

#define NS_PER_US 1000
#define NS_PER_MS 1000000
#define NS_PER_S  1000000000

static const char *const class_names[LS_SAMPLE_CLASS_COUNT] = {
	[LS_SAMPLE_DROPPED] = "dropped",     [LS_SAMPLE_UNREADABLE] = "unreadable",
	[LS_SAMPLE_HOST] = "host",           [LS_SAMPLE_TORN] = "torn",
	[LS_SAMPLE_TRUNCATED] = "truncated", [LS_SAMPLE_COMPLETE] = "complete",
};

static const struct {
	enum ls_sample_class class;
	const char *name;
	const char *sentence;
} walk_errors[LS_WALK_ERROR_COUNT] = {
#define X(code, class, counter, sentence)                                                          \
	[LS_WALK_##code] = {LS_SAMPLE_##class, #counter, sentence},
	LS_WALK_ERRORS(X)
#undef X
};

static void write_session(struct json_writer *writer, const struct ls_profile_recorder *recorder)
{
	uint64_t duration_ms = (recorder->duration_ns + NS_PER_MS / 2) / NS_PER_MS;

	json_field__uint(writer, "Version", 2);
	if (!recorder->start_ms)
		return;
	json_field__uint(writer, "SessionStartTime", recorder->start_ms);
	json_field__uint(writer, "SessionEndTime", recorder->start_ms + duration_ms);
}

static void write_categories(struct json_writer *writer, const struct ls_profile *profile)
{
	json_field__array_lines(writer, "Categories");
	for (uint32_t i = 0; i < profile->category_count; i++) {
		json_writer__object(writer);
		json_field__text(writer, "Name", profile->categories[i].name);
		json_field__uint(writer, "NodeId", profile->categories[i].node);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void write_children(struct json_writer *writer, const struct ls_profile *profile,
			   uint32_t first)
{
	const struct ls_profile_node *nodes = profile->nodes;

	if (!first)
		return;
	json_field__array(writer, "FunctionIds");
	for (uint32_t id = first; id; id = nodes[id].next_sibling)
		json_writer__uint(writer, nodes[id].function);
	json_writer__end_array(writer);
	json_field__array(writer, "NodeIds");
	for (uint32_t id = first; id; id = nodes[id].next_sibling)
		json_writer__uint(writer, id);
	json_writer__end_array(writer);
}

static void write_nodes(struct json_writer *writer, const struct ls_profile *profile,
			const struct ls_totals *totals)
{
	json_field__array_lines(writer, "Nodes");
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		json_writer__object(writer);
		json_field__uint(writer, "TotalDuration", totals->node_total_us[id]);
		write_children(writer, profile, profile->nodes[id].first_child);
		if (profile->nodes[id].samples && profile->recorder.version)
			json_field__uint(writer, "Samples", profile->nodes[id].samples);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void write_lines(struct json_writer *writer, const struct ls_profile *profile,
			const struct ls_totals *totals, const struct ls_profile_function *function)
{
	if (!function->line_count || !profile->recorder.version)
		return;
	json_field__array(writer, "Lines");
	for (uint32_t i = 0; i < function->line_count; i++) {
		uint32_t at = function->first_line + i;

		json_writer__array(writer);
		json_writer__uint(writer, profile->lines[at].line);
		json_writer__uint(writer, totals->line_self_us[at]);
		json_writer__uint(writer, profile->lines[at].samples);
		json_writer__end_array(writer);
	}
	json_writer__end_array(writer);
}

static void write_texts(struct json_writer *writer, const struct ls_profile *profile)
{
	const char *source = NULL;

	json_field__array_lines(writer, "Sources");
	for (size_t i = 0; i < profile->text_count; i++) {
		const struct ls_profile_text *text = &profile->texts[i];

		if (!source || strcmp(source, text->source) != 0) {
			if (source) {
				json_writer__end_array(writer);
				json_writer__end_object(writer);
			}
			source = text->source;
			json_writer__object(writer);
			json_field__text(writer, "Source", source);
			json_field__array(writer, "Lines");
		}
		json_writer__array(writer);
		json_writer__uint(writer, text->line);
		json_writer__printable(writer, text->text);
		json_writer__end_array(writer);
	}
	if (source) {
		json_writer__end_array(writer);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void write_functions(struct json_writer *writer, const struct ls_profile *profile,
			    const struct ls_totals *totals)
{
	json_field__array_lines(writer, "Functions");
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		json_writer__object(writer);
		json_field__text(writer, "Source", function->source);
		json_field__text(writer, "Name", function->name);
		if (function->line)
			json_field__uint(writer, "Line", function->line);
		if (function->flags)
			json_field__uint(writer, "Flags", function->flags);
		if (function->current_line)
			json_field__uint(writer, "CurrentLine", function->current_line);
		json_field__uint(writer, "TotalDuration", totals->function_total_us[id]);
		write_lines(writer, profile, totals, function);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

/* There may be a GC function for plugins, too; readers expect one id, that of the plain one. */
static void write_gc(struct json_writer *writer, const struct ls_profile *profile)
{
	uint32_t gc = 0;

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		if (!profile__is_gc(function))
			continue;
		if (!gc || function->flags < profile->functions[gc].flags)
			gc = id;
	}
	if (gc)
		json_field__uint(writer, "GCFuncId", gc);
}

static void write_samples(struct json_writer *writer, const struct ls_profile_recorder *recorder)
{
	json_field__object(writer, "Samples");
	json_field__uint(writer, "total", recorder->samples);
	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		json_field__uint(writer, class_names[class], recorder->classes[class]);
	json_writer__end_object(writer);

	json_field__array_lines(writer, "Reasons");
	for (int error = LS_WALK_NONE + 1; error < LS_WALK_ERROR_COUNT; error++) {
		if (!recorder->errors[error])
			continue;
		json_writer__object(writer);
		json_field__text(writer, "Name", walk_errors[error].name);
		json_field__text(writer, "Class", class_names[walk_errors[error].class]);
		json_field__uint(writer, "Count", recorder->errors[error]);
		json_field__text(writer, "Sentence", walk_errors[error].sentence);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void write_events(struct json_writer *writer, const struct ls_profile_recorder *recorder)
{
	if (recorder->paused_ns)
		json_field__uint(writer, "PausedDuration", recorder->paused_ns / NS_PER_US);
	if (recorder->events_left_out)
		json_field__uint(writer, "EventsLeftOut", recorder->events_left_out);
	if (!recorder->event_count)
		return;
	json_field__array_lines(writer, "Events");
	for (uint32_t i = 0; i < recorder->event_count; i++) {
		json_writer__object(writer);
		json_field__uint(writer, "TimeUs", recorder->events[i].time_ns / NS_PER_US);
		json_field__text(writer, "Kind", recorder->events[i].kind);
		json_field__text(writer, "Text", recorder->events[i].text);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void write_overhead(struct json_writer *writer, const struct ls_profile_recorder *recorder)
{
	const struct ls_profile_overhead *overhead = &recorder->overhead;
	uint64_t interrupts_us = overhead->interrupts_ns / NS_PER_US;
	uint64_t bpf_us = overhead->bpf_ns / NS_PER_US, own_us = overhead->own_ns / NS_PER_US;

	if (!overhead->limit_ppm)
		return;
	json_field__object(writer, "Overhead");
	json_field__uint(writer, "MaxPpm", overhead->limit_ppm);
	json_field__uint(writer, "Total", interrupts_us + bpf_us + own_us);
	json_field__uint(writer, "Interrupts", interrupts_us);
	json_field__uint(writer, "Bpf", bpf_us);
	json_field__uint(writer, "Luaspy", own_us);
	if (overhead->period_most_ns) {
		json_field__uint(writer, "LoweredDuration", overhead->lowered_ns / NS_PER_US);
		json_field__uint(writer, "LowestFrequency",
				 (NS_PER_S + overhead->period_most_ns / 2) /
					 overhead->period_most_ns);
	}
	json_writer__end_object(writer);
}

/* Computed from the functions in the file, so merging and trimming need not maintain it. */
static void write_split(struct json_writer *writer, const struct ls_profile *profile,
			const struct ls_totals *totals)
{
	static const char *const keys[SCRIPT_PARTS] = {
		[SCRIPT_INTERPRETED] = "Interpreted",
		[SCRIPT_COMPILED] = "Compiled",
		[SCRIPT_C] = "C",
		[SCRIPT_GC] = "GC",
		[SCRIPT_COMPILER] = "Compiler",
		[SCRIPT_TRACE_EXIT] = "TraceExit",
	};
	const struct script_split split = script_split__of(profile, totals);

	if (!script_split__has_compiled(&split))
		return;
	json_field__object(writer, "ScriptDuration");
	for (enum script_part part = 0; part < SCRIPT_PARTS; part++)
		json_field__uint(writer, keys[part], split.time[part]);
	json_writer__end_object(writer);
}

/* Durations are in whole microseconds, like all others in the file. */
static void write_recorder(struct json_writer *writer, const struct ls_profile *profile,
			   const struct ls_totals *totals)
{
	const struct ls_profile_recorder *recorder = &profile->recorder;

	if (!recorder->version)
		return;
	json_field__object(writer, "Recorder");
	json_field__text(writer, "Tool", "luaspy");
	json_field__text(writer, "Version", recorder->version);
	json_field__text(writer, "Host", recorder->host);
	json_field__text(writer, "Target", recorder->target);
	json_field__text(writer, "Interpreter", recorder->interpreter);
	json_field__text(writer, "Layout", recorder->layout);
	json_field__text(writer, "Collector", recorder->gc);
	json_field__text(writer, "CollectorUnknown", recorder->gc_unknown);
	if (recorder->period_ns) {
		json_field__uint(writer, "Frequency",
				 (NS_PER_S + recorder->period_ns / 2) / recorder->period_ns);
		json_field__uint(writer, "Period",
				 (recorder->period_ns + NS_PER_US / 2) / NS_PER_US);
	}
	json_field__uint(writer, "WallDuration", recorder->duration_ns / NS_PER_US);
	json_field__uint(writer, "CpuDuration", recorder->cpu_ns / NS_PER_US);
	write_split(writer, profile, totals);
	write_samples(writer, recorder);
	json_field__uint(writer, "Collected", recorder->collected);
	json_field__uint(writer, "Unsampled", recorder->unsampled_ns / NS_PER_US);
	json_field__uint(writer, "UnnamedCalls", recorder->unnamed_calls);
	json_field__uint(writer, "UnknownLines", recorder->unknown_lines);
	json_field__uint(writer, "UnkeptLines", recorder->unkept_lines);
	json_field__uint(writer, "StackLookupsRefused", recorder->vma_busy);
	json_field__uint(writer, "EvictedFunctions", recorder->evicted_functions);
	json_field__uint(writer, "EvictedSamples", recorder->evicted_samples);
	json_field__uint(writer, "LostRecords", recorder->lost_records);
	json_field__uint(writer, "MissedProcesses", recorder->missed_processes);
	json_field__uint(writer, "IgnoredSamples", recorder->ignored_samples);
	json_field__uint(writer, "UntimedSamples", recorder->untimed_samples);
	write_overhead(writer, recorder);
	write_events(writer, recorder);
	json_writer__end_object(writer);
}

/* Writes differences between whole microseconds since the start, so that they add up. */
static void write_timeline(struct json_writer *writer, const struct ls_profile *profile)
{
	uint64_t from_ns = profile->recorder.timed_from_ns, before_us = 0;

	if (!profile->sample_count || !profile->recorder.version)
		return;
	json_field__array_lines(writer, "Samples");
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct ls_profile_sample *sample = &profile->samples[i];
		uint64_t us =
			sample->time_ns > from_ns ? (sample->time_ns - from_ns) / NS_PER_US : 0;

		json_writer__array(writer);
		json_writer__uint(writer, profile->sample_nodes
						  ? profile->sample_nodes[sample->node]
						  : sample->node);
		json_writer__uint(writer, us - before_us);
		json_writer__uint(writer, sample->thread);
		json_writer__end_array(writer);
		before_us = us;
	}
	json_writer__end_array(writer);
}

int write_scriptprofiler(const struct ls_profile *profile, const struct ls_totals *totals,
			 FILE *stream)
{
	struct json_writer writer;

	json_writer__init(&writer, stream);
	json_writer__object(&writer);
	write_session(&writer, &profile->recorder);
	write_categories(&writer, profile);
	write_nodes(&writer, profile, totals);
	write_functions(&writer, profile, totals);
	write_gc(&writer, profile);
	write_recorder(&writer, profile, totals);
	write_timeline(&writer, profile);
	if (profile->text_count)
		write_texts(&writer, profile);
	json_writer__end_object(&writer);
	return json_writer__finish(&writer);
}
