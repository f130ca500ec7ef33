/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "identification.h"
#include "kernel.h"
#include "layout_puc.h"
#include "log.h"
#include "pauses.h"
#include "privileges.h"
#include "process.h"
#include "progress.h"
#include "recording.h"
#include "sampler.h"
#include "signals.h"
#include "threads.h"

#define DRAIN_MS 50 /* the ring buffer holds three times that at 10 kHz and depth 100 */

/*
 * At first, and after an execution, until the layout is decided: the stacks that fall short of
 * proof till then are lost, and so are those before a library with Lua is noticed.
 */
#define SETTLING_MS 4
#define SETTLING_NS 2000000000ULL

struct session {
	struct session_options options;
	struct sampler *sampler;
	struct recording *recording;
	struct threads threads;
	struct pauses pauses;
	struct identification *identification;
	struct ls_target known; /* what BPF was told of the target last */
	int is_known;           /* it was told something */
	uint64_t varied_ns;     /* when the timers' periods were */
	char name[16];
	char target[64];
	char layout[512];
	char why_empty[256];
	struct utsname host;
	uint64_t open_ns, start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t executed_ns; /* likewise: when the target last became another program */
	uint64_t start_unix_ms;
	struct ls_counters counters;
	int pid_fd, signal_fd;
	int has_toggled;   /* by a signal, an odd number of times */
	int has_commands;  /* to be taken from the FIFO */
	uint64_t limit_ns; /* since start_ns, of what it does now; 0: none */
	int is_waiting;    /* before it samples */
	int is_up;         /* the time, or there are samples enough */
	int is_over;       /* a signal came or the target has ended */
	int has_executed;  /* the target runs another program now */
	int is_renewing;   /* BPF was told of a new edition */
};

static int on_sample(void *context, const struct ls_sample *sample, const struct ls_frame *frames)
{
	struct session *session = context;

	if (session->open_ns) {
		log_debug("first sample %.1f ms after the start",
			  (sample->time_ns - session->open_ns) / 1e6);
		session->open_ns = 0;
	}
	return recording__sample(session->recording, sample, frames);
}

static int on_function(void *context, const struct ls_function *function)
{
	return recording__function(((struct session *)context)->recording, function);
}

static int on_thread_exit(void *context, const struct ls_thread_exit *exit)
{
	const struct session *session = context;

	/* Nothing that it did is in the session's time. */
	if (session->is_waiting || exit->time_ns < session->start_ns)
		return 0;
	return recording__thread_exit(session->recording, exit);
}

static int on_exec(void *context, const struct ls_exec *exec)
{
	struct session *session = context;

	(void)exec;
	session->has_executed = 1;
	return recording__exec(session->recording);
}

/* Tells BPF what is known of the target's interpreters, where that has changed. */
static int tell_target(struct session *session)
{
	struct ls_target target;

	identification__target(session->identification, recording__verdicts(session->recording),
			       &target);
	target.edition = session->known.edition;
	if (session->is_known && !memcmp(&target, &session->known, sizeof(target)))
		return 0;
	session->known = target;
	session->is_known = 1;
	return sampler__set_target(session->sampler, session->options.pid, &target);
}

static int look_up_process(struct session *session)
{
	int error;

	if (!kernel__proc_is_ours()) {
		log_error("cannot tell which process %d is: '/proc' shows another PID namespace "
			  "(mount that of this one: 'mount -t proc proc /proc')",
			  session->options.pid);
		return -EXDEV;
	}
	error = process__name(session->options.pid, session->name);
	if (error == -ESRCH || error == -ENOENT) {
		log_error("no process has the id %d", session->options.pid);
		return -ENOENT;
	}
	if (error) {
		log_error("cannot look into process %d: %s", session->options.pid,
			  strerror(-error));
		return error;
	}
	snprintf(session->target, sizeof(session->target), "%s (pid %d)", session->name,
		 session->options.pid);
	session->pid_fd = syscall(SYS_pidfd_open, session->options.pid, 0);
	if (session->pid_fd >= 0)
		return 0;
	error = -errno;
	if (error == -EINVAL || error == -ENOENT)
		log_error("cannot follow %d: it is a thread, not a process (see Tgid in "
			  "'/proc/%d/status')",
			  session->options.pid, session->options.pid);
	else
		log_error("cannot follow %s: %s", session->target, strerror(-error));
	return error;
}

