/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress.h"
#include "control/signals.h"
#include "process/process.h"
#include "session/session_commands.h"
#include "session/session_profile.h"
#include "session/session_records.h"
#include "session/session_state.h"
#include "system/privileges.h"
#include "system/resource_limits.h"
#include "targets/targets_following.h"
#include "targets/timer_renewal.h"

#define DRAIN_MS 50 /* the ring buffer lasts three times as long at 10 kHz and depth 100 */

/* How long the first search of all processes may delay the session; the rest follows later. */
#define FIRST_READING_NS UINT64_C(500000000)

/* How long reading names may take after the session has ended, while the user waits. */
#define LAST_READING_NS UINT64_C(700000000)

/*
 * While a layout may be decided, because stacks that fall short of proof are lost until then; and
 * while functions come and go.
 */
#define SETTLING_MS 4

/*
 * When the interval or the session is due to end, which reading must not delay; UINT64_MAX: never.
 */
static uint64_t next_due_ns(const struct session *session)
{
	uint64_t due_ns = session->close_ns ? session->close_ns : UINT64_MAX;

	if (session->limit_ns && session->start_ns + session->limit_ns < due_ns)
		due_ns = session->start_ns + session->limit_ns;
	return due_ns;
}

static int start_inspector(struct session *session)
{
	int error = inspector__start(&inspection_job, &session->inspector);

	if (error && error != -ENOMEM)
		log_error("cannot start the process that reads targets: %s", strerror(-error));
	if (!error && !session->options.targets->system)
		inspector__grant_search(session->inspector);
	if (!error && session->options.targets->no_source)
		inspector__leave(session->inspector, INSPECTOR_SCRIPTS);
	if (!error && session->options.targets->no_command_lines)
		inspector__leave(session->inspector, INSPECTOR_COMMANDS);
	return error;
}

static int open_recording(struct session *session)
{
	const struct session_options *options = &session->options;
	int error = 0;

	session->recording = recording__new(
		options->category, target_choice__is_of_many(options->targets), session->inspector);
	if (!session->recording)
		return -ENOMEM;
	if (options->keeps_timeline)
		error = recording__keep_timeline(session->recording);
	if (!error && options->keeps_coroutines)
		error = recording__keep_coroutines(session->recording);
	return error;
}

static int open_targets(struct session *session)
{
	const struct session_options *options = &session->options;
	struct targets_options targets = {.choice = options->targets,
					  .inspector = session->inspector,
					  .subprofiles = options->subprofiles,
					  .is_launched = options->launch != NULL,
					  .has_run = !options->launch || options->start_after_ns,
					  .is_paused = options->is_paused};

	return targets__open(&targets, session->recording, &session->targets);
}

int session__open(const struct session_options *options, struct session **opened)
{
	struct session *session = calloc(1, sizeof(*session));
	int error;

	*opened = NULL;
	if (!session) {
		log_error("out of memory");
		return -ENOMEM;
	}
	session->open_ns = clock_ns(CLOCK_MONOTONIC);
	session->options = *options;
	session->state = options->start_after_ns ? SESSION_WAITING : SESSION_SAMPLING;
	session->signal_fd = signals__catch();
	session->hangup_writes =
		(options->interval_ns || options->targets->system) && !signals__have_terminal();
	uname(&session->host);
	error = resource_limits__raise_files();
	if (error)
		log_error("cannot start: %s", resource_limits__reason(error));
	else
		error = start_inspector(session);
	if (!error)
		error = open_recording(session);
	if (!error)
		error = open_targets(session);
	if (!error && !options->launch)
		error = targets__inspect(session->targets);
	if (!error)
		error = session_records__open(session);
	if (error)
		goto cleanup;
	*opened = session;
	return 0;
cleanup:
	if (error == -ENOMEM)
		log_error("out of memory");
	session__close(session);
	return error;
}

void session__close(struct session *session)
{
	if (!session)
		return;
	/* The inspector's waiter uses the sampler, so the sampler is closed last. */
	if (session->inspector)
		inspector__set_deadline(session->inspector, 0);
	targets__close(session->targets);
	recording__free(session->recording);
	inspector__free(session->inspector);
	sampler__close(session->sampler);
	pauses__free(&session->pauses);
	if (session->signal_fd >= 0)
		close(session->signal_fd);
	free(session);
}

