/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/command_top.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "command/exit_status.h"
#include "command/named_process.h"
#include "command/top_summary.h"
#include "command/written_profile.h"
#include "control/signals.h"
#include "process/process.h"
#include "session/session.h"
#include "session/session_commands.h"
#include "session/session_profile.h"
#include "system/resource_limits.h"
#include "top/kept_warnings.h"
#include "top/screen.h"
#include "top/top_costs.h"
#include "top/top_view.h"

#define NS_PER_S     UINT64_C(1000000000)
#define LOOK_NS      NS_PER_S
#define KEYS_MAX     100 /* handled in a row, so that a key held down does not stop redrawing */
#define LINGER_MS    50
#define MESSAGE_NS   (5 * NS_PER_S) /* how long a message is shown, unless a key is pressed */
#define MESSAGE_SIZE 512

struct top {
	const struct top_options *options;
	struct launch *launch; /* borrowed; NULL: none */
	struct session *session;
	struct function_stats *stats;
	struct listing listing;
	struct top_view top_view;
	char target[192], interpreter[MESSAGE_SIZE], layout[MESSAGE_SIZE]; /* as of the last look */
	char message[MESSAGE_SIZE];
	uint64_t message_ns; /* when it came */
	struct kept_warnings kept;
	unsigned looks;
	uint64_t look_ns; /* when the next one is due */
	struct top_costs costs;
	bool has_changed; /* the picture must be redrawn */
	bool has_ended, has_quit;
	int error;
};

/* Takes messages that are logged while top owns the terminal. */
static void take_message(void *context, enum log_level level, const char *line)
{
	struct top *top = context;

	snprintf(top->message, sizeof(top->message), "%s", line);
	top->message_ns = clock_ns(CLOCK_MONOTONIC);
	top->has_changed = true;
	if (level > LOG_WARN)
		return;
	kept_warnings__add(&top->kept, line);
	top->top_view.warnings = top->kept.all;
}

/* Writes a profile, during the session or after it. */
static int write_profile(void *context, struct session *session)
{
	const struct top *top = context;

	return written_profile__write(session, &top->options->view);
}

static void keep_text(char *to, size_t size, const char **shown, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
	*shown = text ? to : NULL;
}

static int see_living(void *context, const char *category, uint64_t late_ns)
{
	return function_stats__see_living(context, category, late_ns);
}

/* Callers and callees, while they are shown. 0 or -ENOMEM. */
static int count_calls(struct top *top)
{
	const struct calls_choice choice = listing__choice(&top->listing);

	return function_calls__count(top->stats, &choice);
}

/* 0 or -ENOMEM. */
static int count(struct top *top, const struct ls_profile *profile)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int error = function_stats__begin(top->stats, now, profile);

	if (!error && function_stats__is_of_many(top->stats) && !top->has_ended)
		error = session__visit_living(top->session, see_living, top->stats);
	if (!error)
		error = function_stats__end(top->stats);
	listing__follow(&top->listing, top->stats);
	if (!error && top->listing.view != LISTING_CALLS)
		function_calls__forget(top->stats);
	else if (!error)
		error = function_calls__see(top->stats, profile, now);
	return error || top->listing.view != LISTING_CALLS ? error : count_calls(top);
}

/* Takes in the profile so far. 0 or -ENOMEM. */
static int look(struct top *top)
{
	struct ls_profile profile = {};
	struct top_view *top_view = &top->top_view;
	int error;

	session__export(top->session, &profile);
	error = count(top, &profile);
	keep_text(top->target, sizeof(top->target), &top_view->target, profile.recorder.target);
	keep_text(top->interpreter, sizeof(top->interpreter), &top_view->interpreter,
		  profile.recorder.interpreter);
	keep_text(top->layout, sizeof(top->layout), &top_view->layout, profile.recorder.layout);
	top_view->gc_is_known = profile.recorder.gc && !profile.recorder.gc_unknown;
	top_view->why_empty = top->looks > 1 ? session__why_empty(top->session) : NULL;
	if (!top_view->why_empty)
		top_view->why_empty = "no samples yet";
	top_costs__take(&top->costs, session__bpf_ns(top->session), &profile.recorder, top_view);
	top->looks++;
	top->has_changed = true;
	return error;
}

static int look_if_due(struct top *top)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < top->look_ns || top->top_view.state == TOP_VIEW_PAUSED)
		return 0;
	top->look_ns = now - top->look_ns < LOOK_NS ? top->look_ns + LOOK_NS : now + LOOK_NS;
	session__refresh(top->session);
	return look(top);
}

/* The call tree as it is now, for callers and callees. 0 or -ENOMEM. */
static int see_calls(struct top *top)
{
	struct ls_profile profile = {};

	if (function_calls__have_tree(top->stats))
		return 0;
	session__export(top->session, &profile);
	return function_calls__see(top->stats, &profile, clock_ns(CLOCK_MONOTONIC));
}

