/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "interpreter/detection.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "interpreter/calibration.h"
#include "interpreter/detection_text.h"
#include "process/process.h"
#include "system/privileges.h"
#include "system/resource_limits.h"

/*
 * After LAYOUT_VOTE_MISFITS samples that fit no candidate layout, and this much of their time, all
 * layouts are tried; after as much again, the Lua is refused. The time lets a C coroutine whose
 * stack cannot be told from others finish its turn.
 */
#define MISFIT_NS_MAX 100000000ULL

/* Of every ROUNDS rounds of samples without script, the last is tried with all layouts. */
#define ROUNDS        8
#define ROUND_SAMPLES 64

#define NOTICE_NS         200000000ULL
#define EAGER_NS          2000000000ULL
#define EAGER_INTERVAL_NS 4000000ULL

struct detection {
	struct detection_options options;
	struct interpreters interpreters;
	struct detection_text text;
	uint64_t looked_ns;  /* when detection__run() was called last */
	uint64_t noticed_ns; /* when new mappings were last looked for */
	uint64_t pages;      /* that were mapped when files were last inspected */
	uint64_t
		requested_pages; /* when an inspection was requested that is not over; 0: none is */
	uint16_t announced[LS_FAMILY_COUNT]; /* bit per layout */
	bool tries_all;                      /* all layouts are candidates */
	bool is_refused;                     /* and that was logged */
	bool has_told_absence;               /* of any interpreter, whatever it executes next */
	uint32_t changes;                    /* of the interpreters */
	struct calibration calibration;
};

struct detection *detection__new(const struct detection_options *options)
{
	struct detection *detection = calloc(1, sizeof(*detection));

	if (detection)
		detection->options = *options;
	return detection;
}

void detection__free(struct detection *detection)
{
	if (!detection)
		return;
	interpreters__free(&detection->interpreters);
	free(detection);
}

static const char *purpose_of(const struct detection *detection)
{
	return detection->options.is_for_dump ? "dump" : "profile";
}

/* Kernel threads have no memory, and a process loses its own before it has ended. */
static bool has_no_memory(pid_t pid)
{
	uint64_t pages;

	return !process__mapped_pages(pid, &pages) && !pages;
}

static int explain(const struct detection *detection, const char *target, int error)
{
	const struct interpreters *found = &detection->interpreters;
	const char *purpose = purpose_of(detection);
	char remedy[PRIVILEGES_REMEDY_SIZE];

	if (!error && found->count)
		log_error("cannot %s %s: it runs %s, which is not supported", purpose, target,
			  found->items[0].file.family->name);
	else if (!error && process__has_ended(detection->options.pid))
		log_error("cannot %s %s: it has ended", purpose, target);
	else if (!error && has_no_memory(detection->options.pid))
		log_error("cannot %s %s: it has no memory: it is a kernel thread, or it is exiting",
			  purpose, target);
	else if (!error)
		log_error("cannot %s %s: no interpreter in any of its files%s", purpose, target,
			  detection->options.is_for_dump ? "" : " (--wait waits for one)");
	else if (error == -ENOTSUP)
		log_error("cannot %s %s: not a 64-bit process of this machine", purpose, target);
	else if (error == -EACCES || error == -EPERM)
		log_error("cannot inspect %s: permission denied (%s)", target,
			  privileges__remedy("CAP_SYS_PTRACE", remedy));
	else if (error == -EOWNERDEAD)
		log_error("cannot inspect %s: its mapped files cannot be read", target);
	else if (error == -EFBIG)
		log_error("cannot inspect %s: a mapped file has more data than luaspy reads",
			  target);
	else
		log_error("cannot inspect %s: %s", target, resource_limits__reason(error));
	return error && error != -ENOTSUP ? error : -ENOENT;
}

/* Collects what there is, and logs what was not there before. */
static void tell(struct detection *detection, const struct interpreters *before, const char *target)
{
	detection_text__tell(&detection->text, &detection->interpreters, before,
			     detection->options.announced, target);
}

/* A child may have no Lua, like most, or be of a kind that can have none: that is no error. */
static int look_at_child(struct detection *detection, const char *target, int error)
{
	const struct interpreters nothing = {};

	if (error == -ENOMEM)
		return error;
	if (error)
		log_debug("cannot inspect %s: %s", target, resource_limits__reason(error));
	else
		tell(detection, &nothing, target);
	return 0;
}

/*
 * Inspects the files of the process, which has mapped so many pages. An inspector that is slow
 * answers a later call with what it read for an earlier one: a process may have executed or loaded
 * an interpreter since, so the pages that count are those of the first call.
 */
static int inspect(struct detection *detection, uint64_t pages, struct interpreters *found)
{
	const struct detection_options *options = &detection->options;
	int error;

	if (!detection->requested_pages)
		detection->requested_pages = pages;
	error = inspector__interpreters(options->inspector, options->pid, found);
	if (inspector__is_later(error))
		return -EAGAIN;
	detection->pages = detection->requested_pages;
	detection->requested_pages = 0;
	return error;
}