static void show_progress(struct session *session)
{
	struct progress progress = {
		.elapsed_ns = clock_ns(CLOCK_MONOTONIC) - session->start_ns,
		.duration_ns = session->limit_ns,
		.is_waiting = !session_state__has_begun(session),
		.script_samples = session_profile__script_samples(session),
		.lost = session->counters.dropped +
			session_profile__class_samples(session, LS_SAMPLE_UNREADABLE),
		.samples = session->counters.dropped,
		.is_paused = targets__are_paused(session->targets),
	};

	for (int i = LS_SAMPLE_DROPPED + 1; i < LS_SAMPLE_CLASS_COUNT; i++)
		progress.samples += session_profile__class_samples(session, i);
	/* A launched command or a watcher owns the terminal. */
	if (!session->options.launch && !session->options.watcher)
		progress__show(&progress);
}

/* This many new functions between two waits mean that a program keeps creating them. */
#define NEW_FUNCTIONS 4

/* Such functions must be read soon: many are garbage-collected within milliseconds. */
static bool has_new_functions(struct session *session)
{
	uint64_t known = session->known_definitions;

	session->known_definitions = session->counters.definitions;
	return session->counters.definitions - known >= NEW_FUNCTIONS;
}

/* Sleeps until there is something to do, for a short while at most. */
static void wait_a_while(struct session *session)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t elapsed = now - session->start_ns;
	uint64_t interval_ms =
		targets__are_settling(session->targets, now) || has_new_functions(session)
			? SETTLING_MS
			: DRAIN_MS;
	uint64_t left_ms = interval_ms;
	const struct session_options *options = &session->options;
	bool listens = options->control && session_state__has_begun(session);
	struct pollfd events[] = {
		{.fd = sampler__poll_fd(session->sampler), .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = targets__poll_fd(session->targets), .events = POLLIN},
		{.fd = listens ? control__fd(options->control) : -1, .events = POLLIN},
		{.fd = options->watcher ? options->watcher->fd : -1, .events = POLLIN},
		{.fd = sampler__loading_fd(session->sampler), .events = POLLIN},
	};

	if (session->limit_ns) {
		if (elapsed >= session->limit_ns) {
			session_state__set_up(session);
			return;
		}
		left_ms = (session->limit_ns - elapsed + 999999) / 1000000;
	}
	if (session->close_ns && now + left_ms * 1000000 > session->close_ns)
		left_ms =
			now < session->close_ns ? (session->close_ns - now + 999999) / 1000000 : 0;
	poll(events, sizeof(events) / sizeof(events[0]),
	     left_ms < interval_ms ? left_ms : interval_ms);
	if (events[1].revents)
		session__take_signal(session);
	if (events[2].revents && targets__have_ended(session->targets))
		session_state__set_over(session);
	session->requests.commands |= events[3].revents != 0;
}

static void vary_periods(struct session *session)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now - session->varied_ns < DRAIN_MS * 1000000ULL / 2)
		return;
	session->varied_ns = now;
	pauses__confirm(&session->pauses);
	sampler__vary_periods(session->sampler);
}

static int watch(struct session *session)
{
	const struct session_watcher *watcher = session->options.watcher;
	int error = 0;

	while (session_state__goes_on(session) && !error) {
		inspector__set_deadline(session->inspector, next_due_ns(session));
		wait_a_while(session);
		if (session_state__has_begun(session))
			error = session__obey(session);
		/* The session is ending: the rest of the reading is left to LAST_READING_NS. */
		if (!session_state__goes_on(session))
			session__limit_reading(session, 0);
		if (!error)
			error = session__drain(session);
		if (!error)
			error = sampler__take_walkers(session->sampler);
		if (!error)
			error = targets__follow(session->targets);
		if (targets__are_given_up(session->targets) ||
		    (session->options.ends_when_decided && targets__are_decided(session->targets)))
			session_state__set_over(session);
		if (session->options.until_samples &&
		    session_profile__script_samples(session) >= session->options.until_samples)
			session_state__set_up(session);
		if (!error)
			error = session__close_interval(session);
		if (!error && session_state__has_begun(session) &&
		    overhead__judge(&session->overhead, &session->counters))
			error = targets__renew_timers(session->targets, session__drain, session);
		vary_periods(session);
		show_progress(session);
		if (!error && watcher && watcher->watch(watcher->context, session))
			session_state__set_over(session);
	}
	progress__clear();
	return error;
}

