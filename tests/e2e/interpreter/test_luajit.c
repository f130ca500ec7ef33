/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that run LuaJIT, here Debian's luajit: its interpreter, its compiler, its builtins. */
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

#define need_luajit()                                                                              \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("luajit", "luajit");                                                  \
	} while (0)

/*
 * Functions have the names of their definitions; the first takes three quarters of the work. Both
 * run the same loop: one whose bytecode happens to be a multiple of 4 KiB away from what it writes
 * takes longer, for processors take the two for one.
 */
#define TWO_FUNCTIONS                                                                              \
	"local M = {}\n"                                                                           \
	"local function work(list, n) for i = 1, n do list[i % 8 + 1] = i * 3 end end\n"           \
	"function M.hot(list, n) work(list, n) work(list, n) work(list, n) end\n"                  \
	"local function cold(list, n) work(list, n) end\n"                                         \
	"local function both(list)\n"                                                              \
	"	M.hot(list, 1e5)\n"                                                                      \
	"	cold(list, 1e5)\n"                                                                       \
	"end\n"                                                                                    \
	"local list = {1, 2, 3, 4, 5, 6, 7, 8}\n"                                                  \
	"while true do both(list) end\n"

static struct child *start_program(struct stage *stage, const char *program, const char *script)
{
	struct child *target;

	write_text(stage, "app.lua", script);
	target = start(stage, program, "app.lua");
	child__let_work(target, 0.2);
	return target;
}

static struct child *start_luajit(struct stage *stage, const char *script)
{
	return start_program(stage, "luajit", script);
}

static struct scriptprofile *record_program(struct stage *stage, const char *program,
					    const char *script)
{
	struct child *target = start_program(stage, program, script);
	struct scriptprofile *profile =
		record_shares(stage, target->pid, "--until-samples=3000", "-F", "2000");

	child__kill(target);
	return profile;
}

static struct scriptprofile *record_script(struct stage *stage, const char *script)
{
	return record_program(stage, "luajit", script);
}

static void names_interpreted_functions_and_their_callers(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state, "jit.off()\n" TWO_FUNCTIONS);
	scriptprofile__assert_stack(profile, "both > M.hot", 0.70, 0.80);
	scriptprofile__assert_stack(profile, "both > cold", 0.20, 0.30);
	assert_true(scriptprofile__total_us(profile, "app.lua", "M.hot", 4) > 0);
}

static void names_compiled_functions_and_their_callers(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state, TWO_FUNCTIONS);
	scriptprofile__assert_stack(profile, "both > M.hot", 0.70, 0.80);
	scriptprofile__assert_stack(profile, "both > cold", 0.20, 0.30);
}

/* Of all samples: a recording that ends by their number has some more, the later it is told. */
static void assert_class(const struct scriptprofile *profile, const char *class, int64_t percent)
{
	assert_true(scriptprofile__samples(profile, class) * 100 >=
		    scriptprofile__samples(profile, "total") * percent);
}

/*
 * Old snapshots do not tell which machine code they are for: the function that the code begins in
 * is shown, and the sample is torn.
 */
static void check_without_places(struct stage *stage, const char *host)
{
	struct scriptprofile *profile;

	need_to_record();
	need_host(host);
	profile = record_program(stage, host, "jit.off()\n" TWO_FUNCTIONS);
	scriptprofile__assert_stack(profile, "both > M.hot", 0.70, 0.80);
	scriptprofile__assert_stack(profile, "both > cold", 0.20, 0.30);
	assert_true(scriptprofile__total_us(profile, "app.lua", "M.hot", 4) > 0);
	assert_class(profile, "complete", 97);
	profile = record_program(stage, host, TWO_FUNCTIONS);
	scriptprofile__assert_stack(profile, "both > M.hot", 0.70, 0.80);
	scriptprofile__assert_stack(profile, "both > cold", 0.20, 0.30);
	assert_class(profile, "torn", 90);
}

/* Its opcodes have other numbers. */
static void names_functions_of_2_0(void **state)
{
	check_without_places(*state, built_program("../../hosts/luajit_2.0-gcc32"));
}

/* Its strings are shorter, so the global state is different. */
static void names_functions_of_2_1_as_it_was_in_2020(void **state)
{
#ifdef __aarch64__
	(void)state;
	skip_because("the VM's C frames are not known");
#else
	check_without_places(*state, built_program("../../hosts/luajit_2020-gcc"));
#endif
}

