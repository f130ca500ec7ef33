/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What of a session is in profiles that were closed. Processes and BPF count from the session's
 * start; a profile has what was added since the one before it.
 */
#ifndef LS_BASELINE_H
#define LS_BASELINE_H

#include <stdint.h>

#include "profile.h"
#include "target.h"

struct baseline {
	uint64_t start_ns; /* CLOCK_MONOTONIC: where the profile begins that is open */
	uint64_t start_unix_ms;
	uint64_t cpu_ns;
	uint64_t missed_processes;
	struct ls_counters counters;
	uint64_t classes[LS_SAMPLE_CLASS_COUNT];
	uint64_t script_samples; /* of these */
};

/* All zero but the time, which is now. */
void baseline__start(struct baseline *baseline);

/*
 * The profile was closed at `end_ns`. `written` is its recorder, as baseline__subtract() left it,
 * and `counters` what BPF had counted then.
 */
void baseline__move(struct baseline *baseline, const struct ls_profile_recorder *written,
		    const struct ls_counters *counters, uint64_t end_ns);

/* Times and counts of the open profile, which ends at `end_ns`, from those of the session. */
void baseline__subtract(const struct baseline *baseline, const struct ls_counters *counters,
			uint64_t end_ns, struct ls_profile_recorder *recorder);

#endif