int detection__run(struct detection *detection, const char *target)
{
	const struct detection_options *options = &detection->options;
	struct interpreters nothing = {};
	uint64_t pages;
	int error;

	interpreters__free(&detection->interpreters);
	memset(detection->announced, 0, sizeof(detection->announced));
	detection->tries_all = false;
	detection->calibration = (struct calibration){};
	detection->noticed_ns = 0;
	detection->changes++;
	detection->looked_ns = clock_ns(CLOCK_MONOTONIC);
	if (process__mapped_pages(options->pid, &pages))
		pages = 0;
	error = inspect(detection, pages, &detection->interpreters);
	if (error == -EAGAIN) {
		detection->pages = 0;
		return error;
	}
	if (options->is_child)
		return look_at_child(detection, target, error);
	if (error || (!detection->interpreters.profiled && !options->layout && !options->waits))
		return explain(detection, target, error);
	tell(detection, &nothing, target);
	if (!detection->interpreters.count && !detection->has_told_absence)
		log_info("%s: no interpreter in any of its files so far", target);
	detection->has_told_absence |= !detection->interpreters.count;
	return 0;
}

/* An interpreter that is not profiled has no layouts, so it gets no vote. */
static void expect(struct layout_votes *votes, const struct interpreter *interpreter)
{
	const struct family *family = interpreter->file.family;
	uint16_t layouts = interpreter->file.layouts;

	/* The worker, which has named the candidates, does not know what was derived since. */
	if (layouts && family->calibrate)
		layouts |= family__layouts(family);
	layout_votes__expect(votes, family, layouts);
}

void detection__begin(struct detection *detection, struct layout_votes *votes)
{
	const struct interpreters *found = &detection->interpreters;
	const char *forced = detection->options.layout;

	struct layout layout;

	if (forced && !layout__find(forced, &layout)) {
		votes->count = 1;
		votes->items[0] = (struct layout_vote){.family = layout.family,
						       .candidates = (uint16_t)(1U << layout.slot),
						       .decided = (uint16_t)(1U << layout.slot),
						       .layout = layout.slot,
						       .is_forced = true};
		return;
	}
	for (size_t i = 0; i < found->count; i++)
		expect(votes, &found->items[i]);
}

/* A program that has just begun is about to load its libraries, and may not run for long. */
static uint64_t notice_interval_ns(const struct detection *detection, uint64_t now)
{
	return !detection->interpreters.profiled && now - detection->looked_ns < EAGER_NS
		       ? EAGER_INTERVAL_NS
		       : NOTICE_NS;
}

bool detection__notice(struct detection *detection, struct layout_votes *votes, const char *target)
{
	struct interpreters before = detection->interpreters, found;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), pages;
	int error;

	if (now - detection->noticed_ns < notice_interval_ns(detection, now))
		return false;
	detection->noticed_ns = now;
	/* A process that has ended has no pages; that says nothing about what it was. */
	if (process__mapped_pages(detection->options.pid, &pages) || !pages ||
	    pages == detection->pages)
		return true;
	error = inspect(detection, pages, &found);
	if (error == -EAGAIN)
		return false;
	if (error)
		return true;
	if (interpreters__are_equal(&before, &found)) {
		interpreters__free(&found);
		return detection->pages == pages;
	}
	detection->interpreters = found;
	detection->changes++;
	tell(detection, &before, target);
	for (size_t i = 0; i < found.count && !detection->options.layout; i++)
		if (!interpreters__contain(&before, found.items[i].path))
			expect(votes, &found.items[i]);
	interpreters__free(&before);
	return detection->pages == pages;
}

uint32_t detection__changes(const struct detection *detection)
{
	return detection->changes;
}

static int refuse(struct detection *detection, const struct layout_vote *vote, const char *target)
{
	const char *reason = detection->calibration.reason;
	char score[512];

	if (detection->is_refused)
		return -ENOENT;
	detection->is_refused = true;
	layout_vote__score(vote, score, sizeof(score));
	log_error("cannot %s %s: an unknown or modified interpreter%s: %s%s%s",
		  purpose_of(detection), target,
		  vote->is_contradicted ? ", which several layouts fit" : "", score,
		  *reason ? "; its own cannot be derived: " : "", reason);
	return -ENOENT;
}

static bool is_hopeless(const struct layout_vote *vote)
{
	return vote->misfits >= LAYOUT_VOTE_MISFITS && vote->misfit_ns >= MISFIT_NS_MAX;
}

/*
 * Without evidence, makes all layouts candidates, because files may lie: permanently if script fits
 * none of the layouts that files name, for one round in ROUNDS if no script is found. 1: not even
 * all layouts helped.
 */
