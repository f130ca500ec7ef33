/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the stack right? Targets publish their true stack (truth.h); every sample in which the product
 * walks is compared with what was published at that very instant. None is left out.
 *
 * Each interpreter runs twice. Steady: functions idle between transitions, as programs mostly do,
 * so that nearly every sample has one right answer. They idle long, because beside other programs
 * up to four times as many samples fall into a transition. Hasty: as many transitions as possible,
 * where half of the samples fall into one; there any stack that the transition passes through is
 * right. That finds what a transition makes the walker believe, thousands of times as often as in
 * programs that do anything else. Cut: the deepest stacks do not fit; all that happens is
 * recursion. Growing: hasty, and all that happens is that stacks are moved. Blind: growing, with a
 * walker that does not know how stacks move from 5.4.5 on, to prove that the test would notice.
 * Old: hasty, by the programs for kernels before 6.1.
 *
 * ORACLE_SAMPLES: how many of each run (6000; steady, 18000, for as many transitions). ORACLE_RUNS:
 * which, as a pattern ("lua5.4 *"). ORACLE_ONLY_WRONG: if set and not empty, a run may have any
 * number of samples in windows, since an emulated machine is interrupted at other places than a
 * real one, and functions idle less, since it is slow.
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
#include "interpreter/layout_vote.h"
#include "interpreter/interpreters.h"
#include "oracle_runs.h"
#include "skip.h"
#include "tap.h"
#include "workload.h"

#define SCRIPT           "tests/oracle/target/workload.lua"
#define WINDOW_PER_MILLE 8
#define BLIND_PER_MILLE  10  /* samples that a blind walker loses at least */
#define TORN_PER_MILLE   3   /* samples of LuaJIT and Luau, however hasty */
#define CUT_PER_MILLE    300 /* samples that are truncated at least, where stacks are to be cut */
#define SHOWN_MAX        10
#define MISFITS_MAX      8     /* then a layout is derived, as in the product */
#define DRAINS_MAX       30000 /* of 10 ms and more */

/* Of all runs of a class that pass for steady, and of those that pass for hasty. */
static struct {
	uint64_t outcomes[OUTCOME_COUNT];
} totals[LS_FAMILY_COUNT][LS_LAYOUT_MAX][2];

struct run {
	const struct target *target;
	struct tap *tap;
	struct functions_sent *definitions;
	struct layout_vote vote;
	struct workload workload;
	struct tap_losses losses;
	uint64_t wanted, samples, unread, pending;
	uint64_t shown[OUTCOME_COUNT];
	uint64_t outcomes[OUTCOME_COUNT];
};

/* With few samples, chance decides if a share is close to TORN_PER_MILLE: Luau's hasty one is 2. */
static uint64_t samples_wanted(const struct target *target)
{
	const char *text = getenv("ORACLE_SAMPLES");

	if (text && *text)
		return strtoull(text, NULL, 10);
	if (target->family == LS_FAMILY_LUAU && target->pace == HASTY)
		return 22500;
	return oracle_paces[target->pace].samples;
}

static const char *argument_of(enum pace pace)
{
	const char *slow = oracle_paces[pace].slow_machines_argument;

	return slow && tap__is_emulated() ? slow : oracle_paces[pace].argument;
}

/* Where functions idle, they must do so for longer than samples are apart. */
static uint64_t period_ns(enum pace pace)
{
	return pace == STEADY || pace == CUT ? TAP_PERIOD_NS : tap__dense_period_ns();
}

static int on_function(void *context, const struct ls_function *function)
{
	return functions_sent__add(((struct run *)context)->definitions, function);
}

static int on_pair(void *context, const struct truth_record *record, const struct ls_sample *sample,
		   const struct ls_frame *frames)
{
	struct run *run = context;
	enum outcome outcome;

	if (run->samples == run->wanted)
		return 0;
	run->samples++;
	if (!record->is_read || record->truth.magic != TRUTH_MAGIC) {
		run->unread++;
		return 0;
	}
	layout_vote__add(&run->vote, sample);
	outcome = compare(&record->truth, run->definitions, sample, frames);
	run->outcomes[outcome]++;
	run->pending += record->truth.state.alternatives > 0;
	if (outcome >= OUTCOME_UNREADABLE && run->target->pace != BLIND &&
	    run->shown[outcome] < SHOWN_MAX) {
		run->shown[outcome]++;
		printf("%s: ", run->target->name);
		describe(stdout, record, run->definitions, sample, frames);
	}
	return 0;
}

