/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session from its records to its file. An input is choices, how long the target's
 * memory is, then records; at the end comes that memory. What BPF can send has to add up; what it
 * cannot must do no harm.
 */
#include <jansson.h>

#include "summary/category_words.h"
#include "summary/summary.h"
#include "memory_of_input.h"
#include "profile/merged_profile.h"
#include "profile/totals.h"
#include "profile/view.h"
#include "format/write_scriptprofiler.h"
#include "puc/layout_puc.h"
#include "recording/recording.h"

#define RECORDS_MAX 400
#define FRAMES_MAX  24
#define NS_PER_US   1000

struct run {
	struct recording *recording;
	struct input input;
	enum merged_lines lines;
	struct view_options view;
	uint64_t samples;
	uint64_t dropped; /* of a process that is not known any more */
	int has_ended;    /* the second process */
};

/* Few, so that they meet again; or any. */
static uint64_t take_number(struct input *input)
{
	uint8_t byte = input__take(input, 1);

	if (byte < 0xf0)
		return byte % 16;
	return byte < 0xfc ? 0x400000 + byte : input__take(input, 8);
}

/* One of few threads of two processes. */
static uint32_t take_thread(struct input *input, uint32_t *pid)
{
	uint8_t byte = input__take(input, 1);

	*pid = byte >> 7;
	return byte % 32;
}

static void take_comm(struct input *input, char comm[LS_COMM_LEN])
{
	uint8_t length = input__take(input, 1) % LS_COMM_LEN;

	memset(comm, 0, LS_COMM_LEN);
	input__take_bytes(input, comm, length);
}

static void send_sample(struct run *run)
{
	static struct ls_frame frames[FRAMES_MAX];
	struct ls_sample sample = {.type = LS_RECORD_SAMPLE};
	struct input *input = &run->input;

	sample.tid = take_thread(input, &sample.tgid);
	sample.dropped_before = input__take(input, 1) % 8 == 7 ? input__take(input, 4) : 0;
	sample.runtime_ns = input__take(input, 5);
	sample.period_ns = 1000000;
	sample.state = take_number(input);
	sample.error = input__take(input, 1) % LS_WALK_ERROR_COUNT;
	sample.class = input__take(input, 1) % LS_SAMPLE_CLASS_COUNT;
	sample.layout = input__take(input, 1) % LS_LAYOUT_MAX;
	sample.verified = input__take(input, 1) & 1;
	sample.other_layouts = input__take(input, 1) % 8 == 7 ? input__take(input, 2) : 0;
	sample.frame_count = input__take(input, 1) % FRAMES_MAX;
	take_comm(input, sample.comm);
	for (uint32_t i = 0; i < sample.frame_count; i++)
		frames[i] = (struct ls_frame){
			.function = take_number(input),
			.fingerprint = take_number(input),
			.pc = (uint32_t)take_number(input),
			.kind = input__take(input, 1) % 5,
			.flags = input__take(input, 1),
		};
	require(recording__sample(run->recording, &sample, frames) == 0);
	if (sample.tgid && run->has_ended)
		run->dropped++;
	else
		run->samples++;
}

static void send_function(struct run *run)
{
	struct ls_function function = {.type = LS_RECORD_FUNCTION};
	struct input *input = &run->input;

	function.function = take_number(input);
	function.fingerprint = take_number(input);
	function.shape = take_number(input);
	function.line_defined = (uint32_t)take_number(input);
	function.last_line_defined = (uint32_t)take_number(input);
	function.source_length = take_number(input) % LS_SOURCE_LEN;
	function.name_length = take_number(input) % LS_NAME_LEN;
	input__take_bytes(input, function.text, function.source_length);
	input__take_bytes(input, function.text + function.source_length + 1, function.name_length);
	require(recording__function(run->recording, &function) == 0);
}

static void send_exit(struct run *run)
{
	struct ls_thread_exit exit = {.type = LS_RECORD_THREAD_EXIT};

	exit.tid = take_thread(&run->input, &exit.tgid);
	exit.runtime_ns = input__take(&run->input, 5);
	take_comm(&run->input, exit.comm);
	require(recording__thread_exit(run->recording, &exit) == 0);
}

static void send_record(struct run *run)
{
	char comm[LS_COMM_LEN];
	struct recorded_thread thread = {.comm = comm};

	switch (input__take(&run->input, 1) % 16) {
	case 0 ... 3:
		send_function(run);
		return;
	case 4:
		send_exit(run);
		return;
	case 5:
		require(recording__exec(run->recording, 0) == 0);
		return;
	case 6:
		thread.tid = take_thread(&run->input, (uint32_t *)&thread.pid);
		take_comm(&run->input, comm);
		thread.runtime_ns = input__take(&run->input, 5);
		require(recording__begin_thread(run->recording, &thread) == 0);
		return;
	case 7:
		recording__end_process(run->recording, 1);
		run->has_ended = 1;
		return;
	default:
		send_sample(run);
		return;
	}
}

