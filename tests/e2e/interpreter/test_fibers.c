/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Coroutines in C with a stack each, and several VMs and threads. Functions' names tell which
 * coroutine they belong to; the thread's name, taken in the same sample, tells which coroutine
 * runs.
 */
#include <fnmatch.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sorted_time.h"
#include "spying.h"

#define PATIENCE 20

/*
 * Runs a target that works between two lines of its output, and records it from before the first to
 * after the last.
 */
static struct scriptprofile *watch_program(struct stage *stage, const char *frequency,
					   const char *end, const char *const *words, char **said)
{
	struct child *target = stage__start(stage, words), *spy;

	child__await_output(stage, target, "ready");
	spy = start_record(stage, target->pid, "-F", frequency, "-o", "profile.json", "-q");
	spying__await_timers(stage, spy);
	child__tell(target, "go");
	child__await_output(stage, target, end);
	kill(spy->pid, SIGINT);
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("exit status %d: %s", spy->status, child__errors(stage, spy));
	*said = child__output(stage, target);
	child__tell(target, "end");
	assert_int_equal(child__wait(target, PATIENCE), 0);
	return spying__read(stage, in_folder(stage, "profile.json"));
}

static void check_fibers(struct stage *stage, const char *version, const char *frequency,
			 const char *const *words)
{
	struct scriptprofile *profile;
	struct sorted_time lua, idle;
	const char *all[8];
	char name[32], *said;

	need_to_record();
	snprintf(name, sizeof(name), "fibers-%s", version);
	all[0] = built_program(name);
	for (int i = 0; i < 6; i++)
		all[i + 1] = words[i];
	profile = watch_program(stage, frequency, "done", all, &said);
	lua = sorted_time__of(profile, 'f', "main chunk");
	idle = sorted_time__of(profile, 'i', NULL);
	print_message("%s %s %s %s at %s: %lld torn\n", name, words[0], words[1], words[2],
		      frequency, (long long)scriptprofile__samples(profile, "torn"));
	sorted_time__print("fibers with Lua", &lua);
	sorted_time__print("those without", &idle);
	assert_true(lua.right > 100000);
	assert_int_equal(lua.foreign, 0);
	assert_true(lua.rootless <= lua.right / 1000);
	assert_true(lua.host + lua.unreadable <= lua.right / 100);
	assert_true(idle.host > 10000);
	assert_int_equal(idle.right + idle.foreign + idle.rootless, 0);
	assert_true(idle.unreadable <= idle.host / 20);
}

#define fibers(stage, version, frequency, ...)                                                     \
	check_fibers(stage, version, frequency, (const char *const[]){__VA_ARGS__, NULL, NULL})

/* All checks for one version. */
static void check_version(struct stage *stage, const char *version)
{
	fibers(stage, version, "10khz", "mapped", "65536", "own", "6", "1");
	fibers(stage, version, "10khz", "region", "65536", "own", "6", "1");
	fibers(stage, version, "10khz", "heap", "65536", "thread", "6", "1");
	fibers(stage, version, "10khz", "static", "65536", "resumed", "6", "1");
	fibers(stage, version, "10khz", "heap", "65536", "bare", "9", "3");
	fibers(stage, version, "10khz", "region", "262144", "own", "9", "3");
	fibers(stage, version, "1khz", "heap", "65536", "own", "6", "1");
}

static void keeps_fibers_apart_on_5_1(void **state)
{
	check_version(*state, "5.1");
}

static void keeps_fibers_apart_on_5_2(void **state)
{
	check_version(*state, "5.2");
}

static void keeps_fibers_apart_on_5_3(void **state)
{
	check_version(*state, "5.3");
}

static void keeps_fibers_apart_on_5_4(void **state)
{
	check_version(*state, "5.4");
}

/* Samples that are in doubt whose stack it is do not put the decision off. */
static void expect_early_decision(const struct scriptprofile *profile)
{
	const json_t *recorder = json_object_get(profile->document, "Recorder");
	const char *layout = json_string_value(json_object_get(recorder, "Layout"));

	assert_non_null(layout);
	print_message("%s\n", layout);
	assert_non_null(strstr(layout, "agreed on by 8 of "));
}

/*
 * Where stacks of 16 KiB lie side by side, luaspy cannot tell them all apart, but must show nothing
 * false.
 */
