/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wrong input and faults give one clear line, the right exit status, and no partial file. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 20
#define NOBODY   "65534"

/* Counts the lines of `errors` that are not luaspy's report on the interpreter. */
static int count_faults(const char *errors)
{
	int count = 0;

	for (const char *line = errors; *line; line++) {
		size_t length = strcspn(line, "\n");

		if (!strstr(line, ": Lua 5.") || strstr(line, ": Lua 5.") > line + length)
			count += strncmp(line, "luaspy: layout ", strlen("luaspy: layout ")) != 0;
		line += length;
		if (!*line)
			break;
	}
	return count;
}

/* luaspy ended with `status`, reported one fault that contains `text`, and wrote no output. */
static void assert_fault(struct stage *stage, struct child *spy, int status, const char *text)
{
	const char *errors;
	int ended = child__wait(spy, PATIENCE);

	errors = child__errors(stage, spy);
	if (ended != status || !strstr(errors, text) || count_faults(errors) != 1)
		fail_msg("status %d instead of %d, or not one line with '%s':\n%s", ended, status,
			 text, errors);
	assert_int_equal(strncmp(errors, "luaspy: ", strlen("luaspy: ")), 0);
	assert_int_equal(child__output_size(stage, spy), 0);
}

/* Counts the files in the stage's folder without its children's streams, whose names have a dot. */
static int count_visible_files(const struct stage *stage)
{
	return count_files(stage->folder) - 2 * stage->count;
}

static void reports_that_no_process_has_the_id(void **state)
{
	need_to_record();
	assert_fault(*state, start_record(*state, 4194304, "-d", "1", "-o", "x.json"), 3,
		     "no process has the id 4194304");
	assert_int_equal(count_visible_files(*state), 0);
}

static void reports_a_process_without_lua(void **state)
{
	struct child *target, *spy;

	need_to_record();
	target = start_other(*state);
	spy = start_record(*state, target->pid, "-d", "1", "-o", "x.json");
	assert_fault(*state, spy, 3, "no interpreter in any of its files");
	assert_non_null(strstr(child__errors(*state, spy), "cat (pid "));
	assert_int_equal(count_visible_files(*state), 0);
}

/* Its children are the kernel's other threads; a PID namespace other than the first has none. */
static bool has_kthreadd(void)
{
	char name[16] = "";
	FILE *file = fopen("/proc/2/comm", "r");
	bool is_there = file && fscanf(file, "%15s", name) == 1 && !strcmp(name, "kthreadd");

	if (file)
		fclose(file);
	return is_there;
}

static void reports_a_kernel_thread(void **state)
{
	struct child *spy;

	need_to_record();
	if (!has_kthreadd())
		skip_because("this PID namespace shows no kernel threads");
	spy = start_record(*state, 2, "-d", "1");
	assert_fault(*state, spy, 3, "it has no memory: it is a kernel thread");
}

/* A program that was started in the background may still be a shell when luaspy looks at it. */
static void waits_briefly_for_a_shell_to_execute_lua(void **state)
{
	static const char *const commands[] = {"record", "dump", "check"};
	struct child *target, *spy;
	char number[16];

	need_lua();
	for (size_t i = 0; i < 3; i++) {
		target = start(*state, "sh", "-c",
			       "read line && exec lua5.4 -e 'while true do end'");
		snprintf(number, sizeof(number), "%d", target->pid);
		spy = start(*state, luaspy_program(), commands[i], "-p", number, i ? NULL : "-d1",
			    "-o", "x.json");
		sleep_seconds(0.3);
		child__tell(target, "go");
		if (child__wait(spy, PATIENCE))
			fail_msg("%s", child__errors(*state, spy));
		assert_null(strstr(child__errors(*state, spy), "another program"));
		child__kill(target);
	}
	assert_int_equal(count_visible_files(*state), 1);
}

