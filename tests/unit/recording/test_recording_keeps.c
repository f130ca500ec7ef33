/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording keeps besides sums if it is asked to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "app_recording.h"

static struct ls_frame at(uint32_t line, uint8_t flags)
{
	return (struct ls_frame){
		.kind = LS_FRAME_LUA, .function = MAIN + line, .fingerprint = 7, .flags = flags};
}

static void take(struct recording *recording, uint64_t time_ns, uint32_t tid,
		 const struct ls_frame *frames, uint16_t count)
{
	struct ls_sample sample = {.type = LS_RECORD_SAMPLE,
				   .tgid = NO_PID,
				   .tid = tid,
				   .time_ns = time_ns,
				   .class = count ? LS_SAMPLE_COMPLETE : LS_SAMPLE_HOST,
				   .comm = "lua",
				   .period_ns = 1000000,
				   .frame_count = count};

	assert_int_equal(recording__sample(recording, &sample, frames), 0);
}

/* Root first: "@" begins a coroutine, '(' stands for a frame that is not script, else the line. */
static void assert_path(const struct ls_profile *profile, uint32_t node, const char *expected)
{
	char path[64] = "", longer[64];

	for (; profile->nodes[node].parent; node = profile->nodes[node].parent) {
		const struct ls_profile_function *function =
			&profile->functions[profile->nodes[node].function];
		char letter = (char)('0' + function->line);

		if (!function->source)
			letter = profile__starts_coroutine(function) ? '@' : '(';
		snprintf(longer, sizeof(longer), "%c%.60s", letter, path);
		strcpy(path, longer);
	}
	assert_string_equal(path, expected);
}

static void samples_in_order_of_time(void **state)
{
	struct ls_frame frames[] = {at(1, 0), at(2, 0)};
	struct ls_profile profile = {};

	assert_int_equal(recording__keep_timeline(*state), 0);
	define(*state, 1);
	define(*state, 2);
	take(*state, 2000, 1, NULL, 0);
	take(*state, 1000, 7, frames, 2);
	take(*state, 3000, 7, frames + 1, 1);
	recording__export(*state, &profile);
	assert_int_equal(profile.sample_count, 3);
	assert_path(&profile, profile.samples[0].node, "21");
	assert_int_equal(profile.samples[0].thread, 7);
	assert_path(&profile, profile.samples[1].node, "(");
	assert_int_equal(profile.samples[1].thread, 1);
	assert_path(&profile, profile.samples[2].node, "2");
}

static void no_samples_unless_told_to(void **state)
{
	struct ls_profile profile = {};

	take(*state, 1, 1, NULL, 0);
	recording__export(*state, &profile);
	assert_null(profile.samples);
}

/*
 * There are more functions than are kept; the timeline follows its nodes to where they were merged.
 */
static void samples_of_functions_that_were_evicted(void **state)
{
	struct ls_profile profile = {};
	uint64_t others = 0, hot = 0;

	assert_int_equal(recording__keep_timeline(*state), 0);
	define(*state, 1);
	for (uint32_t i = 1; i <= 300000; i++) {
		struct ls_frame frames[] = {at(i % 2 ? 1 : 2 + i, 0)};

		if (i % 2 == 0)
			define(*state, 2 + i);
		take(*state, i, 1, frames, 1);
		/* Old definitions are dropped eventually. */
		if (recording__is_full(*state, NO_PID))
			recording__age(*state, NO_PID);
	}
	recording__export(*state, &profile);
	assert_int_equal(profile.sample_count, 300000);
	assert_true(profile.recorder.evicted_functions > 0);
	for (size_t i = 0; i < profile.sample_count; i++) {
		uint32_t node = profile.samples[i].node;
		const struct ls_profile_function *function =
			&profile.functions[profile.nodes[node].function];

		assert_in_range(node, 1, profile.node_count);
		hot += function->line == 1;
		others += !function->source;
		if (i % 2 == 0)
			assert_int_equal(function->line, 1);
	}
	assert_int_equal(hot, 150000);
	assert_int_equal(others, profile.recorder.evicted_samples);
}

static void where_coroutines_begin(void **state)
{
	struct ls_frame frames[] = {at(3, 0), at(2, LS_FRAME_STATE_ROOT), at(1, 0),
				    at(1, LS_FRAME_STATE_ROOT)};
	struct ls_frame called[] = {at(2, 0), at(1, 0), at(1, LS_FRAME_STATE_ROOT)};
	struct ls_profile profile = {};

	assert_int_equal(recording__keep_timeline(*state), 0);
	assert_int_equal(recording__keep_coroutines(*state), 0);
	for (uint32_t line = 1; line <= 3; line++)
		define(*state, line);
	take(*state, 1, 1, frames, 4);
	take(*state, 2, 1, frames + 1, 3);
	take(*state, 3, 1, called, 3);
	take(*state, 4, 1, frames, 4);
	recording__export(*state, &profile);
	assert_path(&profile, profile.samples[0].node, "@11@23");
	assert_path(&profile, profile.samples[1].node, "@11@2");
	assert_path(&profile, profile.samples[2].node, "@112");
	assert_path(&profile, profile.samples[3].node, "@11@23");
}

static void no_coroutines_unless_told_to(void **state)
{
	struct ls_frame frame = at(1, LS_FRAME_STATE_ROOT);
	struct ls_profile profile = {};

	define(*state, 1);
	take(*state, 1, 1, &frame, 1);
	recording__export(*state, &profile);
	assert_int_equal(profile.node_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define fixed(test) cmocka_unit_test_setup_teardown(test, make_recording, free_recording)
		fixed(samples_in_order_of_time),
		fixed(no_samples_unless_told_to),
		fixed(samples_of_functions_that_were_evicted),
		fixed(where_coroutines_begin),
		fixed(no_coroutines_unless_told_to),
#undef fixed
	};

	return cmocka_run_group_tests_name("recording_keeps", tests, NULL, NULL);
}