static void shows_nothing_false_on_small_stacks(void **state)
{
	static const char *const words[] = {"5.1", "5.4"};
	struct sorted_time lua, idle;
	struct scriptprofile *profile;
	char name[32], *said;

	need_to_record();
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(name, sizeof(name), "fibers-%s", words[i]);
		profile = watch_program(*state, "10khz", "done",
					(const char *const[]){built_program(name), "region",
							      "16384", "resumed", "6", "1", NULL},
					&said);
		lua = sorted_time__of(profile, 'f', NULL);
		idle = sorted_time__of(profile, 'i', NULL);
		sorted_time__print(name, &lua);
		sorted_time__print("those without Lua", &idle);
		expect_early_decision(profile);
		assert_true(lua.right > 100000);
		assert_int_equal(lua.foreign, 0);
		assert_int_equal(idle.right + idle.foreign + idle.rootless, 0);
	}
}

/* Compares each thread's time, as it measured it, with the time of its category. */
static void check_times(const struct scriptprofile *profile, const char *said, int count)
{
	const json_t *categories = json_object_get(profile->document, "Categories");
	const char *at = strstr(said, "TIMES ");

	assert_non_null(at);
	at += strlen("TIMES ");
	for (int i = 0; i < count; i++) {
		char name[16], *end;
		double us = strtod(at, &end), found = 0;

		at = end;
		snprintf(name, sizeof(name), "t%d", i);
		for (size_t j = 0; j < json_array_size(categories); j++) {
			const json_t *category = json_array_get(categories, j);

			if (!strcmp(json_string_value(json_object_get(category, "Name")), name))
				found += (double)profile->node_total_us[json_integer_value(
					json_object_get(category, "NodeId"))];
		}
		print_message("%s: %.0f us, found %.0f us\n", name, us, found);
		/* A thread also works before it has its name and after it has read its clock. */
		assert_true(fabs(found / us - 1) <= 0.01);
	}
}

/* Returns the share of unreadable time. `least`, `most`: bounds of the share of script. */
static double check_threads(struct stage *stage, const char *version, const char *mode,
			    double least, double most)
{
	struct scriptprofile *profile;
	struct sorted_time sorted;
	char name[32], *said;
	double all;

	need_to_record();
	snprintf(name, sizeof(name), "vms-%s", version);
	profile = watch_program(stage, "10khz", "TIMES ",
				(const char *const[]){built_program(name), mode, "8", NULL}, &said);
	sorted = sorted_time__of(profile, 't', NULL);
	print_message("%s %s\n", name, mode);
	sorted_time__print("threads", &sorted);
	all = (double)(sorted.right + sorted.foreign + sorted.host + sorted.unreadable);
	assert_int_equal(sorted.foreign, 0);
	assert_in_range((int64_t)(1000.0 * (double)sorted.right / all), (int64_t)(1000 * least),
			(int64_t)(1000 * most));
	assert_int_equal(scriptprofile__total_us(profile, NULL, "child_*", -1), 0);
	check_times(profile, said, 8);
	return (double)sorted.unreadable / all;
}

static void check_readable_threads(struct stage *stage, const char *version, const char *mode,
				   double least, double most)
{
	assert_true(check_threads(stage, version, mode, least, most) <= 0.05);
}

static void finds_eight_profiles_in_eight_threads_with_a_vm_each(void **state)
{
	check_readable_threads(*state, "5.1", "own", 0.97, 1);
	check_readable_threads(*state, "5.4", "own", 0.97, 1);
}

/* One thread in eight works; the others wait for the VM. */
static void tells_the_thread_that_runs_a_vm_from_those_that_wait(void **state)
{
	check_readable_threads(*state, "5.1", "pool", 0.05, 0.3);
	check_readable_threads(*state, "5.4", "pool", 0.05, 0.3);
	check_readable_threads(*state, "5.1", "bare", 0.05, 0.3);
	check_readable_threads(*state, "5.4", "bare", 0.05, 0.3);
}

/* Who waits has all on the stack that who runs has: what cannot be told must be unreadable. */
static void takes_no_remains_on_a_stack_for_calls(void **state)
{
	check_threads(*state, "5.1", "covering", 0.05, 0.3);
	check_threads(*state, "5.4", "covering", 0.05, 0.3);
}

static void survives_vms_that_come_and_go(void **state)
{
	check_readable_threads(*state, "5.1", "closing", 0.4, 1);
	check_readable_threads(*state, "5.4", "closing", 0.4, 1);
}

static void leaves_forked_children_out(void **state)
{
	check_readable_threads(*state, "5.1", "forking", 0.95, 1);
	check_readable_threads(*state, "5.4", "forking", 0.95, 1);
}

