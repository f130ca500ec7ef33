/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands show of Luau, and its options that choose or divide: as for PUC Lua. */
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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

static const char *host(const char *build)
{
	char program[64];

	snprintf(program, sizeof(program), "../../hosts/luau_%s", build);
	return built_program(program);
}

static struct child *start_host(struct stage *stage, const char *build, const char *script,
				const char *text)
{
	struct child *target;

	need_host(host(build));
	write_text(stage, script, text);
	target = start(stage, host(build), script);
	child__let_work(target, 0.2);
	return target;
}

static void assert_says(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("'%s' is not in:\n%s", expected, text);
}

/* Whether the name of the node's category fits. */
static bool is_in(const struct scriptprofile *profile, int node, const char *category)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *item;
	size_t i;

	while (profile->node_parent[node])
		node = profile->node_parent[node];
	json_array_foreach(categories, i, item)
	{
		if (json_integer_value(json_object_get(item, "NodeId")) == node)
			return !fnmatch(category, json_string_value(json_object_get(item, "Name")),
					FNM_EXTMATCH);
	}
	return false;
}

static bool is_script(const struct scriptprofile_function *function)
{
	return *function->source && strcmp(function->source, "[C]") != 0 &&
	       strcmp(function->source, "GC") != 0;
}

/* Self time of functions of Lua in the categories whose names fit. */
static int64_t script_us(const struct scriptprofile *profile, const char *category,
			 const char *name)
{
	int64_t us = 0;

	for (int node = 1; node <= profile->node_count; node++) {
		const struct scriptprofile_function *function =
			&profile->functions[profile->node_function[node]];

		if (profile->node_function[node] && is_script(function) &&
		    !fnmatch(name, function->name, FNM_EXTMATCH) && is_in(profile, node, category))
			us += profile->node_self_us[node];
	}
	return us;
}

/* All functions of Lua that run there have such names. Returns their time. */
static int64_t only(const struct scriptprofile *profile, const char *category, const char *name)
{
	int64_t all = script_us(profile, category, "*"), own = script_us(profile, category, name);

	print_message("%s: %lld us, %s: %lld us\n", category, (long long)all, name, (long long)own);
	if (all == own)
		return own;
	scriptprofile__print(profile);
	fail_msg("'%s' has other functions than '%s'", category, name);
	return 0;
}

/* Both have some time, and no function of Lua in common. */
static void assert_apart(const struct scriptprofile *profile, const char *one, const char *other)
{
	assert_true(script_us(profile, one, "*") > 0);
	assert_true(script_us(profile, other, "*") > 0);
	for (int id = 1; id <= profile->function_count; id++) {
		const char *name = profile->functions[id].name;

		if (script_us(profile, one, name) && script_us(profile, other, name))
			fail_msg("'%s' and '%s' both have %s", one, other, name);
	}
}

/* ---- top */

static void top_shows_the_hot_function_first(void **state)
{
	struct child *target;
	double hot[4], cold[4], outer[4];
	char options[32];
	int at = -1;

	need_to_watch();
	target = start_host(*state, "727-longjmp", "app.luau", SPLIT "while true do outer() end\n");
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

/* ---- record */

/* Each under its own name, with its own functions only, though each has another layout. */
static void several_are_found_on_the_whole_system(void **state)
{
	static const char *const builds[] = {"516-gcc", "577-gcc", "736-native"};
	static const char text[] =
		"local function f%d() local x = 0 for i = 1, 1e5 do x = x + i %% 7 end end\n"
		"local function g%d() f%d() end\n"
		"while true do g%d() end\n";
	struct child *targets[3], *spy;
	struct scriptprofile *profile;

	need_to_record();
	for (int i = 0; i < 3; i++) {
		char script[32], filled[256];

		snprintf(script, sizeof(script), "app%d.luau", i);
		snprintf(filled, sizeof(filled), text, i, i, i, i);
		targets[i] = start_host(*state, builds[i], script, filled);
	}
	spy = start(*state, luaspy_program(), "record", "--system", "--max-overhead", "none", "-o",
		    "profile.json");
	child__await_errors(*state, spy, "processes run an interpreter");
	for (int i = 0; i < 3; i++)
		child__let_work(targets[i], 0.3);
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	for (int i = 0; i < 3; i++) {
		char category[128], name[32], stack[64];
		int64_t us;

		child__kill(targets[i]);
		snprintf(category, sizeof(category), "luau_%s app%d.luau (pid %d)", builds[i], i,
			 targets[i]->pid);
		snprintf(name, sizeof(name), "@([fg]%d|main chunk)", i);
		snprintf(stack, sizeof(stack), "^main chunk > g%d > f%d", i, i);
		us = only(profile, category, name);
		assert_true(us > 200000);
		assert_true(scriptprofile__stack_us(profile, stack) > us * 95 / 100);
	}
}

/*
 * The host gives two coroutines memory categories of their own. One that they create inherits
 * theirs; what resumes them has none.
 */
static void vms_are_divided_by_their_memory_categories(void **state)
{
	static const char *const builds[] = {"577-gcc", "736-native"};
	static const char script[] =
		"start('other.luau')\n"
		"local size = 13e3\n"
		"local function work3(n) local x = 0 for i = 1, n do x = x + i % 7 end end\n"
		"local function work0(n) local x = 0 for i = 1, n do x = x + i % 7 end end\n"
		"local function work200(n) local x = 0 for i = 1, n do x = x + i % 7 end end\n"
		"local function heir200() while true do work200(size) coroutine.yield() end end\n"
		"local function main3() setmemcat(3) while true do work3(size) coroutine.yield() "
		"end end\n"
		"local function main200()\n"
		"	setmemcat(200)\n"
		"	local heir = coroutine.wrap(heir200)\n"
		"	while true do heir() work200(size) coroutine.yield() end\n"
		"end\n"
		"local one, two = coroutine.wrap(main3), coroutine.wrap(main200)\n"
		"while true do size = size % 97e3 + 13e3 one() two() work0(size) end\n";

	need_to_record();
	write_text(*state, "other.luau",
		   "local function other() local x = 0 for i = 1, 1e5 do x = x + i % 7 end end\n"
		   "setmemcat(3)\n"
		   "while true do other() end\n");
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct child *target = start_host(*state, builds[i], "app.luau", script);
		struct scriptprofile *profile =
			record_shares(*state, target->pid, "--until-samples=3000", "-F", "4khz",
				      "--category=state");
		int64_t none, some;

		child__kill(target);
		none = only(profile, "Lua VM [12] (0x*[0-9a-f])", "@(work0|main chunk)");
		some = only(profile, "Lua VM [12] (*), memory category 200", "*200");
		scriptprofile__assert_share(profile, "of category 200",
					    (double)some / (double)(some + none), 0.6, 0.73);
		assert_apart(profile, "Lua VM 1 (*), memory category 3",
			     "Lua VM 2 (*), memory category 3");
	}
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
		struct child *target = start_host(*state, builds[i], "app.luau", script);
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
		struct child *target = start_host(*state, "736-native", "app.luau", scripts[i]);
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

		need_host(host(cases[i].build));
		write_text(*state, "app.luau", cases[i].script);
		target = start(*state, host(cases[i].build), "app.luau");
		child__await_output(*state, target, "up");
		snprintf(number, sizeof(number), "%d", target->pid);
		spy = start(*state, luaspy_program(), "check", "-p", number);
		assert_int_equal(child__wait(spy, PATIENCE), cases[i].status);
		assert_says(child__output(*state, spy), "ok    interpreter             Luau in ");
		assert_says(child__output(*state, spy), cases[i].expected);
		child__kill(target);
	}
}

