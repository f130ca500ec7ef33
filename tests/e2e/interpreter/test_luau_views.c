/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands show of Luau, and its options that choose or divide: as for PUC Lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "luau_hosts.h"
#include "watching.h"

#define PATIENCE 30

/*
 * hot() takes nine tenths. The amount of work changes from call to call, lest it keep pace with the
 * ticks.
 */
#define SPLIT                                                                                      \
	"local function hot(n) local x = 0 for i = 1, 9 * n do x = x + i % 7 end return x end\n"   \
	"local function cold(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end\n"      \
	"local size = 0\n"                                                                         \
	"local function outer()\n"                                                                 \
	"	size = size % 9700 + 1300\n"                                                             \
	"	local x = hot(size)\n"                                                                   \
	"	x = cold(size)\n"                                                                        \
	"	return x\n"                                                                              \
	"end\n"

static void assert_says(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("'%s' is not in:\n%s", expected, text);
}

/* ---- top */

static void top_shows_the_hot_function_first(void **state)
{
	struct child *target;
	double hot[4], cold[4], outer[4];
	char options[32];
	int at = -1;

	need_to_watch();
	target = luau_host__start(*state, "727-longjmp", "app.luau",
				  SPLIT "while true do outer() end\n");
	snprintf(options, sizeof(options), "-p %d", target->pid);
	watching__start(*state, options, "C.UTF-8", 80, 24);
	/* All three lines come from one refresh, after more than a few samples. */
	watching__await_seconds(*state, 3, WATCHING_PATIENCE);
	pane__press(*state, "p");
	pane__await(*state, "[paused]");
	watching__line_with(*state, " hot ", &at);
	assert_int_equal(at, 7);
	watching__read_row(*state, " hot ", hot);
	watching__read_row(*state, " cold ", cold);
	watching__read_row(*state, " outer ", outer);
	assert_in_range(1000 * hot[2] / (hot[2] + cold[2]), 850, 950);
	assert_in_range(1000 * hot[3] / outer[3], 850, 950);
	assert_says(pane__line(*state, 1), "Luau");
	assert_says(pane__line(*state, 2), "layout luau-lines56-sizes136");
	assert_says(pane__line(*state, 4), "lost  dropped 0, unreadable ");
	assert_says(watching__line_with(*state, " hot ", NULL), "app.luau:1");
}

static void shows_one_coroutine_alone(void **state)
{
	static const char *const builds[] = {"577-gcc", "736-gcc"};
	/* What a task library resumes counts as well as what a coroutine resumes. */
	static const char script[] =
		"local size = 13e3\n"
		"local function work(n) local x = 0 for i = 1, n do x = x + i % 7 end end\n"
		"local function large() while true do work(3 * size) coroutine.yield() end end\n"
		"local function small() work(size) end\n"
		"local one = coroutine.wrap(large)\n"
		"while true do size = size % 97e3 + 13e3 one() spawn(small) end\n";

	need_to_record();
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct child *target = luau_host__start(*state, builds[i], "app.luau", script);
		struct scriptprofile *profile =
			record_shares(*state, target->pid, "--until-samples=3000", "-F", "4khz",
				      "--coroutine", "small");

		child__kill(target);
		scriptprofile__assert_share(
			profile, "small",
			scriptprofile__share(profile,
					     scriptprofile__stack_us(profile, "^small > work")),
			0.2, 0.3);
		scriptprofile__assert_share(
			profile, "others",
			scriptprofile__share(
				profile,
				scriptprofile__total_us(profile, NULL, "(other coroutines)", -1)),
			0.7, 0.8);
		assert_int_equal(scriptprofile__total_us(profile, NULL, "large", -1), 0);
	}
}

/* ---- machine code */

/* What it said last of the time that work() took as machine code and interpreted. */
static void read_times(struct stage *stage, struct child *target, double times[2])
{
	const char *said, *last = NULL;

	child__await_output(stage, target, "times ");
	said = child__output(stage, target);
	for (const char *line = said; (line = strstr(line, "times ")); line++)
		if (strchr(line, '\n'))
			last = line;
	if (!last || sscanf(last, "times %lf %lf", &times[0], &times[1]) != 2)
		fail_msg("no times: '%s'", said);
}

#define MEASURES                                                                                   \
	"local cputime, innative, print, rounds, size = cputime, innative, print, 0, 0\n"          \
	"local native, interpreted = 0, 0\n"
#define TELLS                                                                                      \
	"	size = size % 97e3 + 13e3\n"                                                             \
	"	rounds += 1\n"                                                                           \
	"	if rounds % 5 == 0 then print(('times %f %f'):format(native, interpreted)) end\n"        \
	"end\n"