static int begin_sampler(struct session *session)
{
	struct sampler_options options = {.period_ns = session->options.period_ns,
					  .max_depth = session->options.max_depth};
	struct sampler_receiver receiver = {
		.context = session,
		.sample = on_sample,
		.function = on_function,
		.thread_exit = on_thread_exit,
		.exec = on_exec,
	};

	return sampler__begin(&options, &receiver, &session->sampler);
}

static int finish_sampler(struct session *session)
{
	int error = sampler__finish(session->sampler);

	for (size_t i = 0; !error && i < layouts_puc_count; i++)
		error = sampler__set_layout(session->sampler, i, &layouts_puc[i].offsets);
	if (error)
		return error;
	identification__begin(session->identification, recording__verdicts(session->recording));
	return tell_target(session);
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
	session->pid_fd = -1;
	session->signal_fd = signals__catch();
	uname(&session->host);
	threads__raise_file_limit();
	session->identification = identification__new(&(struct identification_options){
		.pid = options->pid, .layout = options->layout, .waits = options->waits});
	error = session->identification ? look_up_process(session) : -ENOMEM;
	if (!error)
		error = begin_sampler(session);
	if (!error && !options->launch)
		error = identification__look(session->identification, session->target);
	if (error)
		goto cleanup;
	session->recording = recording__new(options->pid, options->category, session->target);
	error = session->recording ? 0 : -ENOMEM;
	if (!error && options->keeps_timeline)
		error = recording__keep_timeline(session->recording);
	if (!error && options->keeps_coroutines)
		error = recording__keep_coroutines(session->recording);
	if (!error)
		error = finish_sampler(session);
	if (error)
		goto cleanup;
	session->threads = (struct threads){.pid = options->pid,
					    .sampler = session->sampler,
					    .recording = session->recording,
					    .is_paused = options->is_paused};
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
	sampler__close(session->sampler);
	recording__free(session->recording);
	pauses__free(&session->pauses);
	identification__free(session->identification);
	if (session->pid_fd >= 0)
		close(session->pid_fd);
	if (session->signal_fd >= 0)
		close(session->signal_fd);
	free(session);
}

/* The target runs another program: a script's wrapper does that. */
static int follow_exec(struct session *session)
{
	int error;

	session->has_executed = 0;
	session->known = (struct ls_target){.edition = session->known.edition + 1};
	session->is_known = 0;
	process__name(session->options.pid, session->name);
	snprintf(session->target, sizeof(session->target), "%s (pid %d)", session->name,
		 session->options.pid);
	if (!session->options.launch)
		log_warn("the target now runs another program");
	session->executed_ns = clock_ns(CLOCK_MONOTONIC);
	error = recording__rename_process(session->recording, session->target);
	if (error)
		return error;
	error = identification__look(session->identification, session->target);
	if (error) {
		session->is_over = 1;
		return error == -ENOENT ? 0 : error;
	}
	identification__begin(session->identification, recording__verdicts(session->recording));
	return tell_target(session);
}

/* Takes in what the samples and the process's mappings say about its interpreters. */
static int follow_interpreters(struct session *session)
{
	struct verdicts *verdicts = recording__verdicts(session->recording);
	int error;

	identification__notice(session->identification, verdicts, session->target);
	error = identification__settle(session->identification, verdicts, session->target);
	return error ? error : tell_target(session);
}

static void show_progress(struct session *session)
{
	const uint64_t *classes = recording__classes(session->recording);
	struct progress progress = {
		.elapsed_ns = clock_ns(CLOCK_MONOTONIC) - session->start_ns,
		.duration_ns = session->limit_ns,
		.is_waiting = session->is_waiting,
		.script_samples = recording__script_samples(session->recording),
		.lost = session->counters.dropped + classes[LS_SAMPLE_UNREADABLE],
		.samples = session->counters.dropped,
		.is_paused = session->threads.is_paused,
	};

	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		progress.samples += classes[class];
	/* A command has the terminal for itself. */
	if (!session->options.launch)
		progress__show(&progress);
}

static uint64_t drain_interval_ms(const struct session *session)
{
	uint64_t since = session->executed_ns ? session->executed_ns : session->start_ns;
	int is_settling = session->known.layouts != session->known.decided ||
			  (session->executed_ns && !identification__found(session->identification));

	return is_settling && clock_ns(CLOCK_MONOTONIC) - since < SETTLING_NS ? SETTLING_MS
									      : DRAIN_MS;
}

