/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions are named by their definitions, in the source text or in bytecode. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PROGRAM "*defined.lua"

/* Functions that work: their names in the source, and their places. */
static const struct {
	const char *source, *name, *mark;
} expected[] = {
	{PROGRAM, "work", "local function work()"},
	{PROGRAM, "Order:add", "function Order:add"},
	{PROGRAM, "Vector.__add", "function Vector.__add"},
	{PROGRAM, "Vector.__tostring", "Vector.__tostring ="},
	{PROGRAM, "M.run", "function M.run"},
	{PROGRAM, "handlers.onget", "onget = function"},
	{PROGRAM, "handlers\\[\"on put\"]", "[\"on put\"] = function"},
	{PROGRAM, "body", "local body ="},
};

/* Functions that only call the working ones and thus are on their stacks. */
static const char *const callers[] = {"by_size", "main", "nameless"};

static struct child *start_program(struct stage *stage, const char *program, const char *source)
{
	struct child *target = start(stage, program, source);

	child__let_work(target, 0.1);
	return target;
}

/* `compute`: the name of the function whose chunk has been collected. */
static void assert_defined(const struct scriptprofile *profile, const char *compute)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		int line = line_in("defined.lua", expected[i].mark);
		int64_t named =
			scriptprofile__self_us(profile, expected[i].source, expected[i].name, line);
		int64_t all = scriptprofile__self_us(profile, expected[i].source, NULL, line);

		if (!named || named != all)
			fail_msg("'%s': %lld of %lld us", expected[i].name, (long long)named,
				 (long long)all);
	}
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
		if (!scriptprofile__total_us(profile, PROGRAM, callers[i], -1))
			fail_msg("no '%s'", callers[i]);
	assert_true(scriptprofile__self_us(profile, "\\[string *", compute, 2) > 0);
	/* The argument of pcall() has no name. */
	assert_int_equal(scriptprofile__self_us(profile, PROGRAM, "?*",
						line_in("defined.lua", "\tpcall(function()")),
			 0);
}

/* `option` may make luaspy ignore the text: bytecode gives the same names. */
static void check_program(struct stage *stage, const char *program, const char *option)
{
	struct scriptprofile *profile;
	struct child *target;

	need_to_record();
	if (!has_program(program)) {
		if (skips_are_failures())
			fail_msg("package '%s' is missing", program);
		skip_because("its package is missing");
	}
	target = start_program(stage, program, program_source("defined.lua"));
	profile = record(stage, target->pid, "-d", "1.5", "-F", "5khz", "-q", option);
	assert_defined(profile, option ? "compute" : "results.compute");
}

#define NAMES_BY_DEFINITION(minor)                                                                 \
	static void names_functions_of_5_##minor##_by_definition(void **state)                     \
	{                                                                                          \
		check_program(*state, "lua5." #minor, NULL);                                       \
	}                                                                                          \
	static void names_functions_of_5_##minor##_by_bytecode(void **state)                       \
	{                                                                                          \
		check_program(*state, "lua5." #minor, "--no-source");                              \
	}
NAMES_BY_DEFINITION(1)
NAMES_BY_DEFINITION(2)
NAMES_BY_DEFINITION(3)
NAMES_BY_DEFINITION(4)

static void assert_no_name_is_missing(const struct scriptprofile *profile)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		int line = line_in("defined.lua", expected[i].mark);

		assert_int_equal(scriptprofile__self_us(profile, PROGRAM, NULL, line),
				 scriptprofile__self_us(profile, PROGRAM, expected[i].name, line));
	}
}

/*
 * What ends at once has most of its samples in the last look at BPF's records, when there is no
 * time to read. The names are read after it.
 */
