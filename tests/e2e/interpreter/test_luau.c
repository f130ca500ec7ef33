/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that embed Luau, of several releases, static and stripped; and forks of it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "luau_hosts.h"
#include "sorted_time.h"

#define PATIENCE      30
#define NOTHING_FOUND 3     /* exit status */
#define UNMARKED_MAX  0.005 /* of the time */
#define TORN_MAX      10    /* of 2,000 samples */
#define UNDECIDED_MAX 4000  /* of 8,000 samples, before the layout is decided, on a slow machine */

/*
 * `hot` takes three quarters of the work. The amount of work changes from call to call, lest it
 * keep pace with the ticks. Both run the same loop: one whose bytecode happens to be a multiple of
 * 4 KiB away from what it writes takes half as long again, for processors take the two for one.
 */
#define HOT_LINE 6
#define FUNCTIONS                                                                                  \
	"local function work(list, size)\n"                                                        \
	"	for i = 1, size do\n"                                                                    \
	"		list[i % 8 + 1] = i * 3\n"                                                              \
	"	end\n"                                                                                   \
	"end\n"                                                                                    \
	"local function hot(list, size)\n"                                                         \
	"	for i = 1, 3 do work(list, size) end\n"                                                  \
	"end\n"                                                                                    \
	"local function cold(list, size)\n"                                                        \
	"	for i = 1, 1 do work(list, size) end\n"                                                  \
	"end\n"                                                                                    \
	"local size = 0\n"                                                                         \
	"function both(list)\n"                                                                    \
	"	size = size % 97e3 + 13e3\n"                                                             \
	"	hot(list, size)\n"                                                                       \
	"	cold(list, size)\n"                                                                      \
	"end\n"                                                                                    \
	"local list = {1, 2, 3, 4, 5, 6, 7, 8}\n"

static void names_functions_and_their_callers(void **state)
{
	need_to_record();
	for (size_t i = 0; i < LUAU_RELEASE_COUNT; i++) {
		struct scriptprofile *profile = luau_host__record(
			*state, luau_releases[i], FUNCTIONS "while true do both(list) end\n",
			"--until-samples=2000");

		scriptprofile__assert_stack(profile, "main chunk > both > hot", 0.68, 0.82);
		scriptprofile__assert_stack(profile, "main chunk > both > cold", 0.18, 0.32);
		assert_true(scriptprofile__total_us(profile, "app.luau", "hot", HOT_LINE) > 0);
		assert_int_equal(scriptprofile__samples(profile, "unreadable"), 0);
	}
}

/* The host has machine code made of all functions; the lines they run at are not kept then. */
static void marks_functions_that_run_as_machine_code(void **state)
{
	struct scriptprofile *profile;

	need_to_record();
	profile =
		luau_host__record(*state, "736-native", FUNCTIONS "while true do both(list) end\n",
				  "--until-samples=2000");
	scriptprofile__assert_stack(profile, "main chunk > both > hot", 0.6, 0.85);
	for (int id = 1; id <= profile->function_count; id++) {
		const struct scriptprofile_function *function = &profile->functions[id];

		/* A call is marked some instructions after it has begun. */
		if ((!strcmp(function->name, "hot") || !strcmp(function->name, "both")) &&
		    !(function->flags & 1))
			assert_true(scriptprofile__share(profile, function->total_us) <
				    UNMARKED_MAX);
	}
	/* All but those of functions that had only been entered. */
	assert_in_range(scriptprofile__recorded(profile, "UnkeptLines"),
			scriptprofile__samples(profile, "complete") * 9 / 10,
			scriptprofile__samples(profile, "complete"));
	assert_int_equal(scriptprofile__recorded(profile, "UnknownLines"), 0);
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
	for (size_t i = 1; i < LUAU_RELEASE_COUNT; i += 3)
		scriptprofile__assert_stack(
			luau_host__record(*state, luau_releases[i], script, "--until-samples=2000"),
			"main chunk > resumed > resume > wrapped > * > * > spawn > task > both > hot",
			0.65, 0.82);
}

static double share_of_stack(const struct scriptprofile *profile, const char *stack)
{
	return scriptprofile__share(profile, scriptprofile__stack_us(profile, stack));
}

/*
 * The main thread sleeps in a VM of its own; it has pointers to no other. How much time each of the
 * others gets, the machine decides.
 */
static void tells_vms_on_several_threads_apart(void **state)
{
	static const char script[] =
		"start('other.luau')\n" FUNCTIONS "while true do both(list) end\n";
	struct scriptprofile *profile;
	double both, rest;

	need_to_record();
	write_text(*state, "other.luau",
		   "local function other() local x = 0 for i = 1, 1e5 do x = x + i % 7 end end\n"
		   "local function text() return string.rep('x', 1e5) end\n"
		   "while true do other() text() end\n");
	profile = luau_host__record(*state, "736-gcc", script, "--until-samples=2000");
	both = share_of_stack(profile, "main chunk > both");
	rest = share_of_stack(profile, "main chunk > other") +
	       share_of_stack(profile, "main chunk > text");
	scriptprofile__assert_share(profile, "both VMs", both + rest, 0.97, 1);
	assert_true(both > 0.02 && rest > 0.02);
	scriptprofile__assert_stack(profile, "main chunk > both > hot", 0.65 * both, 0.85 * both);
	scriptprofile__assert_stack(profile, "main chunk > both > other", 0, 0);
	scriptprofile__assert_stack(profile, "main chunk > other > hot", 0, 0);
}

