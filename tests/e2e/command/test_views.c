/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options that change how a profile is shown, on a script whose parts take known shares
 * (programs/views.lua), with Debian's interpreters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "spying.h"

#define SCRIPT "views.lua"
#define PLUGIN "/srv/app/plugins/extension.lua"
/* The number of samples does not depend on how busy the machine is. */
#define SPYING "--until-samples", "3000", "-d", "15", "-F", "5khz", "-q"

static const char *const interpreters[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};

static struct child *start_target(struct stage *stage, const char *program)
{
	struct child *target = start(stage, program, program_source(SCRIPT));

	child__await_output(stage, target, "ready");
	child__tell(target, "");
	return target;
}

/* Calls `check` with the pid of a process of each Debian interpreter that is installed. */
static void on_all(void **state, void (*check)(struct stage *stage, pid_t pid))
{
	int found = 0;

	need_to_record();
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		struct child *target;

		if (!has_program(interpreters[i])) {
			if (skips_are_failures())
				fail_msg("package '%s' is missing", interpreters[i]);
			continue;
		}
		found++;
		target = start_target(*state, interpreters[i]);
		print_message("%s\n", interpreters[i]);
		check(*state, target->pid);
		child__kill(target);
	}
	if (!found)
		skip_because("no interpreter is installed");
}

/* The own time of the functions with this name and exactly these flags. */
static int64_t own(const struct scriptprofile *profile, const char *name, int64_t wanted)
{
	int64_t us = 0;

	for (int id = 1; id <= profile->function_count; id++)
		if (!strcmp(profile->functions[id].name, name) &&
		    profile->functions[id].flags == wanted)
			us += profile->functions[id].self_us;
	return us;
}

/* The time is about this many of the five equal pieces of work. */
#define assert_pieces(profile, us, pieces)                                                         \
	do {                                                                                       \
		int64_t took = (us), all_us = (profile)->all_us;                                   \
                                                                                                   \
		if (took < all_us * (pieces)*15 / 100 || took > all_us * (pieces)*25 / 100) {      \
			scriptprofile__print(profile);                                             \
			fail_msg("%s is %.1f%%, not %d%%", #us, 100.0 * took / all_us,             \
				 20 * (pieces));                                                   \
		}                                                                                  \
	} while (0)

/* The categories add up to the whole CPU time, whatever is shown of it. */
static void assert_adds_up(const struct scriptprofile *profile)
{
	int64_t cpu_us = scriptprofile__recorded(profile, "CpuDuration");

	assert_in_range(profile->all_us, cpu_us * 99 / 100, cpu_us * 101 / 100);
}

static void check_plugins(struct stage *stage, pid_t pid)
{
	struct scriptprofile *profile =
		record_shares(stage, pid, SPYING, "--plugin", "nothing", "--plugin", "*/plugins/*");
	int found = 0;

	assert_adds_up(profile);
	assert_pieces(profile, own(profile, "extension", 2), 1);
	assert_pieces(profile, own(profile, "spin", 2), 1);
	assert_pieces(profile, own(profile, "spin", 0), 3);
	for (int id = 1; id <= profile->node_count; id++) {
		int function = profile->node_function[id], parent = profile->node_parent[id];
		int above = parent ? profile->node_function[parent] : 0;
		bool is_plugin = !strcmp(profile->functions[function].source, PLUGIN);

		found += is_plugin;
		if (function)
			assert_int_equal(
				profile->functions[function].flags,
				is_plugin || (above && profile->functions[above].flags) ? 2 : 0);
	}
	assert_in_range(found, 1, profile->node_count);
}

static void flags_plugins_and_their_callees(void **state)
{
	on_all(state, check_plugins);
}

static void no_plugin_no_flag(void **state)
{
	struct scriptprofile *profile;
	struct child *target;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_target(*state, "lua5.4");
	profile = record_shares(*state, target->pid, SPYING, "--plugin-preset", "kong,prosody");
	assert_pieces(profile, own(profile, "spin", 0), 4);
	for (int id = 1; id <= profile->function_count; id++)
		assert_int_equal(profile->functions[id].flags, 0);
}

static void check_ignored(struct stage *stage, pid_t pid)
{
	struct scriptprofile *profile = record_shares(stage, pid, SPYING, "--ignore", "spin");

	assert_adds_up(profile);
	assert_int_equal(scriptprofile__total_us(profile, NULL, "spin", -1), 0);
	assert_pieces(profile, own(profile, "extension", 0), 2);
	assert_pieces(profile, own(profile, "outside", 0), 2);
	assert_pieces(profile, scriptprofile__self_us(profile, "*" SCRIPT, "", -1), 1);
	assert_in_range(scriptprofile__recorded(profile, "IgnoredSamples"), 1,
			scriptprofile__samples(profile, "total"));

	/*
	 * All of the script's functions and all C functions: the plugin's and those without a
	 * caller remain.
	 */
	profile = record_shares(stage, pid, SPYING, "--ignore", "*" SCRIPT, "--ignore", "[C]");
	assert_adds_up(profile);
	assert_int_equal(scriptprofile__total_us(profile, "*" SCRIPT, NULL, -1), 0);
	assert_int_equal(scriptprofile__total_us(profile, "\\[C]", NULL, -1), 0);
	assert_pieces(profile, scriptprofile__stack_us(profile, "^extension"), 2);
	assert_pieces(profile, scriptprofile__stack_us(profile, "^(ignored)"), 3);
}

static void charges_ignored_functions_to_their_callers(void **state)
{
	on_all(state, check_ignored);
}

static const json_t *sample(const struct scriptprofile *profile, size_t index)
{
	return json_array_get(json_object_get(profile->document, "Samples"), index);
}

