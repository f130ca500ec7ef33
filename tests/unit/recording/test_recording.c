/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "app_recording.h"
#include "puc/layout_puc.h"
#include "walk_error.h"

#define PERIOD 1000000U

static struct ls_frame script(uint32_t line)
{
	return (struct ls_frame){.kind = LS_FRAME_LUA, .function = MAIN + line, .fingerprint = 7};
}

static struct ls_sample make_sample(uint8_t class)
{
	return (struct ls_sample){.type = LS_RECORD_SAMPLE,
				  .tgid = NO_PID,
				  .tid = 1,
				  .class = class,
				  .comm = "lua",
				  .period_ns = PERIOD};
}

static void take(struct recording *recording, struct ls_sample sample,
		 const struct ls_frame *frames, uint16_t count)
{
	sample.frame_count = count;
	assert_int_equal(recording__sample(recording, &sample, frames), 0);
}

/* A complete stack of thread 1, leaf first. */
#define stack(recording, ...)                                                                      \
	take(recording, make_sample(LS_SAMPLE_COMPLETE), (struct ls_frame[]){__VA_ARGS__},         \
	     sizeof((struct ls_frame[]){__VA_ARGS__}) / sizeof(struct ls_frame))

static const char *label(const struct ls_profile *profile, uint32_t node, char to[64])
{
	const struct ls_profile_function *function =
		&profile->functions[profile->nodes[node].function];

	for (uint32_t i = 0; i < profile->category_count; i++)
		if (profile->categories[i].node == node)
			return profile->categories[i].name;
	if (function->name)
		return function->name;
	snprintf(to, 64, "%s:%u", function->source, function->line);
	return to;
}

/* The node of "category;root;...;leaf", or NULL. */
static const struct ls_profile_node *find(struct recording *recording, const char *path)
{
	struct ls_profile profile = {};

	recording__export(recording, &profile);
	for (uint32_t id = 1; id <= profile.node_count; id++) {
		char whole[512] = "", longer[1024], buffer[64];

		for (uint32_t node = id; node; node = profile.nodes[node].parent) {
			snprintf(longer, sizeof(longer), "%s%s%s", label(&profile, node, buffer),
				 *whole ? ";" : "", whole);
			snprintf(whole, sizeof(whole), "%.511s", longer);
		}
		if (!strcmp(whole, path))
			return &profile.nodes[id];
	}
	return NULL;
}

static void assert_samples(struct recording *recording, const char *path, uint64_t expected)
{
	const struct ls_profile_node *node = find(recording, path);

	if (!node)
		fail_msg("no node '%s'", path);
	assert_int_equal(node->samples, expected);
}

static void assert_time(struct recording *recording, const char *path, uint64_t expected)
{
	const struct ls_profile_node *node = find(recording, path);

	if (!node)
		fail_msg("no node '%s'", path);
	assert_int_equal(node->self_ns, expected);
}

static struct ls_profile_recorder counts(struct recording *recording)
{
	struct ls_profile profile = {};

	recording__export(recording, &profile);
	return profile.recorder;
}

static void builds_a_tree_from_stacks(void **state)
{
	define(*state, 0);
	define(*state, 1);
	define(*state, 2);
	stack(*state, script(1), script(0));
	stack(*state, script(2), script(1), script(0));
	stack(*state, script(1), script(0));
	stack(*state, script(0));
	assert_samples(*state, "lua;main chunk", 1);
	assert_samples(*state, "lua;main chunk;app.lua:1", 2);
	assert_samples(*state, "lua;main chunk;app.lua:1;app.lua:2", 1);
	assert_samples(*state, "lua", 0);
	assert_int_equal(recording__classes(*state)[LS_SAMPLE_COMPLETE], 4);
}

static void keeps_threads_apart_by_their_names(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_frame frame = script(1);

	define(*state, 1);
	take(*state, sample, &frame, 1);
	strcpy(sample.comm, "worker");
	take(*state, sample, &frame, 1);
	sample.tid = 2;
	take(*state, sample, &frame, 1);
	assert_samples(*state, "lua;app.lua:1", 1);
	assert_samples(*state, "worker;app.lua:1", 2);
}

