/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how a recording counts stacks, samples without a stack, and CPU time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "puc/layout_puc.h"
#include "stacks.h"
#include "walk_error.h"

static void assert_time(struct recording *recording, const char *path, uint64_t expected)
{
	const struct ls_profile_node *node = find_node(recording, path);

	if (!node)
		fail_msg("no node '%s'", path);
	assert_int_equal(node->self_ns, expected);
}

static void builds_a_tree_from_stacks(void **state)
{
	define(*state, 0);
	define(*state, 1);
	define(*state, 2);
	take_stack(*state, script_frame(1), script_frame(0));
	take_stack(*state, script_frame(2), script_frame(1), script_frame(0));
	take_stack(*state, script_frame(1), script_frame(0));
	take_stack(*state, script_frame(0));
	assert_samples(*state, "lua;main chunk", 1);
	assert_samples(*state, "lua;main chunk;app.lua:1", 2);
	assert_samples(*state, "lua;main chunk;app.lua:1;app.lua:2", 1);
	assert_samples(*state, "lua", 0);
	assert_int_equal(recording__classes(*state)[LS_SAMPLE_COMPLETE], 4);
}

static void keeps_threads_apart_by_their_names(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_frame frame = script_frame(1);

	define(*state, 1);
	take_sample(*state, sample, &frame, 1);
	strcpy(sample.comm, "worker");
	take_sample(*state, sample, &frame, 1);
	sample.tid = 2;
	take_sample(*state, sample, &frame, 1);
	assert_samples(*state, "lua;app.lua:1", 1);
	assert_samples(*state, "worker;app.lua:1", 2);
}

static void has_nodes_for_what_is_no_stack(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_HOST);
	struct ls_frame frame = script_frame(1);

	sample.error = LS_WALK_NO_SCRIPT;
	take_sample(*state, sample, NULL, 0);
	sample = make_sample(LS_SAMPLE_UNREADABLE);
	sample.error = LS_WALK_REGISTERS;
	take_sample(*state, sample, NULL, 0);
	sample = make_sample(LS_SAMPLE_COMPLETE);
	sample.layout = layouts_puc_count;
	take_sample(*state, sample, &frame, 1);
	assert_samples(*state, "lua;(host)", 1);
	assert_samples(*state, "lua;(unreadable)", 2);
	assert_int_equal(recorder_of(*state).classes[LS_SAMPLE_HOST], 1);
	assert_int_equal(recorder_of(*state).classes[LS_SAMPLE_UNREADABLE], 1);
	assert_int_equal(recorder_of(*state).errors[LS_WALK_NO_SCRIPT], 1);
	assert_int_equal(recorder_of(*state).errors[LS_WALK_REGISTERS], 1);
	assert_int_equal(recorder_of(*state).errors[LS_WALK_NONE], 0);
}

static void takes_a_torn_stack_without_a_frame(void **state)
{
	take_sample(*state, make_sample(LS_SAMPLE_TORN), NULL, 0);
	take_sample(*state, make_sample(LS_SAMPLE_TORN), NULL, 0);
	assert_samples(*state, "lua", 2);
}

static void stands_for_frames_left_out(void **state)
{
	struct ls_frame gap = {.kind = LS_FRAME_TRUNCATED};

	define(*state, 0);
	define(*state, 1);
	take_stack(*state, script_frame(1), gap, script_frame(0));
	assert_samples(*state, "lua;main chunk;(truncated);app.lua:1", 1);
}

static void skips_places_that_were_left_empty(void **state)
{
	struct ls_frame empty = {};

	define(*state, 0);
	define(*state, 1);
	take_stack(*state, script_frame(1), empty, script_frame(0));
	take_stack(*state, empty, script_frame(1), empty, script_frame(0));
	take_stack(*state, script_frame(1), script_frame(0));
	take_stack(*state, empty);
	assert_samples(*state, "lua;main chunk;app.lua:1", 3);
	assert_samples(*state, "lua", 1);
	assert_int_equal(recorder_of(*state).collected, 0);
}

