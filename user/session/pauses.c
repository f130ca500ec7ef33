/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/pauses.h"

#include <stdbool.h>

#include "base/clock.h"
#include "base/log.h"

void pauses__start(struct pauses *pauses, struct targets *targets, uint64_t start_ns)
{
	pauses->targets = targets;
	pauses->start_ns = start_ns;
	pauses->pause_ns = start_ns;
	if (targets__are_paused(targets))
		events__add(&pauses->events, 0, "pause", NULL);
}

void pauses__restart(struct pauses *pauses, uint64_t start_ns)
{
	events__free(&pauses->events);
	pauses->paused_ns = 0;
	pauses__start(pauses, pauses->targets, start_ns);
}

void pauses__note(struct pauses *pauses, const char *kind, const char *text)
{
	events__add(&pauses->events, clock_ns(CLOCK_MONOTONIC) - pauses->start_ns, kind, text);
}

/* The second drain receives the ends of threads that ended after the first. */
static int pause_all(struct pauses *pauses, int (*drain)(void *context), void *context)
{
	int error;

	targets__switch(pauses->targets, 0);
	pauses->pause_ns = clock_ns(CLOCK_MONOTONIC);
	pauses__note(pauses, "pause", NULL);
	error = drain(context);
	if (!error)
		error = targets__pause(pauses->targets);
	if (!error)
		error = drain(context);
	log_debug("paused");
	return error;
}

int pauses__set(struct pauses *pauses, bool is_paused, int (*drain)(void *context), void *context)
{
	int error;

	if (is_paused == targets__are_paused(pauses->targets))
		return 0;
	pauses->has_switched = true;
	if (is_paused)
		return pause_all(pauses, drain, context);
	pauses->paused_ns += clock_ns(CLOCK_MONOTONIC) - pauses->pause_ns;
	pauses__note(pauses, "resume", NULL);
	error = targets__resume(pauses->targets);
	log_debug("resumed");
	return error;
}

void pauses__confirm(struct pauses *pauses)
{
	if (pauses->has_switched)
		targets__switch(pauses->targets, !targets__are_paused(pauses->targets));
	pauses->has_switched = false;
}

void pauses__export(const struct pauses *pauses, uint64_t end_ns,
		    struct ls_profile_recorder *recorder)
{
	recorder->paused_ns = pauses->paused_ns;
	if (targets__are_paused(pauses->targets))
		recorder->paused_ns += end_ns - pauses->pause_ns;
	recorder->events = pauses->events.items;
	recorder->event_count = pauses->events.count;
	recorder->events_left_out = pauses->events.left_out;
}

void pauses__free(struct pauses *pauses)
{
	events__free(&pauses->events);
}