static int widen(struct detection *detection, struct layout_vote *vote, const char *target)
{
	uint64_t round = vote->hosts / ROUND_SAMPLES % ROUNDS;

	if (layout_vote__has_evidence(vote) || vote->is_forced)
		return 0;
	if (detection->tries_all)
		return is_hopeless(vote);
	if (is_hopeless(vote)) {
		detection->tries_all = true;
		vote->misfits = vote->unsure = 0;
		vote->misfit_ns = 0;
		if (vote->named != family__layouts(vote->family))
			log_warn("%s: no layout of the release that the file names fits; trying "
				 "all layouts",
				 target);
	}
	vote->candidates = vote->named;
	if (detection->tries_all || round == ROUNDS - 1)
		vote->candidates |= vote->family->distinct_layouts();
	return 0;
}

/* Marks the decided layouts as announced. True: some of them were not. */
static bool announce(uint16_t announced[LS_FAMILY_COUNT], const struct layout_votes *votes)
{
	bool is_new = false;

	for (size_t i = 0; i < votes->count; i++) {
		const struct layout_vote *vote = &votes->items[i];

		is_new |= vote->decided & ~announced[vote->family->id];
		announced[vote->family->id] |= vote->decided;
	}
	return is_new;
}

/* The line before has named the only process. */
static void tell_layouts(struct detection *detection, const struct layout_votes *votes,
			 const char *target)
{
	struct announced *announced = detection->options.announced;
	char text[512];

	if (detection->options.layout || !announce(detection->announced, votes) ||
	    (announced && !announce(announced->layouts, votes)))
		return;
	layout_votes__describe(votes, text, sizeof(text));
	log_info("%s%slayout %s", announced ? target : "", announced ? ": " : "", text);
}

static bool calibrate(struct detection *detection, struct layout_votes *votes, bool is_last,
		      const char *target)
{
	return calibration__try(&detection->calibration, detection->options.inspector,
				detection->options.pid, votes, is_last, target);
}

bool detection__calibrate(struct detection *detection, struct layout_votes *votes,
			  const char *target)
{
	return calibrate(detection, votes, true, target);
}

/* Logs each decision once. If nothing fits, tries all layouts, then refuses the Lua. */
int detection__settle(struct detection *detection, struct layout_votes *votes, const char *target)
{
	bool is_decided = false;

	for (size_t i = 0; i < votes->count; i++) {
		const struct layout_vote *vote = &votes->items[i];

		if (vote->is_contradicted)
			return refuse(detection, vote, target);
		is_decided |= vote->decided != 0;
	}
	tell_layouts(detection, votes, target);
	if (calibrate(detection, votes, false, target))
		return 0;
	for (size_t i = 0; i < votes->count && !is_decided; i++)
		if (widen(detection, &votes->items[i], target))
			return refuse(detection, &votes->items[i], target);
	return 0;
}

int detection__end(struct detection *detection, const struct layout_votes *votes,
		   const char *target)
{
	const struct layout_vote *misfit = NULL;

	for (size_t i = 0; i < votes->count; i++) {
		const struct layout_vote *vote = &votes->items[i];

		if (vote->is_contradicted)
			return refuse(detection, vote, target);
		if (layout_vote__has_evidence(vote) || vote->is_forced)
			return 0;
		if (vote->misfits)
			misfit = vote;
	}
	return misfit ? refuse(detection, misfit, target) : 0;
}

void detection__candidates(const struct layout_votes *votes,
			   struct ls_candidates candidates[LS_FAMILY_COUNT])
{
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		candidates[id] = (struct ls_candidates){
			.layouts = layout_votes__to_try(votes, families__get(id)),
			.decided = layout_votes__decided(votes, families__get(id)),
		};
}

void detection__target(const struct detection *detection, const struct layout_votes *votes,
		       struct ls_image *target)
{
	*target = (struct ls_image){};
	detection__candidates(votes, target->candidates);
	families__choose(target);
	interpreters__put_code(&detection->interpreters, target);
}

bool detection__is_due(const struct detection *detection)
{
	return detection->requested_pages != 0;
}

bool detection__is_like(const struct detection *one, const struct detection *other)
{
	return interpreters__are_equal(&one->interpreters, &other->interpreters);
}

const char *detection__found(const struct detection *detection)
{
	return detection->text.found[0] ? detection->text.found : NULL;
}

const char *detection__unsupported(const struct detection *detection)
{
	const struct interpreters *found = &detection->interpreters;

	if (!found->count || found->profiled || detection->options.layout)
		return NULL;
	return found->items[0].file.family->name;
}

const char *detection__gc(const struct detection *detection)
{
	return detection->text.gc[0] ? detection->text.gc : NULL;
}

const char *detection__gc_unknown(const struct detection *detection)
{
	return detection->text.gc_unknown[0] ? detection->text.gc_unknown : NULL;
}
