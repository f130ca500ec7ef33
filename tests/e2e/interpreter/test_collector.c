/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the garbage collector's time is shown. tests/oracle checks how much of it there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

static const char collecting[] =
	"local function make(n) local t = {} for i = 1, n do t[i] = {i} end return t end\n"
	"local function finalize() local s = 0 for i = 1, 2000 do s = s + i % 7 end end\n"
	"local function drop()\n"
	"  if newproxy then getmetatable(newproxy(true)).__gc = finalize\n"
	"  else setmetatable({}, {__gc = finalize}) end\n"
	"end\n"
	"print 'ready'\n"
	"io.stdout:flush()\n"
	"while true do make(500) drop() end\n";

static const char allocating_nothing[] =
	"local values = {1, 2, 3}\n"
	"local floor, byte = math.floor, string.byte\n"
	"local function work() for i = 1, 3 do values[i] = floor(values[i] + byte('x')) % 99 end end\n"
	"print 'ready'\n"
	"io.stdout:flush()\n"
	"while true do work() end\n";

static struct scriptprofile *record_script(struct stage *stage, const char *interpreter,
					   const char *text)
{
	const char *script = in_folder(stage, "script.lua");
	struct child *target;
	struct scriptprofile *profile;

	write_file(script, text, strlen(text));
	target = start(stage, interpreter, script);
	child__await_output(stage, target, "ready");
	profile = record(stage, target->pid, "-d", "2");
	child__kill(target);
	return profile;
}

static const char *const interpreters[] = {"lua5.1", "lua5.2", "lua5.3", "lua5.4"};

static void shows_the_collector_under_what_allocates(void **state)
{
	need_to_record();
	for (size_t i = 0; i < 4; i++) {
		struct scriptprofile *profile;
		int64_t gc;

		need_program(interpreters[i], "lua5.x");
		profile = record_script(*state, interpreters[i], collecting);
		gc = json_integer_value(json_object_get(profile->document, "GCFuncId"));
		assert_in_range(gc, 1, profile->function_count);
		assert_in_range(profile->functions[gc].total_us * 100 / profile->all_us, 2, 70);
		assert_true(scriptprofile__stack_us(profile, "make > GC") > 0);
	}
}

/* A finalizer is an ordinary function: its time is its own, not the collector's. */
static void shows_finalizers_as_calls(void **state)
{
	need_to_record();
	for (size_t i = 0; i < 4; i++) {
		struct scriptprofile *profile;
		int64_t finalizer, own;

		need_program(interpreters[i], "lua5.x");
		profile = record_script(*state, interpreters[i], collecting);
		finalizer = scriptprofile__total_us(profile, "*script.lua", "*", 2);
		own = scriptprofile__self_us(profile, "*script.lua", "*", 2);
		assert_in_range(finalizer * 100 / profile->all_us, 5, 90);
		assert_in_range(own * 100 / finalizer, 98, 100);
	}
}

static void shows_none_where_nothing_is_allocated(void **state)
{
	need_to_record();
	for (size_t i = 0; i < 4; i++) {
		struct scriptprofile *profile;

		need_program(interpreters[i], "lua5.x");
		profile = record_script(*state, interpreters[i], allocating_nothing);
		assert_null(json_object_get(profile->document, "GCFuncId"));
		assert_non_null(json_object_get(json_object_get(profile->document, "Recorder"),
						"Collector"));
	}
}

/* Without unwind tables in an interpreter's file, its collector cannot be told apart. */
static void reports_an_unknown_collector_beside_a_known_one(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	const json_t *recorder;
	struct child *child;
	char pids[32];

	need_lua();
	need_program("objcopy", "binutils");
	write_text(stage, "script.lua", collecting);
	child = start(stage, "objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "/usr/bin/lua5.4",
		      "bare");
	assert_int_equal(child__wait(child, 10), 0);
	child = start(stage, "lua5.4", "script.lua");
	child__await_output(stage, child, "ready");
	snprintf(pids, sizeof(pids), "%d", child->pid);
	child = start(stage, in_folder(stage, "bare"), "script.lua");
	child__await_output(stage, child, "ready");
	snprintf(pids + strlen(pids), sizeof(pids) - strlen(pids), ",%d", child->pid);
	child = start(stage, luaspy_program(), "record", "-p", pids, "-d", "2", "-o", "x.json");
	spying__finish(stage, child);
	profile = spying__read(stage, in_folder(stage, "x.json"));
	recorder = json_object_get(profile->document, "Recorder");
	assert_non_null(json_object_get(profile->document, "GCFuncId"));
	assert_non_null(json_object_get(recorder, "Collector"));
	assert_string_equal(json_string_value(json_object_get(recorder, "CollectorUnknown")),
			    "the file has no unwind tables");
	assert_non_null(strstr(child__errors(stage, child), "% (unknown for some)\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_the_collector_under_what_allocates),
		staged(shows_finalizers_as_calls),
		staged(shows_none_where_nothing_is_allocated),
		staged(reports_an_unknown_collector_beside_a_known_one),
	};

	return cmocka_run_group_tests_name("collector", tests, NULL, NULL);
}
