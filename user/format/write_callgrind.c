/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Callgrind's format, for KCachegrind and callgrind_annotate: the self time of functions by line,
 * and the call graph. Samples do not count calls, so "calls=" has samples. Categories are functions
 * that call the outermost ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "derived/call_arcs.h"
#include "derived/frame_labels.h"
#include "format/format.h"

#define CATEGORY_FILE "(category)"
#define NO_FILE       "(no source)"

struct output {
	const struct ls_profile *profile;
	const struct ls_totals *totals;
	const struct frame_labels *labels;
	struct call_arcs arcs;
	uint64_t *self_us, *self_samples; /* by function, categories included */
	bool *is_named;                   /* by function: the file defines its number already */
	bool has_samples;
	FILE *stream;
};

static uint32_t function_count(const struct output *output)
{
	return output->profile->function_count + output->profile->category_count;
}

/* 0 if there is none. */
static uint32_t line_of(const struct output *output, uint32_t function)
{
	return function <= output->profile->function_count
		       ? output->profile->functions[function].line
		       : 0;
}

/* Puts file and function, whose name is written only once; `call` is "c" for an arc's callee. */
static void put_names(const struct output *output, uint32_t function, const char *call)
{
	const struct ls_profile *profile = output->profile;
	bool is_category = function > profile->function_count;
	const char *source =
		is_category ? CATEGORY_FILE : frame_labels__source(output->labels, function);
	const char *name =
		is_category ? frame_labels__of_category(output->labels,
							function - profile->function_count - 1)
			    : frame_labels__of(output->labels, function);

	fprintf(output->stream, "%s=%s\n%sfn=(%" PRIu32 ")%s%s\n", *call ? "cfi" : "fl",
		*source ? source : NO_FILE, call, function, output->is_named[function] ? "" : " ",
		output->is_named[function] ? "" : name);
	output->is_named[function] = true;
}

static void put_cost(const struct output *output, uint32_t line, uint64_t us, uint64_t samples)
{
	fprintf(output->stream, "%" PRIu32 " %" PRIu64, line, us);
	if (output->has_samples)
		fprintf(output->stream, " %" PRIu64, samples);
	fputc('\n', output->stream);
}

/* Known lines get their share; the line of the definition gets the rest. */
static void put_self(const struct output *output, uint32_t function)
{
	const struct ls_profile *profile = output->profile;
	uint64_t us = output->self_us[function], samples = output->self_samples[function];
	const struct ls_profile_function *described = &profile->functions[function];

	if (function <= profile->function_count && described->current_line) {
		put_cost(output, described->current_line, us, samples);
		return;
	}
	for (uint32_t i = 0; function <= profile->function_count && i < described->line_count;
	     i++) {
		uint32_t at = described->first_line + i;
		uint64_t line_us = output->totals->line_self_us[at];
		uint64_t line_samples = profile->lines[at].samples;

		if (line_us > us)
			line_us = us;
		if (line_samples > samples)
			line_samples = samples;
		put_cost(output, profile->lines[at].line, line_us, line_samples);
		us -= line_us;
		samples -= line_samples;
	}
	if (us || samples)
		put_cost(output, line_of(output, function), us, samples);
}

static void put_function(const struct output *output, uint32_t function, size_t first, size_t end)
{
	if (first == end && !output->self_us[function] && !output->self_samples[function])
		return;
	fputc('\n', output->stream);
	put_names(output, function, "");
	put_self(output, function);
	for (size_t i = first; i < end; i++) {
		const struct call_arc *arc = &output->arcs.arcs[i];

		if (!arc->us && !arc->samples)
			continue;
		put_names(output, arc->callee, "c");
		fprintf(output->stream, "calls=%" PRIu64 " %" PRIu32 "\n",
			output->has_samples && arc->samples ? arc->samples : 1,
			line_of(output, arc->callee));
		put_cost(output, line_of(output, function), arc->us, arc->samples);
	}
}

static void put_head(const struct output *output, uint64_t samples)
{
	const struct ls_profile_recorder *recorder = &output->profile->recorder;
	char target[1024];

	fprintf(output->stream, "# callgrind format\nversion: 1\ncreator: luaspy\n");
	if (recorder->target)
		fprintf(output->stream, "cmd: %s\n",
			log__printable(recorder->target, target, sizeof(target)));
	fprintf(output->stream, "positions: line\nevent: us : CPU time in microseconds\n");
	if (output->has_samples)
		fprintf(output->stream, "event: samples : Samples\n");
	fprintf(output->stream, "events: us%s\nsummary: %" PRIu64,
		output->has_samples ? " samples" : "", output->totals->all_us);
	if (output->has_samples)
		fprintf(output->stream, " %" PRIu64, samples);
	fputc('\n', output->stream);
}

static int sum_self(struct output *output, uint64_t *samples)
{
	const struct ls_profile *profile = output->profile;

	output->self_us = calloc((size_t)function_count(output) + 1, sizeof(uint64_t));
	output->self_samples = calloc((size_t)function_count(output) + 1, sizeof(uint64_t));
	output->is_named = calloc((size_t)function_count(output) + 1, sizeof(bool));
	if (!output->self_us || !output->self_samples || !output->is_named)
		return -ENOMEM;
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		uint32_t function = profile->nodes[id].function;

		output->self_us[function] += totals__node_self_us(profile, output->totals, id);
		output->self_samples[function] += profile->nodes[id].samples;
		*samples += profile->nodes[id].samples;
	}
	for (uint32_t i = 0; i < profile->category_count; i++) {
		uint32_t node = profile->categories[i].node;

		output->self_us[profile->function_count + 1 + i] =
			totals__node_self_us(profile, output->totals, node);
		output->self_samples[profile->function_count + 1 + i] =
			profile->nodes[node].samples;
	}
	output->has_samples = *samples;
	return 0;
}

int write_callgrind(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_UNIQUE);
	struct output output = {
		.profile = profile, .totals = totals, .labels = labels, .stream = stream};
	uint64_t samples = 0;
	int error = call_arcs__make(profile, totals, &output.arcs);

	if (!error)
		error = labels ? sum_self(&output, &samples) : -ENOMEM;
	if (error)
		goto cleanup;
	put_head(&output, samples);
	for (uint32_t function = 1, at = 0; function <= function_count(&output); function++) {
		size_t first = at;

		while (at < output.arcs.count && output.arcs.arcs[at].caller == function)
			at++;
		put_function(&output, function, first, at);
	}
	fprintf(stream, "\ntotals: %" PRIu64, totals->all_us);
	if (output.has_samples)
		fprintf(stream, " %" PRIu64, samples);
	fputc('\n', stream);
	error = ferror(stream) ? -EIO : 0;
cleanup:
	call_arcs__free(&output.arcs);
	free(output.self_us);
	free(output.self_samples);
	free(output.is_named);
	frame_labels__free(labels);
	return error;
}