/* Lets the target run, and follows its processes until sampling begins. */
static int await_start(struct session *session)
{
	struct launch *launch = session->options.launch;
	int error = launch ? launch__release(launch) : 0;

	session->limit_ns = session->options.start_after_ns;
	session->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (!error)
		error = watch(session);
	if (session->state == SESSION_WAITED)
		session->state = SESSION_SAMPLING;
	return error;
}

/* The kernel takes about 20 ms to free threads that exit. */
#define RESTS_NS UINT64_C(300000000)
#define RESTS_MS 4

static int await_rests(struct session *session)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + RESTS_NS;
	int error = session__drain(session);

	while (!error && targets__await_rests(session->targets) &&
	       clock_ns(CLOCK_MONOTONIC) < until_ns) {
		poll(NULL, 0, RESTS_MS);
		error = session__drain(session);
	}
	return error;
}

/*
 * Whether the session only reads and writes once its timers run: it can start no timer from then
 * on. A limited or system-wide session may have to start more timers.
 */
static bool gives_up_privileges(const struct session *session)
{
	return !session->options.targets->system && !session->options.sampling.max_overhead_ppm;
}

/* Whether the session is about programs that luaspy has not seen yet. */
static bool awaits_programs(const struct session *session)
{
	const struct target_choice *choice = session->options.targets;

	return session->options.launch || choice->children || choice->waits;
}

static void give_up_privileges(struct session *session)
{
	/* Those that had to wait; there are files for them if the timers left some. */
	if (!session->delegates_loading)
		sampler__load_walkers(session->sampler, false);
	if (privileges__reduce())
		log_debug("privileges that are not needed any more cannot be given up");
}

/* What walkers keep open, timers of one target, and what a session must be able to open. */
#define FILES_OF_WALKERS 128

/*
 * Loading takes up to a tenth of a second. After the timers have started, nobody would drain
 * samples in that time, nor sample a process that begins or executes a program. But timers are more
 * important. Running processes get their walkers before the timers start, and seldom need another
 * one later; system-wide, most walkers may never be needed. So a process of luaspy's own loads
 * those that are needed later.
 */
static void load_walkers_early(struct session *session)
{
	bool is_system_wide = session->options.targets->system;

	if (resource_limits__try_files(FILES_OF_WALKERS))
		return;
	if (is_system_wide)
		sampler__load_walkers(session->sampler, true);
	if (is_system_wide || (gives_up_privileges(session) && !awaits_programs(session)))
		session->delegates_loading = !sampler__delegate_loading(session->sampler);
	if (!session->delegates_loading && !is_system_wide)
		sampler__load_walkers(session->sampler, false);
}

int session__run(struct session *session)
{
	int error = 0, drain_error, end_error;

	load_walkers_early(session);
	if (session->options.start_after_ns)
		error = await_start(session);
	session->limit_ns = session->options.duration_ns;
	baseline__start(&session->closed);
	session->start_ns = session->closed.start_ns;
	if (session->options.interval_ns)
		session->close_ns = session->start_ns + session->options.interval_ns;
	pauses__start(&session->pauses, session->targets, session->start_ns);
	overhead__start(&session->overhead, &session->counters);
	session__limit_reading(session, FIRST_READING_NS);
	if (!error && session_state__goes_on(session))
		error = targets__attach(session->targets);
	/* Other sessions have nothing else to do until they can walk their targets. */
	if (session->options.targets->system)
		sampler__load_aside(session->sampler);
	if (!error && gives_up_privileges(session))
		give_up_privileges(session);
	if (!error && session->options.launch && !session->options.start_after_ns)
		error = launch__release(session->options.launch);
	if (!error)
		error = watch(session);
	sampler__stop(session->sampler);
	session__limit_reading(session, LAST_READING_NS);
	session->end_ns = clock_ns(CLOCK_MONOTONIC);
	drain_error = error == -ENOMEM ? error : await_rests(session);
	targets__tell_of_survivors(session->targets);
	end_error = targets__end(session->targets);
	if (!error)
		error = end_error;
	log_debug("%llu ticks, %llu searched %llu chunks of stack, %llu prototypes read",
		  session->counters.ticks, session->counters.scans, session->counters.chunks,
		  session->counters.definitions);
	return error ? error : drain_error;
}
