/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that each process, VM and interpreter in one profile has its own functions only. */
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "luau_hosts.h"

#define PATIENCE 30

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
		targets[i] = luau_host__start(*state, builds[i], script, filled);
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
		struct child *target = luau_host__start(*state, builds[i], "app.luau", script);
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
	target = luau_host__start(*state, "736-dynamic", "app.luau", script);
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
	assert_non_null(strstr(luau_host__layout_of(profile), "luau-lines56-sizes136, agreed on"));
	scriptprofile__assert_share(profile, "unreadable",
				    (double)scriptprofile__samples(profile, "unreadable") /
					    (double)scriptprofile__samples(profile, "total"),
				    0, 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(several_are_found_on_the_whole_system),
		staged(vms_are_divided_by_their_memory_categories),
		staged(another_interpreter_in_the_process_is_kept_apart),
	};

	return cmocka_run_group_tests_name("luau categories", tests, NULL, NULL);
}
