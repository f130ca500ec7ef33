/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What luaspy shows of LuaJIT by options that choose or divide: as it does for PUC Lua. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30
#define FRAMES   300

#define need_luajit()                                                                              \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("luajit", "luajit");                                                  \
	} while (0)

static struct child *start_luajit(struct stage *stage, const char *script)
{
	struct child *target;

	write_text(stage, "app.lua", script);
	target = start(stage, "luajit", "app.lua");
	child__let_work(target, 0.2);
	return target;
}

static void assert_about(const struct scriptprofile *profile, const char *what, int64_t us,
			 double low, double high)
{
	scriptprofile__assert_share(profile, what, scriptprofile__share(profile, us), low, high);
}

static int64_t category_us(const struct scriptprofile *profile, const char *name)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	int64_t sum = 0;
	size_t i;

	json_array_foreach(
		categories, i,
		category) if (strstr(json_string_value(json_object_get(category, "Name")), name))
		sum +=
		profile->node_total_us[json_integer_value(json_object_get(category, "NodeId"))];
	return sum;
}

/*
 * 300 functions that call each other, on lines that differ, say what debug.getinfo knows of them.
 */
static const char deep[] =
	"local text = {\"function f0()\\nif tell then tell() end\\n\"\n"
	"	.. \"local x = 0 for i = 1, 1e6 do x = x + i % 7 end return x end\\n\"}\n"
	"for i = 1, 300 do\n"
	"	text[i + 1] = (\"%sfunction f%d()\\n%s return f%d() + 1\\nend\\n\"):format(\n"
	"		(\"\\n\"):rep(i % 3), i, (\"\\n\"):rep(i % 5), i - 1)\n"
	"end\n"
	"jit.off()\n"
	"function tell()\n"
	"	tell = nil\n"
	"	for level = 3, 302 do\n"
	"		local info = debug.getinfo(level, 'Sln')\n"
	"		print(info.name, info.linedefined, info.currentline)\n"
	"	end\n"
	"	print('told') io.flush()\n"
	"end\n"
	"loadstring(table.concat(text), '@made.lua')()\n"
	"while true do f300() end\n";

/* The frames of the first stack of a dump, the innermost first. */
static const json_t *frames_of(const json_t *dump)
{
	const json_t *thread = json_array_get(json_object_get(dump, "Threads"), 0);

	return json_array_get(json_object_get(thread, "Stacks"), 0);
}

