/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pauses.h"

#include "clock.h"
#include "log.h"

void pauses__start(struct pauses *pauses, struct threads *threads, uint64_t start_ns)
{
	pauses->threads = threads;
	pauses->start_ns = start_ns;
	pauses->pause_ns = start_ns;
	if (threads->is_paused)
		events__add(&pauses->events, 0, "pause", NULL);
}

void pauses__note(struct pauses *pauses, const char *kind, const char *text)
{
	events__add(&pauses->events, clock_ns(CLOCK_MONOTONIC) - pauses->start_ns, kind, text);
}

/* Threads that end between the two drains have their ends told by the second. */
static int pause_all(struct pauses *pauses, int (*drain)(void *context), void *context)
{
	int error;

	sampler__switch(pauses->threads->sampler, 0);
	pauses->pause_ns = clock_ns(CLOCK_MONOTONIC);
	pauses__note(pauses, "pause", NULL);
	error = drain(context);
	if (!error)
		error = threads__pause(pauses->threads);
	if (!error)
		error = drain(context);
	log_debug("paused");
	return error;
}

int pauses__set(struct pauses *pauses, int is_paused, int (*drain)(void *context), void *context)
{
	int error;

	if (is_paused == pauses->threads->is_paused)
		return 0;
	pauses->has_switched = 1;
	if (is_paused)
		return pause_all(pauses, drain, context);
	pauses->paused_ns += clock_ns(CLOCK_MONOTONIC) - pauses->pause_ns;
	pauses__note(pauses, "resume", NULL);
	error = threads__resume(pauses->threads);
	log_debug("resumed");
	return error;
}

void pauses__confirm(struct pauses *pauses)
{
	if (pauses->has_switched)
		sampler__switch(pauses->threads->sampler, !pauses->threads->is_paused);
	pauses->has_switched = 0;
}

void pauses__export(const struct pauses *pauses, uint64_t end_ns,
		    struct ls_profile_recorder *recorder)
{
	recorder->paused_ns = pauses->paused_ns;
	if (pauses->threads->is_paused)
		recorder->paused_ns += end_ns - pauses->pause_ns;
	recorder->events = pauses->events.items;
	recorder->event_count = pauses->events.count;
	recorder->events_left_out = pauses->events.left_out;
}

void pauses__free(struct pauses *pauses)
{
	events__free(&pauses->events);
}
