/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The Recorder of luaspy's own files: what write_scriptprofiler() makes of ls_profile_recorder. */
#include <stddef.h>
#include <string.h>

#include "reader/read_profile_internal.h"

#define NS_PER_US 1000
#define NS_PER_S  UINT64_C(1000000000)

/* Where a number of the file goes, and the factor that converts its unit. */
struct number {
	const char *key;
	size_t offset;
	uint64_t factor;
};

struct text {
	const char *key;
	size_t offset;
};

#define FIELD(field) offsetof(struct ls_profile_recorder, field)

static const struct text texts[] = {
	{"Version", FIELD(version)},
	{"Host", FIELD(host)},
	{"Target", FIELD(target)},
	{"Interpreter", FIELD(interpreter)},
	{"Layout", FIELD(layout)},
	{"Collector", FIELD(gc)},
	{"CollectorUnknown", FIELD(gc_unknown)},
};

static const struct number numbers[] = {
	{"WallDuration", FIELD(duration_ns), NS_PER_US},
	{"CpuDuration", FIELD(cpu_ns), NS_PER_US},
	{"PausedDuration", FIELD(paused_ns), NS_PER_US},
	{"Unsampled", FIELD(unsampled_ns), NS_PER_US},
	{"EventsLeftOut", FIELD(events_left_out), 1},
	{"Collected", FIELD(collected), 1},
	{"UnnamedCalls", FIELD(unnamed_calls), 1},
	{"UnknownLines", FIELD(unknown_lines), 1},
	{"UnkeptLines", FIELD(unkept_lines), 1},
	{"StackLookupsRefused", FIELD(vma_busy), 1},
	{"EvictedFunctions", FIELD(evicted_functions), 1},
	{"EvictedSamples", FIELD(evicted_samples), 1},
	{"LostRecords", FIELD(lost_records), 1},
	{"MissedProcesses", FIELD(missed_processes), 1},
	{"IgnoredSamples", FIELD(ignored_samples), 1},
	{"UntimedSamples", FIELD(untimed_samples), 1},
};

static const struct number overhead_numbers[] = {
	{"Interrupts", FIELD(overhead.interrupts_ns), NS_PER_US},
	{"Bpf", FIELD(overhead.bpf_ns), NS_PER_US},
	{"Luaspy", FIELD(overhead.own_ns), NS_PER_US},
	{"LoweredDuration", FIELD(overhead.lowered_ns), NS_PER_US},
};

/* As in the writer's table of the same kind. */
static const struct number class_numbers[] = {
	{"total", FIELD(samples), 1},
	{"dropped", FIELD(classes[LS_SAMPLE_DROPPED]), 1},
	{"unreadable", FIELD(classes[LS_SAMPLE_UNREADABLE]), 1},
	{"host", FIELD(classes[LS_SAMPLE_HOST]), 1},
	{"torn", FIELD(classes[LS_SAMPLE_TORN]), 1},
	{"truncated", FIELD(classes[LS_SAMPLE_TRUNCATED]), 1},
	{"complete", FIELD(classes[LS_SAMPLE_COMPLETE]), 1},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Takes the value of `key` if the table has it. Returns whether it has, even after a failure. */
static bool take_number(struct read_profile *read, const char *key, const struct number *table,
			size_t count)
{
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(key, table[i].key) != 0)
			continue;
		if (json_reader__uint(&read->json, &value))
			*(uint64_t *)((char *)&read->profile.recorder + table[i].offset) =
				value * table[i].factor;
		return true;
	}
	return false;
}

static bool take_text(struct read_profile *read, const char *key)
{
	char *text;

	for (size_t i = 0; i < COUNT(texts); i++) {
		if (strcmp(key, texts[i].key) != 0)
			continue;
		if (json_reader__text(&read->json, &text))
			*(const char **)((char *)&read->profile.recorder + texts[i].offset) = text;
		return true;
	}
	return false;
}

static void take_classes(struct read_profile *read)
{
	char *key;

	for (bool first = true; json_reader__next_key(&read->json, &first, &key);)
		if (!take_number(read, key, class_numbers, COUNT(class_numbers)))
			json_reader__skip(&read->json);
}