/* What is frozen includes the calls of functions that are yet to be chosen. 0 or -ENOMEM. */
static int pause_picture(struct top *top)
{
	struct top_view *top_view = &top->top_view;

	if (top->has_ended)
		return 0;
	top_view->state = top_view->state == TOP_VIEW_LIVE ? TOP_VIEW_PAUSED : TOP_VIEW_LIVE;
	return top_view->state == TOP_VIEW_PAUSED ? see_calls(top) : 0;
}

/*
 * Counts up to now, from which all counts start. The last picture stays as it is: there will be no
 * other. 0 or -ENOMEM.
 */
static int reset(struct top *top)
{
	struct ls_profile profile = {};
	int error;

	if (top->has_ended) {
		log_info("the target has ended: there is nothing new to count, so the counts stay");
		return 0;
	}
	session__refresh(top->session);
	error = look(top);
	session__export(top->session, &profile);
	if (!error)
		error = function_stats__reset(top->stats);
	if (!error)
		error = function_calls__reset(top->stats, &profile);
	if (!error && top->top_view.state == TOP_VIEW_PAUSED)
		error = see_calls(top);
	if (!error && top->listing.view == LISTING_CALLS)
		error = count_calls(top);
	return error;
}

/* 0 or -errno. */
static int obey(struct top *top, enum listing_demand demand)
{
	int error;

	switch (demand) {
	case LISTING_QUIT:
		top->has_quit = true;
		return 0;
	case LISTING_PAUSE:
		return pause_picture(top);
	case LISTING_RESET:
		return reset(top);
	case LISTING_HIDE:
		return function_stats__hide(top->stats, top->listing.hidden);
	case LISTING_NO_PLUGINS:
		log_info("no plugins are known: --plugin and --plugin-preset name them");
		return 0;
	case LISTING_NOT_FOUND:
		log_info("nothing matches '%s'", listing__page(&top->listing)->search);
		return 0;
	case LISTING_COUNT:
		error = see_calls(top);
		return error ? error : count_calls(top);
	case LISTING_WRITE:
		if (!top->has_ended)
			return session__write(top->session);
		write_profile(top, top->session);
		return 0;
	case LISTING_NOTHING:
		return 0;
	}
	return 0;
}

/* Arranges rows, or the help, for the screen. 0 or -ENOMEM. */
static int arrange(struct top *top)
{
	top->listing.help_last = top_view__help_last(&top->top_view);
	return listing__update(&top->listing, top->stats, top_view__rows(&top->top_view));
}

/* 0 or -errno. */
static int take_keys(struct top *top)
{
	int error = 0;
	uint32_t key = 0;

	for (int i = 0; i < KEYS_MAX && !error && !top->has_quit && (key = screen__key()); i++) {
		top->message[0] = '\0';
		top->has_changed = true;
		error = obey(top, listing__press(&top->listing, key));
		/* The next key applies to this list. */
		if (!error)
			error = arrange(top);
	}
	if (!key && screen__is_gone())
		top->has_quit = true;
	return error;
}

static int show(struct top *top)
{
	int error;

	if (!top->has_changed)
		return 0;
	top->has_changed = false;
	error = arrange(top);
	if (!error)
		screen__show(&top->top_view);
	return error;
}

/* Does all that is due now, during the session or after it. */
static int attend(struct top *top)
{
	int error;

	if (screen__size(&top->top_view.width, &top->top_view.height))
		top->has_changed = true;
	if (*top->message && clock_ns(CLOCK_MONOTONIC) - top->message_ns > MESSAGE_NS) {
		top->message[0] = '\0';
		top->has_changed = true;
	}
	error = take_keys(top);
	if (!error && !top->has_ended)
		error = look_if_due(top);
	return error ? error : show(top);
}

static int watch(void *context, struct session *session)
{
	struct top *top = context;

	(void)session; /* the same as top->session */
	top->error = attend(top);
	return top->error || top->has_quit;
}

/* The target has ended: the last picture stays until the user quits. */
static int linger(struct top *top)
{
	struct pollfd events[] = {{.fd = screen__fd(), .events = POLLIN},
				  {.fd = signals__catch(), .events = POLLIN}};
	enum signals_demand demand;
	int error;

	top->has_ended = true;
	top->top_view.state = TOP_VIEW_ENDED;
	top->message[0] = '\0';
	error = look(top);
	while (!error && !top->has_quit) {
		error = attend(top);
		poll(events, 2, LINGER_MS);
		demand = events[1].revents ? signals__take(events[1].fd, NULL) : SIGNALS_NOTHING;
		top->has_quit |= demand == SIGNALS_END || demand == SIGNALS_HANGUP;
	}
	if (events[1].fd >= 0)
		close(events[1].fd);
	return error;
}

/* Whether all requested processes have ended. A system never does. */
static bool are_gone(const struct target_choice *targets)
{
	for (size_t i = 0; i < targets->pid_count; i++)
		if (!process__has_ended(targets->pids[i]))
			return false;
	return !targets->system;
}