static void has_nodes_for_what_is_no_stack(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_HOST);
	struct ls_frame frame = script(1);

	sample.error = LS_WALK_NO_SCRIPT;
	take(*state, sample, NULL, 0);
	sample = make_sample(LS_SAMPLE_UNREADABLE);
	sample.error = LS_WALK_REGISTERS;
	take(*state, sample, NULL, 0);
	sample = make_sample(LS_SAMPLE_COMPLETE);
	sample.layout = layouts_puc_count;
	take(*state, sample, &frame, 1);
	assert_samples(*state, "lua;(host)", 1);
	assert_samples(*state, "lua;(unreadable)", 2);
	assert_int_equal(counts(*state).classes[LS_SAMPLE_HOST], 1);
	assert_int_equal(counts(*state).classes[LS_SAMPLE_UNREADABLE], 1);
	assert_int_equal(counts(*state).errors[LS_WALK_NO_SCRIPT], 1);
	assert_int_equal(counts(*state).errors[LS_WALK_REGISTERS], 1);
	assert_int_equal(counts(*state).errors[LS_WALK_NONE], 0);
}

static void takes_a_torn_stack_without_a_frame(void **state)
{
	take(*state, make_sample(LS_SAMPLE_TORN), NULL, 0);
	take(*state, make_sample(LS_SAMPLE_TORN), NULL, 0);
	assert_samples(*state, "lua", 2);
}

static void stands_for_frames_left_out(void **state)
{
	struct ls_frame gap = {.kind = LS_FRAME_TRUNCATED};

	define(*state, 0);
	define(*state, 1);
	stack(*state, script(1), gap, script(0));
	assert_samples(*state, "lua;main chunk;(truncated);app.lua:1", 1);
}

static void skips_places_that_were_left_empty(void **state)
{
	struct ls_frame empty = {};

	define(*state, 0);
	define(*state, 1);
	stack(*state, script(1), empty, script(0));
	stack(*state, empty, script(1), empty, script(0));
	stack(*state, script(1), script(0));
	stack(*state, empty);
	assert_samples(*state, "lua;main chunk;app.lua:1", 3);
	assert_samples(*state, "lua", 1);
	assert_int_equal(counts(*state).collected, 0);
}

static void names_c_functions_by_their_place(void **state)
{
	struct ls_frame frame = {.kind = LS_FRAME_C, .function = 0xabc};

	define(*state, 1);
	stack(*state, frame, script(1));
	assert_samples(*state, "lua;app.lua:1;0xabc", 1);
}

static void counts_samples_with_collected_functions(void **state)
{
	define(*state, 0);
	stack(*state, script(1), script(2), script(0));
	assert_int_equal(counts(*state).collected, 1);
	stack(*state, script(1), script(2), script(0));
	assert_int_equal(counts(*state).collected, 2);
	assert_samples(*state, "lua;main chunk;(collected);(collected)", 2);
}

static void looks_again_for_a_function_that_was_not_known(void **state)
{
	define(*state, 0);
	stack(*state, script(1), script(0));
	define(*state, 1);
	stack(*state, script(1), script(0));
	assert_samples(*state, "lua;main chunk;(collected)", 1);
	assert_samples(*state, "lua;main chunk;app.lua:1", 1);
}

static void tells_prototypes_of_one_address_apart(void **state)
{
	struct ls_frame next = script(1);

	define(*state, 1);
	stack(*state, script(1));
	next.fingerprint = 8;
	stack(*state, next);
	assert_samples(*state, "lua;app.lua:1", 1);
	assert_samples(*state, "lua;(collected)", 1);
}

static void forgets_everything_at_exec(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_frame frame = script(1);
	uint64_t unnamed_calls;

	define(*state, 0);
	define(*state, 1);
	layout_votes__expect(recording__votes(*state, NO_PID), families__get(LS_FAMILY_PUC),
			     1U << sample.layout);
	sample.verified = 1;
	take(*state, sample, &frame, 1);
	stack(*state, script(1), script(0));
	unnamed_calls = counts(*state).unnamed_calls;
	assert_int_equal(unnamed_calls, 1);
	assert_int_equal(recording__votes(*state, NO_PID)->items[0].has_evidence, 1);
	assert_int_equal(recording__exec(*state, NO_PID), 0);
	assert_int_equal(recording__votes(*state, NO_PID)->count, 0);
	assert_int_equal(counts(*state).unnamed_calls, unnamed_calls);
	stack(*state, script(1), script(0));
	assert_samples(*state, "lua;(collected);(collected)", 1);
	assert_samples(*state, "lua;main chunk;app.lua:1", 1);
}

