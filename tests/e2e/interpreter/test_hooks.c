/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that spend all time below a debug hook, as under a debugger or a coverage tool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 20

static const char *const interpreters[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};

#define INTERPRETERS (sizeof(interpreters) / sizeof(interpreters[0]))

/*
 * Hooks before an instruction and before a line. The hook is called early, before other code gets
 * hot.
 */
static const char *const busy[] = {
	"local function inner() local t = 0 for i = 1, 1e6 do t = t + i % 7 end end "
	"debug.sethook(function() print('in the hook') io.flush() while true do inner() end end, "
	"'', 100) local x = 0 while true do x = x + 1 end",

	"local function inner() local t = 0 for i = 1, 1e6 do t = t + i % 7 end end\n"
	"local function outer(x)\n"
	"	x = x + 1\n"
	"	return x\n"
	"end\n"
	"debug.sethook(function(_, line) if line == 3 then print('in the hook') io.flush()\n"
	"	while true do inner() end end end, 'l')\n"
	"outer(1)\n",
};

static void need_all(void)
{
	need_to_record();
	for (size_t i = 0; i < INTERPRETERS; i++)
		if (!has_program(interpreters[i]))
			lacks_package("lua5.1, lua5.2, lua5.3, lua5.4");
}

static void record_busy(struct stage *stage, const char *interpreter, const char *script)
{
	struct child *target = start(stage, interpreter, "-e", script);
	struct scriptprofile *profile;
	int64_t inner;

	child__await_output(stage, target, "in the hook");
	profile = record(stage, target->pid, "-d", "1");
	inner = scriptprofile__total_us(profile, NULL, "inner", -1);
	if (inner < profile->all_us * 97 / 100) {
		scriptprofile__print(profile);
		fail_msg("%s: %lld of %lld us", interpreter, (long long)inner,
			 (long long)profile->all_us);
	}
	assert_non_null(strstr(json_string_value(json_object_get(
				       json_object_get(profile->document, "Recorder"), "Layout")),
			       "agreed on by 8 of "));
	child__kill(target);
}

static void finds_the_layout_while_a_hook_runs(void **state)
{
	need_all();
	for (size_t i = 0; i < INTERPRETERS; i++)
		for (size_t j = 0; j < sizeof(busy) / sizeof(busy[0]); j++)
			record_busy(*state, interpreters[i], busy[j]);
}

/* One stack that does not change is all the evidence there is. */
static void dumps_a_process_at_a_breakpoint(void **state)
{
	static const char script[] = "local function at_work(x)\n"
				     "	x = x + 1\n"
				     "	return x\n"
				     "end\n"
				     "debug.sethook(function(_, line) if line == 3 then\n"
				     "	print('stopped') io.flush() io.read() end end, 'l')\n"
				     "at_work(1)\n";
	struct stage *stage = *state;

	need_all();
	for (size_t i = 0; i < INTERPRETERS; i++) {
		struct child *target = start(stage, interpreters[i], "-e", script), *spy;
		const char *said;
		char pid[16];

		child__await_output(stage, target, "stopped");
		snprintf(pid, sizeof(pid), "%d", target->pid);
		spy = start(stage, luaspy_program(), "dump", "-p", pid);
		assert_int_equal(child__wait(spy, PATIENCE), 0);
		said = child__output(stage, spy);
		if (!strstr(said, "io.read ([C])") || !strstr(said, "    at_work ("))
			fail_msg("%s: %s", interpreters[i], said);
		child__kill(target);
	}
}

/* Hooks are off in a finalizer, too; 5.4 marks the call that it interrupts. */
static void finds_the_layout_while_a_finalizer_runs(void **state)
{
	static const char script[] =
		"local function inner() local t = 0 for i = 1, 1e6 do t = t + i % 7 end end "
		"setmetatable({}, {__gc = function() print('in it') io.flush() "
		"while true do inner() end end}) while true do local t = {} end";
	struct child *target;
	struct scriptprofile *profile;

	need_all();
	target = start(*state, "lua5.4", "-e", script);
	child__await_output(*state, target, "in it");
	profile = record(*state, target->pid, "-d", "1");
	assert_true(scriptprofile__total_us(profile, NULL, "inner", -1) >=
		    profile->all_us * 97 / 100);
}

/* The checks that are relaxed below a hook must not accept an interpreter that moved a field. */
static void refuses_a_modified_lua_below_a_hook(void **state)
{
	static const char *const modified[] = {"5.1.5-moved-state", "5.1.5-moved-proto",
					       "5.4.8-moved-state", "5.4.8-moved-proto"};
	struct stage *stage = *state;

	need_to_record();
	for (size_t i = 0; i < sizeof(modified) / sizeof(modified[0]); i++) {
		struct child *target, *spy;
		char program[64];

		snprintf(program, sizeof(program), "../../hosts/%s", modified[i]);
		need_host(built_program(program));
		write_file(in_folder(stage, "busy.lua"), busy[0], strlen(busy[0]));
		target = start(stage, built_program(program), in_folder(stage, "busy.lua"));
		child__await_output(stage, target, "in the hook");
		spy = start_record(stage, target->pid, "-d", "1", "-o", "profile.json");
		assert_int_equal(child__wait(spy, PATIENCE), 3);
		if (!strstr(child__errors(stage, spy), "modified"))
			fail_msg("%s: %s", modified[i], child__errors(stage, spy));
		child__kill(target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(finds_the_layout_while_a_hook_runs),
		staged(dumps_a_process_at_a_breakpoint),
		staged(finds_the_layout_while_a_finalizer_runs),
		staged(refuses_a_modified_lua_below_a_hook),
	};

	return cmocka_run_group_tests_name("hooks", tests, NULL, NULL);
}
