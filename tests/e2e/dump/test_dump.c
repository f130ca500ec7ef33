/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy dump, compared with targets that print their own stacks. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <jansson.h>

#include "dumping.h"

#define PATIENCE  (getenv("LUASPY_EMULATED") ? 60 : 20) /* seconds */
#define DUMPS_MAX 20 /* of a program whose coroutines hardly ever stand still */
#define SHOWN_MIN 80 /* of its coroutines, in all of these dumps */
#define IDLE      "-all,+sys_ptrace,+dac_read_search" /* what an idle process needs */

static const char *const interpreters[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};
static const char *const versions[] = {"5.1", "5.2", "5.3", "5.4"};

#define VERSIONS (sizeof(versions) / sizeof(versions[0]))

static void shows_what_the_program_says_of_itself(void **state)
{
	need_to_record();
	for (size_t i = 0; i < VERSIONS; i++) {
		need_program(interpreters[i], "lua5.4");
		compare_all(*state, interpreters[i]);
	}
}

/*
 * Compilers differ in where they keep the lua_State. The registers of a waiting thread cannot be
 * read.
 */
static void compare_builds(struct stage *stage, const char *release)
{
	static const char *const variants[] = {"gcc", "clang", "lto",   "small",
					       "cxx", "O0",    "shared"};
	char program[64];

	need_to_record();
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		snprintf(program, sizeof(program), "../../hosts/%s-%s", release, variants[i]);
		need_host(built_program(program));
		compare_all(stage, built_program(program));
	}
}

static void reads_every_build_of_5_1(void **state)
{
	compare_builds(*state, "5.1.5");
}

static void reads_every_build_of_5_2(void **state)
{
	compare_builds(*state, "5.2.4");
}

static void reads_every_build_of_5_3(void **state)
{
	compare_builds(*state, "5.3.6");
}

static void reads_every_build_of_5_4(void **state)
{
	compare_builds(*state, "5.4.8");
}

static void reads_every_build_of_5_5(void **state)
{
	compare_builds(*state, "5.5.1");
}

/* The file looks like that of a release, but the structures in memory differ. */
static void shows_nothing_of_a_modified_lua(void **state)
{
	static const char *const modified[] = {
		"5.1.5-moved-state", "5.1.5-moved-proto", "5.3.6-wide",        "5.3.6-moved-call",
		"5.4.8-wide",        "5.4.8-moved-call",  "5.4.8-moved-state", "5.4.8-moved-proto",
		"5.5.1-wide",        "5.5.1-moved-call",  "5.5.1-moved-state", "5.5.1-moved-proto",
	};
	char program[64];

	need_to_record();
	for (size_t i = 0; i < sizeof(modified) / sizeof(modified[0]); i++) {
		struct child *target, *spy;

		snprintf(program, sizeof(program), "../../hosts/%s", modified[i]);
		need_host(built_program(program));
		target = start(*state, built_program(program), program_source("stacks.lua"));
		child__await_output(*state, target, "ready\n");
		spy = run_dump(*state, target->pid, 3, "--all", "--no-command-lines");
		assert_null(strstr(child__output(*state, spy), "stacks.lua"));
		child__assert_complained(*state, spy, "modified");
		assert_null(strstr(child__errors(*state, spy), "profile"));
		child__kill(target);
	}
}

static void samples_what_runs(void **state)
{
	static const char script[] = "local function hot() while true do end end\n"
				     "local co = coroutine.wrap(function() hot() end)\n"
				     "print 'up' io.stdout:flush() co()\n";
	struct stage *stage = *state;

	need_to_record();
	for (size_t i = 0; i < VERSIONS; i++) {
		const json_t *thread;
		struct child *target;

		need_program(interpreters[i], "lua5.4");
		target = start_working(stage, interpreters[i], script);
		thread = thread_of(dump_json(stage, target->pid, 0, NULL), interpreters[i]);
		assert_string_equal(text_of(thread, "Status"), "active");
		assert_string_equal(text_of(frame_of(thread, 0), "Name"), "hot");
		assert_int_equal(number_of(frame_of(thread, 0), "CurrentLine"), 1);
		assert_int_equal(number_of(frame_of(thread, 1), "CurrentLine"), 2);
		assert_int_equal(json_array_size(json_object_get(thread, "Stacks")), 2);
		child__kill(target);
	}
}

static void shows_what_a_program_waits_in(void **state)
{
	static const char script[] =
		"local function list() os.execute('echo up; sleep 60') end list()";
	struct stage *stage = *state;

	need_to_record();
	for (size_t i = 0; i < VERSIONS; i++) {
		struct child *target;
		const char *shown;

		need_program(interpreters[i], "lua5.4");
		target = start(stage, interpreters[i], "-e", script);
		child__await_output(stage, target, "up");
		child__await_state(stage, target, 'S');
		shown = dump_text(stage, target->pid, 0, NULL);
		assert_non_null(
			strstr(shown, "(idle: in wait4)\n    os.execute ([C])\n    list ("));
		child__kill(target);
	}
}

/* Like dump_text(), but luaspy only has the capability to read other processes. */
static void reads_an_idle_process_without_bpf(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	char number[16];

	need_to_record();
	need_program("lua5.4", "lua5.4");
	need_program("setpriv", "util-linux");
	target = start(stage, "lua5.4", "-e",
		       "print 'up' io.stdout:flush() "
		       "local function ask() return (io.read()) end ask()");
	child__await_output(stage, target, "up");
	child__await_state(stage, target, 'S');
	snprintf(number, sizeof(number), "%d", target->pid);
	assert_int_equal(chmod(stage->folder, 0777), 0);
	spy = start(stage, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		    "--inh-caps=" IDLE, "--ambient-caps=" IDLE, "--bounding-set=" IDLE,
		    luaspy_program(), "dump", "-p", number);
	if (child__wait(spy, PATIENCE))
		fail_msg("%s", child__errors(stage, spy));
	assert_non_null(strstr(child__output(stage, spy), "ask ((command line):1)"));
	assert_string_equal(child__errors(stage, spy), "");
}