/* It wakes up a hundred times a second to find that it has nothing to do. */
static void reports_that_a_server_is_idle(void **state)
{
	struct child *target, *spy;

	need_to_record();
	need_program("redis-server", "redis-server");
	target = start(*state, "redis-server", "--port", "0", "--unixsocket",
		       in_folder(*state, "redis.sock"), "--hz", "100", "--save", "", "--daemonize",
		       "no");
	child__await_output(*state, target, "ready to accept connections");
	spy = start_record(*state, target->pid, "-d", "1", "-q");
	assert_fault(*state, spy, 3, "idle, or ran ");
}

static void reports_that_lua_never_ran(void **state)
{
	struct child *target, *spy;

	need_lua();
	target = start(*state, "lua5.4", "-e", "print 'up' io.stdout:flush() io.read()");
	child__await_output(*state, target, "up");
	child__await_state(*state, target, 'S');
	spy = start_record(*state, target->pid, "-d", "500ms", "-o", "x.json");
	assert_fault(*state, spy, 3, "no script in the profile");
	assert_int_equal(count_visible_files(*state), 0);
}

static void reports_that_the_target_is_stopped(void **state)
{
	struct child *target, *spy;
	char hint[64];

	need_lua();
	target = start_busy(*state);
	kill(target->pid, SIGSTOP);
	child__await_state(*state, target, 'T');
	spy = start_record(*state, target->pid, "-d", "500ms", "-o", "x.json");
	snprintf(hint, sizeof(hint), "it is stopped (kill -CONT %d continues it)", target->pid);
	assert_fault(*state, spy, 3, hint);
	assert_int_equal(count_visible_files(*state), 0);
}

static void reports_that_another_user_may_not_inspect_it(void **state)
{
	struct child *target, *spy;
	char program[64], number[16];

	need_lua();
	need_program("setpriv", "util-linux");
	target = start_busy(*state);
	/* A copy, because the folder of the program may be closed to other users. */
	snprintf(program, sizeof(program), "%s", in_folder(*state, "luaspy"));
	assert_int_equal(child__wait(start(*state, "cp", luaspy_program(), program), PATIENCE), 0);
	snprintf(number, sizeof(number), "%d", target->pid);
	chmod(((struct stage *)*state)->folder, 0777);
	spy = start(*state, "setpriv", "--reuid=" NOBODY, "--regid=" NOBODY, "--clear-groups",
		    program, "record", "-p", number, "-d", "500ms", "-o", "x.json");
	assert_fault(*state, spy, 1, "permission denied");
	assert_non_null(strstr(child__errors(*state, spy), "(try sudo"));
	assert_int_equal(count_visible_files(*state), 1);
}

/* Root of a container, say: no sudo would help. */
static void reports_that_root_lacks_a_capability(void **state)
{
	struct child *target, *spy;
	char number[16];

	need_lua();
	need_program("setpriv", "util-linux");
	target = start_busy(*state);
	snprintf(number, sizeof(number), "%d", target->pid);
	spy = start(*state, "setpriv", "--bounding-set=-sys_ptrace", luaspy_program(), "dump", "-p",
		    number);
	assert_fault(*state, spy, 1, "(root lacks CAP_SYS_PTRACE here");
}