/* Without FFI, the collector has fewer roots, so the array of traces is at another offset. */
static void knows_the_traces_of_a_build_without_ffi(void **state)
{
	static const char *const names[] = {"luajit_rolling-noffi", "luajit_rolling-noffi32"};

	need_to_record();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct scriptprofile *profile;
		char path[64];
		const char *host;

		snprintf(path, sizeof(path), "../../hosts/%s", names[i]);
		host = built_program(path);
		need_host(host);
		profile = record_program(*state, host, TWO_FUNCTIONS);
		scriptprofile__assert_stack(profile, "both > M.hot", 0.70, 0.80);
		assert_class(profile, "complete", 97);
	}
}

/*
 * All machine code is the trace of the loop in `outer`, which includes `inner`. The compiler knows
 * this from the first store on; before it, the trace would leave to the start of the loop.
 */
static void shows_functions_that_the_compiler_inlined(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state, "local list = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}\n"
					"local function inner(i)\n"
					"	list[2] = i\n"
					"	list[1] = \"text\" .. i .. list[i % 8 + 3]\n"
					"end\n"
					"local function outer(n)\n"
					"	for i = 1, n do inner(i) end\n"
					"end\n"
					"while true do outer(1000) end\n");
	scriptprofile__assert_stack(profile, "outer > inner", 0.75, 1.0);
}

/* math.floor, ceil and abs share their code in the VM. */
static void tells_builtins_apart_that_share_their_code(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state,
				"jit.off()\n"
				"local floor, abs = math.floor, math.abs\n"
				"while true do\n"
				"	for i = 1, 1e5 do floor(i + 0.5) floor(i) floor(-i) end\n"
				"	for i = 1, 1e5 do abs(i) end\n"
				"end\n");
	scriptprofile__assert_stack(profile, "math.floor", 0.05, 0.9);
	scriptprofile__assert_stack(profile, "math.abs", 0.01, 0.5);
}

/* Each with a loop in its body, and nested, before the call of the iterator. */
static void names_iterators_after_what_made_them(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state, "jit.off()\n"
					"local text = ('some words '):rep(100)\n"
					"local function count(n)\n"
					"	return function()\n"
					"		for i = 1, 100 do local x = i % 7 end\n"
					"		n = n - 1\n"
					"		return n >= 0 and n or nil\n"
					"	end\n"
					"end\n"
					"local made = {count = count}\n"
					"local kept = function() return nil end\n"
					"while true do\n"
					"	for word in text:gmatch('%a+') do\n"
					"		for i, v in ipairs({1}) do word = {v} end\n"
					"	end\n"
					"	for n in made.count(100) do\n"
					"		for i in kept do print(i) end\n"
					"	end\n"
					"end\n");
	assert_true(scriptprofile__self_us(profile, "\\[C]", "iterator of gmatch (*+0x*)", 0) > 0);
	scriptprofile__assert_stack(profile, "main chunk > iterator of count", 0.30, 1);
}

static void shows_time_in_the_collector(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state, "local kept = {}\n"
					"while true do\n"
					"	for i = 1, 1e5 do kept[i % 5e4 + 1] = {i, {}} end\n"
					"end\n");
	scriptprofile__assert_stack(profile, "GC", 0.1, 0.9);
}

/* Chunks that are compiled, run once, and thrown away. */
static void shows_time_in_the_compiler(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state,
				"local text = \"local s = 0 for i = 1, 300 do\"\n"
				"	.. \" if i % 3 == 0 then s = s + i else s = s * 1 end\"\n"
				"	.. \" end return s\"\n"
				"while true do loadstring(text)() end\n");
	scriptprofile__assert_stack(profile, "JIT compiler", 0.3, 0.95);
	profile = record_script(*state, "jit.off()\n" TWO_FUNCTIONS);
	scriptprofile__assert_stack(profile, "JIT compiler", 0, 0);
}

static const json_t *split_of(const struct scriptprofile *profile)
{
	return json_object_get(json_object_get(profile->document, "Recorder"), "ScriptDuration");
}

static int64_t part_of(const struct scriptprofile *profile, const char *part)
{
	const json_t *us = json_object_get(split_of(profile), part);

	if (!json_is_integer(us))
		fail_msg("the file does not say how long '%s' took", part);
	return json_integer_value(us);
}

/* Runs luaspy with these words, the last of which may be NULL, and reads what it has written. */
static struct scriptprofile *make(struct stage *stage, const char *command, const char *word,
				  const char *last)
{
	spying__finish(stage, start(stage, luaspy_program(), command, "profile.json", "-o",
				    "made.json", word, last));
	return spying__read(stage, in_folder(stage, "made.json"));
}

