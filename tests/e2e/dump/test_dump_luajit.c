/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy dump of LuaJIT: what it shows of programs that say themselves where they are. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dumping.h"

#define PATIENCE  (getenv("LUASPY_EMULATED") ? 60 : 20) /* seconds */
#define DUMPS_MAX 20
#define SHOWN_MIN 80 /* of a hundred coroutines that hardly ever stand still, in all dumps */
#define DEEP      300

#define need_luajit()                                                                              \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("luajit", "luajit");                                                  \
	} while (0)

static void shows_what_the_program_says_of_itself(void **state)
{
	need_luajit();
	compare_all(*state, "luajit");
}

static void shows_what_2_0_says_of_itself(void **state)
{
	const char *host = built_program("../../hosts/luajit_2.0-gcc32");

	need_to_record();
	need_host(host);
	compare_all(*state, host);
}

/* A frame more than it says: the C function in which it waits. */
static void compare_deep(struct stage *stage, const char *option, const char *word)
{
	struct child *target;
	const json_t *stacks;
	const char *end;

	target = start(stage, "luajit", option, program_source("nested.lua"), word);
	child__await_output(stage, target, "ready\n");
	stacks = json_object_get(thread_of(dump_json(stage, target->pid, 0, NULL), "luajit"),
				 "Stacks");
	end = compare_stack(json_array_get(stacks, 0),
			    expect_word(child__output(stage, target), "STACK\n"), "io.read");
	expect_word(end, "ready");
	assert_in_range(json_array_size(json_array_get(stacks, 0)), DEEP, DEEP + 10);
	child__kill(target);
}

static void shows_300_frames_as_the_program_says_them(void **state)
{
	need_luajit();
	compare_deep(*state, "-joff", NULL);
	compare_deep(*state, "-jon", NULL);
	compare_deep(*state, "-jon", "warm");
}

/* The functions are parts of one trace, which has called the C function: no frame is its own. */
static void shows_functions_of_the_trace_that_waits(void **state)
{
	static const char script[] =
		"local ffi = require 'ffi'\n"
		"ffi.cdef 'int usleep(unsigned);'\n"
		"local C, naps = ffi.C, 0\n"
		"local function nap(us) naps = naps + 1 return (C.usleep(us)) end\n"
		"local function middle(us, i)\n"
		"	local list = {i} nap(us) return list\n"
		"end\n"
		"local function work(count, us)\n"
		"	for i = 1, count do\n"
		"		middle(us, i)\n"
		"	end\n"
		"end\n"
		"work(500, 1)\n"
		"print 'up' io.stdout:flush()\n"
		"work(1e9, 6e7)\n";
	static const int lines[] = {4, 6, 10, 15};
	static const char *const names[] = {"nap", "middle", "work", "main chunk"};
	struct stage *stage = *state;
	const json_t *thread;
	struct child *target;

	need_luajit();
	write_text(stage, "app.lua", script);
	target = start(stage, "luajit", "app.lua");
	child__await_output(stage, target, "up");
	child__await_state(stage, target, 'S');
	thread = thread_of(dump_json(stage, target->pid, 0, NULL), "luajit");
	assert_string_equal(text_of(thread, "Status"), "idle");
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(text_of(frame_of(thread, i), "Name"), names[i]);
		assert_int_equal(number_of(frame_of(thread, i), "CurrentLine"), lines[i]);
	}
	child__kill(target);
}

