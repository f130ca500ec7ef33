/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processed format of the Firefox Profiler, in a version that later ones still read. Each
 * category is a process, with a thread for each of the target's. Samples have the wall-clock time
 * at which they were taken, and weigh the CPU time that they stand for.
 *
 * Node N is stack N - 1. Categories have frames of their own, for time without a stack, but are not
 * part of other stacks, since they are processes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "derived/frame_labels.h"
#include "derived/sample_order.h"
#include "format/format.h"
#include "json/json_field.h"

#define PROCESSED_VERSION 60 /* preprocessedProfileVersion */
#define GECKO_VERSION     24 /* meta.version, of what Firefox itself sends */
#define NS_PER_US         1000

/* These flags number the reader's subcategories. */
#define FLAGS (LS_FUNCTION_NATIVE | LS_FUNCTION_PLUGIN)

/* The reader's categories of frames. */
enum {
	FRAME_OTHER,
	FRAME_SCRIPT,
	FRAME_C,
	FRAME_GC,
};

struct source {
	const char *name;
	uint32_t index;
	UT_hash_handle hh; /* by name */
};

struct output {
	const struct ls_profile *profile;
	const struct frame_labels *labels;
	struct json_writer writer;
	struct sample_order order;
	struct source *sources; /* by frame of a function */
	struct source *table;   /* of the distinct ones */
	uint32_t source_count;
	uint32_t *categories; /* by node of a category: its index */
};

/* Functions come first in the tables of frames, functions and strings, then categories. */
static uint32_t frame_count(const struct output *output)
{
	return output->profile->function_count + output->profile->category_count;
}

/* 0: none. */
static void put_number_or_null(struct output *output, uint64_t value)
{
	if (value)
		json_writer__uint(&output->writer, value);
	else
		json_writer__null(&output->writer);
}

/* Writes a column's cell in a row, counted from 0. */
typedef void cell_writer(struct output *output, uint32_t row);

static void put_column(struct output *output, const char *key, uint32_t count, cell_writer *put)
{
	json_field__array(&output->writer, key);
	for (uint32_t row = 0; row < count; row++)
		put(output, row);
	json_writer__end_array(&output->writer);
}

static void put_null(struct output *output, uint32_t row)
{
	(void)row;
	json_writer__null(&output->writer);
}

static void put_zero(struct output *output, uint32_t row)
{
	(void)row;
	json_writer__uint(&output->writer, 0);
}

static void put_none(struct output *output, uint32_t row)
{
	(void)row;
	json_writer__int(&output->writer, -1);
}

static void put_row(struct output *output, uint32_t row)
{
	json_writer__uint(&output->writer, row);
}

static void put_kind(struct output *output, const char *name, const char *color)
{
	static const char *const by_flags[] = {"Other", "Native", "Plugin", "Native plugin"};

	json_writer__object(&output->writer);
	json_field__printable(&output->writer, "name", name);
	json_field__printable(&output->writer, "color", color);
	json_field__array(&output->writer, "subcategories");
	for (size_t i = 0; i < sizeof(by_flags) / sizeof(by_flags[0]); i++)
		json_writer__printable(&output->writer, by_flags[i]);
	json_writer__end_array(&output->writer);
	json_writer__end_object(&output->writer);
}

