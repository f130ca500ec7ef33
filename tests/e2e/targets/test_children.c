/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several processes in one profile: children of a command, and a list of processes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 60

#define need_luas()                                                                                \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("lua5.1", "lua5.1");                                                  \
		need_program("lua5.3", "lua5.3");                                                  \
		need_program("lua5.4", "lua5.4");                                                  \
	} while (0)

/* The time of all categories whose names begin so. */
static int64_t category_us(const struct scriptprofile *profile, const char *prefix, int *count)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	int64_t sum = 0;
	size_t i;

	*count = 0;
	json_array_foreach(categories, i, category)
	{
		const char *name = json_string_value(json_object_get(category, "Name"));
		int64_t node = json_integer_value(json_object_get(category, "NodeId"));

		if (strncmp(name, prefix, strlen(prefix)))
			continue;
		sum += profile->node_total_us[node];
		(*count)++;
	}
	return sum;
}

/*
 * What a shell's `times` prints for the children that it waited for, in microseconds; printed last.
 */
static int64_t children_us(struct stage *stage, const struct child *spy)
{
	const char *output = child__output(stage, spy), *line = NULL;
	double user_m, user_s, system_m, system_s;

	for (const char *at = output; (at = strchr(at, '\n')) && at[1]; at++)
		line = at + 1;
	assert_non_null(line);
	assert_int_equal(sscanf(line, "%lfm%lfs %lfm%lfs", &user_m, &user_s, &system_m, &system_s),
			 4);
	return (int64_t)(1e6 * (60 * (user_m + system_m) + user_s + system_s));
}

static void assert_near(const char *what, int64_t found, int64_t expected, double tolerance)
{
	print_message("%s: %.3f s of %.3f\n", what, (double)found / 1e6, (double)expected / 1e6);
	assert_in_range(found, (int64_t)((1 - tolerance) * (double)expected),
			(int64_t)((1 + tolerance) * (double)expected));
}

