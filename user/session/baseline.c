/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/baseline.h"

#include <time.h>

#include "base/clock.h"

#define NS_PER_MS UINT64_C(1000000)

void baseline__start(struct baseline *baseline)
{
	*baseline = (struct baseline){.start_ns = clock_ns(CLOCK_MONOTONIC),
				      .start_unix_ms = clock_ns(CLOCK_REALTIME) / NS_PER_MS};
}

void baseline__move(struct baseline *baseline, const struct ls_profile_recorder *written,
		    const struct ls_counters *counters, uint64_t end_ns)
{
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC) - end_ns;

	baseline->start_ns = end_ns;
	baseline->start_unix_ms = (clock_ns(CLOCK_REALTIME) - since_ns) / NS_PER_MS;
	baseline->cpu_ns += written->cpu_ns;
	baseline->missed_processes += written->missed_processes;
	baseline->counters = *counters;
	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		baseline->classes[i] += written->classes[i];
	baseline->script_samples += written->classes[LS_SAMPLE_COMPLETE] +
				    written->classes[LS_SAMPLE_TORN] +
				    written->classes[LS_SAMPLE_TRUNCATED];
}

void baseline__subtract(const struct baseline *baseline, const struct ls_counters *counters,
			uint64_t end_ns, struct ls_profile_recorder *recorder)
{
	recorder->start_ms = baseline->start_unix_ms;
	recorder->timed_from_ns = baseline->start_ns;
	recorder->duration_ns = end_ns - baseline->start_ns;
	recorder->cpu_ns =
		recorder->cpu_ns > baseline->cpu_ns ? recorder->cpu_ns - baseline->cpu_ns : 0;
	recorder->missed_processes -= baseline->missed_processes;
	recorder->classes[LS_SAMPLE_DROPPED] += counters->dropped - baseline->counters.dropped;
	recorder->vma_busy = counters->vma_busy - baseline->counters.vma_busy;
	recorder->lost_records += counters->records_lost - baseline->counters.records_lost;
	recorder->samples = 0;
	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		recorder->samples += recorder->classes[i];
}