/* Candidates as the product finds them. */
static int set_candidates(struct run *run)
{
	enum ls_family family = run->target->family;
	struct ls_image target = {.families = 1U << family};
	struct interpreters found;
	int error = workload__find(&run->workload, &found);

	if (error)
		return error;
	if (!found.count)
		return -ENOENT; /* it has ended */
	target.candidates[family].layouts = found.items[0].file.layouts;
	interpreters__put_code(&found, &target);
	interpreters__free(&found);
	return tap__set_target(run->tap, run->workload.pid, &target);
}

/* Like the product, derives the layout if none fits; the samples until then do not count. */
static int derive_layout(struct run *run)
{
	const struct family *family = run->vote.family;
	struct target_memory memory = {.pid = run->workload.pid};
	struct ls_image target = {.families = 1U << family->id};
	_Alignas(8) uint8_t offsets[LAYOUT_OFFSETS_MAX];
	char reason[160];
	int slot;

	if (family->calibrate(&memory, run->vote.misfit_state, offsets, reason, sizeof(reason)))
		return 0; /* the program goes on: the next try is not far */
	slot = family->add_layout(offsets);
	if (slot < 0)
		return slot;
	run->vote = (struct layout_vote){.family = family, .candidates = (uint16_t)(1U << slot)};
	run->samples = 0;
	memset(run->shown, 0, sizeof(run->shown));
	memset(run->outcomes, 0, sizeof(run->outcomes));
	target.candidates[family->id].layouts = run->vote.candidates;
	return tap__set_target(run->tap, run->workload.pid, &target);
}

static int collect(struct run *run)
{
	int error = 0;

	for (int i = 0; !error && run->samples < run->wanted; i++) {
		error = i < DRAINS_MAX
				? tap__drain_deciding(run->tap, run->workload.pid, &run->vote)
				: -ETIMEDOUT;
		if (!error && run->vote.family->calibrate && run->vote.misfits >= MISFITS_MAX)
			error = derive_layout(run);
	}
	return error;
}

static int observe(struct run *run)
{
	struct tap_receiver receiver = {.context = run, .pair = on_pair, .function = on_function};
	const struct target *target = run->target;
	int error, end;

	error = workload__start(target->program, target->modules, SCRIPT, argument_of(target->pace),
				&run->workload);
	if (error)
		return error;
	error = (target->pace == OLD ? tap__open_old : tap__open)(
		oracle_paces[target->pace].max_depth, &receiver, &run->tap);
	if (!error)
		error = set_candidates(run);
	if (!error && target->pace == BLIND)
		error = tap__forget_relocation(run->tap);
	if (!error)
		error = tap__attach(run->tap, run->workload.tid, run->workload.truth_address,
				    period_ns(target->pace));
	if (!error)
		error = workload__continue(&run->workload);
	if (!error)
		error = collect(run);
	if (run->tap)
		tap__losses(run->tap, &run->losses);
	tap__close(run->tap);
	end = workload__end(&run->workload);
	return error ? error : end;
}

static void print_header(void)
{
	printf("%-22s %8s %8s %8s %7s %6s %6s %6s %6s %6s %6s\n", "", "samples", "right", "pending",
	       "window", "torn", "trunc", "unread", "host", "WRONG", "lost");
}

static void print_run(const struct run *run)
{
	const uint64_t *n = run->outcomes;
	double share = run->samples ? 100.0 / run->samples : 0;

	printf("%-22s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %7" PRIu64 " %6" PRIu64 " %6" PRIu64
	       " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 "\n",
	       run->target->name, run->samples, n[OUTCOME_RIGHT], run->pending, n[OUTCOME_WINDOW],
	       n[OUTCOME_TORN], n[OUTCOME_TRUNCATED], n[OUTCOME_UNREADABLE], n[OUTCOME_HOST],
	       n[OUTCOME_WRONG], run->losses.samples + run->losses.truths);
	printf("%-22s %8s %7.3f%% %7.3f%% %6.3f%% %5.3f%% %5.2f%% %5.3f%% %5.3f%% %5.3f%%\n", "",
	       "", share * n[OUTCOME_RIGHT], share * run->pending, share * n[OUTCOME_WINDOW],
	       share * n[OUTCOME_TORN], share * n[OUTCOME_TRUNCATED], share * n[OUTCOME_UNREADABLE],
	       share * n[OUTCOME_HOST], share * n[OUTCOME_WRONG]);
}