static void names_c_functions_by_their_place(void **state)
{
	struct ls_frame frame = {.kind = LS_FRAME_C, .function = 0xabc};

	define(*state, 1);
	take_stack(*state, frame, script_frame(1));
	assert_samples(*state, "lua;app.lua:1;0xabc", 1);
}

static void counts_samples_with_collected_functions(void **state)
{
	define(*state, 0);
	take_stack(*state, script_frame(1), script_frame(2), script_frame(0));
	assert_int_equal(recorder_of(*state).collected, 1);
	take_stack(*state, script_frame(1), script_frame(2), script_frame(0));
	assert_int_equal(recorder_of(*state).collected, 2);
	assert_samples(*state, "lua;main chunk;(collected);(collected)", 2);
}

static void looks_again_for_a_function_that_was_not_known(void **state)
{
	define(*state, 0);
	take_stack(*state, script_frame(1), script_frame(0));
	define(*state, 1);
	take_stack(*state, script_frame(1), script_frame(0));
	assert_samples(*state, "lua;main chunk;(collected)", 1);
	assert_samples(*state, "lua;main chunk;app.lua:1", 1);
}

static void tells_prototypes_of_one_address_apart(void **state)
{
	struct ls_frame next = script_frame(1);

	define(*state, 1);
	take_stack(*state, script_frame(1));
	next.fingerprint = 8;
	take_stack(*state, next);
	assert_samples(*state, "lua;app.lua:1", 1);
	assert_samples(*state, "lua;(collected)", 1);
}

static void forgets_everything_at_exec(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_frame frame = script_frame(1);
	uint64_t unnamed_calls;

	define(*state, 0);
	define(*state, 1);
	layout_votes__expect(recording__votes(*state, NO_PID), families__get(LS_FAMILY_PUC),
			     1U << sample.layout);
	sample.verified = 1;
	take_sample(*state, sample, &frame, 1);
	take_stack(*state, script_frame(1), script_frame(0));
	unnamed_calls = recorder_of(*state).unnamed_calls;
	assert_int_equal(unnamed_calls, 1);
	assert_int_equal(recording__votes(*state, NO_PID)->items[0].has_evidence, 1);
	assert_int_equal(recording__exec(*state, NO_PID), 0);
	assert_int_equal(recording__votes(*state, NO_PID)->count, 0);
	assert_int_equal(recorder_of(*state).unnamed_calls, unnamed_calls);
	take_stack(*state, script_frame(1), script_frame(0));
	assert_samples(*state, "lua;(collected);(collected)", 1);
	assert_samples(*state, "lua;main chunk;app.lua:1", 1);
}

static void charges_time_to_nodes(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);
	struct ls_thread_exit end = {
		.tgid = NO_PID, .tid = 1, .runtime_ns = 10 * PERIOD + 40 * PERIOD, .comm = "lua"};
	struct ls_frame frame = script_frame(1);

	define(*state, 1);
	assert_int_equal(recording__begin_thread(
				 *state, &(struct recorded_thread){NO_PID, 1, "lua", 10 * PERIOD}),
			 0);
	sample.runtime_ns = 12 * PERIOD;
	take_sample(*state, sample, &frame, 1);
	assert_int_equal(recording__thread_exit(*state, &end), 0);
	assert_time(*state, "lua;app.lua:1", 3 * PERIOD);
	assert_time(*state, "lua;(unsampled)", 37 * PERIOD);
	assert_int_equal(recorder_of(*state).unsampled_ns, 37 * PERIOD);
}

