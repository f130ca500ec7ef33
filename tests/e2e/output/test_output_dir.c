/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One file for each process: --output-dir. */
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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "accounts.h"

#define PATIENCE 60

/* Names itself arg[2] if given, and takes arg[1] seconds of CPU time once it is told to. */
#define WORKER                                                                                     \
	LUA_SPIN                                                                                   \
	"if arg[2] then\n"                                                                         \
	"	local file = io.open('/proc/self/comm', 'w')\n"                                          \
	"	file:write(arg[2]) file:close()\n"                                                       \
	"end\n"                                                                                    \
	"print('ready') io.stdout:flush() io.read()\n"                                             \
	"spin(tonumber(arg[1]))\n"

/* Sums over all files whose names match. */
struct sums {
	int files;
	double cpu_us, categories_us;
	int64_t samples, timed;
};

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static void add(struct sums *sums, const struct scriptprofile *profile)
{
	static const char *const classes[] = {"dropped", "unreadable", "host",
					      "torn",    "truncated",  "complete"};
	int64_t total = scriptprofile__samples(profile, "total"), sum = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		sum += scriptprofile__samples(profile, classes[i]);
	assert_int_equal(sum, total);
	sums->files++;
	sums->samples += total;
	sums->cpu_us += (double)scriptprofile__recorded(profile, "CpuDuration");
	sums->categories_us += (double)profile->all_us;
	sums->timed += (int64_t)json_array_size(json_object_get(profile->document, "Samples"));
}

static struct sums read_all(struct stage *stage, const char *pattern)
{
	struct sums sums = {};
	glob_t found;

	if (!glob(in_folder(stage, pattern), 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			add(&sums, spying__read(stage, found.gl_pathv[i]));
	globfree(&found);
	return sums;
}

static const char *target_of(const struct scriptprofile *profile)
{
	return json_string_value(
		json_object_get(json_object_get(profile->document, "Recorder"), "Target"));
}

/* Sums over the files of one process. */
static struct sums read_process(struct stage *stage, pid_t pid)
{
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "out/*-%d-*.json", pid);
	return read_all(stage, pattern);
}

static struct scriptprofile *read_one(struct stage *stage, const char *pattern)
{
	struct scriptprofile *profile;
	glob_t found;