static void refuses_wrong_command_lines(void **state)
{
	static const struct {
		const char *words[6];
		const char *text;
	} lines[] = {
		{{NULL}, "missing command"},
		{{"rekord", NULL}, "did you mean 'record'?"},
		{{"record", NULL}, "missing option '--pid'"},
		{{"record", "-p", "none", NULL}, "'none'"},
		{{"record", "-p", "1", "-d", "soon", NULL}, "'soon'"},
		{{"record", "-p", "1", "-F", "0", NULL}, "'0'"},
		{{"record", "-p", "1", "--frequenzy=5", NULL}, "did you mean '--frequency'?"},
		{{"record", "-p", "1", "--max-depth=0", NULL}, "'--max-depth'"},
		{{"record", "-p", "1", "extra", NULL}, "unexpected argument 'extra'"},
		{{"record", "-p", NULL}, "needs a value"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const char *words[8] = {luaspy_program()};

		memcpy(words + 1, lines[i].words, sizeof(lines[i].words));
		assert_fault(*state, stage__start(*state, words), 2, lines[i].text);
	}
	assert_int_equal(count_visible_files(*state), 0);
}

static void refuses_to_profile_itself(void **state)
{
	struct child *spy;

	need_to_record();
	spy = start(*state, "sh", "-c", "exec \"$0\" record -p $$ -d 1", luaspy_program());
	assert_fault(*state, spy, 3, "that is luaspy itself");
}

static void reports_an_unwritable_output_before_it_samples(void **state)
{
	struct child *target, *spy;
	double begin;

	need_lua();
	target = start_busy(*state);
	begin = now_seconds();
	spy = start_record(*state, target->pid, "-d", "9", "-o", "/proc/none/x.json");
	assert_fault(*state, spy, 1, "cannot write '/proc/none/x.json': No such file or directory");
	assert_true(now_seconds() - begin < 5);
	spy = start_record(*state, target->pid, "-d", "9", "-o", "/tmp");
	assert_fault(*state, spy, 1, "cannot write '/tmp': Is a directory");
}

/* A file that already exists there keeps its contents. */
static void leaves_no_partial_file_on_a_full_disk(void **state)
{
	struct child *target, *spy;
	struct stage *stage = *state;
	char folder[64], filler[4096];
	int ended, files;
	FILE *full;

	need_lua();
	snprintf(folder, sizeof(folder), "%s", in_folder(stage, "disk"));
	mkdir(folder, 0755);
	if (mount("tmpfs", folder, "tmpfs", 0, "size=16k"))
		skip_because("cannot mount a file system here");
	memset(filler, 'x', sizeof(filler));
	full = fopen(in_folder(stage, "disk/full"), "w");
	while (full && fwrite(filler, 1, sizeof(filler), full) == sizeof(filler) && !fflush(full))
		;
	if (full)
		fclose(full);
	target = start_busy(stage);
	spy = start_record(stage, target->pid, "-d", "500ms", "-q", "-o", "disk/x.json");
	ended = child__wait(spy, PATIENCE);
	files = count_files(folder);
	umount2(folder, MNT_DETACH);
	assert_int_equal(ended, 1);
	assert_int_equal(files, 1);
	assert_fault(stage, spy, 1, "cannot write 'disk/x.json': No space left on device");
}

static void reports_that_standard_output_is_full(void **state)
{
	struct child *target, *spy;
	char command[256];

	need_lua();
	target = start_busy(*state);
	snprintf(command, sizeof(command), "exec '%s' record -p %d -d 500ms -q -o - >/dev/full",
		 luaspy_program(), target->pid);
	spy = start(*state, "sh", "-c", command);
	assert_fault(*state, spy, 1, "No space left on device");
}

static void assert_has_script(struct stage *stage, const char *path)
{
	struct scriptprofile *profile = spying__read(stage, path);

	if (scriptprofile__stack_us(profile, "main chunk > work") <= profile->all_us / 2) {
		scriptprofile__print(profile);
		fail();
	}
	assert_true(profile->all_us > 100000);
}

static void writes_what_it_has_when_the_target_is_killed(void **state)
{
	struct child *target, *spy;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "15", "-o", "x.json");
	spying__await_timers(*state, spy);
	child__let_work(target, 0.5);
	child__kill(target);
	assert_int_equal(child__wait(spy, 5), 0);
	assert_has_script(*state, in_folder(*state, "x.json"));
}

