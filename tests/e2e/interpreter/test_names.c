/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions keep their own name, source and line when prototypes are recycled and when names are
 * odd.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

static const char *const workers[] = {"alpha", "gamma", "delta", "omega"};

/* A pattern; brackets are special in it. */
#define C_SOURCE "\\[C]"

#define WORKER_COUNT (sizeof(workers) / sizeof(*workers))

static double number_after(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	assert_non_null(found);
	return strtod(found + strlen(key), NULL);
}

/* The time of `worker` in the last complete line of its output. */
static double spent_by(const char *said, const char *worker)
{
	const char *line = NULL;
	char key[16];

	for (const char *at = said; (at = strstr(at, "SPENT ")); at++)
		line = strchr(at, '\n') ? at : line;
	assert_non_null(line);
	snprintf(key, sizeof(key), "%s=", worker);
	return number_after(line, key);
}

static int line_of(const char *said, const char *worker)
{
	char key[32];

	snprintf(key, sizeof(key), "LINE %s ", worker);
	return (int)number_after(said, key);
}

/*
 * No part of a worker's time may have another worker's name, and its share is as large as it
 * measured. Some time may have no name: the caller was often collected before its call could be
 * read.
 */
static int check_worker(const struct scriptprofile *profile, const char *said, const char *worker)
{
	int line = line_of(said, worker), wrong = 0;
	int64_t at_line = scriptprofile__self_us(profile, "*templates.lua", NULL, line);
	int64_t named = scriptprofile__self_us(profile, "*templates.lua", worker, line);
	int64_t all = 0;
	double spent = 0, expected;

	for (size_t i = 0; i < WORKER_COUNT; i++) {
		all += scriptprofile__self_us(profile, "*templates.lua", NULL,
					      line_of(said, workers[i]));
		spent += spent_by(said, workers[i]);
	}
	expected = spent_by(said, worker) / spent;
	print_message("%s: line %d has %lld us, %lld us of it by its name; %.2f%%, found %.2f%%\n",
		      worker, line, (long long)at_line, (long long)named, 100 * expected,
		      100 * (double)at_line / (double)all);
	wrong += at_line != named + scriptprofile__self_us(profile, "*templates.lua", "", line);
	/*
	 * tests/accuracy checks how exact shares are; a mix-up would change them by 10% at least.
	 */
	wrong += fabs((double)at_line / (double)all - expected) > 0.05;
	return wrong;
}

/* Time below a chunk in functions that it does not call. */
static int64_t misplaced_us(const struct scriptprofile *profile)
{
	int64_t us = 0;

	for (int id = 1; id <= profile->node_count; id++) {
		const struct scriptprofile_function *function, *chunk;

		function = &profile->functions[profile->node_function[id]];
		chunk = &profile->functions[profile->node_function[profile->node_parent[id]]];
		if (!strncmp(chunk->source, "tpl_", 4) && *function->name &&
		    strcmp(chunk->source + 4, function->name))
			us += profile->node_total_us[id];
	}
	return us;
}

/* Each chunk has the time of the worker that it calls. */
static void check_own_names(const struct scriptprofile *profile, const char *said)
{
	char source[32];

	for (size_t i = 0; i < WORKER_COUNT; i++) {
		int64_t worked, all;

		snprintf(source, sizeof(source), "tpl_%s", workers[i]);
		all = scriptprofile__total_us(profile, source, "main chunk", -1);
		worked = scriptprofile__self_us(profile, "*templates.lua", NULL,
						line_of(said, workers[i]));
		assert_in_range(all, worked, worked + worked / 100 + 200);
	}
}

static void check_templates(struct stage *stage, const char *program, const char *mode)
{
	struct child *target;
	struct scriptprofile *profile;
	const char *said;
	int wrong = 0;

	need_to_record();
	if (!has_program(program)) {
		if (skips_are_failures())
			fail_msg("package '%s' is missing", program);
		skip_because("its package is missing");
	}
	target = start(stage, program, program_source("templates.lua"), mode);
	child__await_output(stage, target, "SPENT ");
	/* These functions are named by their callers, not by the source text. */
	profile = record(stage, target->pid, "--until-samples", "10000", "-d", "60", "-F", "10khz",
			 "-q", "--no-source");
	said = child__output(stage, target);
	for (size_t i = 0; i < WORKER_COUNT; i++)
		wrong += check_worker(profile, said, workers[i]);
	print_message("%lld samples with a collected function, %lld calls without a name\n",
		      (long long)scriptprofile__recorded(profile, "Collected"),
		      (long long)scriptprofile__recorded(profile, "UnnamedCalls"));
	if (wrong)
		scriptprofile__print(profile);
	assert_int_equal(wrong, 0);
	assert_int_equal(misplaced_us(profile), 0);
	if (!strcmp(mode, "own"))
		check_own_names(profile, said);
	assert_in_range(scriptprofile__recorded(profile, "Collected"), 0,
			scriptprofile__samples(profile, "total") / 100);
}

