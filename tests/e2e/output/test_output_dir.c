/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One file for each process: --output-dir. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "processes.h"

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static const char *target_of(const struct scriptprofile *profile)
{
	return json_string_value(
		json_object_get(json_object_get(profile->document, "Recorder"), "Target"));
}

/* The file names its process and has threads as categories, as any profile of one process has. */
static void each_process_has_a_file(void **state)
{
	static const char *const seconds[] = {"1.6", "0.9", "1.2"};
	struct child *workers[3], *spy;
	struct processes_sums sums;
	double cpu;

	need_lua();
	for (int i = 0; i < 3; i++)
		workers[i] =
			processes__start_worker(*state, "lua5.4", seconds[i], i ? NULL : "first");
	spy = processes__spy_on(*state, workers, 3, (const char *const[]){"--timeline", NULL});
	cpu = processes__let_work(workers, 3);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	sums = processes__read_all(*state, "out/*");
	assert_int_equal(sums.files, 3);
	processes__assert_whole(*state, spy, &sums, cpu);
	for (int i = 0; i < 3; i++) {
		char pattern[64], title[64];
		const char *name = i ? "lua5.4" : "first";
		struct scriptprofile *profile;
		const json_t *recorder, *category;

		snprintf(pattern, sizeof(pattern), "out/%s-%d-2*-*.json", name, workers[i]->pid);
		snprintf(title, sizeof(title), "lua5.4 worker.lua (pid %d)", workers[i]->pid);
		profile = processes__read_one(*state, pattern);
		recorder = json_object_get(profile->document, "Recorder");
		accounts__assert_near(title, number(recorder, "CpuDuration"),
				      accounts__charged_us(workers[i]), 0.01);
		assert_string_equal(target_of(profile), title);
		assert_non_null(json_object_get(recorder, "Interpreter"));
		assert_non_null(
			strstr(json_string_value(json_object_get(recorder, "Layout")), "5.4"));
		category = json_array_get(json_object_get(profile->document, "Categories"), 0);
		assert_string_equal(json_string_value(json_object_get(category, "Name")), name);
	}
	assert_non_null(strstr(child__errors(*state, spy), "wrote 3 files into out ("));
}

/* Processes that start and end during the session. */
static void ended_processes_of_a_system_have_a_file(void **state)
{
	struct stage *stage = *state;
	struct child *all[6], *spy;
	struct processes_sums sums;
	char name[16], pattern[64];
	double cpu = 0;

	need_lua();
	snprintf(name, sizeof(name), "dir%d", getpid());
	processes__own_lua(stage, name);
	all[0] = processes__start_worker(stage, in_folder(stage, name), "1.5", NULL);
	spy = start(stage, luaspy_program(), "record", "-v", "--system", "--name", name,
		    "--output-dir", "out");
	child__await_errors(stage, spy, "processes run an interpreter");
	child__tell(all[0], "go");
	write_text(stage, "brief.lua", LUA_SPIN "spin(0.15)");
	for (int i = 1; i < 6; i++) {
		all[i] = start(stage, in_folder(stage, name), "brief.lua");
		assert_int_equal(child__wait(all[i], PROCESSES_PATIENCE), 0);
	}
	cpu = accounts__charged_us(all[1]);
	for (int i = 2; i < 6; i++)
		cpu += accounts__charged_us(all[i]);
	assert_int_equal(child__wait(all[0], PROCESSES_PATIENCE), 0);
	cpu += accounts__charged_us(all[0]);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	snprintf(pattern, sizeof(pattern), "out/%s-*", name);
	assert_int_equal(processes__read_all(stage, pattern).files, 6);
	for (int i = 0; i < 6; i++) {
		sums = processes__read_process(stage, all[i]->pid);
		assert_int_equal(sums.files, 1);
		accounts__assert_near("CPU time of one", sums.cpu_us, accounts__charged_us(all[i]),
				      i ? 0.05 : 0.01);
	}
	sums = processes__read_all(stage, "out/*");
	processes__assert_whole(stage, spy, &sums, cpu);
}

/* A shell has no Lua: its time belongs to the rest. */
static void children_without_lua_belong_to_the_rest(void **state)
{
	struct child *spy;
	struct processes_sums lua, rest, all;
	double user_m[2], user_s[2], system_m[2], system_s[2];

	need_lua();
	write_text(*state, "brief.lua", LUA_SPIN "spin(tonumber(arg[1]))");
	write_text(*state, "run.sh",
		   "lua5.4 brief.lua 1.2; lua5.4 brief.lua 0.9\n"
		   "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; times\n");
	spy = start(*state, luaspy_program(), "record", "-v", "--children", "--output-dir", "out",
		    "--", "bash", "run.sh");
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	assert_int_equal(sscanf(child__output(*state, spy), "%lfm%lfs %lfm%lfs %lfm%lfs %lfm%lfs",
				&user_m[0], &user_s[0], &system_m[0], &system_s[0], &user_m[1],
				&user_s[1], &system_m[1], &system_s[1]),
			 8);
	lua = processes__read_all(*state, "out/lua5.4-*");
	rest = processes__read_all(*state, "out/rest-*");
	all = processes__read_all(*state, "out/*");
	assert_int_equal(lua.files, 2);
	assert_int_equal(rest.files, 1);
	assert_int_equal(all.files, 3);
	accounts__assert_near("CPU time of Lua", lua.cpu_us, 1e6 * (user_s[1] + system_s[1]), 0.01);
	processes__assert_whole(*state, spy, &all,
				1e6 * (user_s[0] + system_s[0] + user_s[1] + system_s[1]));
	assert_memory_equal(target_of(processes__read_one(*state, "out/rest-*")),
			    "the rest of bash run.sh (pid ", 29);
}

