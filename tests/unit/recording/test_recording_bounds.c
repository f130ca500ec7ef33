/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that a recording of many stacks, functions and paths stays right and within its bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stacks.h"

/* Makes a stack from the last one: pops some frames at the leaf and pushes others. */
static uint16_t change_stack(struct ls_frame *frames, uint16_t count)
{
	uint16_t left = (uint16_t)(rand() % (count + 1)), entered = (uint16_t)(rand() % 6);

	if (count - left + entered > 40)
		left = count;
	memmove(frames + entered, frames + left, (count - left) * sizeof(*frames));
	for (uint16_t i = 0; i < entered; i++) {
		frames[i] = script_frame(1 + rand() % 12);
		frames[i].pc = rand() % 2;
		if (rand() % 8 == 0)
			frames[i] = (struct ls_frame){.kind = rand() % 2 ? LS_FRAME_TRUNCATED : 0};
	}
	return (uint16_t)(count - left + entered);
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
	frames[count++] = script_frame(1);
	for (uint32_t i = 0; i < 5000; i++) {
		if (i % 400 == 0 && i / 400 < 10) {
			define(*state, 1 + i / 400);
			define(fresh, 1 + i / 400);
		}
		strcpy(sample.comm, rand() % 50 ? "lua" : "other");
		sample.tid = 1 + rand() % 2;
		take_sample(*state, sample, frames, count);
		sample.tid = 1000 + i;
		take_sample(fresh, sample, frames, count);
		count = change_stack(frames, count);
		if (!count)
			frames[count++] = script_frame(1);
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
		struct ls_frame frames[3] = {rare(*state, i), script_frame(0)};

		sample.runtime_ns = (uint64_t)i * PERIOD;
		if (i % 4 == 0)
			take_sample(*state, sample, frames, 2);
		else
			take_sample(
				*state, sample,
				(struct ls_frame[]){script_frame(1), frames[0], script_frame(0)},
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
			frames[at] = script_frame(rand() % 12);
		expected += frames[0].function == MAIN + 5;
		take_sample(*state, make_sample(LS_SAMPLE_COMPLETE), frames, 64);
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

		take_stack(*state, script_frame(1), frame);
	}
	assert_int_equal(recorder_of(*state).collected, 0);
}

#define fixed(test) cmocka_unit_test_setup_teardown(test, make_recording, free_recording)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixed(builds_the_same_tree_without_shared_prefixes),
		fixed(keeps_its_bounds_and_the_shares_of_what_is_hot),
		fixed(keeps_its_bounds_when_calls_explode),
		fixed(forgets_no_definition_that_is_in_use),
	};

	return cmocka_run_group_tests_name("recording: bounds", tests, NULL, NULL);
}