#define TEMPLATES(minor)                                                                           \
	static void names_recycled_templates_of_5_##minor(void **state)                            \
	{                                                                                          \
		check_templates(*state, "lua5." #minor, "own");                                    \
	}                                                                                          \
	static void names_recycled_templates_of_one_chunk_name_of_5_##minor(void **state)          \
	{                                                                                          \
		check_templates(*state, "lua5." #minor, "same");                                   \
	}

TEMPLATES(1)
TEMPLATES(2)
TEMPLATES(3)
TEMPLATES(4)

static bool has_source(const struct scriptprofile *profile, const char *source)
{
	for (int id = 1; id <= profile->function_count; id++)
		if (!strcmp(profile->functions[id].source, source))
			return true;
	print_error("no source '%s'\n", source);
	return false;
}

/* How each name is shown: bytes that are not UTF-8 are replaced, the rest is unchanged. */
static int count_missing_sources(const struct scriptprofile *profile)
{
	static const char *const sources[] = {
		"control \1\2\33[31m\177 characters",
		"\302\233 C1 \342\200\256 and direction",
		"quote \" backslash \\ </script> slash / end",
		"new\nline\tand\rreturn",
		"/file/name.lua",
		"[string \"return 'the text itself'\"]",
		"[string \"the first line...\"]",
		"\360\237\214\231 moon",
		"Source\",\"Name\":\"forged",
	};
	int missing = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		missing += !has_source(profile, sources[i]);
	missing += scriptprofile__total_us(profile, "* invalid * UTF-8", "main chunk", -1) == 0;
	missing += scriptprofile__total_us(profile, "* cut", "main chunk", -1) == 0;
	missing += scriptprofile__total_us(profile, "long long long *", "main chunk", -1) == 0;
	return missing;
}

static void assert_printable(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
			fail_msg("control character %#x on the terminal", (unsigned char)*text);
}

static void writes_odd_chunk_names_as_valid_json(void **state)
{
	struct child *target, *spy;
	struct scriptprofile *profile;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start(*state, "lua5.4", program_source("odd_names.lua"));
	child__await_output(*state, target, "ready");
	spy = start_record(*state, target->pid, "-d", "1", "-F", "10khz", "-o", "x.json");
	assert_int_equal(child__wait(spy, 10), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_int_equal(count_missing_sources(profile), 0);
	assert_printable(child__errors(*state, spy));
}

static void names_functions_of_c_by_the_script_then_by_symbols(void **state)
{
	struct child *target;
	struct scriptprofile *profile;

	need_to_record();
	target = start(*state, built_program("host-5.4"), program_source("c_functions.lua"));
	child__await_output(*state, target, "ready");
	profile = record(*state, target->pid, "--until-samples", "5000", "-d", "30", "-q", "-F",
			 "10khz");
	assert_true(scriptprofile__self_us(profile, C_SOURCE, "string.rep", 0) > 0);
	assert_true(scriptprofile__self_us(profile, C_SOURCE, "table.concat", 0) > 0);
	assert_true(scriptprofile__self_us(profile, C_SOURCE, "mine.burn", 0) > 0);
	/* This one is a local of the script and not in package.loaded. */
	assert_true(scriptprofile__self_us(profile, C_SOURCE, "host_burn_unnamed", 0) > 0);
	assert_true(scriptprofile__self_us(profile, C_SOURCE,
					   "iterator of gmatch (liblua5.4.so*+0x*)", 0) > 0);
	assert_true(scriptprofile__stack_us(profile, "^run_script > main chunk") ==
		    profile->all_us - scriptprofile__stack_us(profile, "^(unsampled)"));
}

/* A binding library's functions share their code: only callers tell them apart. */
static void check_bindings(struct stage *stage, const char *program)
{
	struct scriptprofile *profile;
	struct child *target;

	target = start(stage, program);
	child__let_work(target, 0.05);
	profile = record_shares(stage, target->pid, "--until-samples=2000", "-d", "30", "-q");
	scriptprofile__assert_stack(profile, "main chunk > tick > spawn (*)", 0.32, 0.43);
	scriptprofile__assert_stack(profile, "main chunk > tick > move (*)", 0.08, 0.17);
	scriptprofile__assert_stack(profile, "main chunk > tick > heal (*)", 0.32, 0.43);
	scriptprofile__assert_stack(profile, "main chunk > tick > hurt (*)", 0.08, 0.17);
}

static void tells_bound_functions_apart_by_their_callers(void **state)
{
	need_to_record();
	check_bindings(*state, built_program("bindings-5.1"));
	check_bindings(*state, built_program("bindings-5.3"));
	check_bindings(*state, built_program("bindings-5.4"));
}

static void tells_bound_functions_apart_in_luajit(void **state)
{
	need_to_record();
	need_host(built_program("bindings-luajit"));
	check_bindings(*state, built_program("bindings-luajit"));
}

/* Without the symbol of their code, which stands for none of them, it is an address. */
static void tells_bound_functions_apart_without_symbols(void **state)
{
	struct stage *stage = *state;
	struct child *strip;

	need_to_record();
	strip = start(stage, "strip", "-o", "bindings", built_program("bindings-5.4"));
	assert_int_equal(child__wait(strip, 10), 0);
	check_bindings(stage, in_folder(stage, "bindings"));
}

/*
 * Most often, its only samples are read when the process has ended: it runs for some 5 ms, of which
 * a busy machine does not lose every tick. Nothing but the text names it: a method on one line that
 * C calls.
 */
static void names_the_last_function_of_a_process_by_its_text(void **state)
{
	static const char script[] =
		"local M = {}\n"
		"local function early() for i = 1, 1e7 do local x = i % 7 end end\n"
		"function M:last() for i = 1, 1e6 do local x = i % 7 end end\n"
		"early()\n"
		"pcall(M.last, M)\n";
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	write_text(stage, "app.lua", script);
	for (int i = 0; i < 5; i++) {
		spy = start(stage, luaspy_program(), "record", "-q", "-F", "10khz", "-o",
			    "profile.json", "--", "lua5.4", "app.lua");
		assert_int_equal(child__wait(spy, 20), 0);
		profile = spying__read(stage, in_folder(stage, "profile.json"));
		assert_true(scriptprofile__self_us(profile, "app.lua", "M:last", 3) > 0);
		assert_true(scriptprofile__self_us(profile, "app.lua", NULL, 3) ==
			    scriptprofile__self_us(profile, "app.lua", "M:last", 3));
	}
}

/* Its caller calls it `body`, and finalizers take nearly all of its time. */
static const char with_finalizers[] =
	"local finalized = {__gc = function() for i = 1, 20000 do local x = i % 7 end end}\n"
	"local function run(body) while true do body() end end\n"
	"run(function()\n"
	"	for i = 1, 1000 do setmetatable({}, finalized) end\n"
	"end)\n";

static void check_finalizers(struct stage *stage, const char *program)
{
	struct scriptprofile *profile;
	struct child *target;

	target = start(stage, program, "-e", with_finalizers);
	child__let_work(target, 0.2);
	profile = record(stage, target->pid, "--until-samples", "300", "-d", "15", "-q",
			 "--no-source");
	assert_true(scriptprofile__total_us(profile, "*", "body", 3) > profile->all_us / 2);
	assert_true(scriptprofile__total_us(profile, "*", "*__gc", 1) > 0);
	assert_true(scriptprofile__total_us(profile, "*", "__gc", 3) == 0);
}

static void a_function_that_a_finalizer_interrupts_is_no_finalizer_of_5_3(void **state)
{
	need_to_record();
	need_program("lua5.3", "lua5.3");
	check_finalizers(*state, "lua5.3");
}

static void a_function_that_a_finalizer_interrupts_is_no_finalizer_of_5_4(void **state)
{
	need_to_record();
	need_program("lua5.4", "lua5.4");
	check_finalizers(*state, "lua5.4");
}

static void cuts_stacks_deeper_than_max_depth(void **state)
{
	struct child *target;
	struct scriptprofile *profile;
	int64_t truncated;

	need_to_record();
	need_program("lua5.4", "lua5.4");
	target = start(*state, "lua5.4", program_source("deep.lua"), "150");
	child__await_output(*state, target, "ready");
	profile = record(*state, target->pid, "--until-samples", "300", "-d", "15", "-q",
			 "--max-depth=50");
	truncated = scriptprofile__samples(profile, "truncated");
	assert_in_range(truncated, 100, 600);
	assert_int_equal(truncated, scriptprofile__samples(profile, "total"));
	/* Both ends of the stack are there, and a frame marks the cut between them. */
	assert_true(scriptprofile__stack_us(profile, "descend > descend > bottom") > 0);
	assert_true(scriptprofile__stack_us(profile, "(truncated) > descend") > 0);
	profile = record(*state, target->pid, "-d", "500ms", "-q", "--max-depth=200");
	assert_int_equal(scriptprofile__samples(profile, "truncated"), 0);
	assert_true(scriptprofile__stack_us(profile, "^* > main chunk > top > descend") > 0);
	/* Recursive calls count once in the total. */
	assert_true(scriptprofile__total_us(profile, "*deep.lua", "descend", -1) <=
		    profile->all_us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(names_recycled_templates_of_5_1),
		staged(names_recycled_templates_of_5_2),
		staged(names_recycled_templates_of_5_3),
		staged(names_recycled_templates_of_5_4),
		staged(names_recycled_templates_of_one_chunk_name_of_5_1),
		staged(names_recycled_templates_of_one_chunk_name_of_5_2),
		staged(names_recycled_templates_of_one_chunk_name_of_5_3),
		staged(names_recycled_templates_of_one_chunk_name_of_5_4),
		staged(writes_odd_chunk_names_as_valid_json),
		staged(names_functions_of_c_by_the_script_then_by_symbols),
		staged(tells_bound_functions_apart_by_their_callers),
		staged(tells_bound_functions_apart_in_luajit),
		staged(tells_bound_functions_apart_without_symbols),
		staged(names_the_last_function_of_a_process_by_its_text),
		staged(a_function_that_a_finalizer_interrupts_is_no_finalizer_of_5_3),
		staged(a_function_that_a_finalizer_interrupts_is_no_finalizer_of_5_4),
		staged(cuts_stacks_deeper_than_max_depth),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
