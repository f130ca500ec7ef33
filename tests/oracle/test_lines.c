/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the leaf's line right? The targets' luaV_execute publishes the address of each instruction
 * that it fetches; every sample is compared with what was published at that very instant.
 * Publishing and fetching take several machine instructions, hence the window.
 *
 * right      the line of the published instruction
 * +-1        that, or the line of one beside it
 * window     the line of the instruction that is fetched before the published one, or after it
 * jumped     pc is where the published instruction jumps to, but nothing was fetched there yet: the
 *            line is that of whatever stands before it in the code, as debug.getinfo() would say.
 *            How long a CPU stays there, of a few machine instructions, differs by a factor of two
 * WRONG      anything else
 * elsewhere  the published instruction is another function's: a call or a return is under way
 *
 * LINE_SAMPLES: how many of each run (5000). LINE_RUNS: which, as a pattern ("5.4.8-gcc *").
 */
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

#include "interpreter/layout_vote.h"
#include "interpreter/interpreters.h"
#include "puc/layout_puc.h"
#include "puc/line_table_puc.h"
#include "skip.h"
#include "tap.h"
#include "workload.h"

#define SCRIPT     "tests/oracle/target/lines.lua"
#define DRAINS_MAX 6000

enum outcome {
	OUTCOME_RIGHT,
	OUTCOME_NEAR,
	OUTCOME_WINDOW,
	OUTCOME_JUMPED,
	OUTCOME_WRONG,
	OUTCOME_ELSEWHERE,
	OUTCOME_NO_LUA_LEAF,
	OUTCOME_COUNT,
};

struct prototype {
	uint64_t address, code;
	uint32_t count;
	struct line_table *lines;
	/* By pair of instructions: how often the second was fetched after the first, and how often
	 * the product wrongly took the second for the first. */
	uint32_t *fetched, *taken;
};

#define PROTOTYPES_MAX 64

/* What a run works on; the shares of lines, in per mille, that may be wrong, and jumped. */
static const struct work {
	const char *name;
	uint64_t wrong, jumped;
} works[] = {
	{"arithmetic", 10, 10},
	{"branches", 50, 100},
	{"calls", 100, 50},
	{"helpers", 200, 50},
};

struct target {
	char name[40];
	char program[256];
	const struct work *work;
};

struct run {
	const struct target *target;
	struct tap *tap;
	struct layout_vote vote;
	struct workload workload;
	struct target_memory memory;
	struct prototype prototypes[PROTOTYPES_MAX];
	size_t prototype_count;
	uint64_t wanted, samples, unread;
	uint64_t outcomes[OUTCOME_COUNT];
};

static const struct prototype *find_prototype(struct run *run, const struct ls_puc_layout *layout,
					      uint64_t address)
{
	struct prototype *prototype;
	uint8_t header[128];

	for (size_t i = 0; i < run->prototype_count; i++)
		if (run->prototypes[i].address == address)
			return &run->prototypes[i];
	if (run->prototype_count == PROTOTYPES_MAX ||
	    target_memory__read(&run->memory, address, header, sizeof(header)))
		return NULL;
	prototype = &run->prototypes[run->prototype_count++];
	prototype->address = address;
	memcpy(&prototype->code, header + layout->proto_code, 8);
	memcpy(&prototype->count, header + layout->proto_code_count, 4);
	prototype->fetched = calloc(prototype->count * prototype->count, sizeof(uint32_t));
	prototype->taken = calloc(prototype->count * prototype->count, sizeof(uint32_t));
	assert_non_null(prototype->fetched);
	assert_non_null(prototype->taken);
	assert_int_equal(line_table_puc__read(&run->memory, layout, address, &prototype->lines), 0);
	return prototype;
}

static void free_prototypes(struct run *run)
{
	for (size_t i = 0; i < run->prototype_count; i++) {
		line_table__free(run->prototypes[i].lines);
		free(run->prototypes[i].fetched);
		free(run->prototypes[i].taken);
	}
}

static uint32_t line_at(const struct prototype *prototype, int64_t pc)
{
	return pc < 0 ? 0 : line_table__line(prototype->lines, (uint32_t)pc);
}