/* A thread that waits for its turn has all on its stack that the one whose turn it is has. */
static void takes_no_remains_on_a_stack_for_calls(void **state)
{
	static const char *const builds[] = {"577-gcc", "727-longjmp", "736-gcc", "736-native"};
	static const char script[] =
		"local function t1_turn() local x = 0 for i = 1, 2e4 do x = x + i % 7 end end\n"
		"local function t2_turn() local x = 0 for i = 1, 2e4 do x = x + i % 7 end end\n"
		"local function t3_turn() for i = 1, 20 do string.rep('x', 2e4) end end\n"
		"share(t1_turn, t2_turn, t3_turn)\n";

	need_to_record();
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct child *target = luau_host__start(*state, builds[i], "app.luau", script);
		struct scriptprofile *profile =
			record(*state, target->pid, "-d", "1", "-F", "10khz", "--category=thread");
		struct sorted_time threads = sorted_time__of(profile, 't', NULL);

		child__kill(target);
		sorted_time__print(builds[i], &threads);
		assert_int_equal(threads.foreign, 0);
		assert_true((double)threads.right >= 0.2 * (double)profile->all_us);
	}
}

/*
 * Releases up to mid-2023 leave a copy of a function that they looked up in a module behind the
 * arguments of its call, where it looks like a result that is being copied.
 */
static void takes_no_leftover_for_a_result(void **state)
{
	static const char *const builds[] = {"516-gcc", "561-gcc", "577-gcc", "736-gcc"};
	static const char script[] = "local function looked_up(n)\n"
				     "	local x = 0\n"
				     "	for i = 1, n do x = x + math.floor(i) end\n"
				     "	return x\n"
				     "end\n"
				     "while true do looked_up(500) end\n";

	need_to_record();
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct scriptprofile *profile =
			luau_host__record(*state, builds[i], script, "--until-samples=2000");

		scriptprofile__assert_stack(profile, "main chunk > looked_up", 0.9, 1.0);
		assert_in_range(scriptprofile__samples(profile, "torn"), 0, TORN_MAX);
	}
}

static void check_refused(struct stage *stage, const char *build, const char *script)
{
	struct child *target, *spy;
	int status;

	target = luau_host__start(stage, build, "app.luau", script);
	spy = start_record(stage, target->pid, "-d", "1", "-o", "no.json");
	status = child__wait(spy, PATIENCE);
	child__kill(target);
	print_message("%s: %s", build, child__errors(stage, spy));
	assert_int_equal(status, NOTHING_FOUND);
	assert_non_null(strstr(child__errors(stage, spy), "modified"));
}

static void refuses_what_has_moved_fields_of_calls(void **state)
{
	need_to_record();
	check_refused(*state, "736-moved-call", FUNCTIONS "while true do both(list) end\n");
	check_refused(*state, "736-moved-flags", FUNCTIONS "while true do both(list) end\n");
}

/* The address of machine code is where pcall's name should be. */
static void refuses_what_has_moved_names_of_c_functions(void **state)
{
	need_to_record();
	check_refused(*state, "736-moved-name", FUNCTIONS "while true do pcall(both, list) end\n");
}

/* Its layout is derived from functions that run: nothing tells luaspy which fork it is. */
static void follows_a_fork_that_has_other_members(void **state)
{
	static const char *const builds[] = {"736-moved-proto", "736-moved-lines", "736-grown"};

	need_to_record();
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct scriptprofile *profile = luau_host__record(
			*state, builds[i], FUNCTIONS "while true do both(list) end\n",
			"--until-samples=8000");

		scriptprofile__assert_stack(profile, "main chunk > both > hot", 0.68, 0.82);
		scriptprofile__assert_stack(profile, "main chunk > both > cold", 0.18, 0.32);
		assert_true(scriptprofile__total_us(profile, "app.luau", "hot", HOT_LINE) > 0);
		assert_int_equal(
			strncmp(luau_host__layout_of(profile), "luau-calibrated, agreed on", 26),
			0);
		assert_in_range(scriptprofile__samples(profile, "unreadable"), 1, UNDECIDED_MAX);
	}
}

/* The second process of a fork needs no more than the samples that every process is checked by. */
static void remembers_a_fork(void **state)
{
	struct child *first, *second, *spy;
	struct scriptprofile *profile;
	const char *derived;

	need_to_record();
	first = luau_host__start(*state, "736-grown", "app.luau",
				 FUNCTIONS "while true do both(list) end\n");
	spy = start(*state, luaspy_program(), "record", "--system", "-v", "--name",
		    "^luau_736-grown$", "-o", "both.json");
	child__await_errors(*state, spy, "layout luau-calibrated, agreed on by");
	child__kill(first);
	second = luau_host__start(*state, "736-grown", "app.luau",
				  FUNCTIONS "while true do both(list) end\n");
	child__let_work(second, 0.5);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	child__kill(second);
	profile = spying__read(*state, in_folder(*state, "both.json"));
	print_message("%s\n", luau_host__layout_of(profile));
	assert_string_equal(luau_host__layout_of(profile),
			    "luau-calibrated, decided in 2 processes");
	derived = strstr(child__errors(*state, spy), "derived the layout");
	assert_non_null(derived);
	assert_null(strstr(derived + 1, "derived the layout"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_functions_and_their_callers),
		staged(marks_functions_that_run_as_machine_code),
		staged(shows_coroutines_below_what_resumed_them),
		staged(tells_vms_on_several_threads_apart),
		staged(takes_no_remains_on_a_stack_for_calls),
		staged(takes_no_leftover_for_a_result),
		staged(refuses_what_has_moved_fields_of_calls),
		staged(refuses_what_has_moved_names_of_c_functions),
		staged(follows_a_fork_that_has_other_members),
		staged(remembers_a_fork),
	};

	return cmocka_run_group_tests_name("luau", tests, NULL, NULL);
}
