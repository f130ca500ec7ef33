/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the running function right if a compiler has inlined functions into each other's machine code?
 * LuaJIT runs target/traces.lua, whose functions publish themselves; every sample is compared with
 * what was published at that very instant.
 *
 * The compiler tells where it is only at certain places, its guards, and a function publishes
 * itself after it was entered. So a sample may show the caller or the callee of the published
 * function, but no other function. In machine code that is rare; the interpreter takes longer for
 * such a store than for the rest of a function. ORACLE_SAMPLES: how many of each run (6000);
 * ORACLE_RUNS, a pattern: which of them; ORACLE_ONLY_WRONG: not how many are right, as where timers
 * are emulated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comparison.h"
#include "interpreter/interpreters.h"
#include "interpreter/layout_vote.h"
#include "skip.h"
#include "tap.h"
#include "workload.h"

#define PERIOD_NS  100000
#define DEEP       512
#define DRAINS_MAX 30000 /* of 10 ms and more */
#define SHOWN_MAX  10

/*
 * Shares in thousandths. 99.3 to 99.8% of the samples in machine code show the published function.
 * Of all samples, 95.3 to 97.4% do; the others show its caller or callee while it is entered or
 * left.
 */
#define NATIVE_RIGHT_PER_MILLE 985
#define RIGHT_PER_MILLE        950
#define RIGHT_PER_MILLE_NARROW 940
#define TORN_PER_MILLE         6

enum result { RIGHT, NEIGHBOUR, OTHER, TORN, UNREADABLE, HOST, RESULT_COUNT };

struct run {
	enum ls_family family;
	struct tap *tap;
	struct functions_sent *definitions;
	struct layout_vote vote;
	struct workload workload;
	uint64_t wanted, samples, shown;
	uint64_t native, native_right; /* those whose innermost frame is machine code */
	uint64_t results[RESULT_COUNT];
};

static int on_function(void *context, const struct ls_function *function)
{
	return functions_sent__add(((struct run *)context)->definitions, function);
}

/* The line of the innermost Lua function from frame *at on, which is set to the next frame. */
static uint64_t next_line(const struct run *run, const struct ls_sample *sample,
			  const struct ls_frame *frames, uint32_t *at)
{
	while (*at < sample->frame_count && frames[*at].kind != LS_FRAME_LUA)
		++*at;
	return *at < sample->frame_count ? functions_sent__word(run->definitions, &frames[(*at)++])
					 : 0;
}

static enum result judge(const struct run *run, uint64_t published, const struct ls_sample *sample,
			 const struct ls_frame *frames)
{
	uint64_t self = published & 0xffff, caller = published >> 16, leaf, below;
	uint32_t at = 0;

	if (sample->class == LS_SAMPLE_UNREADABLE)
		return UNREADABLE;
	if (sample->class == LS_SAMPLE_HOST)
		return HOST;
	if (sample->class == LS_SAMPLE_TORN)
		return TORN;
	leaf = next_line(run, sample, frames, &at);
	below = next_line(run, sample, frames, &at);
	if (leaf == self)
		return RIGHT;
	return leaf == caller || below == self || below == caller ? NEIGHBOUR : OTHER;
}

static int on_pair(void *context, const struct truth_record *record, const struct ls_sample *sample,
		   const struct ls_frame *frames)
{
	struct run *run = context;
	enum result result;

	if (run->samples == run->wanted)
		return 0;
	layout_vote__add(&run->vote, sample);
	/* The main chunk, which publishes nothing, may not have called the first function yet. */
	if (!run->vote.is_decided || !record->truth.stack[0])
		return 0;
	run->samples++;
	result = judge(run, record->truth.stack[0], sample, frames);
	run->results[result]++;
	if (sample->frame_count && frames->flags & LS_FRAME_NATIVE) {
		run->native++;
		run->native_right += result == RIGHT;
	}
	if (result == RIGHT || result == NEIGHBOUR || run->shown == SHOWN_MAX)
		return 0;
	run->shown++;
	printf("published %u of %u: ", (unsigned int)(record->truth.stack[0] & 0xffff),
	       (unsigned int)(record->truth.stack[0] >> 16));
	describe(stdout, record, run->definitions, sample, frames);
	return 0;
}

static int set_candidates(struct run *run)
{
	struct ls_image target = {.families = 1U << run->family};
	struct interpreters found;
	int error = workload__find(&run->workload, &found);

	if (error)
		return error;
	target.candidates[run->family].layouts = found.items[0].file.layouts;
	interpreters__put_code(&found, &target);
	interpreters__free(&found);
	return tap__set_target(run->tap, run->workload.pid, &target);
}

static int collect(struct run *run)
{
	int error = 0;

	for (int i = 0; !error && run->samples < run->wanted; i++)
		error = i < DRAINS_MAX
				? tap__drain_deciding(run->tap, run->workload.pid, &run->vote)
				: -ETIMEDOUT;
	return error;
}