static const char *sampled_name(const struct scriptprofile *profile, size_t index)
{
	int64_t node = json_integer_value(json_array_get(sample(profile, index), 0));

	return profile->functions[profile->node_function[node]].name;
}

static void check_coroutine(struct stage *stage, pid_t pid)
{
	struct scriptprofile *profile = record_shares(stage, pid, SPYING, "--coroutine", "worker");
	char place[64];

	assert_adds_up(profile);
	assert_pieces(profile, scriptprofile__stack_us(profile, "^worker > outside > spin"), 1);
	assert_pieces(profile, scriptprofile__stack_us(profile, "^(other coroutines)"), 4);
	assert_int_equal(scriptprofile__total_us(profile, NULL, "main chunk", -1), 0);

	/* No call gives the coroutine's function a name. */
	snprintf(place, sizeof(place), "*" SCRIPT ":%d", line_in(SCRIPT, "-- nameless"));
	profile = record_shares(stage, pid, SPYING, "--coroutine", place);
	assert_adds_up(profile);
	assert_pieces(profile, scriptprofile__stack_us(profile, "^ > spin"), 1);
	assert_pieces(profile, scriptprofile__stack_us(profile, "^(other coroutines)"), 4);

	/* The main thread counts as a coroutine, and the coroutines that it resumes run in it. */
	profile = record_shares(stage, pid, SPYING, "--coroutine", "[C]*", "--timeline");
	assert_adds_up(profile);
	assert_pieces(profile, scriptprofile__stack_us(profile, "main chunk"), 5);
	assert_pieces(profile, scriptprofile__stack_us(profile, "*.resume > worker"), 1);
	assert_in_range(scriptprofile__total_us(profile, NULL, "(other coroutines)", -1), 0,
			profile->all_us / 50);
	assert_int_equal(scriptprofile__total_us(profile, NULL, "(coroutine)", -1), 0);
}

static void shows_one_coroutine(void **state)
{
	on_all(state, check_coroutine);
}

/* The Recorder's Target is "lua5.4 (pid 42)". */
static int recorded_pid(const struct scriptprofile *profile)
{
	const json_t *recorder = json_object_get(profile->document, "Recorder");
	const char *pid = strstr(json_string_value(json_object_get(recorder, "Target")), "(pid ");

	assert_non_null(pid);
	return atoi(pid + 5);
}

static void check_order(struct stage *stage, const char *program)
{
	static const char script[] =
		"function work() local x = 0 for i = 1, 20000 do x = x + i end return x end\n"
		"function early() while os.clock() < stop do local x = work() end end\n"
		"function late() while os.clock() < stop do local x = work() end end\n"
		"stop = os.clock() + 0.4 early() stop = os.clock() + 0.2 late()\n";
	size_t early = 0, late = 0, last_early = 0, first_late = SIZE_MAX, count;
	struct scriptprofile *profile;
	struct child *spy;
	int64_t us = 0;

	write_file(in_folder(stage, "phases.lua"), script, strlen(script));
	spy = start(stage, luaspy_program(), "record", "--timeline", "--ignore", "work", "-q",
		    "--ignore", "[C]", "-F", "5khz", "-o", "phases.json", "--", program,
		    "phases.lua");
	assert_int_equal(child__wait(spy, 20), 0);
	profile = spying__read(stage, in_folder(stage, "phases.json"));
	count = json_array_size(json_object_get(profile->document, "Samples"));
	assert_int_equal(count, scriptprofile__samples(profile, "total"));
	for (size_t i = 0; i < count; i++) {
		us += json_integer_value(json_array_get(sample(profile, i), 1));
		assert_int_equal(json_integer_value(json_array_get(sample(profile, i), 2)),
				 recorded_pid(profile));
		if (!strcmp(sampled_name(profile, i), "early")) {
			early++;
			last_early = i;
		} else if (!strcmp(sampled_name(profile, i), "late")) {
			late++;
			first_late = first_late < i ? first_late : i;
		}
	}
	print_message("%s: %zu samples, %zu early, %zu late\n", program, count, early, late);
	assert_true(last_early < first_late);
	assert_in_range(100 * early / (early + late), 50, 80);
	assert_in_range(us, 400000, 30000000);
}

static void samples_are_in_order_of_time(void **state)
{
	need_to_record();
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		need_program(interpreters[i], "lua5.1 to lua5.4");
		check_order(*state, interpreters[i]);
	}
}

static void strict_output_has_only_the_fields_of_the_format(void **state)
{
	static const char *const top[] = {
		"Version", "SessionStartTime", "SessionEndTime", "Categories",
		"Nodes",   "Functions",        "GCFuncId"};
	struct scriptprofile *profile;
	struct child *target;
	const char *key;
	size_t index;
	json_t *value, *functions;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_target(*state, "lua5.4");
	profile = record_shares(*state, target->pid, SPYING, "--strict", "--plugin", PLUGIN);
	assert_pieces(profile, own(profile, "spin", 2), 1);
	json_object_foreach(profile->document, key, value)
	{
		size_t i = 0;

		while (i < sizeof(top) / sizeof(top[0]) && strcmp(key, top[i]))
			i++;
		if (i == sizeof(top) / sizeof(top[0]))
			fail_msg("'%s' is none of the format's", key);
	}
	functions = json_object_get(profile->document, "Functions");
	json_array_foreach(functions, index, value)
	{
		assert_null(json_object_get(value, "Lines"));
		assert_null(json_object_get(value, "CurrentLine"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(flags_plugins_and_their_callees),
		staged(no_plugin_no_flag),
		staged(charges_ignored_functions_to_their_callers),
		staged(shows_one_coroutine),
		staged(samples_are_in_order_of_time),
		staged(strict_output_has_only_the_fields_of_the_format),
	};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
