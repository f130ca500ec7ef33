/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and lines of functions of Luau, and names of functions of C: from their callers' bytecode.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "luau_hosts.h"

#define PATIENCE 30

#define ITERATIONS                                                                                 \
	"local text = string.rep('some words ', 20)\n"                                             \
	"local spin = {wrapped = coroutine.wrap(function()\n"                                      \
	"	while true do coroutine.yield() end\n"                                                   \
	"end)}\n"                                                                                  \
	"local function by_method()\n"                                                             \
	"	for word in text:gmatch('%a+') do spin.word = word end\n"                                \
	"end\n"                                                                                    \
	"local function by_path(i)\n"                                                              \
	"	local far = 1 - i\n"                                                                     \
	"	for word in string.gmatch(text:sub(1, 150), if i > 5 then '%a+' else '%w+') do\n"        \
	"		spin.word = word\n"                                                                     \
	"		if i == far then continue end\n"                                                        \
	"	end\n"                                                                                   \
	"end\n"                                                                                    \
	"local function by_local()\n"                                                              \
	"	local find = string.gmatch\n"                                                            \
	"	for word in find(text, '%a+') do spin.word = word end\n"                                 \
	"end\n"                                                                                    \
	"local function by_changed_local(i)\n"                                                     \
	"	local find = string.rep\n"                                                               \
	"	find = string.gmatch\n"                                                                  \
	"	for word in find(text, '%a+') do spin.word = word end\n"                                 \
	"end\n"                                                                                    \
	"local function by_field()\n"                                                              \
	"	for i = 1, 50 do spin.wrapped() end\n"                                                   \
	"end\n"                                                                                    \
	"while true do\n"                                                                          \
	"	for i = 1, 10 do\n"                                                                      \
	"		by_method() by_path(i) by_local() by_changed_local(i) by_field()\n"                     \
	"	end\n"                                                                                   \
	"end\n"

/* The functions of C that have no name of their own: their callers' bytecode tells. */
static void names_c_functions_after_their_calls(void **state)
{
	need_to_record();
	for (size_t i = 0; i < LUAU_RELEASE_COUNT; i++) {
		struct scriptprofile *profile = luau_host__record(
			*state, luau_releases[i], ITERATIONS, "--until-samples=2000");
		int iterators = 0, wrapped = 0, other = 0;

		for (int id = 1; id <= profile->function_count; id++) {
			const char *name = profile->functions[id].name;

			iterators += !strncmp(name, "iterator of gmatch (", 20);
			wrapped += !strncmp(name, "wrapped (", 9);
			other += !strncmp(name, "luau_", 5) || !strncmp(name, "for iterator", 12);
		}
		if (iterators != 1 || wrapped != 1 || other)
			fail_msg("%s: %d iterators of gmatch, %d wrapped, %d others",
				 luau_releases[i], iterators, wrapped, other);
	}
}

#define FRAMES 300

/*
 * Functions that call each other, on lines that differ; the innermost tells what debug.info knows
 * of them.
 */
static void write_deep_script(struct stage *stage)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fprintf(file, "local tell\n"
		      "local function f0()\nif tell then tell() end\n"
		      "local x = 0 for i = 1, 1e7 do x = x + i %% 7 end return x\nend\n"
		      "local f = f0\n");
	for (int i = 1; i <= FRAMES; i++)
		fprintf(file,
			"do local g = f\n%.*sfunction f%d()\n%.*s local x = g() return x + 1\nend "
			"f = f%d end\n",
			i % 3, "\n\n", i, i % 5, "\n\n\n\n", i);
	fprintf(file,
		"function tell()\n"
		"	tell = nil\n"
		"	for level = 3, %d do\n"
		"		local f, name, line = debug.info(level, 'fnl')\n"
		"		print(name, debug.info(f, 'l'), line)\n"
		"	end\n"
		"	print('told')\n"
		"end\n"
		"while true do f%d() end\n",
		FRAMES + 2, FRAMES);
	fclose(file);
	write_text(stage, "app.luau", text);
	free(text);
}

/* The frames of the first stack of a dump, the innermost first. */
static const json_t *frames_of(const json_t *dump)
{
	const json_t *thread = json_array_get(json_object_get(dump, "Threads"), 0);

	return json_array_get(json_object_get(thread, "Stacks"), 0);
}

/* A dump of a process in its innermost function, which it leaves for an instant now and then. */
static json_t *dump_of_innermost(struct stage *stage, pid_t pid, const char *innermost)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	for (int i = 0; i < 10; i++) {
		struct child *spy = start(stage, luaspy_program(), "dump", "-p", number, "--json");
		const json_t *frame;
		json_t *dump;

		assert_int_equal(child__wait(spy, PATIENCE), 0);
		dump = json_loads(child__output(stage, spy), 0, NULL);
		assert_non_null(dump);
		frame = json_array_get(frames_of(dump), 0);
		if (!strcmp(json_string_value(json_object_get(frame, "Name")), innermost))
			return dump;
		json_decref(dump);
	}
	fail_msg("no dump shows '%s' running", innermost);
	return NULL;
}

static void names_and_lines_are_those_of_debug_info(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const json_t *frames;
	char *said;
	json_t *dump;

	need_to_record();
	need_host(luau_host__program("736-gcc"));
	write_deep_script(stage);
	target = start(stage, luau_host__program("736-gcc"), "app.luau");
	child__await_output(stage, target, "told");
	dump = dump_of_innermost(stage, target->pid, "f0");
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

/* Own time at that line of app.luau. */
static double own_share_at(const struct scriptprofile *profile, int line)
{
	const json_t *functions = json_object_get(profile->document, "Functions");
	int64_t us = 0;

	for (int id = 1; id <= profile->function_count; id++)
		if (json_integer_value(json_object_get(json_array_get(functions, id - 1),
						       "CurrentLine")) == line &&
		    !strcmp(profile->functions[id].source, "app.luau"))
			us += profile->functions[id].self_us;
	return scriptprofile__share(profile, us);
}

/* Three of four parts are in the second line. */
static void splits_functions_by_their_lines(void **state)
{
	static const char *const builds[] = {"516-gcc", "736-gcc"};
	static const char script[] = "local function work(x)\n"
				     "	for i = 1, 3e6 do x = x + i % 7 end\n"
				     "	for i = 1, 1e6 do x = x + i % 7 end\n"
				     "	return x\n"
				     "end\n"
				     "while true do work(0) end\n";

	need_to_record();
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		struct child *target = luau_host__start(*state, builds[i], "app.luau", script);
		struct scriptprofile *profile = record_shares(
			*state, target->pid, "--until-samples=2000", "-F", "2khz", "--lines");

		child__kill(target);
		print_message("%s: line 2: %.1f%%, line 3: %.1f%%\n", builds[i],
			      100 * own_share_at(profile, 2), 100 * own_share_at(profile, 3));
		assert_true(own_share_at(profile, 2) > 0.65 && own_share_at(profile, 2) < 0.85);
		assert_true(own_share_at(profile, 3) > 0.15 && own_share_at(profile, 3) < 0.35);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_c_functions_after_their_calls),
		staged(names_and_lines_are_those_of_debug_info),
		staged(splits_functions_by_their_lines),
	};

	return cmocka_run_group_tests_name("luau names", tests, NULL, NULL);
}