/* Compiled or not, it is called what its definition calls it. */
static void names_compiled_functions_by_their_definition(void **state)
{
	static const char script[] =
		"local function real(n)\n"
		"	local x = 0 for i = 1, n do x = (x + i) % 101 end return x\n"
		"end\n"
		"local alias = real\n"
		"local function user() local x = alias(1e8) return x end\n"
		"print 'up' io.stdout:flush() while true do user() end";
	struct stage *stage = *state;
	struct child *target, *spy;
	char number[16];

	need_luajit();
	write_text(stage, "app.lua", script);
	target = start(stage, "luajit", "app.lua");
	child__await_output(stage, target, "up");
	child__let_work(target, 0.1);
	snprintf(number, sizeof(number), "%d", target->pid);
	spy = start(stage, luaspy_program(), "dump", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_non_null(strstr(child__output(stage, spy), "    real (app.lua:2)\n    user ("));
	child__kill(target);
}

static void samples_what_runs(void **state)
{
	static const char script[] = "local function hot() while true do end end\n"
				     "local co = coroutine.wrap(function() hot() end)\n"
				     "print 'up' io.stdout:flush() co()\n";
	static const char *const options[] = {"-joff", "-jon"};
	struct stage *stage = *state;

	need_luajit();
	write_text(stage, "app.lua", script);
	for (size_t i = 0; i < 2; i++) {
		struct child *target = start(stage, "luajit", options[i], "app.lua");
		const json_t *thread;

		child__await_output(stage, target, "up");
		child__let_work(target, 0.05);
		thread = thread_of(dump_json(stage, target->pid, 0, NULL), "luajit");
		assert_string_equal(text_of(thread, "Status"), "active");
		assert_string_equal(text_of(frame_of(thread, 0), "Name"), "hot");
		assert_int_equal(number_of(frame_of(thread, 0), "CurrentLine"), 1);
		assert_int_equal(number_of(frame_of(thread, 1), "CurrentLine"), 2);
		assert_int_equal(json_array_size(json_object_get(thread, "Stacks")), 2);
		child__kill(target);
	}
}

static void shows_no_coroutine_between_two_places(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	size_t shown = 0;
	int dumps = 0;

	need_luajit();
	target = start(stage, "luajit", program_source("yielders.lua"));
	child__await_output(stage, target, "ready\n");
	for (; dumps < DUMPS_MAX && shown < SHOWN_MIN; dumps++)
		shown += check_yielders(
			json_object_get(dump_json(stage, target->pid, 0, "--all"), "Coroutines"),
			"coroutine.yield");
	print_message("%zu of %d coroutines stood still\n", shown, dumps * 100);
	assert_in_range(shown, SHOWN_MIN, DUMPS_MAX * 100);
	child__kill(target);
}

/* What is compiled stands where its pc is; the interpreter keeps its place in registers. */
static void shows_of_a_stopped_process_what_needs_no_registers(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const json_t *thread;

	need_luajit();
	target = start_working(stage, "luajit",
			       "local list = {1} "
			       "local function hot() while true do list[1] = list[1] + 1 end end "
			       "print 'up' io.stdout:flush() hot()");
	kill(target->pid, SIGSTOP);
	child__await_state(stage, target, 'T');
	assert_non_null(strstr(dump_text(stage, target->pid, 0, NULL),
			       "(stopped)\n    hot ((command line):~1)\n"));
	child__kill(target);
	target = start_working(stage, "luajit",
			       "jit.off() local function hot() while true do end end "
			       "print 'up' io.stdout:flush() hot()");
	kill(target->pid, SIGSTOP);
	child__await_state(stage, target, 'T');
	thread = thread_of(dump_json(stage, target->pid, 3, NULL), "luajit");
	assert_null(frame_of(thread, 0));
	assert_string_equal(text_of(thread, "Problem"), "the thread's registers could not be read");
	child__kill(target);
}

static void tells_threads_apart(void **state)
{
	need_luajit();
	need_program(built_program("sleepers-luajit"), "libluajit-5.1-dev");
	tell_threads_apart(*state, built_program("sleepers-luajit"));
}

static void finds_coroutines_of_a_vm_that_does_not_run(void **state)
{
	need_luajit();
	need_program(built_program("sleepers-luajit"), "libluajit-5.1-dev");
	find_parked_coroutines(*state, built_program("sleepers-luajit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_what_the_program_says_of_itself),
		staged(shows_what_2_0_says_of_itself),
		staged(shows_300_frames_as_the_program_says_them),
		staged(shows_functions_of_the_trace_that_waits),
		staged(names_compiled_functions_by_their_definition),
		staged(samples_what_runs),
		staged(shows_no_coroutine_between_two_places),
		staged(tells_threads_apart),
		staged(finds_coroutines_of_a_vm_that_does_not_run),
		staged(shows_of_a_stopped_process_what_needs_no_registers),
	};

	return cmocka_run_group_tests_name("dump of LuaJIT", tests, NULL, NULL);
}
