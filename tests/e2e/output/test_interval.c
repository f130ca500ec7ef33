/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session in several files: --interval, --keep, --keep-size, and SIGHUP. */
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "accounts.h"

#define PATIENCE  60
#define FILES_MAX 64

/* Works for %s seconds of CPU time once it is told to, then ends. */
#define WORK                                                                                       \
	"print('ready') io.stdout:flush() io.read()\n"                                             \
	"local function work() for i = 1, 20000 do end end\n"                                      \
	"local stop = os.clock() + %s\n"                                                           \
	"while os.clock() < stop do work() end\n"

struct sums {
	int files, without_script;
	double wall_us, paused_us, cpu_us, categories_us, work_us, from_ms, to_ms;
	int64_t samples, dropped, timed;
};

/* Copies the interpreter under a name that no other process of the host has. */
static const char *own_lua(struct stage *stage)
{
	static char name[16];
	char command[64];

	snprintf(name, sizeof(name), "own%d", getpid());
	snprintf(command, sizeof(command), "ln -sf \"$(command -v lua5.4)\" %s", name);
	assert_int_equal(child__wait(start(stage, "sh", "-c", command), PATIENCE), 0);
	return in_folder(stage, name);
}

static struct child *start_worker(struct stage *stage, const char *lua, const char *seconds)
{
	char script[512];
	struct child *worker;

	snprintf(script, sizeof(script), WORK, seconds);
	write_file(in_folder(stage, "worker.lua"), script, strlen(script));
	worker = start(stage, lua, "worker.lua");
	child__await_output(stage, worker, "ready");
	return worker;
}

static double number(const struct scriptprofile *profile, const char *key)
{
	return json_number_value(json_object_get(profile->document, key));
}

/* Adds a profile to the sums; each must add up by itself. */
static void add(struct sums *sums, const struct scriptprofile *profile)
{
	static const char *const classes[] = {"dropped", "unreadable", "host",
					      "torn",    "truncated",  "complete"};
	double wall_us = (double)scriptprofile__recorded(profile, "WallDuration");
	double cpu = (double)scriptprofile__recorded(profile, "CpuDuration");
	int64_t total = scriptprofile__samples(profile, "total"), sum = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		sum += scriptprofile__samples(profile, classes[i]);
	assert_int_equal(sum, total);
	if (cpu - (double)profile->all_us > 5 || (double)profile->all_us - cpu > 5)
		fail_msg("%.0f us in categories of %.0f us", (double)profile->all_us, cpu);
	sums->files++;
	sums->without_script += total == scriptprofile__samples(profile, "host");
	sums->wall_us += wall_us;
	/* The field is missing where the duration is 0. */
	sums->paused_us += json_number_value(
		json_object_get(json_object_get(profile->document, "Recorder"), "PausedDuration"));
	sums->cpu_us += cpu;
	sums->categories_us += (double)profile->all_us;
	sums->work_us += (double)scriptprofile__total_us(profile, NULL, "work", -1);
	sums->samples += total;
	sums->dropped += scriptprofile__samples(profile, "dropped");
	sums->timed += (int64_t)json_array_size(json_object_get(profile->document, "Samples"));
	if (!sums->from_ms || number(profile, "SessionStartTime") < sums->from_ms)
		sums->from_ms = number(profile, "SessionStartTime");
	if (number(profile, "SessionEndTime") > sums->to_ms)
		sums->to_ms = number(profile, "SessionEndTime");
}

static struct sums read_all(struct stage *stage, const char *pattern)
{
	struct sums sums = {};
	glob_t found;

	assert_int_equal(glob(in_folder(stage, pattern), 0, NULL, &found), 0);
	assert_in_range(found.gl_pathc, 1, FILES_MAX);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add(&sums, spying__read(stage, found.gl_pathv[i]));
	globfree(&found);
	return sums;
}

