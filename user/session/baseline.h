/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a session's closed profiles already contain. Processes and BPF count from the session's
 * start; a profile contains what was added since the previous one.
 */
#ifndef LS_BASELINE_H
#define LS_BASELINE_H

#include <stdint.h>

#include "profile/profile.h"
#include "target.h"

struct baseline {
	uint64_t start_ns; /* CLOCK_MONOTONIC: start of the open profile */
	uint64_t start_unix_ms;
	uint64_t cpu_ns;
	uint64_t missed_processes;
	struct ls_counters counters;
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t script_samples; /* complete, torn and truncated */
};

/* Zeroes all but the start time, which is now. */
void baseline__start(struct baseline *baseline);

/*
 * The profile was closed at `end_ns`. `written` is its recorder as baseline__subtract() left it,
 * and `counters` are BPF's at that time.
 */
void baseline__move(struct baseline *baseline, const struct ls_profile_recorder *written,
		    const struct ls_counters *counters, uint64_t end_ns);

/* Turns the session's times and counts into those of the open profile, which ends at `end_ns`. */
void baseline__subtract(const struct baseline *baseline, const struct ls_counters *counters,
			uint64_t end_ns, struct ls_profile_recorder *recorder);

#endif
