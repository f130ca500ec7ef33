/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording that yields one profile after another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "local_inspector.h"
#include "recording/recording.h"

#define PID    2000000000 /* above PID_MAX_LIMIT (4,194,304), so it is no process */
#define PERIOD 1000000U

static void take_of(struct recording *recording, uint64_t function, uint64_t runtime_ns)
{
	struct ls_frame frame = {.kind = LS_FRAME_C, .function = function};
	struct ls_sample sample = {.type = LS_RECORD_SAMPLE,
				   .tgid = PID,
				   .tid = PID,
				   .class = LS_SAMPLE_COMPLETE,
				   .comm = "lua",
				   .frame_count = 1,
				   .time_ns = runtime_ns,
				   .runtime_ns = runtime_ns,
				   .period_ns = PERIOD};

	assert_int_equal(recording__sample(recording, &sample, &frame), 0);
}

static void take(struct recording *recording, uint64_t runtime_ns)
{
	take_of(recording, 0x4000, runtime_ns);
}

static void settle(struct recording *recording, uint64_t runtime_ns)
{
	struct recorded_thread thread = {PID, PID, "lua", runtime_ns};

	assert_int_equal(recording__settle_thread(recording, &thread), 0);
}

static void assert_holds(struct recording *recording, uint64_t samples, uint64_t ns)
{
	struct ls_profile profile = {};
	uint64_t sum_samples = 0, sum_ns = 0;

	recording__export(recording, &profile);
	for (uint32_t node = 1; node <= profile.node_count; node++) {
		sum_samples += profile.nodes[node].samples;
		sum_ns += profile.nodes[node].self_ns;
	}
	assert_int_equal(sum_samples, samples);
	assert_int_equal(profile.recorder.classes[LS_SAMPLE_COMPLETE], samples);
	assert_int_equal(profile.sample_count, samples);
	assert_int_equal(sum_ns, ns);
}

static struct recording *begin(void)
{
	struct recording *recording = recording__new(CATEGORY_THREAD, 0, local_inspector());

	assert_non_null(recording);
	assert_int_equal(recording__keep_timeline(recording), 0);
	assert_int_equal(recording__add_process(recording, PID, "lua"), 0);
	return recording;
}

static void each_has_what_came_since_the_one_before(void **state)
{
	struct recording *recording = begin();

	(void)state;
	take(recording, PERIOD);
	take(recording, 2 * PERIOD);
	settle(recording, 2 * PERIOD);
	assert_holds(recording, 2, 2 * PERIOD);
	assert_int_equal(recording__restart(recording), 0);
	assert_holds(recording, 0, 0);
	take(recording, 3 * PERIOD);
	settle(recording, 3 * PERIOD);
	assert_holds(recording, 1, PERIOD);
	assert_int_equal(recording__cpu_ns(recording, PID), 3 * PERIOD);
	recording__free(recording);
}

/* The time of a sample in between goes to the next profile, which knows its stack. */
static void time_that_is_not_handed_over_is_in_the_next(void **state)
{
	struct recording *recording = begin();
	struct ls_profile profile = {};

	(void)state;
	/* Its node comes first and does not exist in the next profile. */
	take_of(recording, 0x5000, PERIOD);
	for (uint64_t i = 2; i <= 5; i++)
		take(recording, i * PERIOD);
	settle(recording, 5 * PERIOD);
	take(recording, 6 * PERIOD);
	assert_holds(recording, 6, 5 * PERIOD);
	assert_int_equal(recording__restart(recording), 0);
	assert_holds(recording, 0, 0);
	settle(recording, 6 * PERIOD);
	assert_holds(recording, 0, PERIOD);
	recording__export(recording, &profile);
	assert_int_equal(profile.category_count, 1);
	assert_string_equal(profile.categories[0].name, "lua");
	assert_int_equal(profile.node_count, 2);
	assert_int_equal(profile.nodes[2].parent, 1);
	assert_int_equal(profile.nodes[2].self_ns, PERIOD);
	recording__free(recording);
}

static uint32_t count_functions(struct recording *recording)
{
	struct ls_profile profile = {};
	uint32_t count = 0;

	recording__export(recording, &profile);
	for (uint32_t id = 1; id <= profile.function_count; id++)
		count += profile.functions[id].name || profile.functions[id].source;
	return count;
}

/* Living processes stay known; the next profile needs nothing of those that have ended. */
static void functions_of_programs_that_have_ended_are_forgotten(void **state)
{
	struct recording *recording = begin();
	uint32_t none = count_functions(recording);

	(void)state;
	take_of(recording, 0x5000, PERIOD);
	take_of(recording, 0x6000, 2 * PERIOD);
	settle(recording, 2 * PERIOD);
	assert_int_equal(count_functions(recording), none + 2);
	assert_int_equal(recording__restart(recording), 0);
	assert_int_equal(count_functions(recording), none + 2);
	recording__end_process(recording, PID);
	assert_int_equal(recording__restart(recording), 0);
	assert_int_equal(count_functions(recording), none);
	recording__free(recording);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_what_came_since_the_one_before),
		cmocka_unit_test(time_that_is_not_handed_over_is_in_the_next),
		cmocka_unit_test(functions_of_programs_that_have_ended_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
