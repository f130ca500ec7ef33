/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs of others that run LuaJIT: an editor and its plugins, a benchmark on many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "field.h"

/* FIELD_WORK, ten times as long: what the compiler does otherwise between its loops is little. */
#define COMPILED_WORK                                                                              \
	"local function hot() local x = 0 for i = 1, 30000 do x = x + i % 7 end return x end\n"    \
	"local function warm() local x = 0 for i = 1, 10000 do x = x + i % 7 end return x end\n"   \
	"local function work() hot() warm() return string.rep('x', 999):byte(1, 99) end\n"

static struct child *start_nvim(struct stage *stage, const char *command)
{
	struct child *nvim = start(stage, "nvim", "--headless", "-u", "NONE", "-c", command);

	stage__await_file(stage, nvim, "up");
	child__let_work(nvim, 0.2);
	return nvim;
}

static void shows_a_script_of_neovim(void **state)
{
	struct scriptprofile *profile;

	need_to_record();
	want_program("nvim", "neovim", "23 MB");
	field__write(*state, "work.lua", COMPILED_WORK FIELD_UP "while true do work() end\n");
	profile = field__record(*state, start_nvim(*state, "luafile work.lua"), "*work.lua");
	require_of(profile, field__has_stack(profile, "^main chunk > work > hot"));
	require_of(profile, field__host_percent(profile) <= 2);
}

/* Plugins are marked by where they lie, and what they call is theirs. */
static void knows_plugins_of_neovim(void **state)
{
	static const char *const folders[] = {"pack", "pack/mine", "pack/mine/start",
					      "pack/mine/start/sum"};
	const char plugin[] = COMPILED_WORK "return work\n";
	char script[512];
	struct scriptprofile *profile;

	need_to_record();
	want_program("nvim", "neovim", "23 MB");
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(mkdir(in_folder(*state, folders[i]), 0755), 0);
	snprintf(script, sizeof(script),
		 "local work = dofile('%s')\n"
		 "local function own()\n"
		 "	local x = 0 for i = 1, 40000 do x = x + i %% 7 end return x\n"
		 "end\n" FIELD_UP "while true do work() own() end\n",
		 field__write(*state, "pack/mine/start/sum/sum.lua", plugin));
	field__write(*state, "work.lua", script);
	profile = record(*state, start_nvim(*state, "luafile work.lua")->pid, "-d", "1", "-F",
			 "5khz", "--plugin-preset", "neovim");
	for (int id = 1; id <= profile->function_count; id++) {
		const struct scriptprofile_function *function = &profile->functions[id];

		if (strstr(function->source, "sum.lua"))
			require_of(profile, function->flags & 2);
		if (strstr(function->source, "work.lua"))
			require_of(profile, !(function->flags & 2));
	}
	require_of(profile,
		   scriptprofile__total_us(profile, "*sum.lua", "work", -1) > profile->all_us / 4);
	require_of(profile,
		   scriptprofile__total_us(profile, "*work.lua", "own", -1) > profile->all_us / 4);
}

/* A module that is linked to PUC Lua, in the same thread: each is walked as itself. */
static void tells_luajit_of_neovim_from_lua_of_a_module(void **state)
{
	struct scriptprofile *profile;
	char script[1024], folder[512];

	need_to_record();
	want_program("nvim", "neovim", "23 MB");
	need_program("lua5.4", "lua5.4");
	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(script, sizeof(script),
		 "%s local second = package.loadlib('%s/.output/tests/field/second.so', "
		 "'run_second')\n" FIELD_UP "while true do work() work() second() end\n",
		 COMPILED_WORK, folder);
	field__write(*state, "work.lua", script);
	profile = record(*state, start_nvim(*state, "luafile work.lua")->pid, "-d", "1", "-F",
			 "5khz");
	require_of(profile, scriptprofile__samples(profile, "complete") * 100 >
				    scriptprofile__samples(profile, "total") * 97);
	require_of(profile, field__has_stack(profile, "^main chunk > work > hot"));
	require_of(profile, field__has_stack(profile, "* > second"));
	require_of(profile, scriptprofile__total_us(profile, "?string*", "second", 1) >
				    profile->all_us / 20);
	require_of(profile,
		   scriptprofile__total_us(profile, "*work.lua", "work", 3) > profile->all_us / 20);
}