static void a_brief_recording_has_the_names_too(void **state)
{
	int recorded = 0;
	struct child *target;

	need_to_record();
	need_lua();
	target = start_program(*state, "lua5.4", program_source("defined.lua"));
	for (int round = 0; round < 100 && recorded < 5; round++) {
		struct child *spy = start_record(*state, target->pid, "-d", "20ms", "-F", "20khz",
						 "-q", "-o", "brief.json");

		/* 3: the target got no processor. */
		if (child__wait(spy, 60) == 3)
			continue;
		recorded++;
		assert_no_name_is_missing(spying__read(*state, in_folder(*state, "brief.json")));
	}
	assert_int_equal(recorded, 5);
}

/* Two functions that look the same. The second runs when the first has its name. */
static void functions_that_are_alike_get_no_name_of_one_of_them(void **state)
{
	struct scriptprofile *profile;
	struct child *target;

	need_to_record();
	need_lua();
	write_text(*state, "alike.lua",
		   "local p = function() for _ = 1, 1e4 do end end local q = function() for _ = 1, "
		   "1e4 do end end\n"
		   "while os.clock() < 0.5 do p() end\n"
		   "while true do q() end\n");
	target = start(*state, "lua5.4", "alike.lua");
	profile = record(*state, target->pid, "--until-samples", "1500", "-d", "60", "-q");
	assert_true(scriptprofile__self_us(profile, "alike.lua", NULL, 1) > 0);
	assert_int_equal(scriptprofile__self_us(profile, "alike.lua", "?*", 1), 0);
	/* Nor does a key that is not constant. */
	write_text(*state, "keys.lua",
		   "local all = {select(1, function() for _ = 1, 1e4 do end end)}\n"
		   "while true do for i = 1, #all do all[i]() end end\n");
	target = start(*state, "lua5.4", "keys.lua");
	profile = record(*state, target->pid, "--until-samples", "100", "-d", "60", "-q");
	assert_true(scriptprofile__self_us(profile, "keys.lua", NULL, 1) > 0);
	assert_int_equal(scriptprofile__self_us(profile, "keys.lua", "?*", 1), 0);
}

/*
 * Works in a function that only the source text names: bytecode does not tell how the text spells a
 * number.
 */
#define BUSY_FILE                                                                                  \
	"local %s = {} %s[1] = function()\n"                                                       \
	"	for _ = 1, 10000 do end\n"                                                               \
	"end\n"                                                                                    \
	"local called = %s[1]\n"                                                                   \
	"while true do called() end\n"

static void write_busy(const struct stage *stage, const char *file, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text), BUSY_FILE, name, name, name);
	write_text(stage, file, text);
}

/* Works in a function that bytecode names as well. */
static void write_plain(const struct stage *stage, const char *file, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "local function %s()\n"
		 "	for _ = 1, 10000 do end\n"
		 "end\n"
		 "local called = %s\n"
		 "while true do called() end\n",
		 name, name);
	write_text(stage, file, text);
}

/* The name of the function on the first line of this file; "" if it has none. */
static void assert_name(struct stage *stage, const struct child *target, const char *file,
			const char *name)
{
	struct scriptprofile *profile = record(stage, target->pid, "--until-samples", "200", "-q");
	int64_t all = scriptprofile__self_us(profile, file, NULL, 1);

	if (!all || scriptprofile__self_us(profile, file, name, 1) != all) {
		scriptprofile__print(profile);
		fail_msg("it is not called '%s'", name);
	}
}

static void a_text_that_changed_since_is_not_used(void **state)
{
	struct stage *stage = *state;
	struct child *target;

	need_lua();
	write_busy(stage, "app.lua", "before");
	target = start_program(stage, "lua5.4", "app.lua");
	assert_name(stage, target, "app.lua", "before\\[1\\]");
	write_busy(stage, "app.lua", "after");
	assert_name(stage, target, "app.lua", "called");
}

