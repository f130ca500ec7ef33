/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "statistics/function_stats_internal.h"

#include <string.h>

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
		.split = script_split__since(&now->split, &before->split),
		.not_kept = minus(now->not_kept, before->not_kept),
		.missed = minus(now->missed, before->missed),
	};

	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		sums.classes[i] = now->classes[i] - before->classes[i];
	for (int error = 0; error < LS_WALK_ERROR_COUNT; error++)
		sums.errors[error] = now->errors[error] - before->errors[error];
	return sums;
}

struct stats_row function_stats__make_row(const struct function_stats *stats, uint32_t key)
{
	const struct known_function *function = known_functions__of(&stats->known, key);

	return (struct stats_row){
		.function = key / 2,
		.source = function->source,
		.name = function->name,
		.line = function->line,
		.is_native = function->is_native,
		.is_plugin = key % 2,
	};
}

bool function_stats__leaves_out(const struct function_stats *stats, uint32_t key)
{
	return (stats->hidden & STATS_HIDDEN_GC &&
		known_functions__of(&stats->known, key)->part == SCRIPT_GC) ||
	       (stats->hidden & STATS_HIDDEN_PLUGINS && key % 2);
}

struct stats_times function_stats__show(const struct function_stats *stats,
					struct stats_times times)
{
	if (times.gc > times.total)
		times.gc = times.total;
	if (stats->hidden & STATS_HIDDEN_GC)
		times.total -= times.gc;
	return times;
}
