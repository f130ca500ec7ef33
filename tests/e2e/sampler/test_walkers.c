/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which walkers luaspy loads: those that its targets need, and another one when a target executes
 * another interpreter. By then, luaspy itself can load none any more, or has other things to do.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30

#define FILES_MAX 256

static bool is_program(int fd)
{
	char path[64], link[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, link, sizeof(link) - 1) > 0 && !strcmp(link, "anon_inode:bpf-prog");
}

static bool is_called(int fd, const char *program)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	return is_program(fd) && !bpf_obj_get_info_by_fd(fd, &info, &size) &&
	       !strcmp(info.name, program);
}

/* Whether the process has that BPF program open. */
static bool has_loaded(pid_t pid, const char *program)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	bool found = false;

	assert_true(process >= 0);
	for (int file = 0; file < FILES_MAX && !found; file++) {
		int copy = (int)syscall(SYS_pidfd_getfd, process, file, 0);

		if (copy < 0)
			continue;
		found = is_called(copy, program);
		close(copy);
	}
	close(process);
	return found;
}

/* The child of luaspy that loads walkers. */
static pid_t find_loader(const struct child *spy)
{
	char command[128];
	pid_t pid = 0;
	FILE *output;

	snprintf(command, sizeof(command), "pgrep -x -P %d luaspy-loader", spy->pid);
	output = popen(command, "r");
	assert_non_null(output);
	if (fscanf(output, "%d", &pid) != 1)
		fail_msg("no process loads walkers");
	pclose(output);
	return pid;
}

static unsigned long long read_capabilities(pid_t pid)
{
	char path[64], *status, *line;
	unsigned long long capabilities;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = read_file(path, NULL);
	line = strstr(status, "CapPrm:");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "CapPrm: %llx", &capabilities), 1);
	free(status);
	return capabilities;
}

/* Works in Lua, and when it is told, in LuaJIT. */
static struct child *start_changing(struct stage *stage)
{
	write_text(stage, "before.lua",
		   "local function before() local x = 0 for i = 1, 1e5 do x = x + i end end\n"
		   "local function is_told()\n"
		   "	local file = io.open('told')\n"
		   "	return file and file:close()\n"
		   "end\n"
		   "while not is_told() do before() end\n"
		   "become('luajit', 'after.lua')\n");
	write_text(stage, "after.lua",
		   "local function after() local x = 0 for i = 1, 1e5 do x = x + i % 7 end end\n"
		   "while true do after() end\n");
	return start(stage, built_program("host-5.4"), "before.lua");
}

/* Starts that program and a recording of it. Returns once the timers run. */
static struct child *record_changing(struct stage *stage, struct child **target)
{
	struct child *spy;

	*target = start_changing(stage);
	spy = start_record(stage, (*target)->pid, "-q", "-o", "x.json");
	spying__await_timers(stage, spy);
	return spy;
}

static void are_those_that_the_target_needs(void **state)
{
	struct child *target, *spy;

	need_to_record();
	spy = record_changing(*state, &target);
	assert_true(has_loaded(spy->pid, "walk_puc"));
	assert_false(has_loaded(spy->pid, "walk_luajit"));
	assert_false(has_loaded(spy->pid, "walk_luau"));
}

#define CAP_PERFMON_AND_BPF (UINT64_C(3) << 38)

static void are_loaded_by_a_process_that_can_do_nothing_else(void **state)
{
	struct child *target, *spy;
	pid_t loader;

	need_to_record();
	need_program("pgrep", "procps");
	spy = record_changing(*state, &target);
	loader = find_loader(spy);
	assert_int_equal(read_capabilities(loader), CAP_PERFMON_AND_BPF);
	assert_int_equal(read_capabilities(spy->pid) & CAP_PERFMON_AND_BPF, 0);
	kill(spy->pid, SIGKILL);
	child__wait(spy, PATIENCE);
	for (int i = 0; i < 1000 && !kill(loader, 0); i++)
		sleep_seconds(0.01);
	assert_int_not_equal(kill(loader, 0), 0);
}

static void are_loaded_when_the_target_executes_another_interpreter(void **state)
{
	struct child *target, *spy;
	struct scriptprofile *profile;

	need_to_record();
	need_program("luajit", "luajit");
	spy = record_changing(*state, &target);
	child__let_work(target, 0.3);
	write_text(*state, "told", "");
	child__let_work(target, 1.1);
	assert_true(has_loaded(spy->pid, "walk_luajit"));
	assert_false(has_loaded(spy->pid, "walk_luau"));
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_true(scriptprofile__stack_us(profile, "before") > 250000);
	assert_true(scriptprofile__stack_us(profile, "after") > 700000);
}