static void groups_have_a_file_each(void **state)
{
	struct child *workers[3], *spy;
	struct scriptprofile *profile;
	struct processes_sums sums;
	double cpu;

	need_lua();
	workers[0] = processes__start_worker(*state, "lua5.4", "0.6", "a/pair");
	workers[1] = processes__start_worker(*state, "lua5.4", "0.9", "a/pair");
	workers[2] = processes__start_worker(*state, "lua5.4", "0.6", "alone");
	spy = processes__spy_on(
		*state, workers, 3,
		(const char *const[]){"--merge-by", "name", "--category", "process", NULL});
	cpu = processes__let_work(workers, 3);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	sums = processes__read_all(*state, "out/*");
	assert_int_equal(sums.files, 2);
	processes__assert_whole(*state, spy, &sums, cpu);
	profile = processes__read_one(*state, "out/a_pair-2*-*.json");
	accounts__assert_near("CPU time of the pair", (double)profile->all_us,
			      accounts__charged_us(workers[0]) + accounts__charged_us(workers[1]),
			      0.01);
	assert_int_equal(json_array_size(json_object_get(profile->document, "Categories")), 2);
	profile = processes__read_one(*state, "out/alone-2*-*.json");
	accounts__assert_near("CPU time of the other", (double)profile->all_us,
			      accounts__charged_us(workers[2]), 0.01);
}

/* One process works all the time, the other for a while. */
static void intervals_have_files_of_processes_that_worked(void **state)
{
	struct child *workers[2], *spy;
	struct processes_sums sums, busy, brief;
	double cpu;

	need_lua();
	workers[0] = processes__start_worker(*state, "lua5.4", "2.4", NULL);
	workers[1] = processes__start_worker(*state, "lua5.4", "0.6", NULL);
	spy = processes__spy_on(*state, workers, 2,
				(const char *const[]){"--timeline", "--interval", "300ms", NULL});
	cpu = processes__let_work(workers, 2);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	sums = processes__read_all(*state, "out/*");
	busy = processes__read_process(*state, workers[0]->pid);
	brief = processes__read_process(*state, workers[1]->pid);
	print_message("%d files, %d and %d\n", sums.files, busy.files, brief.files);
	processes__assert_whole(*state, spy, &sums, cpu);
	accounts__assert_near("CPU time of one", busy.cpu_us, accounts__charged_us(workers[0]),
			      0.01);
	accounts__assert_near("CPU time of the other", brief.cpu_us,
			      accounts__charged_us(workers[1]), 0.01);
	assert_true(busy.files >= 8);
	assert_in_range(brief.files, 2, busy.files - 1);
}

static void idle_processes_have_no_file(void **state)
{
	struct child *workers[2], *spy;

	need_lua();
	workers[0] = processes__start_worker(*state, "lua5.4", "0.5", NULL);
	workers[1] = processes__start_worker(*state, "lua5.4", "0", NULL);
	spy = processes__spy_on(*state, workers, 2, NULL);
	processes__let_work(workers, 1);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	assert_int_equal(processes__read_process(*state, workers[0]->pid).files, 1);
	assert_int_equal(processes__read_all(*state, "out/*").files, 1);
}

/* luaspy removes all files of an interval or none. */
static void keeps_the_newest_intervals(void **state)
{
	struct child *workers[2], *spy;
	struct processes_sums one, other;

	need_lua();
	workers[0] = processes__start_worker(*state, "lua5.4", "60", NULL);
	workers[1] = processes__start_worker(*state, "lua5.4", "60", NULL);
	spy = processes__spy_on(
		*state, workers, 2,
		(const char *const[]){"--interval", "400ms", "--keep", "2", "-d", "3s", NULL});
	child__tell(workers[0], "go");
	child__tell(workers[1], "go");
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	one = processes__read_process(*state, workers[0]->pid);
	other = processes__read_process(*state, workers[1]->pid);
	assert_int_equal(one.files, 2);
	assert_int_equal(other.files, 2);
}

/* setsid, because the test may have a terminal and a service has none. */
static void a_process_has_one_file_that_each_write_replaces(void **state)
{
	struct child *busy, *spy;
	struct processes_sums before, after;
	char name[16];

	need_lua();
	snprintf(name, sizeof(name), "one%d", getpid());
	busy = processes__start_worker(*state, processes__own_lua(*state, name), "60", NULL);
	spy = start(*state, "setsid", luaspy_program(), "record", "--system", "--name", name,
		    "--output-dir", "out");
	child__await_errors(*state, spy, "processes run an interpreter");
	child__tell(busy, "go");
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGHUP);
	child__await_errors(*state, spy, "wrote 1 file into out");
	before = processes__read_all(*state, "out/*");
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	after = processes__read_all(*state, "out/*");
	assert_int_equal(before.files, 1);
	assert_int_equal(after.files, 1);
	assert_true(after.cpu_us > before.cpu_us + 150000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(each_process_has_a_file),
		staged(ended_processes_of_a_system_have_a_file),
		staged(children_without_lua_belong_to_the_rest),
		staged(groups_have_a_file_each),
		staged(intervals_have_files_of_processes_that_worked),
		staged(idle_processes_have_no_file),
		staged(keeps_the_newest_intervals),
		staged(a_process_has_one_file_that_each_write_replaces),
	};

	return cmocka_run_group_tests_name("a file for each process", tests, NULL, NULL);
}