static void shows_each_thread_of_sysbench(void **state)
{
	const char script[] = COMPILED_WORK "function thread_init()\n" FIELD_UP "end\n"
					    "function event() for i = 1, 10 do work() end end\n";
	struct child *sysbench;
	struct scriptprofile *profile;
	json_t *categories, *category;
	size_t i, busy = 0;

	need_to_record();
	want_program("sysbench", "sysbench", "1 MB");
	field__write(*state, "work.lua", script);
	sysbench = start(*state, "sysbench", "work.lua", "--threads=4", "--time=20", "run");
	stage__await_file(*state, sysbench, "up");
	child__let_work(sysbench, 0.2);
	profile = field__record(*state, sysbench, "*work.lua");
	require_of(profile, field__has_stack(profile, "^thread_run > * > event > work > hot"));
	require_of(profile, field__host_percent(profile) <= 5);
	profile = record(*state, sysbench->pid, "-d", "2", "-F", "2khz", "--category", "state");
	categories = json_object_get(profile->document, "Categories");
	json_array_foreach(categories, i, category)
	{
		int64_t node = json_integer_value(json_object_get(category, "NodeId"));

		busy += profile->node_total_us[node] * 10 > profile->all_us;
	}
	require_of(profile, busy == 4);
}

static const char fibers[] =
	"local fiber = require 'fiber'\n"
	"local code = [[local fiber = ...\n"
	"local function leaf@() local x = 0 for i = 1, 3000 do x = x + #tostring(i) end return x end\n"
	"local function work@() return leaf@() + 1 end\n"
	"return function() while true do work@() fiber.yield() end end]]\n"
	"jit.off()\n"
	"for i = 1, 6 do\n"
	"	fiber.create(assert(loadstring(code:gsub('@', i), '@fiber' .. i))(fiber))\n"
	"end\n" FIELD_UP;

/* Whether the function is one of another fiber than that of the given source. */
static bool is_of_other_fiber(const struct scriptprofile_function *function, const char *source)
{
	return !strncmp(function->source, "fiber", 5) && strcmp(function->source, source) != 0;
}

/* Fibers have C stacks of their own, side by side in memory, and each a coroutine that runs there.
 */
static void keeps_the_fibers_of_tarantool_apart(void **state)
{
	struct scriptprofile *profile;
	struct child *tarantool;
	char stack[64];

	need_to_record();
	want_program("tarantool", "tarantool", "13 MB");
	field__write(*state, "fibers.lua", fibers);
	tarantool = start(*state, "tarantool", "fibers.lua");
	stage__await_file(*state, tarantool, "up");
	child__let_work(tarantool, 0.2);
	profile = record(*state, tarantool->pid, "--until-samples=3000", "-F", "2000");
	for (int i = 1; i <= 6; i++) {
		snprintf(stack, sizeof(stack), "work%d > leaf%d", i, i);
		require_of(profile, scriptprofile__stack_us(profile, stack) > 0);
	}
	for (int node = 1; node <= profile->node_count; node++) {
		const char *source = profile->functions[profile->node_function[node]].source;

		if (!profile->node_function[node] || strncmp(source, "fiber", 5) != 0)
			continue;
		for (int up = profile->node_parent[node]; up; up = profile->node_parent[up])
			if (profile->node_function[up])
				require_of(profile,
					   !is_of_other_fiber(
						   &profile->functions[profile->node_function[up]],
						   source));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_a_script_of_neovim),
		staged(knows_plugins_of_neovim),
		staged(tells_luajit_of_neovim_from_lua_of_a_module),
		staged(shows_each_thread_of_sysbench),
		staged(keeps_the_fibers_of_tarantool_apart),
	};

	return cmocka_run_group_tests_name("luajit programs", tests, NULL, NULL);
}
