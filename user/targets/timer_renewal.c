/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replaces inherited timers by timers of the threads' own. */
#include "targets/timer_renewal.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "targets/target_list.h"

#define ROUNDS_MAX 100 /* for a target that does nothing but fork */

static struct timers *timers_of(const struct targets *targets)
{
	return sampler__timers(targets->setting.sampler);
}

/* Ends the old timers or, if `error` is set, restores them. 0 or -ENOMEM. */
static int finish(struct targets *targets, pid_t pid, int error)
{
	if (!error) {
		timers__drop_aside(timers_of(targets));
		return 0;
	}
	log_debug("inherited timers keep their periods: %s", strerror(-error));
	error = timers__take_back(timers_of(targets), pid);
	if (error)
		log_error("out of memory: the recording ends here");
	return error;
}

static int any_inherited(const struct targets *targets)
{
	const struct target_process *target;

	for (target = targets->items; target; target = target->hh.next)
		if (!target->has_ended && threads__have_inherited(&target->threads))
			return 1;
	return 0;
}

static int attach_all(const struct targets *targets)
{
	const struct target_process *target;
	int error = 0;

	for (target = targets->items; target && !error; target = target->hh.next)
		if (!target->has_ended)
			error = threads__attach_again(&target->threads);
	return error;
}

/*
 * A process inherits its parent's timers, and the inherited ones end with the parent's. A process
 * that was forked a moment ago is known after the drain; one that is forked by a thread with new
 * timers inherits those.
 */
static int renew_all(struct targets *targets, int (*drain)(void *context), void *context)
{
	int error, drain_error = 0, rounds = 0;
	unsigned known;

	if (!any_inherited(targets))
		return 0;
	timers__set_aside(timers_of(targets), 0);
	do {
		known = HASH_COUNT(targets->items);
		error = attach_all(targets);
		if (!error)
			drain_error = drain(context);
	} while (!error && !drain_error && HASH_COUNT(targets->items) > known &&
		 ++rounds < ROUNDS_MAX);
	error = finish(targets, 0, error);
	return drain_error ? drain_error : error;
}

int targets__renew_timers(struct targets *targets, int (*drain)(void *context), void *context)
{
	struct target_process *target;
	int error = 0;

	if (targets->options.choice->children)
		return renew_all(targets, drain, context);
	for (target = targets->items; target && !error; target = target->hh.next) {
		/* Threads without timers are not in the recording yet, and begin with new ones. */
		if (target->has_ended || target->threads.is_incomplete ||
		    !threads__have_inherited(&target->threads))
			continue;
		timers__set_aside(timers_of(targets), target->pid);
		error = threads__attach_again(&target->threads);
		error = finish(targets, target->pid, error);
	}
	return error;
}
