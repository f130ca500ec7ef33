/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "combine/joined_recorder.h"

#include <errno.h>
#include <stdlib.h>

#define NS_PER_MS UINT64_C(1000000)

#define FIELD(field) offsetof(struct ls_profile_recorder, field)

/* The texts that count only if all recordings have the same. */
static const size_t texts[] = {
	FIELD(version), FIELD(host), FIELD(target), FIELD(interpreter), FIELD(layout),
};

/* The first recording that has one gives it: GC may be known in some of them only. */
static const size_t texts_of_any[] = {FIELD(gc), FIELD(gc_unknown)};

/* The numbers that add up. */
static const size_t sums[] = {
	FIELD(cpu_ns),
	FIELD(events_left_out),
	FIELD(samples),
	FIELD(collected),
	FIELD(unsampled_ns),
	FIELD(unnamed_calls),
	FIELD(unknown_lines),
	FIELD(unkept_lines),
	FIELD(vma_busy),
	FIELD(evicted_functions),
	FIELD(evicted_samples),
	FIELD(lost_records),
	FIELD(missed_processes),
	FIELD(ignored_samples),
	FIELD(untimed_samples),
	FIELD(overhead.interrupts_ns),
	FIELD(overhead.bpf_ns),
	FIELD(overhead.own_ns),
	FIELD(overhead.lowered_ns),
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct span {
	uint64_t from_ms, duration_ns, paused_ns;
};

static uint64_t *number_at(struct ls_profile_recorder *recorder, size_t offset)
{
	return (uint64_t *)((char *)recorder + offset);
}

static const char **text_at(struct ls_profile_recorder *recorder, size_t offset)
{
	return (const char **)((char *)recorder + offset);
}

static void add(struct ls_profile_recorder *to, const struct ls_profile_recorder *from)
{
	struct ls_profile_recorder copy = *from;

	for (size_t i = 0; i < COUNT(sums); i++)
		*number_at(to, sums[i]) += *number_at(&copy, sums[i]);
	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		to->classes[class] += from->classes[class];
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		to->errors[error] += from->errors[error];
	for (size_t i = 0; i < COUNT(texts); i++) {
		const char **text = text_at(to, texts[i]), *other = *text_at(&copy, texts[i]);

		if (*text && (!other || strcmp(*text, other) != 0))
			*text = NULL;
	}
	for (size_t i = 0; i < COUNT(texts_of_any); i++) {
		const char **text = text_at(to, texts_of_any[i]);

		*text = *text ? *text : *text_at(&copy, texts_of_any[i]);
	}
	if (to->period_ns != from->period_ns)
		to->period_ns = 0;
	if (to->overhead.limit_ppm < from->overhead.limit_ppm)
		to->overhead.limit_ppm = from->overhead.limit_ppm;
	if (to->overhead.period_most_ns < from->overhead.period_most_ns)
		to->overhead.period_most_ns = from->overhead.period_most_ns;
}

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return (a->from_ms > b->from_ms) - (a->from_ms < b->from_ms);
}

/* Sets the session to what the spans, which are sorted, cover together. */
static void cover(const struct span *spans, size_t count, bool is_ordered,
		  struct ls_profile_recorder *recorder)
{
	uint64_t start_ms, end_ns = 0, covered_ns = 0, paused_ns = 0;
	size_t i = 0;

	/* Of recordings that do not tell their start, none is known to cover another. */
	for (; i + 1 < count && !spans[i].from_ms; i++) {
		covered_ns += spans[i].duration_ns;
		paused_ns += spans[i].paused_ns;
	}
	for (start_ms = spans[i].from_ms; i < count; i++) {
		uint64_t from_ns = NS_PER_MS * (spans[i].from_ms - start_ms);
		uint64_t to_ns = from_ns + spans[i].duration_ns;

		/* What another recording covers is no pause of the whole. */
		paused_ns += from_ns >= end_ns ? spans[i].paused_ns : 0;
		if (to_ns <= end_ns)
			continue;
		covered_ns += to_ns - (from_ns > end_ns ? from_ns : end_ns);
		end_ns = to_ns;
	}
	recorder->start_ms = start_ms;
	recorder->duration_ns = is_ordered ? end_ns : covered_ns;
	recorder->paused_ns = paused_ns + (is_ordered ? end_ns - covered_ns : 0);
}

int joined_recorder__make(const struct ls_profile *const *from, size_t count, bool is_ordered,
			  struct ls_profile_recorder *recorder)
{
	struct span *spans = calloc(count, sizeof(*spans));
	const char *version = NULL;

	if (!spans)
		return -ENOMEM;
	*recorder = from[0]->recorder;
	for (size_t i = 0; i < count; i++) {
		const struct ls_profile_recorder *part = &from[i]->recorder;

		if (i)
			add(recorder, part);
		version = version ? version : part->version;
		spans[i] = (struct span){part->start_ms, part->duration_ns, part->paused_ns};
	}
	/* Without a version, a file would have none of luaspy's fields. */
	if (!recorder->version)
		recorder->version = version;
	recorder->timed_from_ns = 0;
	recorder->events = NULL;
	recorder->event_count = 0;
	qsort(spans, count, sizeof(*spans), compare_spans);
	cover(spans, count, is_ordered, recorder);
	free(spans);
	return 0;
}

uint64_t joined_recorder__later_ns(const struct ls_profile_recorder *recorder, uint64_t start_ms)
{
	return recorder->start_ms > start_ms ? NS_PER_MS * (recorder->start_ms - start_ms) : 0;
}