	assert_int_equal(glob(in_folder(stage, pattern), 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	profile = spying__read(stage, found.gl_pathv[0]);
	globfree(&found);
	return profile;
}

static void assert_near(const char *what, double found, double expected, double tolerance)
{
	print_message("%s: %.3f of %.3f\n", what, found / 1e6, expected / 1e6);
	assert_true(found >= (1 - tolerance) * expected && found <= (1 + tolerance) * expected);
}

/* Each part of the session is in exactly one file. */
static void assert_whole(struct stage *stage, const struct child *spy, const struct sums *sums,
			 double cpu)
{
	assert_near("CPU time of all files", sums->cpu_us, cpu, 0.01);
	assert_near("their categories", sums->categories_us, cpu, 0.01);
	assert_int_equal(sums->samples, accounts__ticks(stage, spy));
	if (sums->timed)
		assert_int_equal(sums->timed, sums->samples);
}

static struct child *start_worker(struct stage *stage, const char *lua, const char *seconds,
				  const char *name)
{
	struct child *worker;

	write_text(stage, "worker.lua", WORKER);
	worker = start(stage, lua, "worker.lua", seconds, name);
	child__await_output(stage, worker, "ready");
	return worker;
}

/* Copies the interpreter under a name that no other program on the machine has. */
static const char *own_lua(struct stage *stage, const char *name)
{
	char command[96];

	snprintf(command, sizeof(command), "cp \"$(readlink -f \"$(command -v lua5.4)\")\" %s",
		 name);
	assert_int_equal(child__wait(start(stage, "sh", "-c", command), PATIENCE), 0);
	return in_folder(stage, name);
}

/* Starts "record -v -p PIDS --output-dir out" with more words, and waits until its timers run. */
static struct child *spy_on(struct stage *stage, struct child *const *workers, int count,
			    const char *const *more)
{
	const char *words[24] = {luaspy_program(), "record", "-v", "--output-dir", "out", "-p"};
	struct child *spy;
	char pids[256];
	int length = 0;

	for (int i = 0; i < count; i++)
		length += snprintf(pids + length, sizeof(pids) - (size_t)length, "%s%d",
				   i ? "," : "", workers[i]->pid);
	words[6] = pids;
	for (int i = 0; more && more[i]; i++)
		words[7 + i] = more[i];
	spy = stage__start(stage, words);
	spying__await_timers(stage, spy);
	return spy;
}

/* Lets all of them work, now that luaspy counts, and returns their CPU time from then on. */
static double let_work(struct child *const *workers, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++) {
		workers[i]->begun_us = 1e6 * child__cpu_seconds(workers[i]);
		child__tell(workers[i], "go");
	}
	for (int i = 0; i < count; i++) {
		assert_int_equal(child__wait(workers[i], PATIENCE), 0);
		sum += accounts__charged_us(workers[i]);
	}
	return sum;
}

/* The file names its process and has threads as categories, as any profile of one process has. */
static void each_process_has_a_file(void **state)
{
	static const char *const seconds[] = {"1.6", "0.9", "1.2"};
	struct child *workers[3], *spy;
	struct sums sums;
	double cpu;

	need_lua();
	for (int i = 0; i < 3; i++)
		workers[i] = start_worker(*state, "lua5.4", seconds[i], i ? NULL : "first");
	spy = spy_on(*state, workers, 3, (const char *const[]){"--timeline", NULL});
	cpu = let_work(workers, 3);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "out/*");
	assert_int_equal(sums.files, 3);
	assert_whole(*state, spy, &sums, cpu);
	for (int i = 0; i < 3; i++) {
		char pattern[64], title[64];
		const char *name = i ? "lua5.4" : "first";
		struct scriptprofile *profile;
		const json_t *recorder, *category;

		snprintf(pattern, sizeof(pattern), "out/%s-%d-2*-*.json", name, workers[i]->pid);
		snprintf(title, sizeof(title), "lua5.4 worker.lua (pid %d)", workers[i]->pid);
		profile = read_one(*state, pattern);
		recorder = json_object_get(profile->document, "Recorder");
		assert_near(title, number(recorder, "CpuDuration"),
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

static void names_do_not_lead_out_of_the_folder(void **state)
{
	static const char *const names[] = {
		"../../x",    "..",     "/etc/passwd",        "a\nb\033[2J\177",
		"-rf * \377", "--help", "\u200f\u202e\ufeff-"};
	enum { COUNT = sizeof(names) / sizeof(*names) };
	struct child *workers[COUNT], *spy;
	struct sums sums;
	double cpu;
	int before;

	need_lua();
	for (int i = 0; i < COUNT; i++)
		workers[i] = start_worker(*state, "lua5.4", "0.3", names[i]);
	assert_int_equal(mkdir(in_folder(*state, "out"), 0700), 0);
	spy = spy_on(*state, workers, COUNT, NULL);
	before = count_files(((struct stage *)*state)->folder);
	cpu = let_work(workers, COUNT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_int_equal(count_files(((struct stage *)*state)->folder), before);
	sums = read_all(*state, "out/[a-zA-Z0-9_][-a-zA-Z0-9_.]*");
	assert_int_equal(sums.files, COUNT);
	assert_int_equal(count_files(in_folder(*state, "out")), COUNT);
	assert_near("CPU time of all files", sums.cpu_us, cpu, 0.05);
}

/* Links are there under each name that the file could get in the next minute. */
static void files_of_others_are_not_overwritten(void **state)
{
	struct child *worker, *spy;
	struct scriptprofile *profile;
	time_t now = time(NULL);
	char path[128], link[64], *content;

	need_lua();
	worker = start_worker(*state, "lua5.4", "0.3", NULL);
	assert_int_equal(mkdir(in_folder(*state, "out"), 0700), 0);
	write_text(*state, "precious", "precious");
	for (int i = 0; i < 60; i++) {
		struct tm local;
		time_t then = now + i;
		char date[32];

		localtime_r(&then, &local);
		strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
		snprintf(path, sizeof(path), "out/lua5.4-%d-%s.json", worker->pid, date);
		assert_int_equal(symlink("../precious", in_folder(*state, path)), 0);
	}
	spy = spy_on(*state, &worker, 1, NULL);
	let_work(&worker, 1);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = read_one(*state, "out/*_2.json");
	assert_near("CPU time", (double)profile->all_us, accounts__charged_us(worker), 0.05);
	content = read_file(in_folder(*state, "precious"), NULL);
	assert_string_equal(content, "precious");
	free(content);
	assert_int_equal(readlink(in_folder(*state, path), link, sizeof(link)), 11);
	assert_int_equal(count_files(in_folder(*state, "out")), 61);
}

/* A user who may rename the folder must not choose where luaspy writes. */
static void files_stay_in_the_folder_that_was_opened(void **state)
{
	struct child *worker, *spy;

	need_lua();
	worker = start_worker(*state, "lua5.4", "60", NULL);
	assert_int_equal(mkdir(in_folder(*state, "elsewhere"), 0700), 0);
	spy = spy_on(*state, &worker, 1, (const char *const[]){"--interval", "200ms", NULL});
	child__tell(worker, "go");
	child__await_errors(*state, spy, "wrote 1 file into out");
	assert_int_equal(rename(in_folder(*state, "out"), in_folder(*state, "moved")), 0);
	assert_int_equal(symlink("elsewhere", in_folder(*state, "out")), 0);
	child__let_work(worker, 0.7);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_int_equal(count_files(in_folder(*state, "elsewhere")), 0);
	assert_true(read_all(*state, "moved/*").files >= 3);
}

/* Processes that start and end during the session. */
static void ended_processes_of_a_system_have_a_file(void **state)
{
	struct stage *stage = *state;
	struct child *all[6], *spy;
	struct sums sums;
	char name[16], pattern[64];
	double cpu = 0;

	need_lua();
	snprintf(name, sizeof(name), "dir%d", getpid());
	own_lua(stage, name);
	all[0] = start_worker(stage, in_folder(stage, name), "1.5", NULL);
	spy = start(stage, luaspy_program(), "record", "-v", "--system", "--name", name,
		    "--output-dir", "out");
	child__await_errors(stage, spy, "processes run an interpreter");
	child__tell(all[0], "go");
	write_text(stage, "brief.lua", LUA_SPIN "spin(0.15)");
	for (int i = 1; i < 6; i++) {
		all[i] = start(stage, in_folder(stage, name), "brief.lua");
		assert_int_equal(child__wait(all[i], PATIENCE), 0);
	}
	cpu = accounts__charged_us(all[1]);
	for (int i = 2; i < 6; i++)
		cpu += accounts__charged_us(all[i]);
	assert_int_equal(child__wait(all[0], PATIENCE), 0);
	cpu += accounts__charged_us(all[0]);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	snprintf(pattern, sizeof(pattern), "out/%s-*", name);
	assert_int_equal(read_all(stage, pattern).files, 6);
	for (int i = 0; i < 6; i++) {
		sums = read_process(stage, all[i]->pid);
		assert_int_equal(sums.files, 1);
		assert_near("CPU time of one", sums.cpu_us, accounts__charged_us(all[i]),
			    i ? 0.05 : 0.01);
	}
	sums = read_all(stage, "out/*");
	assert_whole(stage, spy, &sums, cpu);
}

/* A shell has no Lua: its time belongs to the rest. */
static void children_without_lua_belong_to_the_rest(void **state)
{
	struct child *spy;
	struct sums lua, rest, all;
	double user_m[2], user_s[2], system_m[2], system_s[2];

	need_lua();
	write_text(*state, "brief.lua", LUA_SPIN "spin(tonumber(arg[1]))");
	write_text(*state, "run.sh",
		   "lua5.4 brief.lua 1.2; lua5.4 brief.lua 0.9\n"
		   "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; times\n");
	spy = start(*state, luaspy_program(), "record", "-v", "--children", "--output-dir", "out",
		    "--", "bash", "run.sh");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_int_equal(sscanf(child__output(*state, spy), "%lfm%lfs %lfm%lfs %lfm%lfs %lfm%lfs",
				&user_m[0], &user_s[0], &system_m[0], &system_s[0], &user_m[1],
				&user_s[1], &system_m[1], &system_s[1]),
			 8);
	lua = read_all(*state, "out/lua5.4-*");
	rest = read_all(*state, "out/rest-*");
	all = read_all(*state, "out/*");
	assert_int_equal(lua.files, 2);
	assert_int_equal(rest.files, 1);
	assert_int_equal(all.files, 3);
	assert_near("CPU time of Lua", lua.cpu_us, 1e6 * (user_s[1] + system_s[1]), 0.01);
	assert_whole(*state, spy, &all, 1e6 * (user_s[0] + system_s[0] + user_s[1] + system_s[1]));
	assert_memory_equal(target_of(read_one(*state, "out/rest-*")),
			    "the rest of bash run.sh (pid ", 29);
}

static void groups_have_a_file_each(void **state)
{
	struct child *workers[3], *spy;
	struct scriptprofile *profile;
	struct sums sums;
	double cpu;

	need_lua();
	workers[0] = start_worker(*state, "lua5.4", "0.6", "a/pair");
	workers[1] = start_worker(*state, "lua5.4", "0.9", "a/pair");
	workers[2] = start_worker(*state, "lua5.4", "0.6", "alone");
	spy = spy_on(*state, workers, 3,
		     (const char *const[]){"--merge-by", "name", "--category", "process", NULL});
	cpu = let_work(workers, 3);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "out/*");
	assert_int_equal(sums.files, 2);
	assert_whole(*state, spy, &sums, cpu);
	profile = read_one(*state, "out/a_pair-2*-*.json");
	assert_near("CPU time of the pair", (double)profile->all_us,
		    accounts__charged_us(workers[0]) + accounts__charged_us(workers[1]), 0.01);
	assert_int_equal(json_array_size(json_object_get(profile->document, "Categories")), 2);
	profile = read_one(*state, "out/alone-2*-*.json");
	assert_near("CPU time of the other", (double)profile->all_us,
		    accounts__charged_us(workers[2]), 0.01);
}

/* One process works all the time, the other for a while. */
static void intervals_have_files_of_processes_that_worked(void **state)
{
	struct child *workers[2], *spy;
	struct sums sums, busy, brief;
	double cpu;

	need_lua();
	workers[0] = start_worker(*state, "lua5.4", "2.4", NULL);
	workers[1] = start_worker(*state, "lua5.4", "0.6", NULL);
	spy = spy_on(*state, workers, 2,
		     (const char *const[]){"--timeline", "--interval", "300ms", NULL});
	cpu = let_work(workers, 2);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	sums = read_all(*state, "out/*");
	busy = read_process(*state, workers[0]->pid);
	brief = read_process(*state, workers[1]->pid);
	print_message("%d files, %d and %d\n", sums.files, busy.files, brief.files);
	assert_whole(*state, spy, &sums, cpu);
	assert_near("CPU time of one", busy.cpu_us, accounts__charged_us(workers[0]), 0.01);
	assert_near("CPU time of the other", brief.cpu_us, accounts__charged_us(workers[1]), 0.01);
	assert_true(busy.files >= 8);
	assert_in_range(brief.files, 2, busy.files - 1);
}

static void idle_processes_have_no_file(void **state)
{
	struct child *workers[2], *spy;

	need_lua();
	workers[0] = start_worker(*state, "lua5.4", "0.5", NULL);
	workers[1] = start_worker(*state, "lua5.4", "0", NULL);
	spy = spy_on(*state, workers, 2, NULL);
	let_work(workers, 1);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_int_equal(read_process(*state, workers[0]->pid).files, 1);
	assert_int_equal(read_all(*state, "out/*").files, 1);
}

/* Without a profile, luaspy makes no folder either. */
static void makes_no_folder_without_a_file(void **state)
{
	struct child *spy;

	need_lua();
	spy = start(*state, luaspy_program(), "record", "--system", "--name", "^$", "--output-dir",
		    "out", "-d", "100ms");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_int_equal(access(in_folder(*state, "out"), F_OK), -1);
}

/* luaspy removes all files of an interval or none. */
static void keeps_the_newest_intervals(void **state)
{
	struct child *workers[2], *spy;
	struct sums one, other;

	need_lua();
	workers[0] = start_worker(*state, "lua5.4", "60", NULL);
	workers[1] = start_worker(*state, "lua5.4", "60", NULL);
	spy = spy_on(*state, workers, 2,
		     (const char *const[]){"--interval", "400ms", "--keep", "2", "-d", "3s", NULL});
	child__tell(workers[0], "go");
	child__tell(workers[1], "go");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	one = read_process(*state, workers[0]->pid);
	other = read_process(*state, workers[1]->pid);
	assert_int_equal(one.files, 2);
	assert_int_equal(other.files, 2);
}

/* setsid, because the test may have a terminal and a service has none. */
static void a_process_has_one_file_that_each_write_replaces(void **state)
{
	struct child *busy, *spy;
	struct sums before, after;
	char name[16];

	need_lua();
	snprintf(name, sizeof(name), "one%d", getpid());
	busy = start_worker(*state, own_lua(*state, name), "60", NULL);
	spy = start(*state, "setsid", luaspy_program(), "record", "--system", "--name", name,
		    "--output-dir", "out");
	child__await_errors(*state, spy, "processes run an interpreter");
	child__tell(busy, "go");
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGHUP);
	child__await_errors(*state, spy, "wrote 1 file into out");
	before = read_all(*state, "out/*");
	child__let_work(busy, 0.2);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	after = read_all(*state, "out/*");
	assert_int_equal(before.files, 1);
	assert_int_equal(after.files, 1);
	assert_true(after.cpu_us > before.cpu_us + 150000);
}

static void assert_refused(struct stage *stage, const char *folder, const char *message)
{
	struct child *busy = start_busy(stage);
	char pid[16];
	struct child *spy;

	snprintf(pid, sizeof(pid), "%d", busy->pid);
	spy = start(stage, luaspy_program(), "record", "-p", pid, "--output-dir", folder, "-d",
		    "50");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	print_message("%s", child__errors(stage, spy));
	assert_non_null(strstr(child__errors(stage, spy), message));
	child__kill(busy);
}

/* luaspy checks the folder at the start, not when it has something to write. */
static void reports_what_is_wrong_with_the_folder(void **state)
{
	need_lua();
	assert_refused(*state, "no/such",
		       "cannot make the folder 'no/such': its parent does not exist "
		       "(try mkdir -p)");
	write_text(*state, "file", "");
	assert_refused(*state, "file", "cannot write into 'file': it is not a folder");
	assert_refused(*state, "/sys/kernel", "cannot write into '/sys/kernel': ");
}

/* A file that does not fit on the disk must not affect the others. */
static void a_file_that_cannot_be_written_affects_no_other(void **state)
{
	struct stage *stage = *state;
	struct child *small, *large, *spy;
	char command[512];

	need_lua();
	write_text(stage, "large.lua",
		   "print('ready') io.stdout:flush() io.read()\n"
		   "local stop, text = os.clock() + 1, {}\n"
		   "for i = 1, 400 do text[i] = 'local function name_' .. i .. '() for i = 1, "
		   "100000 do end end name_' .. i .. '()' end\n"
		   "local parts = {}\n"
		   "for i = 1, 400 do parts[i] = assert(load(text[i])) end\n"
		   "while os.clock() < stop do for i = 1, 400 do parts[i]() end end\n");
	large = start(stage, "lua5.4", "large.lua");
	child__await_output(stage, large, "ready");
	small = start_worker(stage, "lua5.4", "0.5", NULL);
	snprintf(command, sizeof(command),
		 "ulimit -f 64; exec %s record -v -p %d,%d --output-dir out", luaspy_program(),
		 large->pid, small->pid);
	spy = start(stage, "sh", "-c", command);
	spying__await_timers(stage, spy);
	child__tell(large, "go");
	child__tell(small, "go");
	assert_int_equal(child__wait(large, PATIENCE), 0);
	assert_int_equal(child__wait(small, PATIENCE), 0);
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	print_message("%s", child__errors(stage, spy));
	assert_non_null(strstr(child__errors(stage, spy), "File too large"));
	assert_non_null(strstr(child__errors(stage, spy), "cannot write 1 of 2 files into 'out'"));
	assert_int_equal(count_files(in_folder(stage, "out")), 1);
	assert_near("CPU time of the other", read_process(stage, small->pid).cpu_us,
		    accounts__charged_us(small), 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(each_process_has_a_file),
		staged(names_do_not_lead_out_of_the_folder),
		staged(files_of_others_are_not_overwritten),
		staged(files_stay_in_the_folder_that_was_opened),
		staged(ended_processes_of_a_system_have_a_file),
		staged(children_without_lua_belong_to_the_rest),
		staged(groups_have_a_file_each),
		staged(intervals_have_files_of_processes_that_worked),
		staged(idle_processes_have_no_file),
		staged(makes_no_folder_without_a_file),
		staged(keeps_the_newest_intervals),
		staged(a_process_has_one_file_that_each_write_replaces),
		staged(reports_what_is_wrong_with_the_folder),
		staged(a_file_that_cannot_be_written_affects_no_other),
	};

	return cmocka_run_group_tests_name("a file for each process", tests, NULL, NULL);
}
