/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that embed Luau, of several releases, static and stripped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE      30
#define NOTHING_FOUND 3 /* exit status */

static const char *const releases[] = {"690-gcc", "736-gcc"};

/* `hot`, defined on line 1, takes three quarters of the work. */
#define FUNCTIONS                                                                                  \
	"local function hot(list)\n"                                                               \
	"	for i = 1, 3e5 do\n"                                                                     \
	"		list[i % 8 + 1] = i * 3\n"                                                              \
	"	end\n"                                                                                   \
	"end\n"                                                                                    \
	"local function cold(list)\n"                                                              \
	"	for i = 1, 1e5 do\n"                                                                     \
	"		list[i % 8 + 1] = i * 3\n"                                                              \
	"	end\n"                                                                                   \
	"end\n"                                                                                    \
	"function both(list)\n"                                                                    \
	"	hot(list)\n"                                                                             \
	"	cold(list)\n"                                                                            \
	"end\n"                                                                                    \
	"local list = {1, 2, 3, 4, 5, 6, 7, 8}\n"

static struct child *start_host(struct stage *stage, const char *build, const char *script)
{
	struct child *target;
	char program[128];

	snprintf(program, sizeof(program), "../../hosts/luau_%s", build);
	need_host(built_program(program));
	write_text(stage, "app.luau", script);
	target = start(stage, built_program(program), "app.luau");
	child__let_work(target, 0.2);
	return target;
}

static struct scriptprofile *record_script(struct stage *stage, const char *build,
					   const char *script)
{
	struct child *target = start_host(stage, build, script);
	struct scriptprofile *profile =
		record(stage, target->pid, "--until-samples=2000", "-F", "4000");

	child__kill(target);
	return profile;
}

static void assert_share(const struct scriptprofile *profile, const char *stack, double low,
			 double high)
{
	double share = (double)scriptprofile__stack_us(profile, stack) / (double)profile->all_us;

	print_message("%s: %.1f%%\n", stack, 100 * share);
	if (share >= low && share <= high)
		return;
	scriptprofile__print(profile);
	fail_msg("%s: %.3f is not within %.3f and %.3f", stack, share, low, high);
}

static void names_functions_and_their_callers(void **state)
{
	need_to_record();
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		struct scriptprofile *profile = record_script(
			*state, releases[i], FUNCTIONS "while true do both(list) end\n");

		assert_share(profile, "main chunk > both > hot", 0.68, 0.82);
		assert_share(profile, "main chunk > both > cold", 0.18, 0.32);
		assert_true(scriptprofile__self_us(profile, "app.luau", "hot", 1) > 0);
		assert_int_equal(scriptprofile__samples(profile, "unreadable"), 0);
	}
}

/*
 * spawn() is a task library's: it resumes without a resumer, so that the number of C calls of the
 * coroutine begins anew, and it holds none.
 */
static void shows_coroutines_below_what_resumed_them(void **state)
{
	static const char script[] = FUNCTIONS
		"local function task() while true do both(list) end end\n"
		"local function wrapped() coroutine.wrap(function() spawn(task) end)() end\n"
		"local function resumed() coroutine.resume(coroutine.create(wrapped)) end\n"
		"resumed()\n";

	need_to_record();
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		assert_share(
			record_script(*state, releases[i], script),
			"main chunk > resumed > resume > wrapped > * > * > spawn > task > both > hot",
			0.65, 0.82);
}

/* The main thread sleeps in a VM of its own; it has pointers to no other. */
static void tells_vms_on_several_threads_apart(void **state)
{
	static const char script[] =
		"start('other.luau')\n" FUNCTIONS "while true do both(list) end\n";
	struct scriptprofile *profile;

	need_to_record();
	write_text(*state, "other.luau",
		   "local function other() local x = 0 for i = 1, 1e5 do x = x + i % 7 end end\n"
		   "local function text() return string.rep('x', 1e5) end\n"
		   "while true do other() text() end\n");
	profile = record_script(*state, "736-gcc", script);
	assert_share(profile, "main chunk > both > hot", 0.1, 0.7);
	assert_share(profile, "main chunk > other", 0.1, 0.8);
	assert_share(profile, "main chunk > both > other", 0, 0);
	assert_share(profile, "main chunk > other > hot", 0, 0);
}

static void refuses_what_has_moved_fields(void **state)
{
	static const char *const builds[] = {"736-moved-call", "736-moved-proto"};

	need_to_record();
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct child *target =
			start_host(*state, builds[i], FUNCTIONS "while true do both(list) end\n");
		struct child *spy = start_record(*state, target->pid, "-d", "1", "-o", "no.json");
		int status = child__wait(spy, PATIENCE);

		child__kill(target);
		print_message("%s: %s", builds[i], child__errors(*state, spy));
		assert_int_equal(status, NOTHING_FOUND);
		assert_non_null(strstr(child__errors(*state, spy), "modified"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_functions_and_their_callers),
		staged(shows_coroutines_below_what_resumed_them),
		staged(tells_vms_on_several_threads_apart),
		staged(refuses_what_has_moved_fields),
	};

	return cmocka_run_group_tests_name("luau", tests, NULL, NULL);
}
