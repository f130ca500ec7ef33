/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording of several processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recording.h"

/* Ids are at most 4,194,304 (PID_MAX_LIMIT): no memory to read names from. */
#define ONE    2000000000
#define OTHER  2000000001
#define PERIOD 1000000U

static struct ls_sample sample_of(pid_t pid, uint8_t class)
{
	return (struct ls_sample){.type = LS_RECORD_SAMPLE,
				  .tgid = (uint32_t)pid,
				  .tid = (uint32_t)pid,
				  .class = class,
				  .comm = "lua",
				  .runtime_ns = PERIOD,
				  .period_ns = PERIOD};
}

static uint32_t c_function_of(struct recording *recording, pid_t pid)
{
	struct ls_sample sample = sample_of(pid, LS_SAMPLE_COMPLETE);
	struct ls_frame frame = {.kind = LS_FRAME_C, .function = 0x4000};
	struct ls_profile profile = {};

	sample.frame_count = 1;
	assert_int_equal(recording__sample(recording, &sample, &frame), 0);
	recording__export(recording, &profile);
	return profile.nodes[profile.node_count].function;
}

static void tells_processes_apart(void **state)
{
	struct recording *recording = recording__new(CATEGORY_PROCESS, 1);
	struct ls_profile profile = {};
	uint32_t ones, others;

	(void)state;
	assert_non_null(recording);
	assert_int_equal(recording__add_process(recording, ONE, "one"), 0);
	assert_int_equal(recording__add_process(recording, OTHER, "other"), 0);
	verdicts__expect(recording__verdicts(recording, ONE), 1);
	assert_int_equal(recording__verdicts(recording, OTHER)->count, 0);
	ones = c_function_of(recording, ONE);
	others = c_function_of(recording, OTHER);
	assert_int_not_equal(ones, others);
	assert_int_equal(recording__exec(recording, OTHER), 0);
	assert_int_equal(recording__verdicts(recording, ONE)->count, 1);
	recording__end_process(recording, ONE);
	assert_null(recording__verdicts(recording, ONE));
	assert_int_equal(recording__ended_ns(recording), PERIOD);
	recording__finish(recording, OTHER, "other", 3 * PERIOD);
	assert_int_equal(recording__cpu_ns(recording, OTHER), 3 * PERIOD);
	recording__export(recording, &profile);
	assert_int_equal(profile.category_count, 2);
	assert_string_equal(profile.categories[0].name, "one");
	assert_string_equal(profile.categories[1].name, "other");
	recording__free(recording);
}

static void counts_what_it_is_sent_of_strangers(void **state)
{
	struct recording *recording = recording__new(CATEGORY_PROCESS, 1);
	struct ls_sample sample = sample_of(ONE, LS_SAMPLE_HOST);
	struct ls_thread_exit end = {.tgid = ONE, .tid = ONE};
	struct ls_profile profile = {};

	(void)state;
	assert_non_null(recording);
	assert_int_equal(recording__sample(recording, &sample, NULL), 0);
	assert_int_equal(recording__thread_exit(recording, &end), 0);
	recording__export(recording, &profile);
	assert_int_equal(profile.recorder.lost_records, 1);
	assert_int_equal(profile.recorder.classes[LS_SAMPLE_DROPPED], 1);
	assert_int_equal(recording__classes(recording)[LS_SAMPLE_HOST], 0);
	recording__free(recording);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_processes_apart),
		cmocka_unit_test(counts_what_it_is_sent_of_strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