/* Each part of the session is in exactly one file. */
static void assert_whole(struct stage *stage, const struct child *spy, const struct sums *sums,
			 double cpu)
{
	accounts__assert_near("CPU time", sums->cpu_us, cpu, 0.01);
	accounts__assert_near("categories", sums->categories_us, cpu, 0.01);
	accounts__assert_near("wall clock of files", sums->wall_us,
			      (sums->to_ms - sums->from_ms) * 1e3, 0.001);
	assert_in_range(sums->samples, 1, INT64_MAX);
	assert_int_equal(sums->samples, accounts__ticks(stage, spy));
	if (sums->timed)
		assert_int_equal(sums->timed, sums->samples);
}

static void files_add_up_to_the_session(void **state)
{
	struct child *worker, *spy;
	struct sums sums;

	need_lua();
	worker = start_worker(*state, "lua5.4", "3");
	spy = start_record(*state, worker->pid, "-v", "--timeline", "--interval", "500ms", "-o",
			   "x.json");
	spying__await_timers(*state, spy);
	child__tell(worker, "go");
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	print_message("%d files\n", sums.files);
	assert_in_range(sums.files, 6, FILES_MAX);
	assert_whole(*state, spy, &sums, accounts__charged_us(worker));
	accounts__assert_near("in work", sums.work_us, accounts__charged_us(worker), 0.1);
	assert_int_equal(access(in_folder(*state, "x.json"), F_OK), -1);
	assert_non_null(strstr(child__errors(*state, spy), " ms of CPU time, hottest work "));
}

/*
 * With --system the files add up, too, including processes that start and end within an interval.
 */
/*
 * The kernel takes some 50 ms to release this memory, and lists the thread with all its CPU time
 * until then. BPF reports the end of the thread before that (Linux 6.18).
 */
#define HELD                                                                                       \
	"local held = {} for i = 1, 4 do held[i] = string.rep('x', 2 ^ 26) .. i end\n" WORK        \
	"print('bye') io.stdout:flush() os.exit(true)\n"

static void a_process_that_exits_between_two_files_is_in_one(void **state)
{
	struct child *worker, *spy;
	struct sums sums;
	char script[512];

	need_lua();
	snprintf(script, sizeof(script), HELD, "0.5");
	write_file(in_folder(*state, "held.lua"), script, strlen(script));
	worker = start(*state, "lua5.4", "held.lua");
	child__await_output(*state, worker, "ready");
	spy = start_record(*state, worker->pid, "-v", "--interval", "1m", "-o", "x.json");
	spying__await_timers(*state, spy);
	child__tell(worker, "go");
	child__await_output(*state, worker, "bye");
	for (int i = 0; i < 4; i++) {
		sleep_seconds(0.01);
		kill(spy->pid, SIGHUP);
	}
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	print_message("recorded %.3f s, charged %.3f\n", sums.cpu_us / 1e6,
		      accounts__charged_us(worker) / 1e6);
	/* Its memory was charged before it was recorded. */
	assert_true(sums.cpu_us >= 500000 && sums.cpu_us < accounts__charged_us(worker));
}

static void files_of_the_system_add_up(void **state)
{
	struct child *worker, *brief, *spy;
	const char *lua;
	struct sums sums;

	need_lua();
	lua = own_lua(*state);
	worker = start_worker(*state, lua, "2");
	spy = start(*state, luaspy_program(), "record", "-v", "--system", "--name",
		    strrchr(lua, '/') + 1, "--interval", "300ms", "-o", "x.json");
	child__await_errors(*state, spy, "processes run an interpreter");
	child__tell(worker, "go");
	brief = start(
		*state, own_lua(*state), "-e",
		"local s = os.clock() + 0.2 while os.clock() < s do for i = 1, 1000 do end end");
	assert_int_equal(child__wait(brief, PATIENCE), 0);
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	print_message("%d files\n", sums.files);
	assert_in_range(sums.files, 7, FILES_MAX);
	assert_non_null(strstr(child__errors(*state, spy), " of CPU time, most in own"));
	assert_whole(*state, spy, &sums,
		     accounts__charged_us(worker) + accounts__charged_us(brief));
}