static void names_and_lines_are_those_of_debug_getinfo(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	const json_t *frames;
	char number[16], *said;
	json_t *dump;

	need_luajit();
	write_text(stage, "app.lua", deep);
	target = start(stage, "luajit", "app.lua");
	child__await_output(stage, target, "told");
	snprintf(number, sizeof(number), "%d", target->pid);
	spy = start(stage, luaspy_program(), "dump", "-p", number, "--json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	dump = json_loads(child__output(stage, spy), 0, NULL);
	assert_non_null(dump);
	frames = frames_of(dump);
	said = child__output(stage, target);
	for (size_t i = 1; i <= FRAMES; i++) {
		const json_t *frame = json_array_get(frames, i);
		int defined, current, length;
		char name[16];

		assert_int_equal(sscanf(said, "%15s %d %d %n", name, &defined, &current, &length),
				 3);
		said += length;
		assert_string_equal(json_string_value(json_object_get(frame, "Name")), name);
		assert_int_equal(json_integer_value(json_object_get(frame, "Line")), defined);
		assert_int_equal(json_integer_value(json_object_get(frame, "CurrentLine")),
				 current);
	}
	json_decref(dump);
}

/* Own time at that line of app.lua. */
static int64_t own_at(const struct scriptprofile *profile, int line)
{
	const json_t *functions = json_object_get(profile->document, "Functions");
	int64_t us = 0;

	for (int id = 1; id <= profile->function_count; id++)
		if (json_integer_value(json_object_get(json_array_get(functions, id - 1),
						       "CurrentLine")) == line &&
		    !strcmp(profile->functions[id].source, "app.lua"))
			us += profile->functions[id].self_us;
	return us;
}

/* Interpreted and compiled, three of four parts are in the second line. */
static void splits_functions_by_their_lines(void **state)
{
	static const char *const modes[] = {"jit.off()\n", "\n"};

	need_luajit();
	for (size_t i = 0; i < 2; i++) {
		struct scriptprofile *profile;
		struct child *target;
		char script[512];

		snprintf(script, sizeof(script),
			 "%slocal function work(x)\n"
			 "	for i = 1, 3e6 do x = x + i %% 7 end\n"
			 "	for i = 1, 1e6 do x = x + i %% 7 end\n"
			 "	return x\n"
			 "end\n"
			 "while true do work(0) end\n",
			 modes[i]);
		target = start_luajit(*state, script);
		profile = record_shares(*state, target->pid, "-d", "1", "-F", "2khz", "--lines");
		child__kill(target);
		assert_about(profile, "line 3", own_at(profile, 3), 0.65, 0.85);
		assert_about(profile, "line 4", own_at(profile, 4), 0.15, 0.35);
	}
}

static void divides_the_profile_by_chunks(void **state)
{
	struct scriptprofile *profile;
	struct child *target;

	need_luajit();
	write_text(*state, "one.lua",
		   "while true do local x = 0 for i = 1, 3e6 do x = x + i % 7 end "
		   "coroutine.yield() end");
	target = start_luajit(*state,
			      "local one = coroutine.wrap(loadfile('one.lua'))\n"
			      "local two = coroutine.wrap(loadstring(\n"
			      "	'while true do local x = 0 for i = 1, 1e6 do x = x + i % 7 end '\n"
			      "	.. 'coroutine.yield() end', '@two.lua'))\n"
			      "local apart = coroutine.wrap(function() one() end)\n"
			      "while true do one() two() end\n");
	profile =
		record_shares(*state, target->pid, "-d", "1", "-F", "2khz", "--category", "chunk");
	assert_about(profile, "one.lua > hot",
		     scriptprofile__total_us(profile, "one.lua", NULL, -1), 0.65, 0.85);
	assert_about(profile, "app.lua", category_us(profile, "app.lua"), 0.99, 1.0);
}

/* `small` takes a quarter of the time. */
static const char two_coroutines[] =
	"local function work(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end\n"
	"local function large() while true do work(3e6) coroutine.yield() end end\n"
	"local function small() while true do work(1e6) coroutine.yield() end end\n"
	"local one, two = coroutine.wrap(large), coroutine.wrap(small)\n"
	"while true do one() two() end\n";

static void shows_one_coroutine_alone(void **state)
{
	struct scriptprofile *profile;
	struct child *target;

	need_luajit();
	target = start_luajit(*state, two_coroutines);
	profile =
		record_shares(*state, target->pid, "-d", "1", "-F", "2khz", "--coroutine", "small");
	assert_about(profile, "small", scriptprofile__stack_us(profile, "^small > work"), 0.15,
		     0.35);
	assert_about(profile, "large", scriptprofile__total_us(profile, NULL, "large", -1), 0, 0);
	assert_about(profile, "others",
		     scriptprofile__total_us(profile, NULL, "(other coroutines)", -1), 0.65, 0.85);
}

static void marks_plugins_by_where_they_lie(void **state)
{
	struct scriptprofile *profile;
	struct child *target;
	int marked = 0;

	need_luajit();
	target = start_luajit(
		*state,
		"local f = loadstring('return function() local x = 0 for i = 1, 1e6 do '"
		"\n	.. 'x = x + i % 7 end return x end', '@/opt/kong/plugins/a/b.lua')()\n"
		"while true do f() end\n");
	profile = record_shares(*state, target->pid, "-d", "1", "-F", "2khz", "--plugin-preset",
				"kong");
	for (int id = 1; id <= profile->function_count; id++) {
		bool is_plugin = strstr(profile->functions[id].source, "/plugins/");

		assert_int_equal(!!(profile->functions[id].flags & 2), is_plugin);
		marked += is_plugin;
	}
	assert_true(marked > 0);
}

static void is_found_on_the_whole_system(void **state)
{
	struct scriptprofile *profile;
	struct child *spy;

	need_luajit();
	start_luajit(*state, two_coroutines);
	spy = start(*state, luaspy_program(), "record", "--system", "-d", "2", "-o",
		    "profile.json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(*state, in_folder(*state, "profile.json"));
	assert_true(category_us(profile, "luajit app.lua (pid ") > 0);
	assert_true(scriptprofile__stack_us(profile, "large > work") > 0);
}

/* By gcc and clang, with symbols and without, as a library, without the compiler, OpenResty's. */
static void is_profiled_in_every_build(void **state)
{
	static const char *const builds[] = {
		"rolling-gcc",   "rolling-clang", "rolling-symbols", "rolling-shared",
		"rolling-nojit", "rolling-lua52", "openresty-gcc",
	};
	char program[512], folder[400];

	need_to_record();
	assert_non_null(getcwd(folder, sizeof(folder)));
	write_text(*state, "app.lua", two_coroutines);
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct scriptprofile *profile;
		struct child *target;

		snprintf(program, sizeof(program), "%s/.output/hosts/luajit_%s", folder, builds[i]);
		need_host(program);
		target = start(*state, program, "app.lua");
		child__let_work(target, 0.2);
		profile = record_shares(*state, target->pid, "--until-samples=2000", "-F", "4khz");
		child__kill(target);
		assert_about(profile, builds[i], scriptprofile__stack_us(profile, "large > work"),
			     0.65, 0.85);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_and_lines_are_those_of_debug_getinfo),
		staged(splits_functions_by_their_lines),
		staged(divides_the_profile_by_chunks),
		staged(shows_one_coroutine_alone),
		staged(marks_plugins_by_where_they_lie),
		staged(is_found_on_the_whole_system),
		staged(is_profiled_in_every_build),
	};

	return cmocka_run_group_tests_name("luajit views", tests, NULL, NULL);
}