static void put_meta(struct output *output)
{
	const struct ls_profile_recorder *recorder = &output->profile->recorder;

	json_field__object(&output->writer, "meta");
	json_writer__key(&output->writer, "interval");
	json_writer__thousandths(&output->writer, recorder->period_ns / NS_PER_US);
	json_field__uint(&output->writer, "startTime", recorder->start_ms);
	json_field__text(&output->writer, "product",
			 recorder->target ? recorder->target : "luaspy");
	json_field__printable(&output->writer, "importedFrom", "luaspy");
	json_field__uint(&output->writer, "processType", 0);
	json_field__uint(&output->writer, "stackwalk", 0);
	json_field__uint(&output->writer, "version", GECKO_VERSION);
	json_field__uint(&output->writer, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_field__bool(&output->writer, "symbolicated", true);
	json_field__bool(&output->writer, "usesOnlyOneStackType", true);
	json_field__bool(&output->writer, "doesNotUseFrameImplementation", true);
	json_field__bool(&output->writer, "sourceCodeIsNotOnSearchfox", true);
	json_field__array(&output->writer, "markerSchema");
	json_writer__end_array(&output->writer);
	json_field__object(&output->writer, "sampleUnits");
	json_field__printable(&output->writer, "time", "ms");
	json_field__printable(&output->writer, "eventDelay", "ms");
	json_field__printable(&output->writer, "threadCPUDelta", "\xc2\xb5s");
	json_writer__end_object(&output->writer);
	json_field__array(&output->writer, "categories"); /* in the order of the enum */
	put_kind(output, "Other", "grey");
	put_kind(output, "Lua", "yellow");
	put_kind(output, "C", "blue");
	put_kind(output, "GC", "orange");
	json_writer__end_array(&output->writer);
	json_writer__end_object(&output->writer);
}

/* NULL: the frame is of a category. */
static const struct ls_profile_function *function_of(const struct output *output, uint32_t frame)
{
	return frame < output->profile->function_count ? &output->profile->functions[frame + 1]
						       : NULL;
}

static void put_frame_kind(struct output *output, uint32_t frame)
{
	const struct ls_profile_function *function = function_of(output, frame);
	unsigned int kind = FRAME_OTHER;

	if (function && profile__is_gc(function))
		kind = FRAME_GC;
	else if (function && function->source)
		kind = strcmp(function->source, "[C]") != 0 ? FRAME_SCRIPT : FRAME_C;
	json_writer__uint(&output->writer, kind);
}

static void put_frame_flags(struct output *output, uint32_t frame)
{
	const struct ls_profile_function *function = function_of(output, frame);

	json_writer__uint(&output->writer, function ? function->flags & FLAGS : 0);
}

/* A function that is split by line has a frame for each line. */
static void put_frame_function(struct output *output, uint32_t frame)
{
	const struct ls_profile_function *function = function_of(output, frame);

	json_writer__uint(&output->writer,
			  function && function->function ? function->function - 1 : frame);
}

static void put_frame_line(struct output *output, uint32_t frame)
{
	const struct ls_profile_function *function = function_of(output, frame);

	put_number_or_null(output, !function                ? 0
				   : function->current_line ? function->current_line
							    : function->line);
}

static void put_frames(struct output *output)
{
	uint32_t count = frame_count(output);

	json_field__object(&output->writer, "frameTable");
	put_column(output, "address", count, put_none);
	put_column(output, "inlineDepth", count, put_zero);
	put_column(output, "category", count, put_frame_kind);
	put_column(output, "subcategory", count, put_frame_flags);
	put_column(output, "func", count, put_frame_function);
	put_column(output, "nativeSymbol", count, put_null);
	put_column(output, "innerWindowID", count, put_null);
	put_column(output, "line", count, put_frame_line);
	put_column(output, "column", count, put_null);
	json_field__uint(&output->writer, "length", count);
	json_writer__end_object(&output->writer);
}

static void put_is_script(struct output *output, uint32_t frame)
{
	json_writer__bool(&output->writer, function_of(output, frame));
}

static void put_false(struct output *output, uint32_t frame)
{
	(void)frame;
	json_writer__bool(&output->writer, false);
}

static void put_source_of(struct output *output, uint32_t frame)
{
	if (function_of(output, frame) && function_of(output, frame)->source)
		json_writer__uint(&output->writer, output->sources[frame].index);
	else
		json_writer__null(&output->writer);
}

static void put_line_of(struct output *output, uint32_t frame)
{
	const struct ls_profile_function *function = function_of(output, frame);

	put_number_or_null(output, function ? function->line : 0);
}

static void put_functions(struct output *output)
{
	uint32_t count = frame_count(output);

	json_field__object(&output->writer, "funcTable");
	put_column(output, "name", count, put_row);
	put_column(output, "isJS", count, put_is_script);
	put_column(output, "relevantForJS", count, put_false);
	put_column(output, "resource", count, put_none);
	put_column(output, "source", count, put_source_of);
	put_column(output, "lineNumber", count, put_line_of);
	put_column(output, "columnNumber", count, put_null);
	json_field__uint(&output->writer, "length", count);
	json_writer__end_object(&output->writer);
}

static void put_stack_frame(struct output *output, uint32_t stack)
{
	uint32_t function = output->profile->nodes[stack + 1].function;

	json_writer__uint(&output->writer, function ? function - 1
						    : output->profile->function_count +
							      output->categories[stack + 1]);
}

static void put_stack_prefix(struct output *output, uint32_t stack)
{
	const struct ls_profile_node *nodes = output->profile->nodes;
	uint32_t parent = nodes[stack + 1].parent;

	if (parent && nodes[parent].parent)
		json_writer__uint(&output->writer, parent - 1);
	else
		json_writer__null(&output->writer);
}

static void put_stacks(struct output *output)
{
	uint32_t count = output->profile->node_count;

	json_field__object(&output->writer, "stackTable");
	put_column(output, "frame", count, put_stack_frame);
	put_column(output, "prefix", count, put_stack_prefix);
	json_field__uint(&output->writer, "length", count);
	json_writer__end_object(&output->writer);
}

static void put_source_name(struct output *output, uint32_t source)
{
	json_writer__uint(&output->writer, (uint64_t)frame_count(output) + source);
}

static void put_sources(struct output *output)
{
	json_field__object(&output->writer, "sources");
	put_column(output, "uuid", output->source_count, put_null);
	put_column(output, "filename", output->source_count, put_source_name);
	json_field__uint(&output->writer, "length", output->source_count);
	json_writer__end_object(&output->writer);
}

/* Labels of frames, then sources. */
static void put_strings(struct output *output)
{
	const struct ls_profile *profile = output->profile;
	struct source *source, *next;

	json_field__array(&output->writer, "stringArray");
	for (uint32_t id = 1; id <= profile->function_count; id++)
		json_writer__printable(&output->writer, frame_labels__of(output->labels, id));
	for (uint32_t i = 0; i < profile->category_count; i++)
		json_writer__printable(&output->writer,
				       frame_labels__of_category(output->labels, i));
	HASH_ITER (hh, output->table, source, next)
		json_writer__printable(&output->writer, source->name);
	json_writer__end_array(&output->writer);
}

static void put_empty_table(struct output *output, const char *key, const char *const *columns)
{
	json_field__object(&output->writer, key);
	for (; *columns; columns++)
		put_column(output, *columns, 0, put_null);
	json_field__uint(&output->writer, "length", 0);
	json_writer__end_object(&output->writer);
}

static void put_shared(struct output *output)
{
	static const char *const resources[] = {"lib", "name", "host", "type", NULL};
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};

	json_field__object(&output->writer, "shared");
	put_strings(output);
	put_stacks(output);
	put_frames(output);
	put_functions(output);
	put_empty_table(output, "resourceTable", resources);
	put_empty_table(output, "nativeSymbols", symbols);
	put_sources(output);
	json_writer__end_object(&output->writer);
}

