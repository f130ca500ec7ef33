/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every way in which a function can come to run, in every version, in the interpreter and as a
 * library. tour.lua prints its stacks and its work on each; luaspy must find exactly these stacks.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PLACES_MIN 30
#define PLACES_MAX 64
#define Z_99_99    3.89

#define UNDECIDED_MAX 50

/* What the script printed about one place. */
struct place {
	char name[64];
	char stack[2048];
	double work;
};

struct tour {
	struct place places[PLACES_MAX];
	int count;
	double work;       /* of all places, as the script counts it */
	int64_t found_us;  /* in the leaf functions of the tour */
	int64_t placed_us; /* on stacks of the tour */
	int uneven;        /* places whose share of the time is not that of their work */
};

static void read_stacks(struct tour *tour, const char *said)
{
	for (const char *at = said; (at = strstr(at, "STACK ")); at++) {
		struct place *place = &tour->places[tour->count++];

		assert_in_range(tour->count, 1, PLACES_MAX);
		assert_int_equal(
			sscanf(at, "STACK %63[^\t]%*1[\t]%2047[^\n]", place->name, place->stack),
			2);
	}
}

/* Reads the last complete WORK line. */
static void read_work(struct tour *tour, const char *said)
{
	const char *line = NULL;

	for (const char *at = said; (at = strstr(at, "WORK ")); at++)
		line = strchr(at, '\n') ? at : line;
	assert_non_null(line);
	for (int i = 0; i < tour->count; i++) {
		struct place *place = &tour->places[i];
		char key[80];
		const char *found;

		snprintf(key, sizeof(key), "%s=", place->name);
		found = line;
		/* One name may be the end of another. */
		do {
			found = strstr(found + 1, key);
			assert_non_null(found);
		} while (found[-1] != ' ' && found[-1] != ';');
		place->work = strtod(found + strlen(key), NULL);
		tour->work += place->work;
	}
}

/* Merges places whose stacks look the same, such as nameless metamethods of 5.1. */
static void join_lookalikes(struct tour *tour)
{
	for (int i = 0; i < tour->count; i++) {
		struct place *place = &tour->places[i];

		for (int j = i + 1; j < tour->count;) {
			if (strcmp(place->stack, tour->places[j].stack) != 0) {
				j++;
				continue;
			}
			place->work += tour->places[j].work;
			tour->places[j] = tour->places[--tour->count];
		}
	}
}

/*
 * The same work takes up to a quarter more at one place than at another, because caches are cold or
 * because the virtual machine was stopped, which shows as missing samples. tests/accuracy checks
 * how exact shares are.
 */
static double allowed_error(const struct scriptprofile *profile, double expected, double samples)
{
	double cpu_us = (double)scriptprofile__recorded(profile, "CpuDuration");
	double sampled_us = (double)(scriptprofile__samples(profile, "total") *
				     scriptprofile__recorded(profile, "Period"));

	return Z_99_99 * sqrt(expected * (1 - expected) / samples) + expected / 4 +
	       2 * fabs(cpu_us - sampled_us) / cpu_us;
}

static void compare_place(struct tour *tour, const struct place *place,
			  const struct scriptprofile *profile)
{
	int64_t us = scriptprofile__stack_us(profile, place->stack);
	double expected = place->work / tour->work, found = (double)us / (double)tour->found_us;
	double samples = (double)scriptprofile__samples(profile, "complete") *
			 (double)tour->found_us / (double)profile->all_us;
	double allowed = allowed_error(profile, expected, samples);

	tour->placed_us += us;
	if (us > 0 && fabs(found - expected) <= allowed)
		return;
	print_error("'%s' takes %.3f%%, found %.3f%% (allowed: %.3f%%) as\n    %s\n", place->name,
		    100 * expected, 100 * found, 100 * allowed, place->stack);
	tour->uneven++;
}

