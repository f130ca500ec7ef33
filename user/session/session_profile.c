/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/session_profile.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "process/process.h"
#include "session/session_records.h"
#include "session/session_state.h"
#include "targets/targets_discovery.h"
#include "targets/targets_following.h"

uint64_t session_profile__class_samples(const struct session *session, enum ls_sample_class class)
{
	return session->closed.classes[class] + recording__classes(session->recording)[class];
}

uint64_t session_profile__script_samples(const struct session *session)
{
	return session->closed.script_samples + recording__script_samples(session->recording);
}

void session__refresh(struct session *session)
{
	session__limit_reading(session, READING_NS);
	targets__tell_so_far(session->targets);
	session->end_ns = clock_ns(CLOCK_MONOTONIC);
}

const char *session__target(const struct session *session)
{
	return targets__title(session->targets);
}

const char *session__name(const struct session *session)
{
	return targets__name(session->targets);
}

pid_t session__pid(const struct session *session)
{
	return targets__pid(session->targets);
}

int session__visit_living(const struct session *session, session_visitor *visit, void *context)
{
	return targets__visit_living(session->targets, visit, context);
}

uint64_t session__bpf_ns(const struct session *session)
{
	return sampler__runtime_ns(session->sampler);
}

void session__export(struct session *session, struct ls_profile *profile)
{
	struct ls_profile_recorder *recorder = &profile->recorder;

	recording__export(session->recording, profile);
	recorder->version = LUASPY_VERSION;
	recorder->host = session->host.nodename;
	targets__export(session->targets, recorder);
	recorder->period_ns = session->options.sampling.period_ns;
	pauses__export(&session->pauses, session->end_ns, recorder);
	overhead__export(&session->overhead, &session->counters, session->end_ns, recorder);
	baseline__subtract(&session->closed, &session->counters, session->end_ns, recorder);
}

bool session__has_missed_time(struct session *session)
{
	struct ls_profile sampled = {};

	session__export(session, &sampled);
	return sampled.recorder.missed_processes && sampled.recorder.cpu_ns;
}

/* No process fits, or none that does has Lua. */
static void explain_absence(struct session *session)
{
	const char *rejected = targets__rejected(session->targets);

	if (session__has_missed_time(session))
		snprintf(session->why_empty, sizeof(session->why_empty),
			 "every process that ran an interpreter ended before it could be sampled");
	else if (rejected)
		snprintf(session->why_empty, sizeof(session->why_empty),
			 "no process that was asked for ran an interpreter; these did: %s",
			 rejected);
	else
		snprintf(session->why_empty, sizeof(session->why_empty),
			 "no process ran an interpreter");
}

/* Fewer samples do not show what a process runs. */
#define TELLING_SAMPLES 25

/* The process has an interpreter, which was active in none of these samples. */
static void explain_inactivity(struct session *session, uint64_t samples)
{
	if (samples < TELLING_SAMPLES)
		snprintf(session->why_empty, sizeof(session->why_empty),
			 "no interpreter was active in any sample (%llu in all): it was almost "
			 "idle, or ran other code",
			 (unsigned long long)samples);
	else
		snprintf(session->why_empty, sizeof(session->why_empty),
			 "no interpreter was active on any stack: it ran other code, or an "
			 "interpreter that was modified beyond recognition");
}

static void explain_emptiness(struct session *session)
{
	uint64_t outside = session_profile__class_samples(session, LS_SAMPLE_HOST);
	char *to = session->why_empty;
	size_t size = sizeof(session->why_empty);

	if (!session_state__has_begun(session))
		snprintf(to, size, "it was not sampled yet (--start-after)");
	else if (targets__are_paused(session->targets) && session->options.is_paused &&
		 !session->pauses.paused_ns)
		snprintf(to, size,
			 "it was paused and never resumed (SIGUSR1 or --control resumes it)");
	else if (session__is_unsupported(session))
		snprintf(to, size, "%s", targets__unsupported(session->targets));
	else if (session->options.targets->system && !targets__have_lua(session->targets))
		explain_absence(session);
	else if (session__is_without_interpreter(session) &&
		 targets__have_unsearched(session->targets))
		snprintf(to, size,
			 "its files could not be searched for an interpreter in that time");
	else if (session__is_without_interpreter(session))
		snprintf(to, size, "none of its files held an interpreter%s",
			 session->options.launch && !session->options.targets->children
				 ? " (--children also profiles the processes that it starts)"
				 : "");
	else if (targets__have_lost_timers(session->targets))
		snprintf(to, size,
			 "it executed a program with other privileges, which luaspy cannot sample "
			 "after giving up its own (--max-overhead keeps them)");
	else if (outside)
		explain_inactivity(session, outside);
	else if (session_profile__class_samples(session, LS_SAMPLE_UNREADABLE))
		snprintf(to, size, "none of its stacks could be read");
	else if (process__state(targets__pid(session->targets)) == 'T')
		snprintf(to, size, "it is stopped (kill -CONT %d continues it)",
			 targets__pid(session->targets));
	else if (session->counters.dropped)
		snprintf(to, size, "all samples were dropped");
	else
		snprintf(to, size, "it was idle, or ran for less than one period of the timer");
}

bool session__has_begun(const struct session *session)
{
	return session_state__has_begun(session);
}

bool session__is_unsupported(const struct session *session)
{
	return targets__unsupported(session->targets) && !targets__have_lua(session->targets);
}

bool session__is_without_interpreter(const struct session *session)
{
	return !targets__have_lua(session->targets) && !session->options.targets->layout &&
	       !session_profile__script_samples(session);
}

bool session__was_stopped(const struct session *session)
{
	return session->state == SESSION_STOPPED;
}

const char *session__why_empty(struct session *session)
{
	if (session_profile__script_samples(session))
		return NULL;
	explain_emptiness(session);
	return session->why_empty;
}
