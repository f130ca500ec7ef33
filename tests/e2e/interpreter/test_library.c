/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C functions of Lua's own library: no sample of one searches the stack for coroutines, and
 * coroutines that run below one, or are resumed by one, are found all the same.
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

/* The stack is searched until the state is known. */
#define SEARCHED_MOST 0.1

static const char *const programs[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};

static const char sorting[] = "local list = {}\n"
			      "for i = 1, 5000 do list[i] = (i * 7919) % 5003 end\n"
			      "print('ready') io.stdout:flush()\n"
			      "while true do\n"
			      "	table.sort(list)\n"
			      "	list[1], list[2500] = list[2500], list[1]\n"
			      "end\n";

static const char comparing[] = "local resume, yield = coroutine.resume, coroutine.yield\n"
				"local function inner()\n"
				"	while true do\n"
				"		local sum = 0\n"
				"		for i = 1, 300 do sum = sum + i end\n"
				"		yield(sum)\n"
				"	end\n"
				"end\n"
				"local co = coroutine.create(inner)\n"
				"local function compare(a, b) resume(co) return a < b end\n"
				"print('ready') io.stdout:flush()\n"
				"while true do\n"
				"	local list = {}\n"
				"	for i = 1, 100 do list[i] = (i * 7919) % 101 end\n"
				"	table.sort(list, compare)\n"
				"end\n";

/* Coroutines three deep, resumed by coroutine.resume and by functions of coroutine.wrap. */
static const char generating[] =
	"local create, resume, wrap, yield =\n"
	"	coroutine.create, coroutine.resume, coroutine.wrap, coroutine.yield\n"
	"local function letters()\n"
	"	while true do for letter in ('abcdefgh'):gmatch('.') do yield(letter) end end\n"
	"end\n"
	"local function pairs_of(from)\n"
	"	return wrap(function()\n"
	"		while true do yield({from(), from()}) end\n"
	"	end)\n"
	"end\n"
	"local function sum()\n"
	"	local from, sum = pairs_of(wrap(letters)), 0\n"
	"	while true do\n"
	"		for _, letter in pairs(from()) do sum = (sum + #letter) % 1000 end\n"
	"		yield(sum)\n"
	"	end\n"
	"end\n"
	"local co = create(sum)\n"
	"print('ready') io.stdout:flush()\n"
	"while true do resume(co) end\n";

static struct child *start_script(struct stage *stage, const char *program, const char *script)
{
	struct child *target;

	need_program(program, "lua");
	write_text(stage, "work.lua", script);
	target = start(stage, program, "work.lua");
	child__await_output(stage, target, "ready");
	return target;
}

static void record_at_10khz(struct stage *stage, struct child *target, struct child **spy)
{
	*spy = start_record(stage, target->pid, "-v", "-F", "10khz", "--until-samples", "3000",
			    "-d", "20", "-o", "profile.json");
	spying__finish(stage, *spy);
	child__kill(target);
}

/* "luaspy: debug: 3000 ticks, 12 searched 30 chunks of stack" */
static double share_searched(struct stage *stage, const struct child *spy)
{
	const char *errors = child__errors(stage, spy), *at = strstr(errors, " ticks, ");
	unsigned int ticks = 0, searched = 0;

	assert_non_null(at);
	while (at > errors && at[-1] >= '0' && at[-1] <= '9')
		at--;
	assert_int_equal(sscanf(at, "%u ticks, %u searched", &ticks, &searched), 2);
	print_message("%u of %u searched\n", searched, ticks);
	return (double)searched / ticks;
}

/* Expects the stack `expected`, if any,, to take 10 to 60% of the time. */
static void expect_no_search(struct stage *stage, const char *script, const char *expected)
{
	need_to_record();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct scriptprofile *profile;
		struct child *spy;

		record_at_10khz(stage, start_script(stage, programs[i], script), &spy);
		profile = spying__read(stage, in_folder(stage, "profile.json"));
		assert_true(share_searched(stage, spy) < SEARCHED_MOST);
		if (expected)
			scriptprofile__assert_stack(profile, expected, 0.1, 0.6);
	}
}

static void cost_no_search(void **state)
{
	expect_no_search(*state, sorting, NULL);
}

/* Without a search, the walker finds what coroutine.resume and coroutine.wrap's functions resume.
 */
static void lead_to_the_coroutines_that_they_resume(void **state)
{
	expect_no_search(*state, generating,
			 "main chunk > coroutine.resume > sum > from* > * > from* > letters");
}

static void show_the_coroutines_that_what_they_call_resumes(void **state)
{
	struct stage *stage = *state;

	need_to_record();
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct scriptprofile *profile;
		struct child *spy;

		record_at_10khz(stage, start_script(stage, programs[i], comparing), &spy);
		profile = spying__read(stage, in_folder(stage, "profile.json"));
		scriptprofile__assert_stack(
			profile, "main chunk > table.sort > compare > coroutine.resume > inner",
			0.4, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cost_no_search, stage__open, stage__close),
		cmocka_unit_test_setup_teardown(lead_to_the_coroutines_that_they_resume,
						stage__open, stage__close),
		cmocka_unit_test_setup_teardown(show_the_coroutines_that_what_they_call_resumes,
						stage__open, stage__close),
	};

	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