static void compare(struct tour *tour, const struct scriptprofile *profile)
{
	tour->found_us = scriptprofile__stack_us(profile, "burn");
	for (int i = 0; i < tour->count; i++)
		compare_place(tour, &tour->places[i], profile);
	if (tour->uneven || tour->placed_us != tour->found_us)
		scriptprofile__print(profile);
	if (tour->placed_us != tour->found_us)
		fail_msg("%lld us on stacks that the script never had",
			 (long long)(tour->found_us - tour->placed_us));
}

/* A stack is torn if the sample hits while a frame is being made, which is rare. */
static void check_classes(const struct scriptprofile *profile)
{
	int64_t total = scriptprofile__samples(profile, "total");
	int64_t complete = scriptprofile__samples(profile, "complete");

	print_message("%lld of %lld samples torn, %lld unreadable\n",
		      (long long)scriptprofile__samples(profile, "torn"), (long long)total,
		      (long long)scriptprofile__samples(profile, "unreadable"));
	/* luaspy chooses the layout by the first samples, which have no stack. */
	assert_in_range(total - complete, 0, total / 1000 + UNDECIDED_MAX);
	assert_int_equal(scriptprofile__samples(profile, "dropped"), 0);
	assert_int_equal(scriptprofile__samples(profile, "truncated"), 0);
}

/* The number of samples is fixed, however long a busy machine takes for them. */
static struct scriptprofile *take_tour(struct stage *stage, const char *program,
				       const char *samples, int *uneven)
{
	struct child *target = start(stage, program, program_source("tour.lua"));
	struct tour *tour = stage__own(stage, calloc(1, sizeof(*tour)), free);
	struct scriptprofile *profile;
	char *said;

	child__await_output(stage, target, "WORK ");
	/*
	 * Functions are named by the bytecode of their definition, else as debug.getinfo() names
	 * them.
	 */
	profile = record(stage, target->pid, "--until-samples", samples, "-d", "15", "-F", "10khz",
			 "-q", "--no-source");
	said = child__output(stage, target);
	read_stacks(tour, said);
	read_work(tour, said);
	assert_in_range(tour->count, PLACES_MIN, PLACES_MAX);
	join_lookalikes(tour);
	compare(tour, profile);
	check_classes(profile);
	child__kill(target);
	*uneven = tour->uneven;
	return profile;
}

/* A neighbour on the same machine may slow down one place, but hardly twice; so try again. */
static struct scriptprofile *check_tour(struct stage *stage, const char *program,
					const char *samples)
{
	int uneven;
	struct scriptprofile *profile = take_tour(stage, program, samples, &uneven);

	if (uneven)
		profile = take_tour(stage, program, samples, &uneven);
	assert_int_equal(uneven, 0);
	return profile;
}

static void tour_of(void **state, const char *program, const char *package)
{
	need_to_record();
	if (!has_program(program)) {
		if (skips_are_failures())
			fail_msg("package '%s' is missing", package);
		skip_because("its package is missing");
	}
	check_tour(*state, program, "16000");
}

static void finds_every_stack_of_5_1(void **state)
{
	tour_of(state, "lua5.1", "lua5.1");
}

static void finds_every_stack_of_5_2(void **state)
{
	tour_of(state, "lua5.2", "lua5.2");
}

static void finds_every_stack_of_5_3(void **state)
{
	tour_of(state, "lua5.3", "lua5.3");
}

static void finds_every_stack_of_5_4(void **state)
{
	tour_of(state, "lua5.4", "lua5.4");
}

static void finds_every_stack_of_a_host_with_liblua_5_1(void **state)
{
	tour_of(state, built_program("host-5.1"), "liblua5.1-0-dev");
}

static void finds_every_stack_of_a_host_with_liblua_5_2(void **state)
{
	tour_of(state, built_program("host-5.2"), "liblua5.2-dev");
}

static void finds_every_stack_of_a_host_with_liblua_5_3(void **state)
{
	tour_of(state, built_program("host-5.3"), "liblua5.3-dev");
}

static void finds_every_stack_of_a_host_with_liblua_5_4(void **state)
{
	tour_of(state, built_program("host-5.4"), "liblua5.4-dev");
}