/* ---- another interpreter in the process */

/* Whether functions of Lua on the stack that ends in the node are all of one interpreter. */
static bool is_of_one(const struct scriptprofile *profile, int node)
{
	bool of_luau = false, of_puc = false;

	for (int id = node; profile->node_function[id]; id = profile->node_parent[id]) {
		const struct scriptprofile_function *function =
			&profile->functions[profile->node_function[id]];
		bool is_luau = strstr(function->source, ".luau");

		if (!is_script(function))
			continue;
		if (strcmp(function->name, "main chunk") != 0 &&
		    fnmatch(is_luau ? "luau_*" : "puc_*", function->name, 0) != 0) {
			print_message("'%s' of %s\n", function->name, function->source);
			return false;
		}
		of_luau |= is_luau;
		of_puc |= !is_luau;
	}
	return !of_luau || !of_puc;
}

/*
 * Luau calls PUC Lua on one thread, in turns with its own functions, and PUC Lua runs on another
 * thread that Luau started. Of two interpreters on one stack, the upper one is shown.
 */
static void another_interpreter_in_the_process_is_kept_apart(void **state)
{
	static const char text[] =
		"%s"
		"local function luau_work() local x = 0 for i = 1, 2e5 do x = x + i %% 7 end end\n"
		"local function luau_turn() luau_work() lua('%s', [[\n"
		"	local function puc_work()\n"
		"		local x = 0 for i = 1, 2e5 do x = x + i %% 7 end\n"
		"	end\n"
		"	local function puc_turn() puc_work() return 1 end\n"
		"	for i = 1, %s do puc_turn() end\n"
		"]]) end\n"
		"while true do luau_turn() end\n";
	const char *library;
	char script[2048];
	struct scriptprofile *profile;
	struct child *target;
	double luau, puc;

	need_to_record();
	library = stage__own(*state, strdup(built_program("../../hosts/5.4.8-shared.so")), free);
	need_host(library);
	snprintf(script, sizeof(script), text, "", library, "1e9");
	write_text(*state, "other.luau", script);
	snprintf(script, sizeof(script), text, "start('other.luau')\n", library, "1");
	target = start_host(*state, "736-dynamic", "app.luau", script);
	profile = record_shares(*state, target->pid, "--until-samples=6000", "-F", "4khz");
	child__kill(target);
	for (int node = 1; node <= profile->node_count; node++)
		if (!is_of_one(profile, node)) {
			scriptprofile__print(profile);
			fail_msg("the interpreters are mixed up");
		}
	luau = scriptprofile__share(
		profile, scriptprofile__stack_us(profile, "^main chunk > luau_turn > luau_work"));
	puc = scriptprofile__share(
		profile, scriptprofile__stack_us(profile, "^main chunk > puc_turn > puc_work"));
	scriptprofile__assert_share(profile, "Luau", luau, 0.02, 0.75);
	scriptprofile__assert_share(profile, "PUC Lua", puc, 0.25, 0.98);
	scriptprofile__assert_share(profile, "both", luau + puc, 0.98, 1);
	assert_says(json_string_value(json_object_get(
			    json_object_get(profile->document, "Recorder"), "Layout")),
		    "luau-lines56-sizes136, agreed on");
	scriptprofile__assert_share(profile, "unreadable",
				    (double)scriptprofile__samples(profile, "unreadable") /
					    (double)scriptprofile__samples(profile, "total"),
				    0, 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(top_shows_the_hot_function_first),
		staged(several_are_found_on_the_whole_system),
		staged(vms_are_divided_by_their_memory_categories),
		staged(shows_one_coroutine_alone),
		staged(a_function_run_both_ways_is_two),
		staged(check_tells_whether_the_layout_is_known),
		staged(another_interpreter_in_the_process_is_kept_apart),
	};

	return cmocka_run_group_tests_name("luau views", tests, NULL, NULL);
}
