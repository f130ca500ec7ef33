/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/joined_recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET_SIZE       1024
#define INTERPRETERS_SIZE 4096

struct joined_recorder {
	struct ls_profile_recorder recorder;
	char target[TARGET_SIZE], interpreters[INTERPRETERS_SIZE];
};

/* All of these add up. */
static const size_t sums[] = {
#define SUM(field) offsetof(struct ls_profile_recorder, field)
	SUM(duration_ns),     SUM(cpu_ns),       SUM(paused_ns),        SUM(events_left_out),
	SUM(samples),         SUM(collected),    SUM(unsampled_ns),     SUM(unnamed_calls),
	SUM(unknown_lines),   SUM(unkept_lines), SUM(vma_busy),         SUM(evicted_functions),
	SUM(evicted_samples), SUM(lost_records), SUM(missed_processes), SUM(ignored_samples),
	SUM(untimed_samples),
#undef SUM
};

static const size_t texts[] = {
#define TEXT(field) offsetof(struct ls_profile_recorder, field)
	TEXT(version), TEXT(host), TEXT(target), TEXT(layout), TEXT(gc),
#undef TEXT
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void *field_of(const struct ls_profile_recorder *recorder, size_t offset)
{
	return (char *)(uintptr_t)recorder + offset;
}

static void add(struct ls_profile_recorder *to, const struct ls_profile_recorder *from)
{
	for (size_t i = 0; i < COUNT(sums); i++)
		*(uint64_t *)field_of(to, sums[i]) += *(uint64_t *)field_of(from, sums[i]);
	for (size_t i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		to->classes[i] += from->classes[i];
	for (size_t i = 0; i < LS_WALK_ERROR_COUNT; i++)
		to->errors[i] += from->errors[i];
	for (size_t i = 0; i < COUNT(texts); i++) {
		const char **text = field_of(to, texts[i]);
		const char *other = *(const char **)field_of(from, texts[i]);

		if (!*text || !other || strcmp(*text, other))
			*text = NULL;
	}
	if (from->gc_unknown)
		to->gc_unknown = from->gc_unknown;
	if (from->start_ms < to->start_ms)
		to->start_ms = from->start_ms;
	if (from->period_ns != to->period_ns)
		to->period_ns = 0;
}

/* "Lua 5.1.5 in /usr/bin/x, static; Lua 5.4.6 in ...", each once; those beyond the size are cut. */
static void add_interpreter(struct joined_recorder *joined, const char *interpreter)
{
	size_t length = strlen(joined->interpreters);

	if (!interpreter || strstr(joined->interpreters, interpreter))
		return;
	snprintf(joined->interpreters + length, sizeof(joined->interpreters) - length, "%s%s",
		 length ? "; " : "", interpreter);
	joined->recorder.interpreter = joined->interpreters;
}

int joined_recorder__new(const struct ls_profile *const *profiles, size_t count,
			 struct joined_recorder **made)
{
	struct joined_recorder *joined = calloc(1, sizeof(*joined));
	const char *target;

	*made = joined;
	if (!joined)
		return -ENOMEM;
	joined->recorder = profiles[0]->recorder;
	if (count == 1)
		return 0;
	joined->recorder.overhead = (struct ls_profile_overhead){};
	joined->recorder.events = NULL;
	joined->recorder.event_count = 0;
	for (size_t i = 0; i < count; i++)
		add_interpreter(joined, profiles[i]->recorder.interpreter);
	for (size_t i = 1; i < count; i++)
		add(&joined->recorder, &profiles[i]->recorder);
	target = joined->recorder.target;
	snprintf(joined->target, sizeof(joined->target), "%zu recordings%s%s", count,
		 target ? " of " : "", target ? target : "");
	joined->recorder.target = joined->target;
	return 0;
}

void joined_recorder__free(struct joined_recorder *joined)
{
	free(joined);
}

const struct ls_profile_recorder *joined_recorder__recorder(const struct joined_recorder *joined)
{
	return &joined->recorder;
}
