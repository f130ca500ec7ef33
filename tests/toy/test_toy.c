/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A luaspy with one family more, of a toy interpreter, profiles it as it does Lua, and both in one
 * process: what an interpreter needs to be profiled is in a folder of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define SAMPLES "4000"

static struct scriptprofile *record_toy(struct stage *stage, const char *what)
{
	struct child *target = start(stage, built_program("../toy/toy"), what);
	struct scriptprofile *profile;

	profile = record_shares(stage, target->pid, "--until-samples=" SAMPLES, "-F", "2000");
	child__kill(target);
	return profile;
}

static void names_functions_by_their_definitions(void **state)
{
	struct scriptprofile *profile;

	need_lua();
	profile = record_toy(*state, "toy");
	scriptprofile__assert_stack(profile, "^whole > hot", 0.72, 0.78);
	scriptprofile__assert_stack(profile, "^whole > cold", 0.22, 0.28);
	assert_true(scriptprofile__self_us(profile, "program.toy", "hot", 20) > 0);
}

/* Time in functions of that name with those flags, as shares of all. */
static double share_of_flags(const struct scriptprofile *profile, const char *name, int flags)
{
	const json_t *function, *functions = json_object_get(profile->document, "Functions");
	int64_t us = 0;
	size_t i;

	json_array_foreach(functions, i, function)
	{
		const char *found = json_string_value(json_object_get(function, "Name"));

		if (found && !strcmp(found, name) &&
		    json_integer_value(json_object_get(function, "Flags")) == flags)
			us += json_integer_value(json_object_get(function, "TotalDuration"));
	}
	print_message("%s, Flags %d: %.1f%%\n", name, flags, 100.0 * us / profile->all_us);
	return scriptprofile__share(profile, us);
}

static void tells_machine_code_from_bytecode(void **state)
{
	struct scriptprofile *profile;
	double compiled, interpreted;

	need_lua();
	profile = record_toy(*state, "native");
	compiled = share_of_flags(profile, "warm", 1);
	interpreted = share_of_flags(profile, "warm", 0);
	assert_true(compiled > 0.72 && compiled < 0.78);
	assert_true(interpreted > 0.22 && interpreted < 0.28);
}

static double stack_share(const struct scriptprofile *profile, const char *stack)
{
	double share = scriptprofile__share(profile, scriptprofile__stack_us(profile, stack));

	print_message("%s: %.1f%%\n", stack, 100 * share);
	return share;
}

static void walks_each_of_two_families_as_itself(void **state)
{
	struct scriptprofile *profile;
	double of_lua, of_toy;

	need_lua();
	profile = record_toy(*state, "beside");
	of_lua = stack_share(profile, "work");
	of_toy = stack_share(profile, "^whole > @(hot|cold)");
	scriptprofile__print(profile);
	assert_true(of_lua > 0.1);
	assert_true(of_toy > 0.1);
	assert_true(of_lua + of_toy > 0.97);
}

static void takes_the_innermost_of_nested_interpreters(void **state)
{
	struct scriptprofile *profile;
	double before, within, inside;

	need_lua();
	profile = record_toy(*state, "nested");
	before = stack_share(profile, "^outer > work");
	within = stack_share(profile, "^whole > hot");
	inside = stack_share(profile, "toy > inner > work");
	scriptprofile__print(profile);
	assert_true(before > 0.2 && within > 0.02 && inside > 0.2);
	assert_true(before + within + inside > 0.97);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_functions_by_their_definitions),
		staged(tells_machine_code_from_bytecode),
		staged(walks_each_of_two_families_as_itself),
		staged(takes_the_innermost_of_nested_interpreters),
	};

	setenv("LUASPY", built_program("../toy/luaspy"), 1);
	return cmocka_run_group_tests_name("toy", tests, NULL, NULL);
}