/* `link` first leads to `from`, then to `to`, which is older than the program that runs `name`. */
static void switch_link(struct stage *stage, const char *name, const char *link, const char *from,
			const char *to)
{
	struct child *target;

	assert_int_equal(symlink(from, in_folder(stage, link)), 0);
	target = start_program(stage, "lua5.4", name);
	assert_name(stage, target, name, "new\\[1\\]");
	assert_int_equal(unlink(in_folder(stage, link)), 0);
	assert_int_equal(symlink(to, in_folder(stage, link)), 0);
	assert_name(stage, target, name, "called");
	child__kill(target);
}

static void a_text_behind_a_switched_link_is_not_used(void **state)
{
	struct stage *stage = *state;

	need_lua();
	assert_int_equal(mkdir(in_folder(stage, "old"), 0755), 0);
	assert_int_equal(mkdir(in_folder(stage, "new"), 0755), 0);
	write_busy(stage, "old/app.lua", "old");
	write_busy(stage, "new/app.lua", "new");
	switch_link(stage, "current/app.lua", "current", "new", "old");
	switch_link(stage, "link.lua", "link.lua", "new/app.lua", "old/app.lua");
	/* This link is reached through another link. */
	assert_int_equal(symlink("./inner/../inner/app.lua", in_folder(stage, "outer.lua")), 0);
	switch_link(stage, "outer.lua", "inner", in_folder(stage, "new"), "old");
}

/* The other folder was there before the program began, and has not changed since. */
static void a_text_in_a_renamed_folder_is_not_used(void **state)
{
	struct stage *stage = *state;
	struct child *target;

	need_lua();
	assert_int_equal(mkdir(in_folder(stage, "current"), 0755), 0);
	assert_int_equal(mkdir(in_folder(stage, "next"), 0755), 0);
	write_busy(stage, "current/app.lua", "old");
	write_busy(stage, "next/app.lua", "new");
	target = start_program(stage, "lua5.4", "current/app.lua");
	assert_name(stage, target, "current/app.lua", "old\\[1\\]");
	assert_int_equal(rename(in_folder(stage, "current"), in_folder(stage, "before")), 0);
	assert_int_equal(rename(in_folder(stage, "next"), in_folder(stage, "current")), 0);
	assert_name(stage, target, "current/app.lua", "called");
}

/* The name of a chunk is whatever the program says. */
static void a_text_that_bytecode_contradicts_is_not_used(void **state)
{
	struct stage *stage = *state;
	struct child *target;

	need_lua();
	write_plain(stage, "other.lua", "other");
	write_plain(stage, "true.lua", "right");
	write_text(stage, "app.lua",
		   "local file = io.open('true.lua')\n"
		   "assert((loadstring or load)(file:read('*a'), '@other.lua'))()\n");
	target = start_program(stage, "lua5.4", "app.lua");
	assert_name(stage, target, "other.lua", "right");
}

static void source_text_can_be_ignored(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target;

	need_lua();
	write_busy(stage, "app.lua", "defined");
	target = start_program(stage, "lua5.4", "app.lua");
	profile = record(stage, target->pid, "--until-samples", "200", "-q", "--no-source");
	assert_true(scriptprofile__self_us(profile, "app.lua", "called", 1) > 0);
	assert_int_equal(scriptprofile__self_us(profile, "app.lua", "defined\\[1\\]", 1), 0);
}

/* The source text may have changed since; bytecode is what was loaded. */
static void bytecode_names_what_a_changed_text_cannot(void **state)
{
	struct stage *stage = *state;
	struct child *target;

	need_lua();
	write_plain(stage, "app.lua", "before");
	target = start_program(stage, "lua5.4", "app.lua");
	write_plain(stage, "app.lua", "after");
	assert_name(stage, target, "app.lua", "before");
}

