/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording of several processes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "local_inspector.h"
#include "recording/recording.h"

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no process to read names from. */
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

static uint32_t c_function_at(struct recording *recording, pid_t pid, uint64_t address)
{
	struct ls_sample sample = sample_of(pid, LS_SAMPLE_COMPLETE);
	struct ls_frame frame = {.kind = LS_FRAME_C, .function = address};
	struct ls_profile profile = {};

	sample.frame_count = 1;
	assert_int_equal(recording__sample(recording, &sample, &frame), 0);
	recording__export(recording, &profile);
	return profile.nodes[profile.node_count].function;
}

static uint32_t c_function_of(struct recording *recording, pid_t pid)
{
	return c_function_at(recording, pid, 0x4000);
}

static pid_t start_child(void)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (1)
		pause();
}

static void end_child(struct recording *recording, pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	recording__end_process(recording, child);
}

/* Thousands of processes, one after the other, add no functions to those of the first. */
static void has_one_function_for_all_processes_of_a_program(void **state)
{
	struct recording *recording = recording__new(CATEGORY_PROCESS, 1, local_inspector());
	uint64_t here = (uint64_t)(uintptr_t)end_child;
	struct ls_profile profile = {};
	uint32_t function, nodes;
	pid_t child = start_child();

	(void)state;
	assert_non_null(recording);
	assert_int_equal(recording__add_process(recording, child, "program"), 0);
	function = c_function_at(recording, child, here);
	end_child(recording, child);
	recording__export(recording, &profile);
	nodes = profile.node_count;
	assert_string_equal(profile.functions[function].name, "end_child");
	child = start_child();
	assert_int_equal(recording__add_process(recording, child, "program"), 0);
	assert_int_equal(c_function_at(recording, child, here), function);
	assert_int_not_equal(c_function_at(recording, child, here + 1), function);
	end_child(recording, child);
	recording__export(recording, &profile);
	assert_int_equal(profile.node_count, nodes + 1);
	recording__free(recording);
}

static void tells_processes_apart(void **state)
{
	struct recording *recording = recording__new(CATEGORY_PROCESS, 1, local_inspector());
	struct ls_profile profile = {};
	uint32_t ones, others;

	(void)state;
	assert_non_null(recording);
	assert_int_equal(recording__add_process(recording, ONE, "one"), 0);
	assert_int_equal(recording__add_process(recording, OTHER, "other"), 0);
	layout_votes__expect(recording__votes(recording, ONE), families__get(LS_FAMILY_PUC), 1);
	assert_int_equal(recording__votes(recording, OTHER)->count, 0);
	ones = c_function_of(recording, ONE);
	others = c_function_of(recording, OTHER);
	assert_int_not_equal(ones, others);
	assert_int_equal(recording__exec(recording, OTHER), 0);
	assert_int_equal(recording__votes(recording, ONE)->count, 1);
	recording__end_process(recording, ONE);
	assert_null(recording__votes(recording, ONE));
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
	struct recording *recording = recording__new(CATEGORY_PROCESS, 1, local_inspector());
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

/* Lost samples belong to the category itself. */
static void weighs_samples_by_their_periods(void **state)
{
	struct recording *recording = recording__new(CATEGORY_PROCESS, 1, local_inspector());
	struct ls_sample sample = sample_of(ONE, LS_SAMPLE_HOST);
	struct ls_profile profile = {};
	const struct ls_profile_node *category;

	(void)state;
	assert_non_null(recording);
	assert_int_equal(recording__add_process(recording, ONE, "one"), 0);
	assert_int_equal(recording__sample(recording, &sample, NULL), 0);
	sample.period_ns = 8 * PERIOD;
	sample.dropped_before = 3;
	assert_int_equal(recording__sample(recording, &sample, NULL), 0);
	recording__export(recording, &profile);
	category = &profile.nodes[profile.categories[0].node];
	assert_int_equal(category->weight_ns, 24 * PERIOD);
	assert_int_equal(category->samples, 0);
	assert_int_equal(profile.nodes[category->first_child].weight_ns, 9 * PERIOD);
	assert_int_equal(profile.nodes[category->first_child].samples, 2);
	recording__free(recording);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_one_function_for_all_processes_of_a_program),
		cmocka_unit_test(tells_processes_apart),
		cmocka_unit_test(counts_what_it_is_sent_of_strangers),
		cmocka_unit_test(weighs_samples_by_their_periods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
