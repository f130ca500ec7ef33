/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "top/function_stats_internal.h"

static uint64_t minus(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void stats_sums__take(struct stats_sums *sums, const struct ls_profile_recorder *recorder)
{
	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++) {
		sums->classes[i] = recorder->classes[i];
		sums->samples += recorder->classes[i];
	}
	memcpy(sums->errors, recorder->errors, sizeof(sums->errors));
	sums->not_kept = recorder->lost_records + recorder->evicted_samples;
	sums->missed = recorder->missed_processes;
}

struct stats_sums stats_sums__since(const struct stats_sums *now, const struct stats_sums *before)
{
	struct stats_sums sums = {
		.elapsed_ns = now->elapsed_ns - before->elapsed_ns,
		.cpu_ns = minus(now->cpu_ns, before->cpu_ns),
		.samples = now->samples - before->samples,
		.weight_ns = minus(now->weight_ns, before->weight_ns),
		.script_ns = minus(now->script_ns, before->script_ns),
		.gc_ns = minus(now->gc_ns, before->gc_ns),
		.not_kept = minus(now->not_kept, before->not_kept),
		.missed = minus(now->missed, before->missed),
	};

	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		sums.classes[i] = now->classes[i] - before->classes[i];
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		sums.errors[error] = now->errors[error] - before->errors[error];
	return sums;
}