static void check_text(const struct scriptprofile *profile, const char *key, const char *expected)
{
	const char *text = json_string_value(
		json_object_get(json_object_get(profile->document, "Recorder"), key));

	assert_non_null(text);
	if (strncmp(text, expected, strlen(expected)) != 0)
		fail_msg("%s is '%s', not '%s'", key, text, expected);
}

/* A build of our own: only its file's and its memory's contents identify it. */
static void tour_of_host(struct stage *stage, const char *release, const char *variant,
			 const char *layout)
{
	bool has_ident = strcmp(variant, "lto") != 0 && strcmp(variant, "small") != 0;
	struct scriptprofile *profile;
	char program[128], interpreter[32];

	snprintf(program, sizeof(program), "../../hosts/%s-%s", release, variant);
	need_host(built_program(program));
	print_message("%s-%s: ", release, variant);
	profile = check_tour(stage, built_program(program), "8000");
	/* 5.1 has its full release only in one string, which becomes a local symbol in C++. */
	if (has_ident && strcmp(variant, "cxx") != 0)
		snprintf(interpreter, sizeof(interpreter), "Lua %s in", release);
	else
		snprintf(interpreter, sizeof(interpreter), "Lua %.3s", release);
	check_text(profile, "Interpreter", interpreter);
	check_text(profile, "Layout", layout);
}

static void all_variants(struct stage *stage, const char *release, const char *layout)
{
	static const char *const variants[] = {"gcc", "clang", "lto",   "small",
					       "cxx", "O0",    "shared"};

	need_to_record();
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		tour_of_host(stage, release, variants[i], layout);
}

static void finds_every_stack_of_5_1_however_it_is_built(void **state)
{
	all_variants(*state, "5.1.5", "5.1-5.1.5,");
}

static void finds_every_stack_of_5_2_however_it_is_built(void **state)
{
	all_variants(*state, "5.2.4", "5.2.1-5.2.4,");
}

static void finds_every_stack_of_5_3_however_it_is_built(void **state)
{
	all_variants(*state, "5.3.6", "5.3.2-5.3.6,");
}

static void finds_every_stack_of_5_4_however_it_is_built(void **state)
{
	all_variants(*state, "5.4.8", "5.4.3-5.4.9,");
}

static void finds_every_stack_of_5_5_however_it_is_built(void **state)
{
	all_variants(*state, "5.5.1", "5.5.0-5.5.1,");
}

static void finds_every_stack_of_every_release(void **state)
{
	static const char *const releases[][2] = {
		{"5.3.5", "5.3.2-5.3.6,"}, {"5.4.0", "5.4.0,"},       {"5.4.1", "5.4.1,"},
		{"5.4.2", "5.4.2,"},       {"5.4.3", "5.4.3-5.4.9,"}, {"5.4.4", "5.4.3-5.4.9,"},
		{"5.4.6", "5.4.3-5.4.9,"}, {"5.4.7", "5.4.3-5.4.9,"}, {"5.4.9", "5.4.3-5.4.9,"},
		{"5.5.0", "5.5.0-5.5.1,"},
	};

	need_to_record();
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		tour_of_host(*state, releases[i][0], "gcc", releases[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(finds_every_stack_of_5_1),
		staged(finds_every_stack_of_5_2),
		staged(finds_every_stack_of_5_3),
		staged(finds_every_stack_of_5_4),
		staged(finds_every_stack_of_a_host_with_liblua_5_1),
		staged(finds_every_stack_of_a_host_with_liblua_5_2),
		staged(finds_every_stack_of_a_host_with_liblua_5_3),
		staged(finds_every_stack_of_a_host_with_liblua_5_4),
		staged(finds_every_stack_of_5_1_however_it_is_built),
		staged(finds_every_stack_of_5_2_however_it_is_built),
		staged(finds_every_stack_of_5_3_however_it_is_built),
		staged(finds_every_stack_of_5_4_however_it_is_built),
		staged(finds_every_stack_of_5_5_however_it_is_built),
		staged(finds_every_stack_of_every_release),
	};

	return cmocka_run_group_tests_name("versions", tests, NULL, NULL);
}