static void add_to_totals(const struct run *run)
{
	bool is_hasty = run->target->pace != STEADY && run->target->pace != CUT;

	if (!run->vote.is_decided || run->target->pace == BLIND)
		return;
	for (int i = 0; i < OUTCOME_COUNT; i++)
		totals[run->target->family][run->vote.layout][is_hasty].outcomes[i] +=
			run->outcomes[i];
}

static void print_total(enum ls_family family, uint32_t slot, bool is_hasty)
{
	const uint64_t *n = totals[family][slot][is_hasty].outcomes;
	uint64_t all = 0;

	for (int i = 0; i < OUTCOME_COUNT; i++)
		all += n[i];
	if (!all)
		return;
	printf("%-12s %6s %9" PRIu64 " %8.4f%% %7.4f%% %7.4f%% %7.4f%% %7.4f%% %6" PRIu64 "\n",
	       families__get(family)->layout_name(slot), is_hasty ? "hasty" : "steady", all,
	       100.0 * n[OUTCOME_RIGHT] / all, 100.0 * n[OUTCOME_WINDOW] / all,
	       100.0 * n[OUTCOME_TORN] / all, 100.0 * n[OUTCOME_TRUNCATED] / all,
	       100.0 * n[OUTCOME_UNREADABLE] / all, n[OUTCOME_WRONG]);
}

static void print_totals(void)
{
	printf("\n%-19s %9s %9s %8s %8s %8s %8s %6s\n", "", "samples", "right", "window", "torn",
	       "trunc", "unread", "WRONG");
	for (uint32_t family = 0; family < LS_FAMILY_COUNT; family++)
		for (uint32_t i = 0; i < 2 * LS_LAYOUT_MAX; i++)
			print_total(family, i / 2, i % 2);
}

static void check_outcomes(const struct run *run)
{
	const uint64_t *n = run->outcomes;

	if (run->target->pace == BLIND) {
		assert_in_range(n[OUTCOME_TORN] + n[OUTCOME_UNREADABLE],
				run->samples * BLIND_PER_MILLE / 1000, run->samples);
		return;
	}
	assert_int_equal(n[OUTCOME_HOST], 0);
	assert_int_equal(n[OUTCOME_WRONG], 0);
	if (run->target->pace == CUT)
		assert_in_range(n[OUTCOME_TRUNCATED] * 1000, run->samples * CUT_PER_MILLE,
				run->samples * 1000);
	if (tap__is_emulated())
		return;
	if (run->target->family != LS_FAMILY_PUC && run->target->pace != RETURNING)
		assert_in_range(n[OUTCOME_TORN] * 1000, 0, run->samples * TORN_PER_MILLE);
	if (run->target->pace == STEADY || run->target->pace == CUT)
		assert_in_range(n[OUTCOME_WINDOW] * 1000, 0, run->samples * WINDOW_PER_MILLE);
}

static void check(const struct target *target)
{
	struct run run = {.target = target,
			  .vote = {.family = families__get(target->family)},
			  .wanted = samples_wanted(target)};
	int error;

	run.definitions = functions_sent__new();
	assert_non_null(run.definitions);
	error = observe(&run);
	functions_sent__free(run.definitions);
	print_run(&run);
	add_to_totals(&run);
	assert_int_equal(error, 0);
	assert_int_equal(run.samples, run.wanted);
	assert_int_equal(run.unread, 0);
	assert_int_equal(run.vote.is_decided, 1);
	check_outcomes(&run);
}

static bool has_module(const struct target *target)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/oracle.so", target->modules);
	return !*target->modules || !access(path, R_OK);
}

static void check_target(void **state)
{
	const struct target *target = *state;

	need_root();
	if (target->is_built)
		need_host(target->program);
	if (!has_program(target->program) || !has_module(target))
		lacks_package("lua5.x, or liblua5.x-dev,");
	check(target);
}

int main(void)
{
	static struct CMUnitTest tests[ORACLE_RUNS_MAX];
	const struct target *targets;
	size_t count;
	int failed;

	cmocka_set_test_filter(getenv("ORACLE_RUNS"));
	setvbuf(stdout, NULL, _IOLBF, 0);
	targets = oracle_runs__all(&count);
	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){.name = targets[i].name,
					       .test_func = check_target,
					       .initial_state = (void *)&targets[i]};
	print_header();
	failed = _cmocka_run_group_tests("oracle", tests, count, NULL, NULL);
	print_totals();
	return failed;
}