/* Deep stacks fill the ring buffer several times while luaspy writes one file. */
static void loses_no_samples_to_a_slow_disk(void **state)
{
	static const char script[] =
		"print('ready') io.stdout:flush() io.read()\n"
		"local function work() local stop = os.clock() + 6\n"
		"	while os.clock() < stop do for i = 1, 10000 do end end end\n"
		"local function deep(n) if n == 0 then work() else deep(n - 1) end return 1 end\n"
		"deep(450)\n";
	char preload[600], pid[16];
	struct child *worker, *spy;
	struct sums sums;

	need_lua();
	write_text(*state, "worker.lua", script);
	worker = start(*state, "lua5.4", "worker.lua");
	child__await_output(*state, worker, "ready");
	snprintf(pid, sizeof(pid), "%d", worker->pid);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", built_program("slow_disk.so"));
	spy = start(*state, "env", preload, luaspy_program(), "record", "-v", "-p", pid,
		    "--interval", "2s", "-o", "x.json");
	spying__await_timers(*state, spy);
	child__tell(worker, "go");
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	print_message("%d files, %lld samples, %lld dropped\n", sums.files, (long long)sums.samples,
		      (long long)sums.dropped);
	assert_in_range(sums.files, 3, FILES_MAX);
	assert_whole(*state, spy, &sums, accounts__charged_us(worker));
	accounts__assert_near("in work", sums.work_us, accounts__charged_us(worker), 0.01);
	assert_int_equal(sums.dropped, 0);
}

/* The files also cover paused time; CPU time of the target during a pause is in none of them. */
static void a_pause_continues_from_file_to_file(void **state)
{
	struct child *busy, *spy;
	struct sums sums;

	need_lua();
	busy = start_busy(*state);
	spy = start_record(*state, busy->pid, "-v", "--interval", "300ms", "-o", "x.json");
	spying__await_timers(*state, spy);
	child__let_work(busy, 0.3);
	kill(spy->pid, SIGUSR1);
	child__await_errors(*state, spy, "paused");
	child__let_work(busy, 0.7);
	kill(spy->pid, SIGUSR1);
	child__await_errors(*state, spy, "resumed");
	child__let_work(busy, 0.3);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	assert_in_range(sums.files, 4, FILES_MAX);
	accounts__assert_near("wall clock of files", sums.wall_us,
			      (sums.to_ms - sums.from_ms) * 1e3, 0.01);
	print_message("CPU %.3f s, paused for %.3f of %.3f s\n", sums.cpu_us / 1e6,
		      sums.paused_us / 1e6, sums.wall_us / 1e6);
	assert_true(sums.paused_us > 700000);
	assert_true(sums.cpu_us > 600000 && sums.cpu_us < sums.wall_us - sums.paused_us + 20000);
	assert_int_equal(sums.samples, accounts__ticks(*state, spy));
}

/* An interval without samples has a file, too; the exit status is that of the whole session. */
static void an_interval_without_script_has_its_file(void **state)
{
	struct child *worker, *spy;
	const char *lua;
	struct sums sums;

	need_lua();
	lua = own_lua(*state);
	worker = start_worker(*state, lua, "0.3");
	spy = start(*state, luaspy_program(), "record", "--system", "--name", strrchr(lua, '/') + 1,
		    "--interval", "300ms", "-d", "3s", "-o", "x.json");
	child__await_errors(*state, spy, "processes run an interpreter");
	child__tell(worker, "go");
	assert_int_equal(child__wait(worker, PATIENCE), 0);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	print_message("%d files, %d without script\n", sums.files, sums.without_script);
	assert_int_equal(sums.files, 10);
	assert_in_range(sums.without_script, 1, 9);
	accounts__assert_near("wall clock", sums.wall_us, 3e6, 0.05);
}

