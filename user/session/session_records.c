/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/session_records.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "targets/targets_discovery.h"
#include "targets/targets_following.h"

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
	if (!session_state__has_begun(session) || exit->time_ns < session->start_ns)
		return 0;
	if (targets__have_charged(session->targets, exit))
		return 0;
	return recording__thread_exit(session->recording, exit);
}

static int on_thread_rest(void *context, const struct ls_thread_exit *rest)
{
	struct session *session = context;
	int error = 0;

	if (session_state__has_begun(session) && rest->time_ns >= session->start_ns)
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

void session__limit_reading(struct session *session, uint64_t ns)
{
	inspector__set_deadline(session->inspector, clock_ns(CLOCK_MONOTONIC) + ns);
}

int session_records__open(struct session *session)
{
	struct sampler_options options = {.sampling = session->options.sampling,
					  .follows_children = session->options.targets->children,
					  .is_system_wide = session->options.targets->system};
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
			       session->options.sampling.max_overhead_ppm,
			       session->options.sampling.period_ns, session->sampler,
			       &session->pauses);
	return error ? error : targets__begin(session->targets, session->sampler);
}
