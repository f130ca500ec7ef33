/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lua that fits no layout: every string in its file is that of a release, but its memory layout is
 * another. luaspy must refuse it and never misread it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE      20
#define NOTHING_FOUND 3 /* exit status */

/* If there is a profile, it has only time and no functions. */
static void check_nothing_is_read(struct stage *stage)
{
	struct scriptprofile *profile;

	if (access(in_folder(stage, "profile.json"), F_OK))
		return;
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_int_equal(scriptprofile__total_us(profile, "*", "!(\\(*)", -1), 0);
	assert_int_equal(scriptprofile__samples(profile, "complete"), 0);
	assert_int_equal(scriptprofile__samples(profile, "torn"), 0);
	assert_int_equal(unlink(in_folder(stage, "profile.json")), 0);
}

/* `said` is part of luaspy's messages. */
static void check_refused(struct stage *stage, const char *release, const char *variant,
			  const char *said)
{
	struct child *target, *spy;
	char program[128];
	int status;

	snprintf(program, sizeof(program), "../../hosts/%s-%s", release, variant);
	need_host(built_program(program));
	target = start(stage, built_program(program), program_source("tour.lua"));
	child__await_output(stage, target, "WORK ");
	spy = start_record(stage, target->pid, "-d", "1", "-F", "10khz", "-o", "profile.json");
	status = child__wait(spy, PATIENCE);
	child__kill(target);
	print_message("%s-%s: %s", release, variant, child__errors(stage, spy));
	assert_int_equal(status, NOTHING_FOUND);
	check_nothing_is_read(stage);
	assert_non_null(strstr(child__errors(stage, spy), said));
}

static void refuses_values_of_another_size(void **state)
{
	need_to_record();
	check_refused(*state, "5.3.6", "wide", "modified");
	check_refused(*state, "5.4.8", "wide", "modified");
	check_refused(*state, "5.5.1", "wide", "modified");
}

static void refuses_a_fork_that_moved_fields_of_lua_state(void **state)
{
	need_to_record();
	check_refused(*state, "5.1.5", "moved-state", "modified");
	check_refused(*state, "5.3.6", "moved-state", "modified");
	check_refused(*state, "5.4.8", "moved-state", "modified");
	check_refused(*state, "5.5.1", "moved-state", "modified");
}

static void refuses_a_fork_that_moved_fields_of_call_info(void **state)
{
	need_to_record();
	check_refused(*state, "5.3.6", "moved-call", "modified");
	check_refused(*state, "5.4.8", "moved-call", "modified");
	check_refused(*state, "5.5.1", "moved-call", "modified");
}

static void refuses_a_fork_that_moved_fields_of_prototypes(void **state)
{
	need_to_record();
	check_refused(*state, "5.1.5", "moved-proto", "modified");
	check_refused(*state, "5.3.6", "moved-proto", "modified");
	check_refused(*state, "5.4.8", "moved-proto", "modified");
	check_refused(*state, "5.5.1", "moved-proto", "modified");
}

static void refuses_a_fork_of_luajit(void **state)
{
	need_to_record();
	check_refused(*state, "luajit_rolling", "moved-state", "modified");
	check_refused(*state, "luajit_rolling", "moved-proto", "modified");
	check_refused(*state, "luajit_rolling", "moved-lines", "modified");
}

/* All else is where it was. What a trace has inlined is unknown then, and shown as such. */
static void shows_no_inlined_functions_of_a_fork_with_other_snapshots(void **state)
{
	static const char script[] = "local function inner(x) return x % 7 / 3 + x % 11 end\n"
				     "local function outer(n)\n"
				     "	local x = 1\n"
				     "	for i = 1, n do x = inner(x + i) end\n"
				     "	return x\n"
				     "end\n"
				     "io.stdout:write('WORK \\n') io.stdout:flush()\n"
				     "while true do outer(1e6) end\n";
	const char *program = built_program("../../hosts/luajit_rolling-moved-snapshots");
	struct scriptprofile *profile;
	struct child *target;

	need_to_record();
	need_host(program);
	write_text(*state, "traced.lua", script);
	target = start(*state, program, in_folder(*state, "traced.lua"));
	child__await_output(*state, target, "WORK ");
	profile = record(*state, target->pid, "--until-samples=1000");
	child__kill(target);
	assert_in_range(scriptprofile__samples(profile, "torn"), 500, 2000);
	assert_in_range(scriptprofile__samples(profile, "complete"), 0, 20);
}

static void refuses_a_program_of_32_bits(void **state)
{
	need_to_record();
	if (!has_program(built_program("../../hosts/5.4.8-m32"))) {
		print_message("the compiler builds nothing for 32 bits\n");
		lacks_package("gcc-multilib");
	}
	check_refused(*state, "5.4.8", "m32", "not a 64-bit process");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(refuses_values_of_another_size),
		staged(refuses_a_fork_that_moved_fields_of_lua_state),
		staged(refuses_a_fork_that_moved_fields_of_call_info),
		staged(refuses_a_fork_that_moved_fields_of_prototypes),
		staged(refuses_a_fork_of_luajit),
		staged(shows_no_inlined_functions_of_a_fork_with_other_snapshots),
		staged(refuses_a_program_of_32_bits),
	};

	return cmocka_run_group_tests_name("refused", tests, NULL, NULL);
}