/* -1: not of this prototype. */
static int64_t index_of(const struct prototype *prototype, uint64_t pc)
{
	return pc >= prototype->code && pc < prototype->code + 4ULL * prototype->count
		       ? (int64_t)(pc - prototype->code) / 4
		       : -1;
}

static enum outcome compare(struct run *run, const struct truth_fetch *fetch,
			    const struct ls_sample *sample, const struct ls_frame *leaf)
{
	const struct prototype *prototype;
	int64_t now, before;
	uint32_t line;

	if (!sample->frame_count || leaf->kind != LS_FRAME_LUA || sample->error)
		return OUTCOME_NO_LUA_LEAF;
	prototype = find_prototype(run, &layouts_puc[sample->layout].offsets, leaf->function);
	assert_non_null(prototype);
	now = index_of(prototype, fetch->now);
	before = index_of(prototype, fetch->before);
	if (now < 0)
		return OUTCOME_ELSEWHERE;
	line = line_at(prototype, leaf->pc);
	if (before >= 0)
		prototype->fetched[before * prototype->count + now]++;
	if (line == line_at(prototype, now))
		return OUTCOME_RIGHT;
	if (line == line_at(prototype, now - 1) || line == line_at(prototype, now + 1))
		return OUTCOME_NEAR;
	if (line == line_at(prototype, before))
		return OUTCOME_WINDOW;
	prototype->taken[now * prototype->count + leaf->pc]++;
	return OUTCOME_WRONG;
}

/* Decides at the end, when it is known which instructions follow each one. */
static void judge_taken(struct run *run, const struct prototype *prototype)
{
	for (uint32_t now = 0; now < prototype->count; now++) {
		const uint32_t *after = &prototype->fetched[now * prototype->count];
		const uint32_t *taken = &prototype->taken[now * prototype->count];

		for (uint32_t pc = 0; pc < prototype->count; pc++) {
			enum outcome outcome = OUTCOME_WRONG;

			if (after[pc])
				outcome = OUTCOME_WINDOW;
			else if (pc + 1 < prototype->count && after[pc + 1])
				outcome = OUTCOME_JUMPED;
			run->outcomes[OUTCOME_WRONG] -= taken[pc];
			run->outcomes[outcome] += taken[pc];
		}
	}
}

static int on_pair(void *context, const struct truth_record *record, const struct ls_sample *sample,
		   const struct ls_frame *frames)
{
	struct run *run = context;

	layout_vote__add(&run->vote, sample);
	if (run->samples == run->wanted || !run->vote.is_decided)
		return 0;
	run->samples++;
	run->unread += !record->fetch.is_read;
	run->outcomes[compare(run, &record->fetch, sample, frames)]++;
	return 0;
}