/* The sum of the nodes' own times is that of the categories; none is negative. */
static void check_nodes(const json_t *document, json_int_t all_us)
{
	const json_t *nodes = json_object_get(document, "Nodes");
	json_int_t self_us = 0;
	const json_t *node, *child;
	size_t i, j;

	json_array_foreach(nodes, i, node)
	{
		json_int_t self = json_integer_value(json_object_get(node, "TotalDuration"));

		json_array_foreach(json_object_get(node, "NodeIds"), j, child)
		{
			size_t id = (size_t)json_integer_value(child);

			require(id > i + 1 && id <= json_array_size(nodes));
			self -= json_integer_value(
				json_object_get(json_array_get(nodes, id - 1), "TotalDuration"));
		}
		require(self >= 0);
		self_us += self;
	}
	require(self_us == all_us);
}

static void check_document(const char *text, size_t size, const struct ls_totals *totals)
{
	json_error_t error;
	json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	json_int_t all_us = 0;
	const json_t *category;
	size_t i;

	if (!document)
		fprintf(stderr, "%s at byte %d: %s\n", error.text, error.position, text);
	require(document);
	for (i = 0; i < size; i++)
		require(text[i] == '\n' || (uint8_t)text[i] >= ' ');
	require(!strstr(text, "</") && !strstr(text, "<!"));
	json_array_foreach(json_object_get(document, "Categories"), i, category)
	{
		json_int_t id = json_integer_value(json_object_get(category, "NodeId"));
		const json_t *node =
			json_array_get(json_object_get(document, "Nodes"), (size_t)id - 1);

		require(node);
		all_us += json_integer_value(json_object_get(node, "TotalDuration"));
	}
	require((uint64_t)all_us == totals->all_us);
	check_nodes(document, all_us);
	json_decref(document);
}

/* As it is put on a terminal: lines of text, without anything that moves a cursor. */
static void check_summary(const struct ls_profile *profile, const struct ls_totals *totals)
{
	const struct summary_options options = {
		.tree_depth = 512,
		.callers = "<anonymous>",
		.words = category_words__of(CATEGORY_THREAD, GROUPING_NONE),
	};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	require(stream);
	summary__print(profile, totals, &options, stream);
	summary__print_accounting(profile, totals, true, stream);
	fclose(stream);
	for (size_t i = 0; i < size; i++)
		require(text[i] == '\n' || ((uint8_t)text[i] >= ' ' && text[i] != 0x7f));
	free(text);
}

static void check_file(struct run *run)
{
	struct ls_profile profile = {.recorder = {.version = "0", .target = "\x1b]0;x"}};
	struct merged_profile *merged;
	struct view *view = NULL;
	struct ls_totals totals;
	const uint64_t *classes = recording__classes(run->recording);
	uint64_t counted = 0, self_ns = 0;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	require(stream);
	recording__export(run->recording, &profile);
	if (run->view.plugins.count) {
		require(profile.sample_count == run->samples);
		require(view__new(&profile, &run->view, &view) == 0);
		profile = *view__profile(view);
	}
	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		counted += classes[i];
	require(counted == run->samples + run->dropped);
	require(classes[LS_SAMPLE_DROPPED] >= run->dropped);
	for (uint32_t id = 1; id <= profile.node_count; id++)
		self_ns += profile.nodes[id].self_ns;
	require(merged_profile__new(&profile, run->lines, &merged) == 0);
	require(totals__compute(merged_profile__profile(merged), &totals) == 0);
	require(totals.all_us == self_ns / NS_PER_US);
	require(write_scriptprofiler(merged_profile__profile(merged), &totals, stream) == 0);
	fclose(stream);
	check_document(text, size, &totals);
	check_summary(merged_profile__profile(merged), &totals);
	totals__free(&totals);
	merged_profile__free(merged);
	view__free(view);
	free(text);
}

/* All that can be seen otherwise. */
static void look_otherwise(struct run *run)
{
	require(recording__keep_timeline(run->recording) == 0);
	require(recording__keep_coroutines(run->recording) == 0);
	require(patterns__add(&run->view.coroutines, "*[a-m]*") == 0);
	require(patterns__add(&run->view.plugins, "?*a*") == 0);
	require(patterns__add(&run->view.ignored, "*e*:[0-5]*") == 0);
	require(patterns__add(&run->view.ignored, "[C]:*") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct run run = {.input = {bytes, size}};
	uint8_t choices = input__take(&run.input, 1);
	size_t memory_size = input__take(&run.input, 3);
	struct inspector *inspector;
	struct input memory;

	if (memory_size > run.input.left)
		memory_size = run.input.left;
	run.input.left -= memory_size;
	memory = (struct input){run.input.bytes + run.input.left, memory_size};
	memory_of_input__set(&memory, choices & 1);
	run.lines = choices & 2 ? MERGED_LINES_SPLIT : MERGED_LINES_FOLDED;
	inspector = inspector__new_local(&inspection_job);
	require(inspector);
	run.recording = recording__new(CATEGORY_THREAD, 1, inspector);
	require(run.recording);
	for (pid_t pid = 0; pid < 2; pid++)
		require(recording__add_process(run.recording, pid, "fuzzed") == 0);
	if (choices & 4)
		look_otherwise(&run);
	for (int i = 0; i < RECORDS_MAX && run.input.left; i++)
		send_record(&run);
	for (pid_t pid = 0; pid < 2; pid++)
		recording__finish(run.recording, pid, "end", input__take(&memory, 5));
	check_file(&run);
	recording__free(run.recording);
	inspector__free(inspector);
	return 0;
}