static void charges_time_to_nodes(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_thread_exit end = {
		.tgid = NO_PID, .tid = 1, .runtime_ns = 10 * PERIOD + 40 * PERIOD, .comm = "lua"};
	struct ls_frame frame = script(1);

	define(*state, 1);
	assert_int_equal(recording__begin_thread(
				 *state, &(struct recorded_thread){NO_PID, 1, "lua", 10 * PERIOD}),
			 0);
	sample.runtime_ns = 12 * PERIOD;
	take(*state, sample, &frame, 1);
	assert_int_equal(recording__thread_exit(*state, &end), 0);
	assert_time(*state, "lua;app.lua:1", 3 * PERIOD);
	assert_time(*state, "lua;(unsampled)", 37 * PERIOD);
	assert_int_equal(counts(*state).unsampled_ns, 37 * PERIOD);
}

static void leaves_unsampled_what_no_thread_accounts_for(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_HOST);

	sample.runtime_ns = 2 * PERIOD;
	take(*state, sample, NULL, 0);
	assert_int_equal(recording__end_thread(
				 *state, &(struct recorded_thread){NO_PID, 1, "lua", 2 * PERIOD}),
			 0);
	assert_int_equal(
		recording__end_thread(*state,
				      &(struct recorded_thread){NO_PID, 2, "worker", 5 * PERIOD}),
		0);
	recording__finish(*state, NO_PID, "parent", 17 * PERIOD);
	assert_time(*state, "lua;(host)", 2 * PERIOD);
	assert_time(*state, "worker;(unsampled)", 5 * PERIOD);
	assert_time(*state, "parent;(unsampled)", 10 * PERIOD);
	assert_int_equal(counts(*state).unsampled_ns, 15 * PERIOD);
}

static void ends_threads_at_the_finish_where_the_total_is_not_known(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_HOST);

	sample.runtime_ns = 2 * PERIOD;
	take(*state, sample, NULL, 0);
	recording__finish(*state, NO_PID, "parent", 0);
	assert_time(*state, "lua;(host)", 2 * PERIOD);
	assert_null(find(*state, "parent"));
	recording__free(NULL);
}

/* Makes a stack from the last one: pops some frames at the leaf and pushes others. */
static uint16_t change_stack(struct ls_frame *frames, uint16_t count)
{
	uint16_t left = (uint16_t)(rand() % (count + 1)), entered = (uint16_t)(rand() % 6);

	if (count - left + entered > 40)
		left = count;
	memmove(frames + entered, frames + left, (count - left) * sizeof(*frames));
	for (uint16_t i = 0; i < entered; i++) {
		frames[i] = script(1 + rand() % 12);
		frames[i].pc = rand() % 2;
		if (rand() % 8 == 0)
			frames[i] = (struct ls_frame){.kind = rand() % 2 ? LS_FRAME_TRUNCATED : 0};
	}
	return (uint16_t)(count - left + entered);
}

static void files_by_the_outermost_script(void **state)
{
	struct recording *recording = new_recording(CATEGORY_CHUNK);
	struct ls_sample torn = make_sample(LS_SAMPLE_TORN);
	struct ls_frame in_c = {.kind = LS_FRAME_C, .function = 0x5000};

	(void)state;
	assert_non_null(recording);
	define(recording, 0);
	define(recording, 1);
	stack(recording, script(1), script(0), in_c);
	assert_non_null(find(recording, "app.lua"));
	assert_samples(recording, "app.lua;0x5000;main chunk;app.lua:1", 1);
	/* Resumers are missing, or the outermost function is gone or could not be decoded. */
	torn.error = LS_WALK_RESUMERS;
	take(recording, torn, (struct ls_frame[]){script(1)}, 1);
	assert_samples(recording, "(unknown chunk);app.lua:1", 1);
	stack(recording, script(1), script(33));
	stack(recording, script(1), (struct ls_frame){0}, in_c);
	assert_samples(recording, "(unknown chunk);0x5000;app.lua:1", 1);
	take(recording, make_sample(LS_SAMPLE_HOST), NULL, 0);
	assert_samples(recording, "(no chunk);(host)", 1);
	assert_null(find(recording, "lua"));
	recording__free(recording);
}