/* Samples without a place on the timeline follow one another. */
static void put_times(struct output *output, size_t first, size_t end)
{
	uint64_t at_us = 0;

	json_field__array(&output->writer, "time");
	for (size_t i = first; i < end; i++) {
		const struct ordered_sample *sample = &output->order.samples[i];

		json_writer__thousandths(&output->writer, sample->thread ? sample->at_us : at_us);
		at_us += sample->us;
	}
	json_writer__end_array(&output->writer);
}

static void put_samples(struct output *output, size_t first, size_t end)
{
	const struct ordered_sample *samples = output->order.samples;

	json_field__object(&output->writer, "samples");
	json_field__array(&output->writer, "stack");
	for (size_t i = first; i < end; i++)
		json_writer__uint(&output->writer, samples[i].node - 1);
	json_writer__end_array(&output->writer);
	put_times(output, first, end);
	json_field__printable(&output->writer, "weightType", "tracing-ms");
	json_field__array(&output->writer, "weight");
	for (size_t i = first; i < end; i++)
		json_writer__thousandths(&output->writer, samples[i].us);
	json_writer__end_array(&output->writer);
	json_field__array(&output->writer, "threadCPUDelta");
	for (size_t i = first; i < end; i++)
		json_writer__uint(&output->writer, samples[i].us);
	json_writer__end_array(&output->writer);
	json_field__uint(&output->writer, "length", end - first);
	json_writer__end_object(&output->writer);
}