/* Neither source text nor bytecode is available, and a call from C names nothing. */
static void a_metatable_of_a_global_names_its_metamethods(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target;

	need_lua();
	write_text(stage, "app.lua",
		   "local event = load('return function() for _ = 1, 10000 do end return [[]] end',"
		   " '=gone')()\n"
		   "collectgarbage()\n"
		   "Account = setmetatable({}, {__tostring = event})\n"
		   "while true do tostring(Account) end");
	target = start_program(stage, "lua5.4", "app.lua");
	profile = record(stage, target->pid, "--until-samples", "200", "-q");
	assert_true(scriptprofile__self_us(profile, "gone", "Account.__tostring", 1) > 0);
	assert_int_equal(scriptprofile__self_us(profile, "gone", NULL, 1),
			 scriptprofile__self_us(profile, "gone", "Account.__tostring", 1));
}

/* A stripped chunk has no names of variables, so calls name its functions. */
static void a_stripped_chunk_has_the_names_of_its_calls(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target;

	need_lua();
	write_text(stage, "app.lua",
		   "load(string.dump(load([[\n"
		   "local M = {}\n"
		   "function M.defined() for _ = 1, 10000 do end end\n"
		   "local t = {called = M.defined}\n"
		   "while true do t.called() end]], '@stripped.lua'), true))()");
	target = start_program(stage, "lua5.4", "app.lua");
	profile = record(stage, target->pid, "--until-samples", "200", "-q");
	assert_true(scriptprofile__self_us(profile, "*", "called", 2) > 0);
	assert_int_equal(scriptprofile__self_us(profile, "*", "*defined", 2), 0);
}

/* The target chooses chunk names: these lead to files that luaspy must not open, or not follow. */
static void file_names_from_the_target_are_not_trusted(void **state)
{
	static const char *const names[] = {"fifo",   "/dev/zero", "/proc/self/environ",
					    "folder", "missing",   "/../../../../../../etc/passwd",
					    "huge"};
	struct stage *stage = *state;

	need_lua();
	assert_int_equal(mkfifo(in_folder(stage, "fifo"), 0600), 0);
	assert_int_equal(mkdir(in_folder(stage, "folder"), 0755), 0);
	write_text(stage, "huge", "");
	assert_int_equal(truncate(in_folder(stage, "huge"), (off_t)1 << 40), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[512];
		struct child *target;
		double begin;

		snprintf(text, sizeof(text),
			 "load([[local f = {} f[1] = function()\nfor _ = 1, 10000 do end\nend\n"
			 "local called = f[1]\nwhile true do called() end]], '@%s')()",
			 names[i]);
		write_text(stage, "app.lua", text);
		target = start_program(stage, "lua5.4", "app.lua");
		begin = now_seconds();
		assert_name(stage, target, names[i], "called");
		assert_true(now_seconds() - begin < 10);
		child__kill(target);
	}
}

#define staged(test) cmocka_unit_test_setup_teardown(test, stage__open, stage__close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_functions_of_5_1_by_definition),
		staged(names_functions_of_5_1_by_bytecode),
		staged(names_functions_of_5_2_by_definition),
		staged(names_functions_of_5_2_by_bytecode),
		staged(names_functions_of_5_3_by_definition),
		staged(names_functions_of_5_3_by_bytecode),
		staged(names_functions_of_5_4_by_definition),
		staged(names_functions_of_5_4_by_bytecode),
		staged(a_brief_recording_has_the_names_too),
		staged(functions_that_are_alike_get_no_name_of_one_of_them),
		staged(a_text_that_changed_since_is_not_used),
		staged(a_text_behind_a_switched_link_is_not_used),
		staged(a_text_in_a_renamed_folder_is_not_used),
		staged(a_text_that_bytecode_contradicts_is_not_used),
		staged(source_text_can_be_ignored),
		staged(bytecode_names_what_a_changed_text_cannot),
		staged(a_metatable_of_a_global_names_its_metamethods),
		staged(a_stripped_chunk_has_the_names_of_its_calls),
		staged(file_names_from_the_target_are_not_trusted),
	};

	return cmocka_run_group_tests_name("definitions", tests, NULL, NULL);
}