/* A thread that is new in every sample has no previous stack to share frames with. */
static void builds_the_same_tree_without_shared_prefixes(void **state)
{
	struct recording *fresh = new_recording(CATEGORY_THREAD);
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_profile shared_profile = {}, fresh_profile = {};
	struct ls_frame frames[48] = {};
	uint16_t count = 0;

	assert_non_null(fresh);
	srand(7);
	frames[count++] = script(1);
	for (uint32_t i = 0; i < 5000; i++) {
		if (i % 400 == 0 && i / 400 < 10) {
			define(*state, 1 + i / 400);
			define(fresh, 1 + i / 400);
		}
		strcpy(sample.comm, rand() % 50 ? "lua" : "other");
		sample.tid = 1 + rand() % 2;
		take(*state, sample, frames, count);
		sample.tid = 1000 + i;
		take(fresh, sample, frames, count);
		count = change_stack(frames, count);
		if (!count)
			frames[count++] = script(1);
	}
	recording__export(*state, &shared_profile);
	recording__export(fresh, &fresh_profile);
	assert_in_range(shared_profile.node_count, 100, 100000);
	assert_int_equal(shared_profile.node_count, fresh_profile.node_count);
	assert_memory_equal(shared_profile.nodes + 1, fresh_profile.nodes + 1,
			    shared_profile.node_count * sizeof(*shared_profile.nodes));
	assert_int_equal(shared_profile.function_count, fresh_profile.function_count);
	assert_int_equal(shared_profile.recorder.collected, fresh_profile.recorder.collected);
	recording__free(fresh);
}

/*
 * Each chunk has a name of its own, as template engines do it. Beside them, app.lua:1 and others
 * are hot.
 */
static struct ls_frame rare(struct recording *recording, uint32_t number)
{
	struct ls_function function = {.type = LS_RECORD_FUNCTION,
				       .tgid = NO_PID,
				       .function = 0x100000 + 16ULL * (number % 1000),
				       .fingerprint = number,
				       .line_defined = 1,
				       .last_line_defined = 1};

	function.source_length =
		(uint16_t)snprintf(function.text, sizeof(function.text), "=template %u", number);
	assert_int_equal(recording__function(recording, &function), 0);
	/* What is in use is defined again before. */
	if (recording__is_full(recording, NO_PID)) {
		define(recording, 0);
		define(recording, 1);
		recording__age(recording, NO_PID);
	}
	return (struct ls_frame){
		.kind = LS_FRAME_LUA, .function = function.function, .fingerprint = number};
}

static uint64_t total_of(const struct ls_profile *profile, uint32_t line, uint64_t *samples)
{
	uint64_t ns = 0;

	*samples = 0;
	for (uint32_t id = 1; id <= profile->node_count; id++) {
		const struct ls_profile_node *node = &profile->nodes[id];
		const struct ls_profile_function *function = &profile->functions[node->function];

		if (line && (!node->function || !function->source ||
			     strcmp(function->source, "app.lua") || function->line != line))
			continue;
		ns += node->self_ns;
		*samples += node->samples;
	}
	return ns;
}

static size_t resident_kib(void)
{
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%*u %lu", &pages), 1);
	fclose(statm);
	return pages * 4;
}

/* A million functions that occur once; each calls one that occurs in every sample. */
static void keeps_its_bounds_and_the_shares_of_what_is_hot(void **state)
{
	const uint32_t count = 1000000;
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_profile profile = {};
	uint64_t samples, hot_samples, hot_ns;
	size_t before = 0;

	define(*state, 0);
	define(*state, 1);
	assert_int_equal(
		recording__begin_thread(*state, &(struct recorded_thread){NO_PID, 1, "lua", 0}), 0);
	for (uint32_t i = 1; i <= count; i++) {
		struct ls_frame frames[3] = {rare(*state, i), script(0)};

		sample.runtime_ns = (uint64_t)i * PERIOD;
		if (i % 4 == 0)
			take(*state, sample, frames, 2);
		else
			take(*state, sample, (struct ls_frame[]){script(1), frames[0], script(0)},
			     3);
		if (i == count / 4)
			before = resident_kib();
	}
	assert_int_equal(
		recording__end_thread(*state, &(struct recorded_thread){NO_PID, 1, "lua",
									(uint64_t)count * PERIOD}),
		0);
	recording__export(*state, &profile);
	assert_int_equal(total_of(&profile, 0, &samples), (uint64_t)count * PERIOD);
	assert_int_equal(samples, count);
	hot_ns = total_of(&profile, 1, &hot_samples);
	assert_int_equal(hot_samples, count / 4 * 3);
	assert_in_range(hot_ns / PERIOD, count / 4 * 3 - 100, count / 4 * 3 + 100);
	assert_in_range(profile.function_count, 1000, 150000);
	assert_in_range(profile.node_count, 1000, 1000000);
	assert_in_range(profile.recorder.evicted_functions, 800000, count);
	assert_in_range(profile.recorder.evicted_samples, 800000, count);
	assert_int_equal(profile.recorder.collected, 0);
	print_message("%zu KiB after %u functions, %zu after %u; %u are left, and %u nodes\n",
		      before, count / 4, resident_kib(), count, profile.function_count,
		      profile.node_count);
}

