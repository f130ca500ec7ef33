/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests what luaspy does with the folder of --output-dir and the files that are in it already. */
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

#include "processes.h"

static void names_do_not_lead_out_of_the_folder(void **state)
{
	static const char *const names[] = {
		"../../x",    "..",     "/etc/passwd",        "a\nb\033[2J\177",
		"-rf * \377", "--help", "\u200f\u202e\ufeff-"};
	enum { COUNT = sizeof(names) / sizeof(*names) };
	struct child *workers[COUNT], *spy;
	struct processes_sums sums;
	double cpu;
	int before;

	need_lua();
	for (int i = 0; i < COUNT; i++)
		workers[i] = processes__start_worker(*state, "lua5.4", "0.3", names[i]);
	assert_int_equal(mkdir(in_folder(*state, "out"), 0700), 0);
	spy = processes__spy_on(*state, workers, COUNT, NULL);
	before = count_files(((struct stage *)*state)->folder);
	cpu = processes__let_work(workers, COUNT);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	assert_int_equal(count_files(((struct stage *)*state)->folder), before);
	sums = processes__read_all(*state, "out/[a-zA-Z0-9_][-a-zA-Z0-9_.]*");
	assert_int_equal(sums.files, COUNT);
	assert_int_equal(count_files(in_folder(*state, "out")), COUNT);
	accounts__assert_near("CPU time of all files", sums.cpu_us, cpu, 0.05);
}

/* Links are there under each name that the file could get in the next minute. */
static void files_of_others_are_not_overwritten(void **state)
{
	struct child *worker, *spy;
	struct scriptprofile *profile;
	time_t now = time(NULL);
	char path[128], link[64], *content;

	need_lua();
	worker = processes__start_worker(*state, "lua5.4", "0.3", NULL);
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
	spy = processes__spy_on(*state, &worker, 1, NULL);
	processes__let_work(&worker, 1);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	profile = processes__read_one(*state, "out/*_2.json");
	accounts__assert_near("CPU time", (double)profile->all_us, accounts__charged_us(worker),
			      0.05);
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
	worker = processes__start_worker(*state, "lua5.4", "60", NULL);
	assert_int_equal(mkdir(in_folder(*state, "elsewhere"), 0700), 0);
	spy = processes__spy_on(*state, &worker, 1,
				(const char *const[]){"--interval", "200ms", NULL});
	child__tell(worker, "go");
	child__await_errors(*state, spy, "wrote 1 file into out");
	assert_int_equal(rename(in_folder(*state, "out"), in_folder(*state, "moved")), 0);
	assert_int_equal(symlink("elsewhere", in_folder(*state, "out")), 0);
	child__let_work(worker, 0.7);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 0);
	assert_int_equal(count_files(in_folder(*state, "elsewhere")), 0);
	assert_true(processes__read_all(*state, "moved/*").files >= 3);
}

/* Without a profile, luaspy makes no folder either. */
static void makes_no_folder_without_a_file(void **state)
{
	struct child *spy;

	need_lua();
	spy = start(*state, luaspy_program(), "record", "--system", "--name", "^$", "--output-dir",
		    "out", "-d", "100ms");
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 3);
	assert_int_equal(access(in_folder(*state, "out"), F_OK), -1);
}

static void assert_refused(struct stage *stage, const char *folder, const char *message)
{
	struct child *busy = start_busy(stage);
	char pid[16];
	struct child *spy;

	snprintf(pid, sizeof(pid), "%d", busy->pid);
	spy = start(stage, luaspy_program(), "record", "-p", pid, "--output-dir", folder, "-d",
		    "50");
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 1);
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
	small = processes__start_worker(stage, "lua5.4", "0.5", NULL);
	snprintf(command, sizeof(command),
		 "ulimit -f 64; exec %s record -v -p %d,%d --output-dir out", luaspy_program(),
		 large->pid, small->pid);
	spy = start(stage, "sh", "-c", command);
	spying__await_timers(stage, spy);
	child__tell(large, "go");
	child__tell(small, "go");
	assert_int_equal(child__wait(large, PROCESSES_PATIENCE), 0);
	assert_int_equal(child__wait(small, PROCESSES_PATIENCE), 0);
	assert_int_equal(child__wait(spy, PROCESSES_PATIENCE), 1);
	print_message("%s", child__errors(stage, spy));
	assert_non_null(strstr(child__errors(stage, spy), "File too large"));
	assert_non_null(strstr(child__errors(stage, spy), "cannot write 1 of 2 files into 'out'"));
	assert_int_equal(count_files(in_folder(stage, "out")), 1);
	accounts__assert_near("CPU time of the other",
			      processes__read_process(stage, small->pid).cpu_us,
			      accounts__charged_us(small), 0.02);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_do_not_lead_out_of_the_folder),
		staged(files_of_others_are_not_overwritten),
		staged(files_stay_in_the_folder_that_was_opened),
		staged(makes_no_folder_without_a_file),
		staged(reports_what_is_wrong_with_the_folder),
		staged(a_file_that_cannot_be_written_affects_no_other),
	};

	return cmocka_run_group_tests_name("the folder of files", tests, NULL, NULL);
}
