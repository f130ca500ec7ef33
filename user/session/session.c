/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/session_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/privileges.h"
#include "base/progress.h"
#include "base/resource_limits.h"
#include "process/process.h"
#include "session/signals.h"
#include "targets/threads.h"

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

int session__drain(void *context)
{
	struct session *session = context;
	int error = sampler__drain(session->sampler);

	if (error == -ENOMEM)
		log_error("out of memory: the recording ends here");
	else if (error)
		log_error("cannot read the records of BPF: %s", strerror(-error));
	if (!error)
		error = sampler__counters(session->sampler, &session->counters);
	return error;
}

static int on_sample(void *context, const struct ls_sample *sample, const struct ls_frame *frames)
{
	struct session *session = context;

	if (session->open_ns) {
		log_debug("first sample %.1f ms after the start",
			  (sample->time_ns - session->open_ns) / 1e6);
		session->open_ns = 0;
	}
	targets__sample(session->targets, sample);
	return recording__sample(session->recording, sample, frames);
}

static int on_function(void *context, const struct ls_function *function)
{
	return recording__function(((struct session *)context)->recording, function);
}

static int on_thread_exit(void *context, const struct ls_thread_exit *exit)
{
	struct session *session = context;

	targets__exit(session->targets, exit);
	/* The thread ended before sampling began. */
	if (session->is_waiting || exit->time_ns < session->start_ns)
		return 0;
	return recording__thread_exit(session->recording, exit);
}

static int on_thread_rest(void *context, const struct ls_thread_exit *rest)
{
	struct session *session = context;
	int error = 0;

	if (!session->is_waiting && rest->time_ns >= session->start_ns)
		error = recording__thread_rest(session->recording, rest);
	targets__rest(session->targets, rest);
	return error;
}

static int on_exec(void *context, const struct ls_exec *exec)
{
	return targets__exec(((struct session *)context)->targets, exec);
}

static int on_fork(void *context, const struct ls_fork *fork)
{
	return targets__fork(((struct session *)context)->targets, fork);
}

/* While the worker reads, luaspy keeps draining BPF's records and watching for signals. */
static int wait_for_worker(void *context, int fd, int timeout_ms)
{
	struct session *session = context;
	struct pollfd events[] = {
		{.fd = fd, .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = sampler__poll_fd(session->sampler), .events = POLLIN},
	};

	poll(events, 3, timeout_ms);
	if (events[2].revents)
		sampler__stash(session->sampler);
	if (events[0].revents)
		return 1;
	return events[1].revents ? -EINTR : 0;
}

static int load_sampler(struct session *session)
{
	struct sampler_options options = {.period_ns = session->options.period_ns,
					  .max_depth = session->options.max_depth,
					  .follows_children = session->options.follows_children,
					  .is_system_wide = session->options.is_system_wide,
					  .measures_cost = session->options.max_overhead_ppm != 0};
	struct sampler_receiver receiver = {
		.context = session,
		.sample = on_sample,
		.function = on_function,
		.thread_exit = on_thread_exit,
		.thread_rest = on_thread_rest,
		.exec = on_exec,
		.fork = on_fork,
	};
	int error = sampler__open(&options, &receiver, &session->sampler);

	if (!error)
		inspector__set_waiter(session->inspector,
				      &(struct worker_waiter){session, wait_for_worker});
	if (!error)
		overhead__open(&session->overhead, session->inspector,
			       session->options.max_overhead_ppm, session->options.period_ns,
			       session->sampler, &session->pauses);
	return error ? error : targets__begin(session->targets, session->sampler);
}

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
	if (!error && session->options.leaves_source)
		inspector__leave_scripts(session->inspector);
	return error;
}

static int open_recording(struct session *session)
{
	const struct session_options *options = &session->options;
	int error = 0;

	session->recording = recording__new(options->category,
					    options->pid_count > 1 || options->follows_children ||
						    options->is_system_wide,
					    session->inspector);
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
	struct targets_options targets = {.pids = options->pids,
					  .count = options->pid_count,
					  .is_system_wide = options->is_system_wide,
					  .wish = options->wish,
					  .layout = options->layout,
					  .waits = options->waits,
					  .follows_children = options->follows_children,
					  .merge_by = options->merge_by,
					  .parts = options->parts,
					  .is_launched = options->launch != NULL,
					  .has_run = !options->launch || options->start_after_ns,
					  .is_paused = options->is_paused,
					  .inspector = session->inspector};

	return targets__open(&targets, session->recording, &session->targets);
}