/*
 * The host has no sandbox, so that a global function makes a call fall back to the interpreter, in
 * which it stays until it returns.
 */
static const char falls_back[] =
	MEASURES "local function work(n)\n"
		 "	local begin, x = cputime(), 0\n"
		 "	for i = 1, 8 * n do x = x + i % 7 end\n"
		 "	local was = innative()\n"
		 "	native += cputime() - begin\n"
		 "	tostring(was)\n"
		 "	begin = cputime()\n"
		 "	for i = 1, n do x = x + i % 7 end\n"
		 "	interpreted += cputime() - begin\n"
		 "	return was and not innative()\n"
		 "end\n"
		 "while true do\n"
		 "	if not work(size) then error('both ways are the same') end\n" TELLS;

/*
 * What a debugger steps through is interpreted, and so is a coroutine that it resumes, though the
 * call of its first function is marked as machine code.
 */
static const char is_stepped[] =
	MEASURES "local function work(n) local x = 0 for i = 1, n do x = x + i % 7 end end\n"
		 "local wrap = coroutine.wrap\n"
		 "while true do\n"
		 "	local begin = cputime()\n"
		 "	work(8 * size)\n"
		 "	native += cputime() - begin\n"
		 "	begin = cputime()\n"
		 "	singlestep(true)\n"
		 "	wrap(work)(size)\n"
		 "	singlestep(false)\n"
		 "	interpreted += cputime() - begin\n" TELLS;

/* It is two functions of the profile, and each has the time that the script measures itself. */
static void a_function_run_both_ways_is_two(void **state)
{
	static const char *const scripts[] = {falls_back, is_stepped};

	need_to_record();
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct child *target =
			luau_host__start(*state, "736-native", "app.luau", scripts[i]);
		struct scriptprofile *profile;
		double before[2], after[2], said;
		int64_t us[2] = {0, 0};
		int entries = 0;

		read_times(*state, target, before);
		profile = record_shares(*state, target->pid, "--until-samples=4000", "-F", "4khz");
		read_times(*state, target, after);
		child__kill(target);
		for (int id = 1; id <= profile->function_count; id++) {
			const struct scriptprofile_function *function = &profile->functions[id];

			if (strcmp(function->name, "work") != 0)
				continue;
			us[function->flags & 1] += function->self_us;
			entries++;
		}
		said = (after[0] - before[0]) / (after[0] - before[0] + after[1] - before[1]);
		print_message("as machine code: the script says %.1f%%\n", 100 * said);
		scriptprofile__assert_share(profile, "seen",
					    (double)us[1] / (double)(us[0] + us[1]), said - 0.05,
					    said + 0.05);
		scriptprofile__assert_share(profile, "work",
					    scriptprofile__share(profile, us[0] + us[1]), 0.95, 1);
		assert_int_equal(entries, 2);
	}
}

/* ---- check */

static void check_tells_whether_the_layout_is_known(void **state)
{
	static const char text[] =
		"print('up') while true do local x = 0 for i = 1, 1e5 do x = x + i % 7 end end\n";
	static const struct {
		const char *build, *script, *expected;
		int status;
	} cases[] = {
		{"516-gcc", text,
		 "ok    layout                  luau-sizes96-numbers128, agreed on by ", 0},
		{"736-native", text,
		 "ok    layout                  luau-lines56-sizes136, agreed on", 0},
		{"736-moved-proto", text, "FAIL  layout                  no known layout fits", 3},
		{"736-gcc", "print('up') wait()\n",
		 "note  layout                  undecided until script runs (it was idle", 0},
	};

	need_to_record();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct child *target, *spy;
		char number[16];

		need_host(luau_host__program(cases[i].build));
		write_text(*state, "app.luau", cases[i].script);
		target = start(*state, luau_host__program(cases[i].build), "app.luau");
		child__await_output(*state, target, "up");
		snprintf(number, sizeof(number), "%d", target->pid);
		spy = start(*state, luaspy_program(), "check", "-p", number);
		assert_int_equal(child__wait(spy, PATIENCE), cases[i].status);
		assert_says(child__output(*state, spy), "ok    interpreter             Luau in ");
		assert_says(child__output(*state, spy), cases[i].expected);
		child__kill(target);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(top_shows_the_hot_function_first),
		staged(shows_one_coroutine_alone),
		staged(a_function_run_both_ways_is_two),
		staged(check_tells_whether_the_layout_is_known),
	};

	return cmocka_run_group_tests_name("luau views", tests, NULL, NULL);
}