/* Errors have the names of their counters. Those of other releases are not known. */
static void take_reason(struct read_profile *read)
{
	static const char *const names[LS_WALK_ERROR_COUNT] = {
#define X(code, class, counter, sentence) [LS_WALK_##code] = #counter,
		LS_WALK_ERRORS(X)
#undef X
	};
	char *key, *name = NULL;
	uint64_t count = 0;

	for (bool first = true; json_reader__next_key(&read->json, &first, &key);) {
		if (!strcmp(key, "Name"))
			json_reader__text(&read->json, &name);
		else if (!strcmp(key, "Count"))
			json_reader__uint(&read->json, &count);
		else
			json_reader__skip(&read->json);
	}
	for (int error = 0; error < LS_WALK_ERROR_COUNT && name; error++)
		if (names[error] && !strcmp(names[error], name))
			read->profile.recorder.errors[error] = count;
}

static void take_event(struct read_profile *read)
{
	size_t at = read_profile__add(read, &read->events, sizeof(struct ls_profile_event));
	char *key, *kind = NULL, *text = NULL;
	uint64_t us = 0;

	for (bool first = true; json_reader__next_key(&read->json, &first, &key);) {
		if (!strcmp(key, "TimeUs"))
			json_reader__uint(&read->json, &us);
		else if (!strcmp(key, "Kind"))
			json_reader__text(&read->json, &kind);
		else if (!strcmp(key, "Text"))
			json_reader__text(&read->json, &text);
		else
			json_reader__skip(&read->json);
	}
	if (!kind)
		read_profile__refuse(read, "event %zu has no Kind", at);
	else if (at)
		((struct ls_profile_event *)read->events.items)[at] = (struct ls_profile_event){
			.time_ns = NS_PER_US * us, .kind = kind, .text = text};
}

static void take_overhead(struct read_profile *read)
{
	struct ls_profile_overhead *overhead = &read->profile.recorder.overhead;
	uint64_t value = 0;
	char *key;

	for (bool first = true; json_reader__next_key(&read->json, &first, &key);) {
		if (!strcmp(key, "MaxPpm")) {
			json_reader__uint_to(&read->json, UINT32_MAX, &value);
			overhead->limit_ppm = (uint32_t)value;
		} else if (!strcmp(key, "LowestFrequency")) {
			json_reader__uint(&read->json, &value);
			overhead->period_most_ns = value ? NS_PER_S / value : 0;
		} else if (!take_number(read, key, overhead_numbers, COUNT(overhead_numbers))) {
			json_reader__skip(&read->json);
		}
	}
}

/* The finer of the two roundings: Period is in microseconds, Frequency in Hz. */
static uint64_t period_of(uint64_t frequency, uint64_t period_us)
{
	return frequency > 1000 ? (NS_PER_S + frequency / 2) / frequency : NS_PER_US * period_us;
}

void read_profile__take_recorder(struct read_profile *read)
{
	struct json_reader *json = &read->json;
	uint64_t frequency = 0, period_us = 0;
	char *key;

	for (bool first = true; json_reader__next_key(json, &first, &key);) {
		if (!strcmp(key, "Frequency"))
			json_reader__uint(json, &frequency);
		else if (!strcmp(key, "Period"))
			json_reader__uint_to(json, UINT32_MAX, &period_us);
		else if (!strcmp(key, "Samples"))
			take_classes(read);
		else if (!strcmp(key, "Reasons"))
			for (bool begins = true; json_reader__next_element(json, &begins);)
				take_reason(read);
		else if (!strcmp(key, "Events"))
			for (bool begins = true; json_reader__next_element(json, &begins);)
				take_event(read);
		else if (!strcmp(key, "Overhead"))
			take_overhead(read);
		else if (!take_text(read, key) && !take_number(read, key, numbers, COUNT(numbers)))
			json_reader__skip(json);
	}
	read->profile.recorder.period_ns = period_of(frequency, period_us);
	if (!read->profile.recorder.version)
		read->profile.recorder.version = "";
}