/* Writes "t3" if all functions of the category belong to that thread, "" if they belong to none. */
static void owner_of(const struct scriptprofile *profile, int category, char to[16])
{
	*to = '\0';
	for (int id = 1; id <= profile->node_count; id++) {
		const char *name = profile->functions[profile->node_function[id]].name;
		const char *source = profile->functions[profile->node_function[id]].source;
		size_t length = strcmp(source, "[C]") ? sorted_time__owner_length(name, 't') : 0;
		int top = id;

		while (profile->node_parent[top])
			top = profile->node_parent[top];
		if (top != category || !length)
			continue;
		if (!*to)
			snprintf(to, 16, "%.*s", (int)length, name);
		else if (strlen(to) != length || strncmp(to, name, length) != 0)
			fail_msg("functions of %s and '%s' are in one category", to, name);
	}
}

/* Eight threads with a VM each give eight categories, one for each, that add up to all time. */
static void check_categories(struct stage *stage, const char *kind, const char *pattern,
			     const char *without)
{
	struct child *target, *spy;
	struct scriptprofile *profile;
	const json_t *categories;
	double cpu_us;
	int found = 0, seen = 0;

	need_to_record();
	target = start(stage, built_program("vms-5.4"), "own", "8");
	child__await_output(stage, target, "ready");
	spy = start_record(stage, target->pid, "-F", "10khz", "-o", "profile.json", "-q",
			   "--category", kind);
	spying__await_timers(stage, spy);
	cpu_us = -child__cpu_seconds(target) * 1e6;
	child__tell(target, "go");
	child__await_output(stage, target, "TIMES ");
	sleep_seconds(0.1);
	cpu_us += child__cpu_seconds(target) * 1e6;
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	categories = json_object_get(profile->document, "Categories");
	for (size_t i = 0; i < json_array_size(categories); i++) {
		const json_t *category = json_array_get(categories, i);
		const char *name = json_string_value(json_object_get(category, "Name"));
		int node = (int)json_integer_value(json_object_get(category, "NodeId"));
		char owner[16];

		owner_of(profile, node, owner);
		print_message("%s: %lld us, %s\n", name, (long long)profile->node_total_us[node],
			      *owner ? owner : "nobody's");
		if (strcmp(name, without) != 0 && !fnmatch(pattern, name, 0)) {
			assert_true(*owner);
			seen |= 1 << atoi(owner + 1);
			found++;
		}
	}
	assert_int_equal(found, 8);
	assert_int_equal(seen, 255);
	print_message("charged %.0f us, categories %lld us\n", cpu_us, (long long)profile->all_us);
	assert_true(fabs((double)profile->all_us / cpu_us - 1) <= 0.01);
}

static void makes_each_vm_a_category(void **state)
{
	check_categories(*state, "state", "Lua VM * (0x*)", "(no VM)");
}

static void makes_each_script_a_category(void **state)
{
	check_categories(*state, "chunk", "t*_", "(no chunk)");
}

/* Each luaspy looks for the end of every stack that it meets; no lock may make the other wait. */
static void two_sessions_do_not_disturb_each_other(void **state)
{
	static const char *const names[] = {"a.json", "b.json"};
	struct child *target, *spies[2];

	need_to_record();
	target = stage__start(*state, (const char *const[]){built_program("fibers-5.4"), "mapped",
							    "65536", "own", "8", "1", NULL});
	child__await_output(*state, target, "ready");
	for (int i = 0; i < 2; i++)
		spies[i] = start_record(*state, target->pid, "-F", "10khz", "-o", names[i], "-q");
	for (int i = 0; i < 2; i++)
		spying__await_timers(*state, spies[i]);
	child__tell(target, "go");
	child__await_output(*state, target, "done");
	for (int i = 0; i < 2; i++) {
		struct scriptprofile *profile;
		int64_t complete;

		kill(spies[i]->pid, SIGINT);
		assert_int_equal(child__wait(spies[i], PATIENCE), 0);
		profile = spying__read(*state, in_folder(*state, names[i]));
		complete = scriptprofile__samples(profile, "complete");
		assert_in_range(complete, 1000, INT64_MAX);
		assert_in_range(scriptprofile__samples(profile, "unreadable"), 0, complete / 200);
	}
	child__tell(target, "end");
	assert_int_equal(child__wait(target, PATIENCE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(keeps_fibers_apart_on_5_1),
		staged(keeps_fibers_apart_on_5_2),
		staged(keeps_fibers_apart_on_5_3),
		staged(keeps_fibers_apart_on_5_4),
		staged(shows_nothing_false_on_small_stacks),
		staged(finds_eight_profiles_in_eight_threads_with_a_vm_each),
		staged(tells_the_thread_that_runs_a_vm_from_those_that_wait),
		staged(takes_no_remains_on_a_stack_for_calls),
		staged(survives_vms_that_come_and_go),
		staged(leaves_forked_children_out),
		staged(makes_each_vm_a_category),
		staged(makes_each_script_a_category),
		staged(two_sessions_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests_name("fibers", tests, NULL, NULL);
}