/* Paths without end, of a dozen functions. */
static void keeps_its_bounds_when_calls_explode(void **state)
{
	struct ls_frame frames[64];
	struct ls_profile profile = {};
	uint64_t expected = 0, samples;

	srand(3);
	for (uint32_t i = 0; i < 12; i++)
		define(*state, i);
	for (uint32_t i = 0; i < 60000; i++) {
		for (int at = 0; at < 64; at++)
			frames[at] = script(rand() % 12);
		expected += frames[0].function == MAIN + 5;
		take(*state, make_sample(LS_SAMPLE_COMPLETE), frames, 64);
	}
	recording__export(*state, &profile);
	total_of(&profile, 5, &samples);
	assert_int_equal(samples, expected);
	total_of(&profile, 0, &samples);
	assert_int_equal(samples, 60000);
	assert_in_range(profile.node_count, 1000, 1000000);
	assert_in_range(profile.recorder.evicted_samples, 10000, 60000);
	assert_int_equal(profile.recorder.evicted_functions, 0);
}

static void forgets_no_definition_that_is_in_use(void **state)
{
	define(*state, 1);
	for (uint32_t i = 1; i <= 100000; i++) {
		struct ls_frame frame = rare(*state, i);

		stack(*state, script(1), frame);
	}
	assert_int_equal(counts(*state).collected, 0);
}

/*
 * The collector's time is a child of the function that it interrupted; without a stack, there is
 * none.
 */
static void puts_the_collector_under_what_it_interrupted(void **state)
{
	struct ls_frame frames[] = {script(1), script(0)};
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);

	define(*state, 0);
	define(*state, 1);
	stack(*state, script(1), script(0));
	sample.activity = LS_ACTIVITY_GC;
	take(*state, sample, frames, 2);
	take(*state, sample, frames, 2);
	sample.class = LS_SAMPLE_HOST;
	take(*state, sample, frames, 0);
	stack(*state, script(1), script(0));
	assert_samples(*state, "lua;main chunk;app.lua:1;GC", 2);
	assert_samples(*state, "lua;main chunk;app.lua:1", 2);
	assert_samples(*state, "lua;(host)", 1);
}

#define fixed(test) cmocka_unit_test_setup_teardown(test, make_recording, free_recording)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixed(builds_a_tree_from_stacks),
		fixed(keeps_threads_apart_by_their_names),
		fixed(has_nodes_for_what_is_no_stack),
		fixed(stands_for_frames_left_out),
		fixed(skips_places_that_were_left_empty),
		fixed(names_c_functions_by_their_place),
		fixed(counts_samples_with_collected_functions),
		fixed(looks_again_for_a_function_that_was_not_known),
		fixed(tells_prototypes_of_one_address_apart),
		fixed(forgets_everything_at_exec),
		fixed(charges_time_to_nodes),
		fixed(leaves_unsampled_what_no_thread_accounts_for),
		fixed(ends_threads_at_the_finish_where_the_total_is_not_known),
		cmocka_unit_test(files_by_the_outermost_script),
		fixed(builds_the_same_tree_without_shared_prefixes),
		fixed(takes_a_torn_stack_without_a_frame),
		fixed(keeps_its_bounds_and_the_shares_of_what_is_hot),
		fixed(keeps_its_bounds_when_calls_explode),
		fixed(forgets_no_definition_that_is_in_use),
		fixed(puts_the_collector_under_what_it_interrupted),
	};

	return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