/* A link to a program, by which a process has a name that no other has. */
static const char *own_link(struct stage *stage, const char *program, const char *suffix)
{
	char name[16];

	snprintf(name, sizeof(name), "u%d%s", getpid(), suffix);
	assert_return_code(symlink(program, in_folder(stage, name)), errno);
	return in_folder(stage, name);
}

/* A system-wide session of one process that runs Lua; others must have such names, too. */
static struct child *record_system(struct stage *stage)
{
	char names[16];
	struct child *spy;

	snprintf(names, sizeof(names), "^u%d", getpid());
	write_text(stage, "first.lua",
		   "while true do local x = 0 for i = 1, 1e5 do x = x + i end end\n");
	start(stage, own_link(stage, built_program("host-5.4"), "lua"), "first.lua");
	spy = start(stage, luaspy_program(), "record", "--system", "--name", names,
		    "--max-overhead", "none", "-q", "-o", "x.json");
	spying__await_timers(stage, spy);
	return spy;
}

/* How many samples the profile says could not be read for that reason. */
static int64_t count_reason(const struct scriptprofile *profile, const char *name)
{
	json_t *recorder = json_object_get(profile->document, "Recorder"), *reason;
	int64_t count = 0;
	size_t i;

	json_array_foreach(json_object_get(recorder, "Reasons"), i, reason)
	{
		if (!strcmp(json_string_value(json_object_get(reason, "Name")), name))
			count += json_integer_value(json_object_get(reason, "Count"));
	}
	return count;
}

/* A session that waited for the process that loads would not end here. */
static void are_loaded_while_a_system_wide_session_goes_on(void **state)
{
	struct scriptprofile *profile;
	struct child *spy, *target;
	pid_t loader;

	need_to_record();
	need_program("luajit", "luajit");
	need_program("pgrep", "procps");
	spy = record_system(*state);
	loader = find_loader(spy);
	kill(loader, SIGSTOP);
	write_text(*state, "later.lua",
		   "local function later() local x = 0 for i = 1, 1e5 do x = x + i % 7 end end\n"
		   "while true do later() end\n");
	target = start(*state, own_link(*state, "/usr/bin/luajit", "jit"), "later.lua");
	child__let_work(target, 0.5);
	kill(loader, SIGCONT);
	child__let_work(target, 1.5);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_true(scriptprofile__stack_us(profile, "(unreadable)") > 300000);
	assert_true(scriptprofile__stack_us(profile, "later") > 700000);
	assert_true(count_reason(profile, "no_walker") > 300);
}

static void do_not_keep_a_session_from_ending(void **state)
{
	struct child *spy, *target;

	need_to_record();
	need_program("luajit", "luajit");
	need_program("pgrep", "procps");
	spy = record_system(*state);
	kill(find_loader(spy), SIGSTOP);
	write_text(*state, "later.lua", "while true do end\n");
	target = start(*state, own_link(*state, "/usr/bin/luajit", "jit"), "later.lua");
	child__let_work(target, 0.5);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
}

/* luaspy then writes what it has, and ends. */
static void cannot_be_loaded_once_that_process_is_gone(void **state)
{
	struct child *target, *spy;

	need_to_record();
	need_program("luajit", "luajit");
	need_program("pgrep", "procps");
	spy = record_changing(*state, &target);
	child__let_work(target, 0.3);
	kill(find_loader(spy), SIGKILL);
	write_text(*state, "told", "");
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_non_null(strstr(child__errors(*state, spy),
			       "cannot load the BPF program for LuaJIT: the process that loads "
			       "BPF programs has ended"));
	assert_true(scriptprofile__stack_us(spying__read(*state, in_folder(*state, "x.json")),
					    "before") > 250000);
}

/* The other processes of luaspy end when the last copy of their socket is closed. */
static void do_not_keep_it_from_ending_where_close_range_is_forbidden(void **state)
{
	struct child *target, *spy;
	char pid[16];

	need_to_record();
	target = start_changing(*state);
	snprintf(pid, sizeof(pid), "%d", target->pid);
	spy = start(*state, built_program("forbid"), "close_range", luaspy_program(), "record",
		    "-p", pid, "-d", "500ms", "-o", "x.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(are_those_that_the_target_needs),
		staged(are_loaded_by_a_process_that_can_do_nothing_else),
		staged(are_loaded_when_the_target_executes_another_interpreter),
		staged(are_loaded_while_a_system_wide_session_goes_on),
		staged(do_not_keep_a_session_from_ending),
		staged(cannot_be_loaded_once_that_process_is_gone),
		staged(do_not_keep_it_from_ending_where_close_range_is_forbidden),
	};

	return cmocka_run_group_tests_name("walkers", tests, NULL, NULL);
}