static void tells_threads_apart(void **state)
{
	need_to_record();
	for (size_t i = 0; i < VERSIONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "sleepers-%s", versions[i]);
		need_program(built_program(name), "liblua5.4-dev");
		tell_threads_apart(*state, built_program(name));
	}
}

/* The kernel does not know the thread control blocks of musl's threads. */
static void tells_threads_of_musl_apart(void **state)
{
	const char *program = built_program("sleepers-musl");

	need_to_record();
	if (!has_program(program) && !has_program("musl-gcc"))
		lacks_package("musl-tools");
	need_host(program);
	tell_threads_apart(*state, program);
}

/* Only memory leads to the VM: no native stack has a pointer to it, and no sample votes. */
static void finds_coroutines_of_a_lua_that_does_not_run(void **state)
{
	struct stage *stage = *state;

	need_to_record();
	for (size_t i = 0; i < VERSIONS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "sleepers-%s", versions[i]);
		need_program(built_program(name), "liblua5.4-dev");
		find_parked_coroutines(stage, built_program(name));
	}
}

/* Pins what the test starts from now on to this processor; -1: to none. */
static void pin(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (processor < 0 || i == processor)
			CPU_SET(i, &set);
	assert_return_code(sched_setaffinity(0, sizeof(set), &set), errno);
}

/*
 * On a processor of its own, the target resumes a coroutine before luaspy has read it: some dumps
 * show one of a hundred. On luaspy's processor, the target mostly waits while luaspy reads.
 */
static void shows_no_coroutine_between_two_places(void **state)
{
	struct stage *stage = *state;

	need_to_record();
	for (size_t i = 0; i < VERSIONS; i++) {
		int dumps = 0;
		size_t shown = 0;
		struct child *target;

		need_program(interpreters[i], "lua5.4");
		pin(0);
		target = start(stage, interpreters[i], program_source("yielders.lua"));
		child__await_output(stage, target, "ready\n");
		for (; dumps < DUMPS_MAX && shown < SHOWN_MIN; dumps++) {
			pin(dumps % 2 ? 0 : -1);
			shown += check_yielders(
				json_object_get(dump_json(stage, target->pid, 0, "--all"),
						"Coroutines"),
				"coroutine.yield");
		}
		pin(-1);
		print_message("%s: %zu of %d coroutines stood still\n", interpreters[i], shown,
			      dumps * 100);
		assert_in_range(shown, SHOWN_MIN, DUMPS_MAX * 100);
		child__kill(target);
	}
}

static void reads_a_stopped_process(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const char *shown;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start_working(stage, "lua5.4",
			       "local function hot() local x = 0 while true do x = x + 1 end end "
			       "print 'up' io.stdout:flush() hot()");
	kill(target->pid, SIGSTOP);
	child__await_state(stage, target, 'T');
	shown = dump_text(stage, target->pid, 0, NULL);
	assert_non_null(strstr(shown, "(stopped)\n    hot ((command line):~1)\n"));
}

/* A server that is idle has no script on its stack. */
static void says_so_where_no_script_is_on_any_stack(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;

	need_to_record();
	need_program("redis-server", "redis-server");
	target = start(stage, "redis-server", "--port", "0", "--unixsocket",
		       in_folder(stage, "redis.sock"), "--save", "", "--daemonize", "no");
	child__await_output(stage, target, "ready to accept connections");
	spy = run_dump(stage, target->pid, 3, "--all", NULL);
	child__assert_complained(stage, spy, "no script in the stacks of redis-server");
	/* epoll_wait() or, on arm64, epoll_pwait(). */
	assert_non_null(strstr(child__output(stage, spy), "(idle: in epoll_"));
	assert_non_null(strstr(child__output(stage, spy), " VM"));
}

static void says_what_is_not_there(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_to_record();
	spy = run_dump(stage, start(stage, "sleep", "1000")->pid, 3, NULL, NULL);
	assert_string_equal(strstr(child__errors(stage, spy), ": no interpreter"),
			    ": no interpreter in any of its files\n");
	child__assert_complained(stage, spy, "cannot dump sleep 1000 (pid ");
	spy = run_dump(stage, 4194303, 3, NULL, NULL);
	child__assert_complained(stage, spy, "no process has the id 4194303");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_what_the_program_says_of_itself),
		staged(reads_every_build_of_5_1),
		staged(reads_every_build_of_5_2),
		staged(reads_every_build_of_5_3),
		staged(reads_every_build_of_5_4),
		staged(reads_every_build_of_5_5),
		staged(shows_nothing_of_a_modified_lua),
		staged(samples_what_runs),
		staged(shows_what_a_program_waits_in),
		staged(reads_an_idle_process_without_bpf),
		staged(tells_threads_apart),
		staged(tells_threads_of_musl_apart),
		staged(finds_coroutines_of_a_lua_that_does_not_run),
		staged(shows_no_coroutine_between_two_places),
		staged(reads_a_stopped_process),
		staged(says_so_where_no_script_is_on_any_stack),
		staged(says_what_is_not_there),
	};

	return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
