/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/session_subprofiles.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/pruning.h"
#include "session/profile_split.h"
#include "session/session_profile.h"
#include "session/session_state.h"

struct session_subprofiles {
	struct session *session;
	struct subprofiles *all;
	struct subprofile *next; /* NULL: only the rest remains, or nothing */
	bool is_over;
	struct ls_profile whole;
	struct profile_split *split;
	struct ls_profile_recorder told; /* sums over the subprofiles so far */
	char title[160];                 /* of the rest */
};

int session_subprofiles__new(struct session *session, struct session_subprofiles **made)
{
	struct session_subprofiles *subprofiles = calloc(1, sizeof(*subprofiles));

	*made = NULL;
	if (!subprofiles)
		return -ENOMEM;
	subprofiles->session = session;
	subprofiles->all = session->options.subprofiles;
	subprofiles->next = subprofiles->all->items;
	session__export(session, &subprofiles->whole);
	snprintf(subprofiles->title, sizeof(subprofiles->title), "the rest of %s",
		 subprofiles->whole.recorder.target);
	if (profile_split__new(&subprofiles->whole, &subprofiles->split)) {
		free(subprofiles);
		return -ENOMEM;
	}
	*made = subprofiles;
	return 0;
}

void session_subprofiles__free(struct session_subprofiles *subprofiles)
{
	if (!subprofiles)
		return;
	profile_split__free(subprofiles->split);
	free(subprofiles);
}

/* The nodes of a subprofile contain all its time. */
static uint64_t charged_ns(const struct ls_profile *profile)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= profile->node_count; id++)
		sum += profile->nodes[id].self_ns;
	return sum;
}

static uint64_t evicted_samples(const struct session_subprofiles *subprofiles,
				const struct ls_profile *profile)
{
	const struct ls_profile_function *functions = subprofiles->whole.functions;
	const char *name = functions[recording__other(subprofiles->session->recording)].name;

	for (uint32_t id = 1; id <= profile->function_count; id++)
		if (!profile->functions[id].source && profile->functions[id].name == name)
			return pruning__samples(profile, id);
	return 0;
}

/* Counts that are known for each subprofile. */
#define COUNTS(count)                                                                              \
	count(samples) count(collected) count(unsampled_ns) count(unnamed_calls)                   \
		count(unknown_lines) count(unkept_lines) count(evicted_samples)                    \
			count(untimed_samples) count(cpu_ns)

static void add(struct ls_profile_recorder *sum, const struct ls_profile_recorder *recorder)
{
#define ADD(field) sum->field += recorder->field;
	COUNTS(ADD)
	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		sum->classes[i] += recorder->classes[i];
	for (int i = 0; i < LS_WALK_ERROR_COUNT; i++)
		sum->errors[i] += recorder->errors[i];
}

static void subtract_one(uint64_t *from, uint64_t count)
{
	*from -= count < *from ? count : *from;
}

static void subtract(struct ls_profile_recorder *from, const struct ls_profile_recorder *sum)
{
#define SUBTRACT(field) subtract_one(&from->field, sum->field);
	COUNTS(SUBTRACT)
	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		subtract_one(&from->classes[i], sum->classes[i]);
	for (int i = 0; i < LS_WALK_ERROR_COUNT; i++)
		subtract_one(&from->errors[i], sum->errors[i]);
}

/* Counts known only for the whole are left to the rest. */
static void tell(struct session_subprofiles *subprofiles, const struct subprofile *subprofile,
		 struct ls_profile *profile)
{
	struct ls_profile_recorder *recorder = &profile->recorder;
	const struct subprofile_counts *counts = &subprofile->counts;

	targets__export_subprofile(subprofiles->session->targets, subprofile, recorder);
	memcpy(recorder->classes, counts->classes, sizeof(recorder->classes));
	memcpy(recorder->errors, counts->errors, sizeof(recorder->errors));
	recorder->errors[LS_WALK_NONE] = 0;
	recorder->samples = 0;
	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		recorder->samples += recorder->classes[i];
	recorder->collected = counts->collected;
	recorder->unknown_lines = counts->unknown_lines;
	recorder->unkept_lines = counts->unkept_lines;
	recorder->unsampled_ns = counts->unsampled_ns;
	recorder->unnamed_calls = counts->unnamed_calls + counts->unnamed_now;
	recorder->evicted_samples = evicted_samples(subprofiles, profile);
	recorder->cpu_ns = charged_ns(profile);
	recorder->untimed_samples = subprofiles->whole.samples
					    ? recorder->samples -
						      recorder->classes[LS_SAMPLE_DROPPED] -
						      profile->sample_count
					    : 0;
	recorder->vma_busy = 0;
	recorder->evicted_functions = 0;
	recorder->lost_records = 0;
}

/* Unnamed calls alone do not count: any running program may have some. */
static bool has_anything(const struct ls_profile_recorder *recorder)
{
	return recorder->samples || recorder->cpu_ns || recorder->unsampled_ns ||
	       recorder->evicted_functions || recorder->lost_records || recorder->missed_processes;
}

static void tell_rest(struct session_subprofiles *subprofiles, struct ls_profile *profile)
{
	struct ls_profile_recorder *recorder = &profile->recorder;
	uint64_t own_ns = charged_ns(profile);

	*recorder = subprofiles->whole.recorder;
	subtract(recorder, &subprofiles->told);
	if (recorder->cpu_ns < own_ns)
		recorder->cpu_ns = own_ns;
	recorder->target = subprofiles->title;
	recorder->interpreter = recorder->layout = NULL;
	recorder->gc = recorder->gc_unknown = NULL;
	subprofiles->all->dropped_rest = recorder->classes[LS_SAMPLE_DROPPED];
}

int session_subprofiles__next(struct session_subprofiles *subprofiles,
			      struct subprofile **subprofile, struct ls_profile *profile)
{
	int error;

	for (; subprofiles->next; subprofiles->next = subprofiles->next->hh.next) {
		*subprofile = subprofiles->next;
		error = profile_split__of(subprofiles->split, (*subprofile)->id, profile);
		tell(subprofiles, *subprofile, profile);
		if (!error && !has_anything(&profile->recorder))
			continue;
		add(&subprofiles->told, &profile->recorder);
		subprofiles->next = subprofiles->next->hh.next;
		return error ? error : 1;
	}
	if (subprofiles->is_over)
		return 0;
	subprofiles->is_over = true;
	*subprofile = &subprofiles->all->rest;
	error = profile_split__of(subprofiles->split, 0, profile);
	if (error)
		return error;
	tell_rest(subprofiles, profile);
	return has_anything(&profile->recorder);
}

bool session_subprofiles__are_too_many(const struct session_subprofiles *subprofiles)
{
	return subprofiles->all->are_too_many;
}