/* Machine code, and a C function that the interpreter calls. Reading checks that parts add up. */
static void tells_what_the_vm_did(void **state)
{
	struct stage *stage = *state;
	const struct scriptprofile *whole, *made;
	struct child *target;

	need_luajit();
	target = start_luajit(stage, "local function work(n)\n"
				     "	local s = 0\n"
				     "	for i = 1, n do s = s + i % 7 end\n"
				     "	return s\n"
				     "end\n"
				     "local text = (\"local a = b \"):rep(1000)\n"
				     "while true do work(3e6) loadstring(text) end\n");
	whole = record(stage, target->pid, "-d", "2", "--timeline", "-q");
	child__kill(target);
	assert_in_range(100 * part_of(whole, "Compiled") / whole->all_us, 60, 99);
	assert_in_range(1000 * part_of(whole, "C") / whole->all_us, 2, 400);
	made = make(stage, "merge", "profile.json", NULL);
	assert_int_equal(part_of(made, "Compiled"), 2 * part_of(whole, "Compiled"));
	/* Not a quarter of the whole: on a busy machine, the shares of a processor vary. */
	made = make(stage, "trim", "--to", "500ms");
	assert_in_range(part_of(made, "Compiled"), 1, part_of(whole, "Compiled") - 1);
	assert_in_range(part_of(made, "Compiled"), 1, 600000);
	target = start_luajit(stage, "jit.off()\n" TWO_FUNCTIONS);
	whole = record(stage, target->pid, "-d", "0.3", "-q");
	child__kill(target);
	assert_null(split_of(whole));
}

static void shows_coroutines_below_what_resumed_them(void **state)
{
	struct scriptprofile *profile;

	need_luajit();
	profile = record_script(*state, "local function work()\n"
					"	local list = {1}\n"
					"	for i = 1, 1e5 do list[1] = i end\n"
					"end\n"
					"local function body()\n"
					"	while true do work() coroutine.yield() end\n"
					"end\n"
					"local co = coroutine.create(body)\n"
					"while true do coroutine.resume(co) end\n");
	scriptprofile__assert_stack(profile, "main chunk > coroutine.resume > body > work", 0.9,
				    1.0);
}

static void reports_what_it_found(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	char number[16];

	need_luajit();
	target = start_luajit(stage, TWO_FUNCTIONS);
	snprintf(number, sizeof(number), "%d", target->pid);
	spy = start(stage, luaspy_program(), "check", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_non_null(strstr(child__output(stage, spy), "LuaJIT 2.1"));
	assert_non_null(strstr(child__output(stage, spy), "layout                  2.1-"));
	spy = start(stage, luaspy_program(), "dump", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_non_null(strstr(child__output(stage, spy), "    both (app.lua:"));
	child__kill(target);
}

/* Without 64-bit references (GC64): Debian's TeX contains such a LuaJIT, whose compiler is off. */
static void shows_one_without_64_bit_references(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target, *spy;
	char number[16];

	need_to_record();
	need_program("texluajit", "texlive-binaries");
	write_text(stage, "app.lua", TWO_FUNCTIONS);
	target = start(stage, "texluajit", "--luaonly", "app.lua");
	child__let_work(target, 0.2);
	profile = record_shares(stage, target->pid, "--until-samples=3000", "-F", "2000");
	scriptprofile__assert_stack(profile, "both > M.hot", 0.70, 0.80);
	scriptprofile__assert_stack(profile, "both > cold", 0.20, 0.30);
	assert_true(scriptprofile__total_us(profile, "app.lua", "M.hot", 3) > 0);
	snprintf(number, sizeof(number), "%d", target->pid);
	spy = start(stage, luaspy_program(), "dump", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_non_null(strstr(child__output(stage, spy), "    both (app.lua:"));
	child__kill(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_interpreted_functions_and_their_callers),
		staged(names_compiled_functions_and_their_callers),
		staged(names_functions_of_2_0),
		staged(names_functions_of_2_1_as_it_was_in_2020),
		staged(knows_the_traces_of_a_build_without_ffi),
		staged(shows_functions_that_the_compiler_inlined),
		staged(tells_builtins_apart_that_share_their_code),
		staged(names_iterators_after_what_made_them),
		staged(shows_time_in_the_collector),
		staged(shows_time_in_the_compiler),
		staged(tells_what_the_vm_did),
		staged(shows_coroutines_below_what_resumed_them),
		staged(reports_what_it_found),
		staged(shows_one_without_64_bit_references),
	};

	return cmocka_run_group_tests_name("luajit", tests, NULL, NULL);
}