static enum exit_status run(struct top *top)
{
	int error;

	if (screen__open()) {
		const char *term = getenv("TERM");

		log_error("cannot use this terminal: '%s' is not known (try TERM=xterm)",
			  term ? term : "");
		return EXIT_FAILED;
	}
	log__divert(take_message, top);
	top_costs__begin(&top->costs);
	top->look_ns = clock_ns(CLOCK_MONOTONIC);
	error = session__run(top->session);
	if (!error)
		error = top->error;
	if (!error && !top->has_quit && are_gone(&top->options->targets))
		error = linger(top);
	screen__close();
	log__divert(NULL, NULL);
	if (error == -ENOMEM)
		log_error("out of memory");
	top_summary__log(top->session, &top->kept);
	if (error)
		return error == -ENOENT ? EXIT_NOTHING : EXIT_FAILED;
	if (!session__is_unsupported(top->session))
		return EXIT_OK;
	log_error("no script of %s was seen: %s", session__target(top->session),
		  session__why_empty(top->session));
	return EXIT_NOTHING;
}

static enum exit_status top_with(struct top *top)
{
	const struct top_options *options = top->options;
	const struct session_watcher watcher = {.context = top, .fd = screen__fd(), .watch = watch};
	const struct session_options session_options = {
		.targets = &options->targets,
		.sampling = options->sampling,
		.category =
			function_stats__is_of_many(top->stats) ? CATEGORY_PROCESS : CATEGORY_THREAD,
		.launch = top->launch,
		.write = write_profile,
		.context = top,
		.watcher = &watcher,
	};
	enum exit_status status;
	int error = session__open(&session_options, &top->session);

	if (error)
		return error == -ENOENT ? EXIT_NOTHING : EXIT_FAILED;
	status = run(top);
	session__close(top->session);
	return status;
}

/* What the options ask to see at first. */
static void set_listing(struct top *top)
{
	const struct top_options *options = top->options;

	listing__init(&top->listing, options->sort);
	top->listing.average_s = options->average_s;
	top->listing.hidden = options->hidden;
	top->listing.has_plugins = options->view.plugins.count;
	if (top->listing.has_plugins)
		function_stats__set_plugins(top->stats, &options->view.plugins);
}

/* Watches the processes that `options` list. `launch` is the only one, or NULL. */
static enum exit_status watch_processes(const struct top_options *options, struct launch *launch)
{
	struct top *top;
	enum exit_status status = EXIT_FAILED;

	top = calloc(1, sizeof(*top));
	if (top)
		top->stats = function_stats__new(target_choice__is_of_many(&options->targets));
	if (!top || !top->stats || function_stats__hide(top->stats, options->hidden)) {
		log_error("out of memory");
		goto cleanup;
	}
	top->options = options;
	top->launch = launch;
	set_listing(top);
	top->top_view.is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	top->top_view.is_merged = options->targets.merge_by != GROUPING_NONE;
	top->top_view.stats = top->stats;
	top->top_view.listing = &top->listing;
	top->top_view.message = top->message;
	status = top_with(top);
	listing__free(&top->listing);
cleanup:
	if (top)
		function_stats__free(top->stats);
	free(top);
	return status;
}

/* Returns the command's own status, unless it is 0 or top was quit before the command ended. */
static int watch_command(const struct top_options *options, struct top_options *chosen)
{
	struct launch *launch;
	int error = launch__new_apart(options->words, &launch);
	int status = 0, own_status;

	if (error) {
		log_error("cannot start '%s': %s", options->words[0],
			  resource_limits__reason(error));
		return EXIT_FAILED;
	}
	chosen->targets.pids[0] = launch__pid(launch);
	chosen->targets.pid_count = 1;
	chosen->targets.waits = true;
	own_status = watch_processes(chosen, launch);
	if (launch__is_released(launch)) {
		bool has_ended = are_gone(&chosen->targets);

		if (!has_ended)
			launch__end(launch);
		status = launch__wait(launch);
		if (!has_ended)
			status = 0;
	}
	launch__free(launch);
	return status ? status : own_status;
}

int command_top__run(const struct top_options *options)
{
	struct top_options chosen = *options;
	enum exit_status status;

	if (!screen__is_there()) {
		log_error("cannot show the live view: standard input and output are not a terminal "
			  "('luaspy record' and 'luaspy dump' need none)");
		return EXIT_USAGE;
	}
	if (options->words)
		return watch_command(options, &chosen);
	if (target_choice__refuse_self(&options->targets))
		return EXIT_NOTHING;
	if (target_choice__is_by_name(&options->targets)) {
		status = named_process__find(&options->targets.criteria,
					     options->targets.no_command_lines,
					     &chosen.targets.pids[0]);
		if (status != EXIT_OK)
			return status;
		chosen.targets.pid_count = 1;
		chosen.targets.criteria = (struct process_criteria){};
	}
	return watch_processes(&chosen, NULL);
}