static void keeps_the_newest_files_and_those_of_others(void **state)
{
	static const char old[] = "x-20010101-000000.json";
	struct child *busy, *spy;
	struct sums sums;

	need_lua();
	busy = start_busy(*state);
	write_file(in_folder(*state, old), "{}", 2);
	spy = start_record(*state, busy->pid, "--interval", "200ms", "--keep", "2", "-d", "1s",
			   "-o", "x.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_int_equal(access(in_folder(*state, old), F_OK), 0);
	assert_int_equal(unlink(in_folder(*state, old)), 0);
	sums = read_all(*state, "x-*.json");
	assert_int_equal(sums.files, 2);
	accounts__assert_near("wall clock", sums.wall_us, 0.4e6, 0.2);
}

static void keeps_no_more_than_keep_size(void **state)
{
	struct child *busy, *spy;
	struct sums sums;

	need_lua();
	busy = start_busy(*state);
	spy = start_record(*state, busy->pid, "--interval", "200ms", "--keep-size", "1", "-d", "1s",
			   "-o", "x.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	assert_int_equal(sums.files, 1);
	spy = start_record(*state, busy->pid, "--interval", "200ms", "--keep-size", "1M", "-d",
			   "1s", "-o", "y.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "y-*.json");
	assert_int_equal(sums.files, 5);
}

/* setsid, because the test may have a terminal and a service has none. */
static void a_hangup_closes_the_interval(void **state)
{
	struct child *busy, *spy;
	struct sums sums;
	char pid[16];

	need_lua();
	busy = start_busy(*state);
	snprintf(pid, sizeof(pid), "%d", busy->pid);
	spy = start(*state, "setsid", luaspy_program(), "record", "-v", "-p", pid, "--interval",
		    "1h", "-o", "x.json");
	spying__await_timers(*state, spy);
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGHUP);
	child__await_errors(*state, spy, "wrote");
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "x-*.json");
	assert_int_equal(sums.files, 2);
	accounts__assert_near("wall clock of files", sums.wall_us,
			      (sums.to_ms - sums.from_ms) * 1e3, 0.01);
}

static void a_hangup_closes_the_interval_of_a_system_session(void **state)
{
	struct child *busy, *spy;
	struct scriptprofile *profile;
	int64_t before_us;

	need_lua();
	busy = start_busy(*state);
	spy = start(*state, "setsid", luaspy_program(), "record", "--system", "-o", "x.json");
	child__await_errors(*state, spy, "processes run an interpreter");
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGHUP);
	child__await_errors(*state, spy, "wrote");
	profile = spying__read(*state, in_folder(*state, "x.json"));
	before_us = profile->all_us;
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_true(profile->all_us > before_us + 150000);
}

static void a_hangup_ends_any_other_session(void **state)
{
	struct child *busy, *spy;
	char pid[16];

	need_lua();
	busy = start_busy(*state);
	snprintf(pid, sizeof(pid), "%d", busy->pid);
	spy = start(*state, "setsid", luaspy_program(), "record", "-v", "-p", pid, "-o", "x.json");
	spying__await_timers(*state, spy);
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGHUP);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	spying__read(*state, in_folder(*state, "x.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(files_add_up_to_the_session),
		staged(a_process_that_exits_between_two_files_is_in_one),
		staged(files_of_the_system_add_up),
		staged(loses_no_samples_to_a_slow_disk),
		staged(a_pause_continues_from_file_to_file),
		staged(an_interval_without_script_has_its_file),
		staged(keeps_the_newest_files_and_those_of_others),
		staged(keeps_no_more_than_keep_size),
		staged(a_hangup_closes_the_interval),
		staged(a_hangup_closes_the_interval_of_a_system_session),
		staged(a_hangup_ends_any_other_session),
	};

	return cmocka_run_group_tests_name("intervals", tests, NULL, NULL);
}
