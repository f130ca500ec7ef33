/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "json/json_field.h"
#include "offline/diff_report.h"

#define MILLIONTHS 1000000

static const char *const verdicts[] = {
	[DIFF_NOISE] = "noise", [DIFF_SLOWER] = "slower", [DIFF_FASTER] = "faster"};

/* Shares as millionths of the CPU time. */
static void put_row(struct json_writer *writer, const char *key, const struct diff_row *row)
{
	json_field__object(writer, key);
	json_field__text(writer, "Verdict", verdicts[row->verdict]);
	json_field__uint(writer, "BeforePpm", (uint64_t)(MILLIONTHS * row->before + 0.5));
	json_field__uint(writer, "AfterPpm", (uint64_t)(MILLIONTHS * row->after + 0.5));
	json_field__uint(writer, "ErrorPpm", (uint64_t)(MILLIONTHS * row->error + 0.5));
	json_field__uint(writer, "ChancePpm", (uint64_t)(MILLIONTHS * row->chance + 0.5));
	json_writer__end_object(writer);
}

static void put_side(struct json_writer *writer, const char *key,
		     const struct profile_diff_side *side)
{
	json_field__object(writer, key);
	json_field__uint(writer, "Recordings", side->recordings);
	json_field__uint(writer, "CpuUs", side->time_ns / 1000);
	json_field__uint(writer, "Samples", (uint64_t)side->samples);
	json_field__uint(writer, "AssumesSamples", side->assumes_samples);
	json_writer__end_object(writer);
}

static void put_functions(struct json_writer *writer, const struct profile_diff *diff)
{
	const struct ls_profile *profile = profile_diff__profile(diff);

	json_field__array_lines(writer, "Functions");
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		const struct ls_profile_function *function = &profile->functions[id];

		json_writer__object(writer);
		json_field__text(writer, "Source", function->source);
		json_field__text(writer, "Name", function->name);
		if (function->line)
			json_field__uint(writer, "Line", function->line);
		put_row(writer, "Self", &profile_diff__rows(diff, PROFILE_DIFF_SELF)[id]);
		put_row(writer, "Total", &profile_diff__rows(diff, PROFILE_DIFF_TOTAL)[id]);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

/* Of each stack, the one that it is called from, by its place in the list, from 1; 0: none. */
static void put_stacks(struct json_writer *writer, const struct profile_diff *diff)
{
	const struct ls_profile *profile = profile_diff__profile(diff);

	json_field__array_lines(writer, "Stacks");
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		json_writer__object(writer);
		json_field__uint(writer, "CallerId", profile->nodes[id].parent);
		json_field__uint(writer, "FunctionId", profile->nodes[id].function);
		put_row(writer, "Total", &profile_diff__rows(diff, PROFILE_DIFF_STACK)[id]);
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

int diff_report__print_json(const struct profile_diff *diff, const struct diff_options *options,
			    FILE *stream)
{
	struct profile_diff_side before = profile_diff__side(diff, false);
	struct profile_diff_side after = profile_diff__side(diff, true);
	struct json_writer writer;
	uint32_t worst;

	json_writer__init(&writer, stream);
	json_writer__object(&writer);
	json_field__text(&writer, "Values", options->by_time ? "time" : "share");
	put_side(&writer, "Before", &before);
	put_side(&writer, "After", &after);
	json_field__uint(&writer, "NoisePpm",
			 (uint64_t)(MILLIONTHS * profile_diff__noise(diff) + 0.5));
	json_field__uint(&writer, "AssumesNoise", options->input_count == 2);
	json_field__uint(&writer, "ConfidencePpm", options->confidence_ppm);
	json_field__uint(&writer, "WorstPpm",
			 (uint64_t)(MILLIONTHS * diff_report__worst(diff, &worst) + 0.5));
	put_functions(&writer, diff);
	put_stacks(&writer, diff);
	json_writer__end_object(&writer);
	return json_writer__finish(&writer);
}