/* The target is dead but its parent has not waited for it: it still has threads and a CPU time. */
static void charges_a_zombie_once(void **state)
{
	struct child *target, *spy;
	struct scriptprofile *profile;
	double cpu_us;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "15", "-o", "x.json");
	spying__await_timers(*state, spy);
	child__let_work(target, 0.5);
	kill(target->pid, SIGKILL);
	assert_int_equal(child__wait(spy, 5), 0);
	child__kill(target);
	cpu_us = (double)(target->usage.ru_utime.tv_sec + target->usage.ru_stime.tv_sec) * 1e6 +
		 (double)(target->usage.ru_utime.tv_usec + target->usage.ru_stime.tv_usec);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	print_message("charged %.0f us in all its life, categories %lld us\n", cpu_us,
		      (long long)profile->all_us);
	assert_true((double)profile->all_us <= 1.01 * cpu_us);
	assert_has_script(*state, in_folder(*state, "x.json"));
}

static void writes_what_it_has_when_the_target_runs_another_program(void **state)
{
	struct child *target, *spy;
	struct scriptprofile *profile;

	need_lua();
	/* The shell's child runs Lua first, then executes sleep. */
	target = start(*state, built_program("host-5.4"), program_source("exec.lua"));
	child__let_work(target, 0.05);
	spy = start_record(*state, target->pid, "-d", "15", "-o", "x.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_true(scriptprofile__stack_us(profile, "before") > 100000);
	assert_non_null(strstr(child__errors(*state, spy), "runs another program"));
}

static void writes_what_it_has_when_the_target_is_stopped(void **state)
{
	struct child *target, *spy;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "1500ms", "-o", "x.json");
	spying__await_timers(*state, spy);
	child__let_work(target, 0.3);
	kill(target->pid, SIGSTOP);
	assert_int_equal(child__wait(spy, 5), 0);
	assert_has_script(*state, in_folder(*state, "x.json"));
}

static void check_signal(struct stage *stage, int signal, int times)
{
	struct child *target, *spy;

	target = start_busy(stage);
	spy = start_record(stage, target->pid, "-o", "x.json");
	spying__await_timers(stage, spy);
	child__let_work(target, 0.3);
	for (int i = 0; i < times; i++)
		kill(spy->pid, signal);
	assert_int_equal(child__wait(spy, 5), 0);
	assert_has_script(stage, in_folder(stage, "x.json"));
	assert_int_equal(child__output_size(stage, spy), 0);
	assert_non_null(strstr(child__errors(stage, spy), "wrote x.json"));
	/* The target must not be affected. */
	assert_int_equal(kill(target->pid, 0), 0);
	assert_int_equal(count_visible_files(stage), 1);
}

static void writes_what_it_has_on_sigint(void **state)
{
	need_lua();
	check_signal(*state, SIGINT, 1);
}

static void writes_what_it_has_on_two_sigint(void **state)
{
	need_lua();
	check_signal(*state, SIGINT, 2);
}

static void writes_what_it_has_on_sigterm(void **state)
{
	need_lua();
	check_signal(*state, SIGTERM, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(reports_that_no_process_has_the_id),
		staged(reports_a_process_without_lua),
		staged(reports_a_kernel_thread),
		staged(waits_briefly_for_a_shell_to_execute_lua),
		staged(reports_that_a_server_is_idle),
		staged(reports_that_lua_never_ran),
		staged(reports_that_the_target_is_stopped),
		staged(reports_that_another_user_may_not_inspect_it),
		staged(reports_that_root_lacks_a_capability),
		staged(refuses_wrong_command_lines),
		staged(refuses_to_profile_itself),
		staged(reports_an_unwritable_output_before_it_samples),
		staged(leaves_no_partial_file_on_a_full_disk),
		staged(reports_that_standard_output_is_full),
		staged(writes_what_it_has_when_the_target_is_killed),
		staged(charges_a_zombie_once),
		staged(writes_what_it_has_when_the_target_runs_another_program),
		staged(writes_what_it_has_when_the_target_is_stopped),
		staged(writes_what_it_has_on_sigint),
		staged(writes_what_it_has_on_two_sigint),
		staged(writes_what_it_has_on_sigterm),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