int session__open(const struct session_options *options, struct session **opened)
{
	struct session *session = calloc(1, sizeof(*session));
	int error;

	*opened = NULL;
	if (!session)
		return -ENOMEM;
	session->open_ns = clock_ns(CLOCK_MONOTONIC);
	session->options = *options;
	session->signal_fd = signals__catch();
	session->hangup_writes =
		(options->interval_ns || options->is_system_wide) && !signals__have_terminal();
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
		error = targets__look(session->targets);
	if (!error)
		error = load_sampler(session);
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

/* Samples of a class since the session's start; BPF counts dropped ones (session->counters). */
static uint64_t class_samples(const struct session *session, enum ls_sample_class class)
{
	return session->closed.classes[class] + recording__classes(session->recording)[class];
}

static uint64_t script_samples(const struct session *session)
{
	return session->closed.script_samples + recording__script_samples(session->recording);
}

static void show_progress(struct session *session)
{
	struct progress progress = {
		.elapsed_ns = clock_ns(CLOCK_MONOTONIC) - session->start_ns,
		.duration_ns = session->limit_ns,
		.is_waiting = session->is_waiting,
		.script_samples = script_samples(session),
		.lost = session->counters.dropped + class_samples(session, LS_SAMPLE_UNREADABLE),
		.samples = session->counters.dropped,
		.is_paused = targets__are_paused(session->targets),
	};

	for (int class = LS_SAMPLE_DROPPED + 1; class < LS_SAMPLE_CLASS_COUNT; class ++)
		progress.samples += class_samples(session, class);
	/* A launched command or a watcher owns the terminal. */
	if (!session->options.launch && !session->options.watcher)
		progress__show(&progress);
}

/* This many new functions between two waits mean that a program keeps creating them. */
#define NEW_FUNCTIONS 4

/* Such functions must be read soon: many are garbage-collected within milliseconds. */
static int has_new_functions(struct session *session)
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
	int listens = options->control && !session->is_waiting;
	struct pollfd events[] = {
		{.fd = sampler__poll_fd(session->sampler), .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = targets__poll_fd(session->targets), .events = POLLIN},
		{.fd = listens ? control__fd(options->control) : -1, .events = POLLIN},
		{.fd = options->watcher ? options->watcher->fd : -1, .events = POLLIN},
	};

	if (session->limit_ns) {
		if (elapsed >= session->limit_ns) {
			session->is_up = 1;
			return;
		}
		left_ms = (session->limit_ns - elapsed + 999999) / 1000000;
	}
	if (session->close_ns && now + left_ms * 1000000 > session->close_ns)
		left_ms =
			now < session->close_ns ? (session->close_ns - now + 999999) / 1000000 : 0;
	poll(events, 5, left_ms < interval_ms ? left_ms : interval_ms);
	if (events[1].revents)
		session__take_signal(session);
	if (events[2].revents && targets__have_ended(session->targets))
		session->is_over = 1;
	session->has_commands |= events[3].revents != 0;
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

void session__limit_reading(struct session *session, uint64_t ns)
{
	inspector__set_deadline(session->inspector, clock_ns(CLOCK_MONOTONIC) + ns);
}

void session__look(struct session *session)
{
	session__limit_reading(session, READING_NS);
	targets__tell_so_far(session->targets);
	session->end_ns = clock_ns(CLOCK_MONOTONIC);
}

static int watch(struct session *session)
{
	const struct session_watcher *watcher = session->options.watcher;
	int error = 0;

	while (!session->is_over && !session->is_up && !error) {
		inspector__set_deadline(session->inspector, next_due_ns(session));
		wait_a_while(session);
		if (!session->is_waiting)
			error = session__obey(session);
		/* The session is ending: the rest of the reading is left to LAST_READING_NS. */
		if (session->is_over || session->is_up)
			session__limit_reading(session, 0);
		if (!error)
			error = session__drain(session);
		if (!error)
			error = targets__follow(session->targets);
		if (targets__are_given_up(session->targets) ||
		    (session->options.ends_when_decided && targets__are_decided(session->targets)))
			session->is_over = 1;
		if (session->options.until_samples &&
		    script_samples(session) >= session->options.until_samples)
			session->is_up = 1;
		if (!error)
			error = session__close_interval(session);
		if (!error && !session->is_waiting &&
		    overhead__look(&session->overhead, &session->counters))
			error = targets__renew_timers(session->targets, session__drain, session);
		vary_periods(session);
		show_progress(session);
		if (!error && watcher && watcher->watch(watcher->context, session))
			session->is_over = 1;
	}
	progress__clear();
	return error;
}

/* Lets the target run, and follows its processes until sampling begins. */
static int await_start(struct session *session)
{
	struct launch *launch = session->options.launch;
	int error = launch ? launch__release(launch) : 0;

	session->is_waiting = 1;
	session->limit_ns = session->options.start_after_ns;
	session->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (!error)
		error = watch(session);
	session->is_waiting = session->is_over;
	session->is_up = 0;
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

/* From here on the session only reads and writes: it can load no walker and start no timer. */
static int give_up_privileges(struct session *session)
{
	int error = sampler__load_walkers(session->sampler);

	if (!error && privileges__reduce())
		log_debug("privileges that are not needed any more cannot be given up");
	return error;
}

int session__run(struct session *session)
{
	int error = 0, drain_error, end_error;

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
	if (!error && !session->is_over)
		error = targets__attach(session->targets);
	/* A limited or system-wide session may have to start more timers. */
	if (!error && !session->options.is_system_wide && !session->options.max_overhead_ppm)
		error = give_up_privileges(session);
	if (!error && session->options.launch && !session->options.start_after_ns)
		error = launch__release(session->options.launch);
	if (!error)
		error = watch(session);
	sampler__stop(session->sampler);
	session__limit_reading(session, LAST_READING_NS);
	session->end_ns = clock_ns(CLOCK_MONOTONIC);
	drain_error = error == -ENOMEM ? error : await_rests(session);
	end_error = targets__end(session->targets);
	if (!error)
		error = end_error;
	log_debug("%llu ticks, %llu searched %llu chunks of stack, %llu prototypes read",
		  session->counters.ticks, session->counters.scans, session->counters.chunks,
		  session->counters.definitions);
	return error ? error : drain_error;
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
	recorder->period_ns = session->options.period_ns;
	pauses__export(&session->pauses, session->end_ns, recorder);
	overhead__export(&session->overhead, &session->counters, session->end_ns, recorder);
	baseline__subtract(&session->closed, &session->counters, session->end_ns, recorder);
}

/* No process fits, or none that does has Lua. */
static void explain_absence(struct session *session)
{
	const char *rejected = targets__rejected(session->targets);

	snprintf(session->why_empty, sizeof(session->why_empty),
		 "no process that was asked for ran any Lua%s%s", rejected ? "; these did: " : "",
		 rejected ? rejected : "");
}

static void explain_emptiness(struct session *session)
{
	char *to = session->why_empty;
	size_t size = sizeof(session->why_empty);

	if (session->is_waiting)
		snprintf(to, size, "it was not sampled yet (--start-after)");
	else if (targets__are_paused(session->targets) && session->options.is_paused &&
		 !session->pauses.paused_ns)
		snprintf(to, size,
			 "it was paused and never resumed (SIGUSR1 or --control do that)");
	else if (session__is_unsupported(session))
		snprintf(to, size, "%s", targets__unsupported(session->targets));
	else if (session->options.is_system_wide && !targets__have_lua(session->targets))
		explain_absence(session);
	else if (!targets__have_lua(session->targets) && !session->options.layout)
		snprintf(to, size, "none of its files held any Lua%s",
			 session->options.launch && !session->options.follows_children
				 ? " (--children takes in the processes that it starts)"
				 : "");
	else if (targets__have_lost_timers(session->targets))
		snprintf(to, size,
			 "it executed a program with other privileges, which luaspy cannot sample "
			 "after giving up its own (--max-overhead keeps them)");
	else if (class_samples(session, LS_SAMPLE_HOST))
		snprintf(to, size,
			 "no Lua state was active on any stack: it ran other code, or a Lua "
			 "that was modified beyond recognition");
	else if (class_samples(session, LS_SAMPLE_UNREADABLE))
		snprintf(to, size, "none of its stacks could be read");
	else if (process__state(targets__pid(session->targets)) == 'T')
		snprintf(to, size, "it is stopped (kill -CONT %d continues it)",
			 targets__pid(session->targets));
	else if (session->counters.dropped)
		snprintf(to, size, "all samples were dropped");
	else
		snprintf(to, size, "it was idle, or ran for less than one period of the timer");
}

int session__has_begun(const struct session *session)
{
	return !session->is_waiting;
}

int session__is_unsupported(const struct session *session)
{
	return targets__unsupported(session->targets) && !targets__have_lua(session->targets);
}

int session__was_stopped(const struct session *session)
{
	return session->was_stopped;
}

const char *session__why_empty(struct session *session)
{
	if (script_samples(session))
		return NULL;
	explain_emptiness(session);
	return session->why_empty;
}
