/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/session_commands.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/signals.h"
#include "session/session_profile.h"
#include "session/session_records.h"
#include "session/session_state.h"

void session__take_signal(struct session *session)
{
	switch (signals__take(session->signal_fd, session->options.launch)) {
	case SIGNALS_END:
		session_state__set_over(session);
		break;
	case SIGNALS_SWITCH:
		session->requests.toggle = !session->requests.toggle;
		break;
	case SIGNALS_HANGUP:
		session->requests.write =
			session->hangup_writes && session_state__has_begun(session);
		if (!session->hangup_writes)
			session_state__set_over(session);
		break;
	case SIGNALS_NOTHING:
		break;
	}
}

/*
 * Does what is done at the session's end, but ends nothing. If writing fails, *failure is the
 * reason, and the session goes on. 0 or -errno.
 */
static int write_open_profile(struct session *session, const char **failure)
{
	int error;

	/* Nothing is read until the interval has ended, so that it ends on time. */
	session__limit_reading(session, 0);
	error = session__drain(session);
	if (error)
		return error;
	targets__settle(session->targets);
	session->end_ns = clock_ns(CLOCK_MONOTONIC);
	error = session__drain(session);
	if (error)
		return error;
	session__limit_reading(session, READING_NS);
	targets__complete(session->targets);
	sampler__drain_aside(session->sampler);
	error = session->options.write(session->options.context, session);
	sampler__stop_draining_aside(session->sampler);
	if (error)
		*failure = strerror(-error);
	return 0;
}

/* No record is handed out between the profile's end and this call, so each is in one profile. */
static int restart(struct session *session)
{
	struct ls_profile written = {};

	session__export(session, &written);
	if (recording__restart(session->recording)) {
		log_error("out of memory: the recording ends here");
		return -ENOMEM;
	}
	baseline__move(&session->closed, &written.recorder, &session->counters, session->end_ns);
	pauses__restart(&session->pauses, session->end_ns);
	overhead__restart(&session->overhead, &session->counters, session->end_ns);
	return 0;
}

static int write_so_far(struct session *session, const char **failure)
{
	int error;

	if (!session->options.interval_ns)
		pauses__note(&session->pauses, "write", NULL);
	error = write_open_profile(session, failure);
	if (!session->options.interval_ns || error)
		return error;
	session->close_ns = clock_ns(CLOCK_MONOTONIC) + session->options.interval_ns;
	return *failure ? 0 : restart(session);
}

int session__write(struct session *session)
{
	const char *failure = NULL; /* reported by options.write() */

	return write_so_far(session, &failure);
}

/* Ends intervals on time, however long writing takes. The session's end also ends the last one. */
int session__close_interval(struct session *session)
{
	uint64_t close_ns = session->close_ns;
	int error;

	if (!close_ns || clock_ns(CLOCK_MONOTONIC) < close_ns || !session_state__goes_on(session) ||
	    (session->limit_ns && close_ns >= session->start_ns + session->limit_ns))
		return 0;
	error = session__write(session);
	do {
		close_ns += session->options.interval_ns;
	} while (close_ns <= session->end_ns);
	session->close_ns = close_ns;
	return error;
}

static int obey(struct session *session, enum control_command command, const char *text)
{
	const char *failure = NULL;
	int error = 0;

	switch (command) {
	case CONTROL_PAUSE:
	case CONTROL_RESUME:
		error = pauses__set(&session->pauses, command == CONTROL_PAUSE, session__drain,
				    session);
		break;
	case CONTROL_WRITE:
		error = write_so_far(session, &failure);
		break;
	case CONTROL_MARK:
		pauses__note(&session->pauses, "mark", text);
		log_debug("mark '%s'", text);
		break;
	case CONTROL_STOP:
		session->state = SESSION_STOPPED;
		return 0;
	case CONTROL_NONE:
		return 0;
	}
	control__answer(session->options.control, command, error ? strerror(-error) : failure);
	return error;
}

int session__obey(struct session *session)
{
	enum control_command command;
	const char *text;
	int error = 0;

	if (session->requests.write)
		error = session__write(session);
	session->requests.write = false;
	if (!error && session->requests.toggle)
		error = pauses__set(&session->pauses, !targets__are_paused(session->targets),
				    session__drain, session);
	session->requests.toggle = false;
	if (!session->requests.commands)
		return error;
	session->requests.commands = false;
	/* Commands are obeyed even if the target has ended meanwhile. */
	while (!error && session->state != SESSION_STOPPED &&
	       (command = control__take(session->options.control, &text)))
		error = obey(session, command, text);
	return error;
}