/* Sets all layouts that can be told apart. */
static int set_candidates(struct run *run)
{
	struct ls_image target = {.families = 1U << LS_FAMILY_PUC};

	target.candidates[LS_FAMILY_PUC].layouts = families__get(LS_FAMILY_PUC)->distinct_layouts();
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

static int observe(struct run *run)
{
	struct tap_receiver receiver = {.context = run, .pair = on_pair};
	int error, end;

	error = workload__start(run->target->program, "", SCRIPT, run->target->work->name,
				&run->workload);
	if (error)
		return error;
	run->memory.pid = run->workload.pid;
	error = tap__open(512, &receiver, &run->tap);
	if (!error)
		error = set_candidates(run);
	if (!error) {
		tap__set_fetches(run->tap, run->workload.truth_address);
		error = tap__attach(run->tap, run->workload.tid, 0, tap__dense_period_ns());
	}
	if (!error)
		error = workload__continue(&run->workload);
	if (!error)
		error = collect(run);
	tap__close(run->tap);
	end = workload__end(&run->workload);
	return error ? error : end;
}

static void print_header(void)
{
	printf("%-24s %8s %9s %9s %9s %9s %9s %9s %9s\n", "", "samples", "lua leaf", "right", "+-1",
	       "window", "jumped", "WRONG", "elsewhere");
}

static void print_run(const struct run *run)
{
	const uint64_t *n = run->outcomes;
	uint64_t leaves = run->samples - n[OUTCOME_NO_LUA_LEAF];
	uint64_t known = leaves - n[OUTCOME_ELSEWHERE];
	double share = known ? 100.0 / known : 0;

	printf("%-24s %8" PRIu64 " %9" PRIu64 " %8.3f%% %8.3f%% %8.3f%% %8.3f%% %8.3f%% %8.3f%%\n",
	       run->target->name, run->samples, leaves, share * n[OUTCOME_RIGHT],
	       share * (n[OUTCOME_RIGHT] + n[OUTCOME_NEAR]), share * n[OUTCOME_WINDOW],
	       share * n[OUTCOME_JUMPED], share * n[OUTCOME_WRONG],
	       leaves ? 100.0 * n[OUTCOME_ELSEWHERE] / leaves : 0);
}

/*
 * The limit of a target's work. In 5.4.8-small, luaV_execute calls a function to compare two
 * floats, which keeps pc on its stack, so an older pc in another register is taken for it. How
 * often the timer interrupts that function depends on the CPU: in less than 5% of the samples on
 * one, in 12% on another.
 */
static uint64_t wrong_at_most(const struct target *target)
{
	return strcmp(target->name, "5.4.8-small branches") == 0 ? 150 : target->work->wrong;
}

static void check_target(void **state)
{
	const struct target *target = *state;
	const char *wanted = getenv("LINE_SAMPLES");
	struct run run = {
		.target = target, .vote = {.family = families__get(LS_FAMILY_PUC)}, .wanted = 5000};
	uint64_t known;
	int error;

	need_root();
	if (wanted && *wanted)
		run.wanted = strtoull(wanted, NULL, 10);
	error = observe(&run);
	for (size_t i = 0; i < run.prototype_count; i++)
		judge_taken(&run, &run.prototypes[i]);
	free_prototypes(&run);
	print_run(&run);
	assert_int_equal(error, 0);
	assert_int_equal(run.samples, run.wanted);
	assert_int_equal(run.unread, 0);
	known = run.samples - run.outcomes[OUTCOME_NO_LUA_LEAF] - run.outcomes[OUTCOME_ELSEWHERE];
	assert_in_range(known, run.samples / 4, run.samples);
	assert_in_range(run.outcomes[OUTCOME_WRONG] * 1000, 0, known * wrong_at_most(target));
	assert_in_range(run.outcomes[OUTCOME_JUMPED] * 1000, 0, known * target->work->jumped);
}

static void lacks_sources(void **state)
{
	(void)state;
	skip_because("no sources of Lua (see tests/hosts/sources.sh)");
}

#define TARGETS_MAX 128

static struct target targets[TARGETS_MAX];
static struct CMUnitTest tests[TARGETS_MAX];
static size_t target_count;

static void add(const char *program, const struct work *work)
{
	struct target *target = &targets[target_count];

	if (target_count == TARGETS_MAX)
		return;
	snprintf(target->name, sizeof(target->name), "%.24s %s", strrchr(program, '/') + 1,
		 work->name);
	snprintf(target->program, sizeof(target->program), "%s", program);
	target->work = work;
	tests[target_count].name = target->name;
	tests[target_count].test_func = check_target;
	tests[target_count].initial_state = target;
	target_count++;
}

static void add_targets(void)
{
	const char *folder = getenv("OUTPUT");
	char pattern[160];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/tests/oracle/lines/*",
		 folder && *folder ? folder : ".output");
	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		for (size_t j = 0; j < sizeof(works) / sizeof(works[0]); j++)
			add(found.gl_pathv[i], &works[j]);
	globfree(&found);
}

int main(void)
{
	cmocka_set_test_filter(getenv("LINE_RUNS"));
	setvbuf(stdout, NULL, _IOLBF, 0);
	add_targets();
	if (!target_count)
		tests[target_count++] = (struct CMUnitTest)cmocka_unit_test(lacks_sources);
	print_header();
	return _cmocka_run_group_tests("lines", tests, target_count, NULL, NULL);
}
