/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "profile/pruning.h"
#include "recording/recording_internal.h"

/* Calls of running programs may still get names: they are counted as they are now. */
static void count_unnamed_calls(const struct recording *recording,
				struct ls_profile_recorder *recorder)
{
	const struct recorded_process *process;
	struct subprofile *subprofile;

	recorder->unnamed_calls = recording->unnamed_calls;
	for (subprofile = recording->subprofiles ? recording->subprofiles->items : NULL; subprofile;
	     subprofile = subprofile->hh.next)
		subprofile->counts.unnamed_now = 0;
	for (process = recording->processes; process; process = process->hh.next) {
		uint64_t count = symbolizer__unnamed_calls(process->symbolizer);

		recorder->unnamed_calls += count;
		if (process->subprofile)
			process->subprofile->counts.unnamed_now += count;
	}
}

uint32_t recording__other(const struct recording *recording)
{
	return recording->other;
}

void recording__export(struct recording *recording, struct ls_profile *profile)
{
	struct ls_profile_recorder *recorder = &profile->recorder;

	call_tree__export(recording->tree, profile);
	functions__export(recording->functions, profile);
	memcpy(recorder->classes, recording->classes, sizeof(recorder->classes));
	memcpy(recorder->errors, recording->errors, sizeof(recorder->errors));
	recorder->errors[LS_WALK_NONE] = 0;
	recorder->collected = recording->collected;
	recorder->unknown_lines = recording->unknown_lines;
	recorder->unkept_lines = recording->unkept_lines;
	recorder->unsampled_ns = recording->unsampled_ns;
	recorder->evicted_functions = recording->evicted;
	if (recording->timeline)
		timeline__export(recording->timeline, profile);
	recorder->evicted_samples = pruning__samples(profile, recording->other);
	recorder->lost_records = recording->strangers;
	count_unnamed_calls(recording, recorder);
}