/* Thread 0 has the samples that are not on the timeline. */
static void put_thread_name(struct output *output, const struct ordered_sample *sample)
{
	char name[64];

	snprintf(name, sizeof(name), sample->thread ? "thread %" PRIu32 : "not on the timeline",
		 sample->thread);
	json_field__printable(&output->writer, "name", name);
	json_field__printable(&output->writer, "processName",
			      frame_labels__of_category(output->labels, sample->category));
	snprintf(name, sizeof(name), "%" PRIu32, sample->category + 1);
	json_field__printable(&output->writer, "pid", name);
	json_field__uint(&output->writer, "tid", sample->thread);
}

static void put_thread(struct output *output, size_t first, size_t end)
{
	static const char *const markers[] = {"data",  "name",     "startTime", "endTime",
					      "phase", "category", NULL};
	const struct ordered_sample *samples = output->order.samples;

	json_writer__object(&output->writer);
	put_thread_name(output, &samples[first]);
	json_field__printable(&output->writer, "processType", "default");
	json_field__uint(&output->writer, "processStartupTime", 0);
	json_field__null(&output->writer, "processShutdownTime");
	json_field__uint(&output->writer, "registerTime", 0);
	json_field__null(&output->writer, "unregisterTime");
	json_field__array(&output->writer, "pausedRanges");
	json_writer__end_array(&output->writer);
	json_field__bool(&output->writer, "isMainThread",
			 !first || samples[first - 1].category != samples[first].category);
	put_samples(output, first, end);
	put_empty_table(output, "markers", markers);
	json_writer__end_object(&output->writer);
}

static void put_threads(struct output *output)
{
	const struct sample_order *order = &output->order;

	json_field__array_lines(&output->writer, "threads");
	for (size_t first = 0, end; first < order->count; first = end) {
		end = sample_order__group_end(order, first);
		put_thread(output, first, end);
	}
	json_writer__end_array(&output->writer);
}

/* Numbers the distinct sources. */
static int find_sources(struct output *output)
{
	const struct ls_profile *profile = output->profile;

	output->sources = calloc((size_t)profile->function_count + 1, sizeof(*output->sources));
	if (!output->sources)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->function_count; i++) {
		const char *name = frame_labels__source(output->labels, i + 1);
		struct source *added = &output->sources[i], *found;

		HASH_FIND_STR(output->table, name, found);
		*added = (struct source){.name = name, .index = output->source_count};
		if (found) {
			added->index = found->index;
			continue;
		}
		HASH_ADD_KEYPTR(hh, output->table, name, strlen(name), added);
		if (!HASH_HAS_ADDED(added))
			return -ENOMEM;
		output->source_count++;
	}
	return 0;
}

static int find_categories(struct output *output)
{
	const struct ls_profile *profile = output->profile;

	output->categories = calloc((size_t)profile->node_count + 1, sizeof(uint32_t));
	if (!output->categories)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->category_count; i++)
		output->categories[profile->categories[i].node] = i;
	return 0;
}

static int put_document(struct output *output)
{
	json_writer__object(&output->writer);
	put_meta(output); /* first: Perfetto recognises the format by it */
	json_field__array(&output->writer, "libs");
	json_writer__end_array(&output->writer);
	put_shared(output);
	put_threads(output);
	json_writer__end_object(&output->writer);
	return json_writer__finish(&output->writer);
}

int write_firefox(const struct ls_profile *profile, const struct ls_totals *totals, FILE *stream)
{
	struct frame_labels *labels = frame_labels__new(profile, FRAME_LABELS_NAME);
	struct output output = {.profile = profile, .labels = labels};
	int error = sample_order__make(profile, totals, &output.order);

	json_writer__init(&output.writer, stream);
	if (!error)
		error = labels ? find_sources(&output) : -ENOMEM;
	if (!error)
		error = find_categories(&output);
	if (!error)
		error = sample_order__group(&output.order);
	if (!error)
		error = put_document(&output);
	HASH_CLEAR(hh, output.table);
	free(output.sources);
	free(output.categories);
	sample_order__free(&output.order);
	frame_labels__free(labels);
	return error;
}