static void are_all_in_the_profile_of_a_command(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy;
	int count;

	need_luas();
	write_text(stage, "one.lua",
		   LUA_SPIN "local function first() spin(0.6) return 1 end first()");
	write_text(stage, "two.lua",
		   LUA_SPIN "local function second() spin(0.4) return 1 end second()");
	write_text(stage, "run.sh",
		   "lua5.4 one.lua & lua5.1 two.lua & lua5.3 two.lua; wait; times");
	spy = start(stage, luaspy_program(), "record", "--children", "-o", "profile.json", "--",
		    "sh", "run.sh");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_near("all", profile->all_us, children_us(stage, spy), 0.05);
	assert_near("lua5.4", category_us(profile, "lua5.4 one.lua (pid ", &count), 600000, 0.1);
	assert_int_equal(count, 1);
	assert_near("lua5.1", category_us(profile, "lua5.1 two.lua (pid ", &count), 400000, 0.1);
	assert_int_equal(count, 1);
	assert_near("lua5.3", category_us(profile, "lua5.3 two.lua (pid ", &count), 400000, 0.1);
	assert_int_equal(count, 1);
	assert_near("first", scriptprofile__total_us(profile, "one.lua", "first", -1), 600000, 0.1);
	assert_near("second", scriptprofile__total_us(profile, "two.lua", "second", -1), 800000,
		    0.1);
	assert_true(category_us(profile, "(no interpreter)", &count) < 300000);
	assert_int_equal(count, 1);
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

static void are_recorded_however_brief_they_are(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy;
	int64_t hot_us;
	int count;

	need_luas();
	write_text(stage, "brief.lua",
		   LUA_SPIN "local function hot() spin(0.05) return 1 end hot()");
	write_text(stage, "run.sh",
		   "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
		   "lua5.4 brief.lua; done; times\n");
	spy = start(stage, luaspy_program(), "record", "--children", "-o", "profile.json", "--",
		    "sh", "run.sh");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_near("all", profile->all_us, children_us(stage, spy), 0.05);
	category_us(profile, "lua5.4 brief.lua (pid ", &count);
	assert_int_equal(count, 20);
	hot_us = scriptprofile__total_us(profile, "brief.lua", "hot", -1);
	print_message("%.1f%% of 20 scripts of 50 ms are in their function\n",
		      (double)hot_us / 1e4);
	assert_true(hot_us > 700000);
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

/* A command may start a daemon, and end at once. */
static void are_pointed_out_if_they_run_on(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_luas();
	write_text(stage, "stay.lua", LUA_SPIN "spin(3)");
	write_text(stage, "run.sh", "lua5.4 stay.lua >/dev/null 2>&1 & sleep 0.5");
	spy = start(stage, luaspy_program(), "record", "--children", "-o", "profile.json", "--",
		    "sh", "run.sh");
	child__wait(spy, PATIENCE);
	assert_non_null(strstr(child__errors(stage, spy),
			       "which it started, still runs (luaspy record -p "));
	write_text(stage, "run.sh", "sleep 5 & lua5.4 -e 'local x for i = 1, 1e8 do x = i end'");
	spy = start(stage, luaspy_program(), "record", "--children", "-o", "profile.json", "--",
		    "sh", "run.sh");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_null(strstr(child__errors(stage, spy), "still runs"));
}

/*
 * A fork shares addresses with its parent: what luaspy knew of the parent holds for the child,
 * except its CPU time.
 */
static void keep_the_names_known_before_the_fork(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy;
	int count;

	need_to_record();
	write_text(stage, "forks.lua",
		   "local function shared(us) local stop = cpu_us() + us\n"
		   "while cpu_us() < stop do for i = 1, 1000 do end end return 1 end\n"
		   "local function before() shared(3e5) return 1 end\n"
		   "local function child() shared(4e5) return 1 end\n"
		   "local function parent() shared(2e5) return 1 end\n"
		   "before()\n"
		   "for i = 1, 3 do if fork() == 0 then child() os.exit(0) end end\n"
		   "parent() join()\n");
	spy = start(stage, luaspy_program(), "record", "--children", "-o", "profile.json", "--",
		    built_program("host-5.4"), "forks.lua");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	category_us(profile, "host-5.4 forks.lua (pid ", &count);
	assert_int_equal(count, 4);
	assert_near("before", scriptprofile__stack_us(profile, "main chunk > before"), 300000, 0.1);
	assert_near("parent", scriptprofile__stack_us(profile, "main chunk > parent"), 200000, 0.1);
	assert_near("children", scriptprofile__stack_us(profile, "main chunk > child > shared"),
		    1200000, 0.1);
	assert_int_equal(scriptprofile__recorded(profile, "Collected"), 0);
}

static void are_found_if_they_run_already(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *shell, *spy;
	int64_t early_us, late_us;

	need_luas();
	/* Only its shell is killed; it ends itself when the stage's folder is removed. */
	write_text(stage, "early.lua",
		   "local function early() for i = 1, 1e6 do end return 1 end\n"
		   "local function is_staged() local file = io.open('early.lua') "
		   "return file and file:close() end\n"
		   "print 'ready' io.stdout:flush() while is_staged() do early() end\n");
	write_text(stage, "late.lua",
		   LUA_SPIN "local function late() spin(0.5) return 1 end late()\n"
			    "print 'done' io.stdout:flush()\n");
	write_text(stage, "run.sh", "lua5.4 early.lua & read line; lua5.3 late.lua; kill $!\n");
	shell = start(stage, "sh", "run.sh");
	child__await_output(stage, shell, "ready");
	spy = start_record(stage, shell->pid, "--children", "-o", "profile.json");
	spying__await_timers(stage, spy);
	child__tell(shell, "go");
	child__await_output(stage, shell, "done");
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	early_us = scriptprofile__total_us(profile, "early.lua", "early", -1);
	late_us = scriptprofile__total_us(profile, "late.lua", "late", -1);
	print_message("early %.3f s, late %.3f s of 0.5\n", (double)early_us / 1e6,
		      (double)late_us / 1e6);
	assert_true(early_us > 100000);
	assert_in_range(late_us, 440000, 510000);
	assert_true(scriptprofile__samples(profile, "complete") >
		    9 * scriptprofile__samples(profile, "total") / 10);
}

static void of_a_list_are_in_one_profile(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *one, *other, *idle, *spy;
	double other_seconds;
	char list[64];
	int count;

	need_luas();
	write_text(stage, "one.lua",
		   "local function one() for i = 1, 1e6 do end return 1 end\n"
		   "while true do one() end\n");
	write_text(stage, "other.lua",
		   "local function other() for i = 1, 1e6 do end return 1 end\n"
		   "while true do other() end\n");
	one = start(stage, "lua5.4", "one.lua");
	other = start(stage, "lua5.1", "other.lua");
	idle = start(stage, "sleep", "1000");
	snprintf(list, sizeof(list), "%d,%d,%d", one->pid, idle->pid, other->pid);
	spy = start(stage, luaspy_program(), "record", "-p", list, "-o", "profile.json");
	child__await_errors(stage, spy, "layout 5.4");
	child__await_errors(stage, spy, "layout 5.1");
	child__kill(one);
	other_seconds = child__cpu_seconds(other);
	while (child__cpu_seconds(other) < other_seconds + 0.3)
		usleep(10000);
	child__kill(other);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_true(scriptprofile__total_us(profile, "one.lua", "one", -1) > 0);
	assert_true(scriptprofile__total_us(profile, "other.lua", "other", -1) > 200000);
	category_us(profile, "lua5.4 one.lua (pid ", &count);
	assert_int_equal(count, 1);
	assert_non_null(strstr(child__errors(stage, spy), "no interpreter in any of its files"));
	assert_non_null(strstr(child__errors(stage, spy), " and 1 more: "));
}

/* What brief.c prints for the children that it waited for, and for itself, in microseconds. */
static int64_t brief_us(struct stage *stage, const struct child *spy)
{
	long long children, itself;

	assert_int_equal(sscanf(child__output(stage, spy), "%*d processes, %lld us; itself %lld us",
				&children, &itself),
			 2);
	return children + itself;
}

/*
 * A number of processes with the same work each: all CPU time that the kernel charged to them is
 * recorded.
 */
static void assert_has_all_of(struct stage *stage, const char *count, const char *loops)
{
	struct scriptprofile *profile;
	struct child *spy;
	char *work;

	assert_true(asprintf(&work, "for i = 1, %s do end", loops) > 0);
	spy = start(stage, luaspy_program(), "record", "--children", "--merge-by", "name", "-o",
		    "profile.json", "--", built_program("brief"), count, "lua5.4", "-e", work);
	free(work);
	/* 3: the first are too brief for a sample in Lua. */
	assert_in_set(child__wait(spy, PATIENCE), ((LargestIntegralType[]){0, 3}), 2);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	print_message("%.2f ms each, ", (double)brief_us(stage, spy) / atoi(count) / 1e3);
	assert_near("all", profile->all_us, brief_us(stage, spy), 0.01);
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

static void are_charged_completely_if_they_run_for_a_millisecond(void **state)
{
	struct stage *stage = *state;

	need_luas();
	assert_has_all_of(stage, "300", "1");
	assert_has_all_of(stage, "300", "3e5");
	assert_has_all_of(stage, "300", "6e5");
	assert_has_all_of(stage, "200", "2.5e6");
}

/* Hundreds of processes start and end at any step of luaspy's work on them. */
static void may_come_and_go_as_they_like(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy;

	need_luas();
	write_text(stage, "run.sh",
		   "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
		   "  for j in 1 2 3; do (lua5.4 -e 'for i = 1, 3e5 do end') &\n"
		   "    (exec true) & lua5.1 -e 'os.execute(\"true; lua5.3 -v\")' & done\n"
		   "  lua5.4 -e 'os.exit()'\n"
		   "done >/dev/null 2>&1; wait\n");
	spy = start(stage, luaspy_program(), "record", "--children", "-F", "10khz", "-o",
		    "profile.json", "--", built_program("brief"), "1", "sh", "run.sh");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_near("all", profile->all_us, brief_us(stage, spy), 0.01);
	assert_null(strstr(child__errors(stage, spy), "cannot profile"));
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		staged(are_all_in_the_profile_of_a_command),
		staged(are_recorded_however_brief_they_are),
		staged(are_pointed_out_if_they_run_on),
		staged(keep_the_names_known_before_the_fork),
		staged(are_found_if_they_run_already),
		staged(of_a_list_are_in_one_profile),
		staged(are_charged_completely_if_they_run_for_a_millisecond),
		staged(may_come_and_go_as_they_like),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