static void take_signal(struct session *session)
{
	switch (signals__take(session->signal_fd, session->options.launch)) {
	case SIGNALS_END:
		session->is_over = 1;
		break;
	case SIGNALS_SWITCH:
		session->has_toggled ^= 1;
		break;
	case SIGNALS_NOTHING:
		break;
	}
}

/* Sleeps until there is something to do, for a short while at most. */
static void wait_a_while(struct session *session)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC) - session->start_ns;
	uint64_t interval_ms = drain_interval_ms(session), left_ms = interval_ms;
	const struct session_options *options = &session->options;
	int listens = options->control && !session->is_waiting;
	struct pollfd events[] = {
		{.fd = sampler__poll_fd(session->sampler), .events = POLLIN},
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = session->pid_fd, .events = POLLIN},
		{.fd = listens ? control__fd(options->control) : -1, .events = POLLIN},
	};

	if (session->limit_ns) {
		if (now >= session->limit_ns) {
			session->is_up = 1;
			return;
		}
		left_ms = (session->limit_ns - now + 999999) / 1000000;
	}
	poll(events, 4, left_ms < interval_ms ? left_ms : interval_ms);
	if (events[1].revents)
		take_signal(session);
	if (events[2].revents)
		session->is_over = 1;
	session->has_commands |= events[3].revents != 0;
}

/*
 * Functions that have not been seen for long are forgotten in two steps, each after all that was
 * sent has been taken in: BPF is told to define what it sees anew; then all that it still sent
 * without that has been.
 */
static int renew(struct session *session)
{
	if (session->is_renewing) {
		session->is_renewing = 0;
		recording__age(session->recording);
		return 0;
	}
	if (!recording__is_full(session->recording))
		return 0;
	session->is_renewing = 1;
	session->known.edition++;
	return sampler__set_target(session->sampler, session->options.pid, &session->known);
}

