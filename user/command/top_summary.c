/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/top_summary.h"

#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "profile/profile.h"
#include "session/session_profile.h"

void top_summary__log(struct session *session, const struct kept_warnings *kept)
{
	struct ls_profile profile = {};
	const struct ls_profile_recorder *recorder = &profile.recorder;
	char samples[UNITS_SIZE], clock[UNITS_SIZE], share[UNITS_SIZE], lost[UNITS_SIZE];

	kept_warnings__repeat(kept);
	session__export(session, &profile);
	units__format_clock(recorder->duration_ns, clock, sizeof(clock));
	clock[strcspn(clock, ".")] = '\0';
	if (recorder->missed_processes)
		log_warn("missed %llu process%s, which could not be sampled",
			 (unsigned long long)recorder->missed_processes,
			 recorder->missed_processes == 1 ? "" : "es");
	log_info("saw %s samples of %s in %s: %s script, %s lost",
		 units__format_count(recorder->samples, samples, sizeof(samples)),
		 session__target(session), clock,
		 units__format_share(recorder->classes[LS_SAMPLE_COMPLETE] +
					     recorder->classes[LS_SAMPLE_TORN] +
					     recorder->classes[LS_SAMPLE_TRUNCATED],
				     recorder->samples, share, sizeof(share)),
		 units__format_count(recorder->classes[LS_SAMPLE_DROPPED] +
					     recorder->classes[LS_SAMPLE_UNREADABLE],
				     lost, sizeof(lost)));
}