static void leaves_out_the_past_of_threads_that_have_not_begun(void **state)
{
	struct recorded_thread known = {NO_PID, 1, "lua", 10 * PERIOD};
	struct recorded_thread unknown = {NO_PID, 2, "worker", 50 * PERIOD};
	struct ls_thread_exit end = {
		.tgid = NO_PID, .tid = 3, .runtime_ns = 70 * PERIOD, .comm = "worker"};

	assert_int_equal(recording__begin_thread(*state, &known), 0);
	recording__set_partial(*state, NO_PID, true);
	known.runtime_ns = 12 * PERIOD;
	assert_int_equal(recording__settle_thread(*state, &known), 0);
	assert_int_equal(recording__settle_thread(*state, &unknown), 0);
	assert_int_equal(recording__end_thread(*state, &unknown), 0);
	assert_int_equal(recording__thread_exit(*state, &end), 0);
	assert_int_equal(recording__cpu_ns(*state, NO_PID), 2 * PERIOD);
	assert_int_equal(recording__begin_thread(*state, &unknown), 0);
	recording__set_partial(*state, NO_PID, false);
	unknown.runtime_ns = 53 * PERIOD;
	assert_int_equal(recording__settle_thread(*state, &unknown), 0);
	assert_int_equal(recording__cpu_ns(*state, NO_PID), 5 * PERIOD);
}

static void leaves_unsampled_what_no_thread_accounts_for(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_HOST);

	sample.runtime_ns = 2 * PERIOD;
	take_sample(*state, sample, NULL, 0);
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
	assert_int_equal(recorder_of(*state).unsampled_ns, 15 * PERIOD);
}

static void ends_threads_at_the_finish_where_the_total_is_not_known(void **state)
{
	struct ls_sample sample = make_sample(LS_SAMPLE_HOST);

	sample.runtime_ns = 2 * PERIOD;
	take_sample(*state, sample, NULL, 0);
	recording__finish(*state, NO_PID, "parent", 0);
	assert_time(*state, "lua;(host)", 2 * PERIOD);
	assert_null(find_node(*state, "parent"));
	recording__free(NULL);
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
	take_stack(recording, script_frame(1), script_frame(0), in_c);
	assert_non_null(find_node(recording, "app.lua"));
	assert_samples(recording, "app.lua;0x5000;main chunk;app.lua:1", 1);
	/* Resumers are missing, or the outermost function is gone or could not be decoded. */
	torn.error = LS_WALK_RESUMERS;
	take_sample(recording, torn, (struct ls_frame[]){script_frame(1)}, 1);
	assert_samples(recording, "(unknown chunk);app.lua:1", 1);
	take_stack(recording, script_frame(1), script_frame(33));
	take_stack(recording, script_frame(1), (struct ls_frame){0}, in_c);
	assert_samples(recording, "(unknown chunk);0x5000;app.lua:1", 1);
	take_sample(recording, make_sample(LS_SAMPLE_HOST), NULL, 0);
	assert_samples(recording, "(no chunk);(host)", 1);
	assert_null(find_node(recording, "lua"));
	recording__free(recording);
}

/*
 * The collector's time is a child of the function that it interrupted; without a stack, there is
 * none.
 */
static void puts_the_collector_under_what_it_interrupted(void **state)
{
	struct ls_frame frames[] = {script_frame(1), script_frame(0)};
	struct ls_sample sample = make_sample(LS_SAMPLE_COMPLETE);

	define(*state, 0);
	define(*state, 1);
	take_stack(*state, script_frame(1), script_frame(0));
	sample.activity = LS_ACTIVITY_GC;
	take_sample(*state, sample, frames, 2);
	take_sample(*state, sample, frames, 2);
	sample.class = LS_SAMPLE_HOST;
	take_sample(*state, sample, frames, 0);
	take_stack(*state, script_frame(1), script_frame(0));
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
		fixed(leaves_out_the_past_of_threads_that_have_not_begun),
		fixed(leaves_unsampled_what_no_thread_accounts_for),
		fixed(ends_threads_at_the_finish_where_the_total_is_not_known),
		cmocka_unit_test(files_by_the_outermost_script),
		fixed(takes_a_torn_stack_without_a_frame),
		fixed(puts_the_collector_under_what_it_interrupted),
	};

	return cmocka_run_group_tests_name("recording", tests, NULL, NULL);
}
