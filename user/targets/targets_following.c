/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows what the processes do. Of a thousand, most sleep: only those that may have something to
 * handle are in a list, so that the others cost nothing.
 */
#include "targets/targets_following.h"

#include <errno.h>
#include <stdbool.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "interpreter/findings.h"
#include "process/process.h"
#include "targets/target_list.h"
#include "targets/targets_discovery.h"

void targets__sample(struct targets *targets, const struct ls_sample *sample)
{
	struct target_process *target = targets__find(targets, (pid_t)sample->tgid);

	if (!target)
		return;
	target->has_news = true;
	targets__mark_dirty(targets, target);
}

/* That of all is made of the first one's, which has changed. */
static void refresh_title(struct targets *targets, const struct target_process *target)
{
	if (target->pid == targets->first && targets->asked_for <= 1)
		targets__set_title(targets);
}

int targets__exec(struct targets *targets, const struct ls_exec *exec)
{
	struct target_process *target = targets__find(targets, (pid_t)exec->tgid);
	int error;

	if (!target)
		return 0;
	error = target_process__executes(target, exec);
	targets__mark_dirty(targets, target);
	refresh_title(targets, target);
	return error;
}

/*
 * Its CPU time was reported, so it must not be counted as missed; the next one with its id may be.
 */
static void forget_execution(struct targets *targets, const struct ls_thread_exit *exit)
{
	struct ls_execution execution;
	pid_t pid = (pid_t)exit->tgid;

	if (!sampler__execution(targets->setting.sampler, pid, &execution) &&
	    execution.program.time_ns < exit->time_ns)
		sampler__forget_execution(targets->setting.sampler, pid);
}

void targets__exit(struct targets *targets, const struct ls_thread_exit *exit)
{
	struct target_process *target = targets__find(targets, (pid_t)exit->tgid);

	if (!target)
		return;
	target->awaited_rests += exit->rest_follows;
	if (exit->tid == exit->tgid)
		target->end = *exit;
	if (!exit->is_last)
		return;
	target->has_ended = true;
	target->ended_ns = target->looked_ns = clock_ns(CLOCK_MONOTONIC);
	targets__mark_dirty(targets, target);
	if (targets->options.choice->system)
		forget_execution(targets, exit);
}

bool targets__have_charged(const struct targets *targets, const struct ls_thread_exit *exit)
{
	uint64_t key = exit->tgid;
	const uint64_t *charged_ns = generations__find(targets->charged, &key);

	return charged_ns && exit->time_ns <= *charged_ns;
}

void targets__rest(struct targets *targets, const struct ls_thread_exit *rest)
{
	struct target_process *target = targets__find(targets, (pid_t)rest->tgid);

	if (target && target->awaited_rests)
		target->awaited_rests--;
}

int targets__await_rests(struct targets *targets)
{
	struct target_process *target;
	int any = 0;

	for (target = targets->items; target; target = target->hh.next)
		any |= target->has_ended && target_process__awaits_rest(target);
	return any;
}

void targets__tell_of_survivors(const struct targets *targets)
{
	const struct target_process *target, *survivor = NULL;
	size_t count = 0;

	if (targets->asked_for || targets->options.choice->system)
		return;
	for (target = targets->items; target; target = target->hh.next) {
		if (target->has_ended || target_process__is_without_lua(target) ||
		    process__has_ended(target->pid))
			continue;
		survivor = survivor ? survivor : target;
		count++;
	}
	if (count == 1)
		log_warn("the recording ends with %s, but %s, which it started, still runs "
			 "(luaspy record -p %d)",
			 targets->items->title, survivor->title, survivor->pid);
	else if (count)
		log_warn("the recording ends with %s, but %zu processes that it started still run, "
			 "such as %s (luaspy record -p %d)",
			 targets->items->title, count, survivor->title, survivor->pid);
}

bool targets__have_lost_timers(const struct targets *targets)
{
	const struct target_process *target;

	for (target = targets->items; target; target = target->hh.next)
		if (target->has_lost_timers)
			return true;
	return false;
}

bool targets__have_unsearched(const struct targets *targets)
{
	const struct target_process *target;

	for (target = targets->items; target; target = target->hh.next)
		if (detection__is_due(target->detection))
			return true;
	return false;
}

/* The processes that are let go may be many. */
#define LETTING_GO_NS UINT64_C(20000000)

/* Drops a target, but keeps its findings and samples. */
static void let_go(struct targets *targets, struct target_process *target)
{
	uint64_t runtime_ns;

	if (targets->options.choice->system && !target->has_ended &&
	    !process__runtime_ns(target->pid, &runtime_ns)) {
		threads__end(&target->threads, target->name,
			     clock_ns(CLOCK_MONOTONIC) + LETTING_GO_NS);
		sampler__note_counted(targets->setting.sampler, target->pid, runtime_ns);
	}
	recording__complete(targets->setting.recording, target->pid, target->name, 0);
	targets__add_findings(targets, target, &targets->findings);
	targets__drop(targets, target);
}

/* Whether it stays in the list of those to follow. */
static bool is_restless(const struct targets *targets, const struct target_process *target)
{
	if (target->has_ended)
		return target->is_child || !target->ended_rounds;
	return target->threads.is_incomplete || target_process__has_news(target) ||
	       target_process__is_settling(target, targets->start_ns, clock_ns(CLOCK_MONOTONIC));
}

/*
 * 0 or -ENOMEM. A process whose threads do not all get timers is dropped and counts as missed: it
 * may have taken all files that luaspy may open.
 */
static int start_more_timers(struct targets *targets, struct target_process *target,
			     bool *is_dropped)
{
	int error = targets__start_timers(targets, target);

	*is_dropped = error && error != -ENOMEM;
	if (!*is_dropped)
		return error;
	targets->missed++;
	targets__drop(targets, target);
	return 0;
}

/* 0 or -errno. */
static int follow(struct targets *targets, struct target_process *target)
{
	bool was_labelled = target->is_labelled, is_dropped = false;
	int error = 0;

	/* The end of a thread may be reported after that of the process. */
	if (target->has_ended && target->is_child && target->ended_rounds > 1 &&
	    !target_process__awaits_rest(target)) {
		let_go(targets, target);
		return 0;
	}
	if (target->threads.is_incomplete && !target->has_ended)
		error = start_more_timers(targets, target, &is_dropped);
	if (error || is_dropped)
		return error;
	if (!target->ended_rounds && target_process__has_news(target))
		error = target_process__follow(target);
	if (error)
		return error;
	if (!was_labelled && target->is_labelled)
		refresh_title(targets, target);
	target->ended_rounds += target->has_ended;
	if (targets->options.choice->system && target_process__is_without_lua(target))
		let_go(targets, target);
	else if (!is_restless(targets, target))
		targets__mark_clean(targets, target);
	return 0;
}

/* In each round: starting timers on thousands of threads must not delay the end of an interval. */
#define STARTING_NS UINT64_C(50000000)

int targets__follow(struct targets *targets)
{
	struct target_process *target, *next;
	int error;

	targets->starting_ns = STARTING_NS;
	DL_FOREACH_SAFE(targets->dirty, target, next)
	{
		error = follow(targets, target);
		if (error)
			return error;
	}
	return targets->mappings ? targets__add_new(targets) : 0;
}

bool targets__are_settling(const struct targets *targets, uint64_t now_ns)
{
	const struct target_process *target;

	DL_FOREACH(targets->dirty, target)
	if (target_process__is_settling(target, targets->start_ns, now_ns))
		return true;
	return false;
}
