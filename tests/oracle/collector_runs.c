/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector_runs.h"
#include "interpreter/family.h"
#include "interpreter/interpreters.h"
#include "interpreter/layout_vote.h"
#include "skip.h"
#include "tap.h"
#include "workload.h"

#define SCRIPT        "tests/oracle/target/collector.lua"
#define MAX_DEPTH     64
#define DRAINS_MAX    6000 /* of 10 ms and more */
#define SHARE_LEAST   3.0  /* percent in the collector: with less, it has too few samples */
#define POINTS_MAX    1.0  /* by which the share may be off */
#define ENTRIES_LEAST 20   /* into the collector, which a run must have seen */
#define RIGHT_LEAST   85.0 /* percent: precision and recall */

struct target {
	char name[80];
	char program[256];
	const char *way;
	enum ls_family family;
};

struct run {
	const struct target *target;
	struct tap *tap;
	struct workload workload;
	struct gc_code gc;
	struct ls_image image; /* what the walker is told */
	struct layout_vote vote;
	uint64_t wanted, samples;
	uint64_t is, found, both;
	uint64_t entries; /* samples in the collector after one outside */
	bool was;         /* in the collector, in the sample before */
};

static const char *output_folder(void)
{
	const char *folder = getenv("OUTPUT");

	return folder && *folder ? folder : ".output";
}

static uint64_t samples_wanted(void)
{
	const char *text = getenv("ORACLE_SAMPLES");

	return text && *text ? strtoull(text, NULL, 10) : 4500;
}

/*
 * At the dense period, all samples that are wanted could fall between two collections of some
 * targets; such a run goes on for as long as it would take at the ordinary period.
 */
static bool is_complete(const struct run *run)
{
	uint64_t most = run->wanted * TAP_PERIOD_NS / tap__dense_period_ns();
	bool never_collects = !strcmp(run->target->way, "nothing");

	return run->samples >= most ||
	       (run->samples >= run->wanted && (never_collects || run->entries >= ENTRIES_LEAST));
}

static int on_pair(void *context, const struct truth_record *record, const struct ls_sample *sample,
		   const struct ls_frame *frames)
{
	struct run *run = context;
	bool is = record->truth.collector, found = sample->activity == LS_ACTIVITY_GC;

	(void)frames;
	layout_vote__add(&run->vote, sample);
	if (is_complete(run))
		return 0;
	assert_true(record->is_read && record->truth.magic == TRUTH_MAGIC);
	run->samples++;
	run->entries += is && !run->was;
	run->was = is;
	run->is += is;
	run->found += found;
	run->both += is && found;
	return 0;
}

static int set_target(struct run *run)
{
	enum ls_family family = run->target->family;
	struct ls_image *image = &run->image;
	struct interpreters found;
	int error = workload__find(&run->workload, &found);

	if (error)
		return error;
	run->gc = found.items[0].gc;
	run->vote.family = families__get(family);
	image->families = 1U << family;
	image->candidates[family].layouts = found.items[0].file.layouts;
	interpreters__put_code(&found, image);
	interpreters__free(&found);
	return tap__set_target(run->tap, run->workload.pid, image);
}

/* Tells the walker the layout once it is known, as the product does. */
static int decide(struct run *run)
{
	struct ls_candidates *candidates = &run->image.candidates[run->target->family];

	if (!run->vote.is_decided || candidates->decided)
		return 0;
	candidates->layouts = candidates->decided = (uint16_t)(1U << run->vote.layout);
	return tap__set_target(run->tap, run->workload.pid, &run->image);
}

static int drain(struct run *run)
{
	int error = tap__drain(run->tap);

	return error ? error : decide(run);
}

static int observe(struct run *run)
{
	struct tap_receiver receiver = {.context = run, .pair = on_pair};
	const struct target *target = run->target;
	int error, end;

	error = workload__start(target->program, "", SCRIPT, target->way, &run->workload);
	if (error)
		return error;
	error = tap__open(MAX_DEPTH, &receiver, &run->tap);
	if (!error)
		error = set_target(run);
	if (!error)
		error = tap__attach(run->tap, run->workload.tid, run->workload.truth_address,
				    tap__dense_period_ns());
	if (!error)
		error = workload__continue(&run->workload);
	for (int i = 0; !error && !is_complete(run); i++)
		error = i < DRAINS_MAX ? drain(run) : -ETIMEDOUT;
	tap__close(run->tap);
	end = workload__end(&run->workload);
	return error ? error : end;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 100;
}

static void check_target(void **state)
{
	const struct target *target = *state;
	struct run run = {.target = target, .wanted = samples_wanted()};
	double is, found;

	need_root();
	assert_int_equal(observe(&run), 0);
	is = percent(run.is, run.samples);
	found = percent(run.found, run.samples);
	printf("%-42s %7.2f%% %7.2f%% %+7.2f %9.2f%% %7.2f%%\n", target->name, is, found,
	       found - is, percent(run.both, run.found), percent(run.both, run.is));
	if (!run.gc.is_known)
		fail_msg("not known: %s", run.gc.how);
	assert_true(is_complete(&run));
	if (!strcmp(target->way, "nothing")) {
		assert_int_equal(run.is, 0);
		assert_int_equal(run.found, 0);
		return;
	}
	assert_true(run.is > 0);
	assert_true(found - is <= POINTS_MAX && is - found <= POINTS_MAX);
	if (is < SHARE_LEAST)
		return;
	assert_true(percent(run.both, run.found) >= RIGHT_LEAST);
	assert_true(percent(run.both, run.is) >= RIGHT_LEAST);
}

/* ---- every target there is */

#define TARGETS_MAX 512

static struct target targets[TARGETS_MAX];
static struct CMUnitTest tests[TARGETS_MAX];
static size_t target_count;

static void add(const char *program, const char *way, enum ls_family family)
{
	struct target *target = &targets[target_count];

	if (target_count == TARGETS_MAX)
		return;
	snprintf(target->name, sizeof(target->name), "%.40s %s", strrchr(program, '/') + 1, way);
	snprintf(target->program, sizeof(target->program), "%s", program);
	target->way = way;
	target->family = family;
	tests[target_count].name = target->name;
	tests[target_count].test_func = check_target;
	tests[target_count].initial_state = target;
	target_count++;
}

static void add_in_all_ways(const char *program, enum ls_family family, const char *const *ways)
{
	for (; *ways; ways++)
		add(program, *ways, family);
}

static void add_programs(const char *names, enum ls_family family, const char *const *ways)
{
	char pattern[160];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/tests/oracle/collectors/%s", output_folder(), names);
	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!strstr(found.gl_pathv[i], ".so"))
				add_in_all_ways(found.gl_pathv[i], family, ways);
	globfree(&found);
}

static void lacks_sources(void **state)
{
	(void)state;
	lacks_package("cargo");
}

int collector_runs__check(const char *names, enum ls_family family, const char *const *ways)
{
	cmocka_set_test_filter(getenv("ORACLE_RUNS"));
	setvbuf(stdout, NULL, _IOLBF, 0);
	add_programs(names, family, ways);
	if (!target_count)
		tests[target_count++] = (struct CMUnitTest)cmocka_unit_test(lacks_sources);
	printf("%-42s %8s %8s %7s %10s %8s\n", "", "is", "found", "points", "precision", "recall");
	return _cmocka_run_group_tests("collector", tests, target_count, NULL, NULL);
}