static int drain(void *context)
{
	struct session *session = context;
	int error = sampler__drain(session->sampler);

	if (error == -ENOMEM)
		log_error("out of memory: the recording ends here");
	else if (error)
		log_error("cannot read what BPF sent: %s", strerror(-error));
	if (!error)
		error = renew(session);
	if (!error)
		error = sampler__counters(session->sampler, &session->counters);
	return error;
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

/* As at the end, but nothing ends. */
static int write_so_far(struct session *session)
{
	int error = drain(session);

	if (error)
		return error;
	threads__settle(&session->threads);
	error = drain(session);
	if (error)
		return error;
	threads__complete(&session->threads, session->name);
	pauses__note(&session->pauses, "write", NULL);
	session->end_ns = clock_ns(CLOCK_MONOTONIC);
	session->options.write(session->options.context, session);
	return 0;
}

static int obey(struct session *session, enum control_command command, const char *text)
{
	switch (command) {
	case CONTROL_PAUSE:
	case CONTROL_RESUME:
		return pauses__set(&session->pauses, command == CONTROL_PAUSE, drain, session);
	case CONTROL_WRITE:
		return write_so_far(session);
	case CONTROL_MARK:
		pauses__note(&session->pauses, "mark", text);
		return 0;
	case CONTROL_STOP:
		session->is_over = 1;
		return 0;
	case CONTROL_NONE:
		return 0;
	}
	return 0;
}

static int take_commands(struct session *session)
{
	enum control_command command;
	const char *text;
	int error = 0;

	if (session->has_toggled)
		error = pauses__set(&session->pauses, !session->threads.is_paused, drain, session);
	session->has_toggled = 0;
	if (!session->has_commands)
		return error;
	session->has_commands = 0;
	/* Also those of a target that has ended since. */
	while (!error && (command = control__take(session->options.control, &text)))
		error = obey(session, command, text);
	return error;
}

static int watch(struct session *session)
{
	int error = 0;

	while (!session->is_over && !session->is_up && !error) {
		wait_a_while(session);
		if (!session->is_waiting)
			error = take_commands(session);
		if (!error)
			error = drain(session);
		if (!error && session->has_executed)
			error = follow_exec(session);
		if (!error)
			error = follow_interpreters(session);
		if (session->options.ends_when_decided &&
		    verdicts__are_decided(recording__verdicts(session->recording)))
			session->is_over = 1;
		if (session->options.until_samples &&
		    recording__script_samples(session->recording) >= session->options.until_samples)
			session->is_up = 1;
		vary_periods(session);
		show_progress(session);
	}
	progress__clear();
	return error;
}

/* Lets the target run, and follows what becomes of it. */
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

int session__run(struct session *session)
{
	int error = 0, drain_error;

	if (session->options.start_after_ns)
		error = await_start(session);
	session->limit_ns = session->options.duration_ns;
	session->start_unix_ms = clock_ns(CLOCK_REALTIME) / 1000000;
	session->start_ns = clock_ns(CLOCK_MONOTONIC);
	pauses__start(&session->pauses, &session->threads, session->start_ns);
	if (!error && !session->is_over)
		error = threads__attach(&session->threads, session->target);
	/* From here on it reads and writes, that is all. */
	if (!error && privileges__reduce())
		log_debug("privileges that are not needed any more cannot be given up");
	if (!error && session->options.launch && !session->options.start_after_ns)
		error = launch__release(session->options.launch);
	if (!error)
		error = watch(session);
	sampler__stop(session->sampler);
	session->end_ns = clock_ns(CLOCK_MONOTONIC);
	drain_error = drain(session);
	if (!error)
		error = identification__end(session->identification,
					    recording__verdicts(session->recording),
					    session->target);
	threads__end(&session->threads, session->name);
	log_debug("%llu ticks, %llu searched %llu chunks of stack, %llu "
		  "prototypes read",
		  session->counters.ticks, session->counters.scans, session->counters.chunks,
		  session->counters.definitions);
	return error ? error : drain_error;
}

const char *session__target(const struct session *session)
{
	return session->target;
}

const char *session__name(const struct session *session)
{
	return session->name;
}

void session__export(struct session *session, struct ls_profile *profile)
{
	const struct verdicts *verdicts = recording__verdicts(session->recording);
	struct ls_profile_recorder *recorder = &profile->recorder;

	recording__export(session->recording, profile);
	verdicts__describe(verdicts, session->layout, sizeof(session->layout));
	recorder->version = LUASPY_VERSION;
	recorder->host = session->host.nodename;
	recorder->target = session->target;
	recorder->interpreter = identification__found(session->identification);
	recorder->layout = NULL;
	for (size_t i = 0; i < verdicts->count; i++)
		if (verdicts->items[i].has_evidence || verdicts->items[i].is_forced)
			recorder->layout = session->layout;
	recorder->collector =
		identification__collector(session->identification, &recorder->collector_is_known);
	recorder->period_ns = session->options.period_ns;
	recorder->cpu_ns = session->threads.cpu_so_far_ns;
	pauses__export(&session->pauses, session->end_ns, recorder);
	recorder->start_ms = session->start_unix_ms;
	recorder->timed_from_ns = session->start_ns;
	recorder->duration_ns = session->end_ns - session->start_ns;
	recorder->classes[LS_SAMPLE_DROPPED] = session->counters.dropped;
	recorder->vma_busy = session->counters.vma_busy;
	recorder->lost_records = session->counters.records_lost;
	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		recorder->samples += recorder->classes[class];
}

static void explain_emptiness(struct session *session)
{
	const uint64_t *classes = recording__classes(session->recording);
	char *to = session->why_empty;
	size_t size = sizeof(session->why_empty);

	if (session->is_waiting)
		snprintf(to, size, "it was not sampled yet (--start-after)");
	else if (session->threads.is_paused && session->options.is_paused &&
		 !session->pauses.paused_ns)
		snprintf(to, size,
			 "it was paused and never resumed (SIGUSR1 or --control do that)");
	else if (!identification__found(session->identification) && !session->options.layout)
		snprintf(to, size, "none of its files held any Lua");
	else if (classes[LS_SAMPLE_HOST])
		snprintf(to, size,
			 "no Lua state was active on any stack: it ran other code, or a Lua "
			 "that was modified beyond recognition");
	else if (classes[LS_SAMPLE_UNREADABLE])
		snprintf(to, size, "none of its stacks could be read");
	else if (process__state(session->options.pid) == 'T')
		snprintf(to, size, "it is stopped (kill -CONT %d continues it)",
			 session->options.pid);
	else if (session->counters.dropped)
		snprintf(to, size, "all samples were dropped");
	else
		snprintf(to, size, "it was idle, or ran for less than one period of the timer");
}

const char *session__why_empty(struct session *session)
{
	if (recording__script_samples(session->recording))
		return NULL;
	explain_emptiness(session);
	return session->why_empty;
}