static int observe(struct run *run, const char *program, const char *argument)
{
	struct tap_receiver receiver = {.context = run, .pair = on_pair, .function = on_function};
	int error, end;

	error = workload__start(program, "", "tests/oracle/target/traces.lua", argument,
				&run->workload);
	if (error)
		return error;
	error = tap__open(DEEP, &receiver, &run->tap);
	if (!error)
		error = set_candidates(run);
	if (!error)
		error = tap__attach(run->tap, run->workload.tid, run->workload.truth_address,
				    PERIOD_NS);
	if (!error)
		error = workload__continue(&run->workload);
	if (!error)
		error = collect(run);
	tap__close(run->tap);
	end = workload__end(&run->workload);
	return error ? error : end;
}

static uint64_t samples_wanted(void)
{
	const char *text = getenv("ORACLE_SAMPLES");

	return text && *text ? strtoull(text, NULL, 10) : 6000;
}

static void print_run(const struct run *run, const char *name)
{
	static const char *const names[] = {"right", "neighbour",  "other",
					    "torn",  "unreadable", "host"};

	printf("%s: %" PRIu64 " samples, %.1f%% in machine code", name, run->samples,
	       100.0 * run->native / run->samples);
	if (run->native)
		printf(" (%.3f%% of these right)", 100.0 * run->native_right / run->native);
	printf(";");
	for (int i = 0; i < RESULT_COUNT; i++)
		printf(" %s %.3f%% (%" PRIu64 ")", names[i], 100.0 * run->results[i] / run->samples,
		       run->results[i]);
	printf("\n");
}

static void check(enum ls_family family, const char *program, const char *argument,
		  uint64_t native_per_mille)
{
	struct run run = {.family = family,
			  .vote = {.family = families__get(family)},
			  .wanted = samples_wanted()};
	int error;

	run.definitions = functions_sent__new();
	assert_non_null(run.definitions);
	error = observe(&run, program, argument);
	functions_sent__free(run.definitions);
	print_run(&run, argument);
	assert_int_equal(error, 0);
	assert_int_equal(run.samples, run.wanted);
	assert_int_equal(run.results[OTHER], 0);
	assert_int_equal(run.results[HOST], 0);
	if (getenv("ORACLE_ONLY_WRONG"))
		return;
	assert_in_range(run.native_right * 1000, run.native * NATIVE_RIGHT_PER_MILLE, UINT64_MAX);
	if (native_per_mille)
		assert_in_range(run.results[RIGHT] * 1000,
				run.samples * (family == LS_FAMILY_LUAJIT32 ? RIGHT_PER_MILLE_NARROW
									    : RIGHT_PER_MILLE),
				UINT64_MAX);
	assert_in_range(run.results[TORN] * 1000, 0, run.samples * TORN_PER_MILLE);
	assert_in_range(run.native * 1000, run.samples * native_per_mille,
			native_per_mille ? UINT64_MAX : 0);
}

/* The luajit of Debian, and hosts of rules.mk. */
static void compiled_code_shows_the_functions_it_was_made_of(void **state)
{
	(void)state;
	need_root();
	need_program("luajit", "luajit");
	check(LS_FAMILY_LUAJIT, "luajit", "on", 300);
}

static void without_the_compiler_the_function_is_the_published_one(void **state)
{
	(void)state;
	need_root();
	need_program("luajit", "luajit");
	check(LS_FAMILY_LUAJIT, "luajit", "off", 0);
}

static void compiled_code_of_a_build_shows_the_same(void **state)
{
	const char *folder = getenv("OUTPUT");
	char program[256];

	need_root();
	snprintf(program, sizeof(program), "%.100s/tests/oracle/hosts/%s",
		 folder && *folder ? folder : ".output", (const char *)*state);
	need_host(program);
	check(strstr(*state, "32") ? LS_FAMILY_LUAJIT32 : LS_FAMILY_LUAJIT, program, "on", 300);
}

#define of_build(name)                                                                             \
	{                                                                                          \
		"compiled_code_of_" name, compiled_code_of_a_build_shows_the_same, NULL, NULL,     \
			(void *)(name)                                                             \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiled_code_shows_the_functions_it_was_made_of),
		cmocka_unit_test(without_the_compiler_the_function_is_the_published_one),
		of_build("luajit_rolling-gcc"),
		of_build("luajit_rolling-clang"),
		of_build("luajit_rolling-shared"),
		of_build("luajit_rolling-lua52"),
		of_build("luajit_openresty-gcc"),
		of_build("luajit_rolling-gcc32"),
		of_build("luajit_rolling-clang32"),
		of_build("luajit_openresty-gcc32"),
	};

	cmocka_set_test_filter(getenv("ORACLE_RUNS"));
	setvbuf(stdout, NULL, _IOLBF, 0);
	return cmocka_run_group_tests_name("traces", tests, NULL, NULL);
}
