/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "exit_status.h"
#include "merged_profile.h"
#include "output_file.h"
#include "output_name.h"
#include "session.h"
#include "summary.h"
#include "totals.h"
#include "view.h"
#include "write_scriptprofiler.h"

static int open_output(const char *path, struct output_file **file)
{
	int error = output_file__open(path, file);

	if (error == -EINVAL)
		log_error("cannot write '%s': not a regular file", path);
	else if (error)
		log_error("cannot write '%s': %s", path, strerror(-error));
	return error;
}

static int write_profile(const struct ls_profile *profile, const struct ls_totals *totals,
			 const char *path, struct output_file *file)
{
	int error = write_scriptprofiler(profile, totals, output_file__stream(file));

	if (error)
		output_file__discard(file);
	else
		error = output_file__commit(file);
	if (error && !strcmp(path, "-"))
		log_error("cannot write to standard output: %s", strerror(-error));
	else if (error)
		log_error("cannot write '%s': %s", path, strerror(-error));
	else if (strcmp(path, "-"))
		log_info("wrote %s", path);
	return error;
}

/* Where a session's profile goes. */
struct delivery {
	const struct record_options *options;
	const char *path;
	struct output_file *file;
};
/* 0 or -errno. *merged is the caller's; what it borrows from is the session's and the view's. */
static int put_together(struct session *session, const struct record_options *options,
			struct view **view, struct merged_profile **merged)
{
	enum merged_lines lines = options->lines ? MERGED_LINES_SPLIT : MERGED_LINES_FOLDED;
	struct ls_profile raw = {};
	const struct ls_profile *seen = &raw;

	session__export(session, &raw);
	if (options->strict)
		raw.recorder.version = NULL;
	if (view_options__are_any(&options->view)) {
		int error = view__new(&raw, &options->view, view);

		if (error)
			return error;
		seen = view__profile(*view);
	}
	return merged_profile__new(seen, lines, merged);
}

/* Takes over `file`. */
static int deliver(struct session *session, const struct delivery *delivery,
		   struct output_file *file, bool is_end)
{
	struct view *view = NULL;
	struct merged_profile *merged = NULL;
	struct ls_totals totals = {};
	int error = put_together(session, delivery->options, &view, &merged);

	if (!error)
		error = totals__compute(merged_profile__profile(merged), &totals);
	if (error) {
		log_error("cannot put the profile together: %s", strerror(-error));
		output_file__discard(file);
		goto cleanup;
	}
	if (is_end && log__level() >= LOG_INFO)
		summary__print(merged_profile__profile(merged), &totals, stderr);
	error = write_profile(merged_profile__profile(merged), &totals, delivery->path, file);
cleanup:
	totals__free(&totals);
	merged_profile__free(merged);
	view__free(view);
	return error;
}

/* While the session goes on: what fails costs nothing but this profile. */
static int write_so_far(void *context, struct session *session)
{
	const struct delivery *delivery = context;
	struct output_file *file;
	int error = output_file__again(delivery->file, &file);

	if (error == -ENOTSUP)
		log_warn("'write' is passed over: '%s' takes one profile, at the end",
			 delivery->path);
	else if (error)
		log_error("cannot write '%s': %s", delivery->path, strerror(-error));
	else
		error = deliver(session, delivery, file, false);
	return error;
}

static enum exit_status run(struct session *session, const struct delivery *delivery)
{
	struct ls_profile sampled = {};
	int error = session__run(session);
	const char *why = session__why_empty(session);
	int failed = 0;

	session__export(session, &sampled);
	if (sampled.recorder.samples && error != -ENOENT)
		failed = deliver(session, delivery, delivery->file, true);
	else
		output_file__discard(delivery->file);
	if (why && !error)
		log_error("no script in the profile of %s: %s", session__target(session), why);
	if (error || failed)
		return error == -ENOENT && !failed ? EXIT_NOTHING : EXIT_FAILED;
	return why ? EXIT_NOTHING : EXIT_OK;
}

/* The end of the path of what is executed; the file is called after it. */
static const char *command_name(char *const *words)
{
	const char *slash = strrchr(words[0], '/');

	return slash && slash[1] ? slash + 1 : words[0];
}

/* It said why by itself; whoever told it to stop by the FIFO may not have seen that. */
static const char *why_stopped_badly(enum exit_status status)
{
	return status == EXIT_NOTHING ? "no script in the profile" : "the profile was not written";
}

static enum exit_status record_with(const struct record_options *options, struct launch *launch,
				    struct control *control)
{
	struct delivery delivery = {.options = options, .path = options->output};
	pid_t launched = launch ? launch__pid(launch) : 0;
	struct session_options session_options = {
		.pids = launch ? &launched : options->pids,
		.pid_count = launch ? 1 : options->pid_count,
		.follows_children = options->children,
		.is_system_wide = options->system,
		.wish = options->wish,
		.period_ns = options->period_ns,
		.duration_ns = options->duration_ns,
		.start_after_ns = options->start_after_ns,
		.until_samples = options->until_samples,
		.max_depth = options->max_depth,
		.layout = options->layout,
		.category = options->category,
		.merge_by = options->merge_by,
		.keeps_timeline = options->timeline,
		.keeps_coroutines = options->view.coroutines.count != 0,
		.waits = options->waits || launch,
		.launch = launch,
		.is_paused = options->is_paused,
		.control = control,
		.write = write_so_far,
		.context = &delivery,
	};
	struct session *session = NULL;
	enum exit_status status;
	char name[OUTPUT_NAME_SIZE];
	int error;

	error = session__open(&session_options, &session);
	if (error)
		return error == -ENOENT ? EXIT_NOTHING : EXIT_FAILED;
	if (!delivery.path) {
		output_name__make(launch ? command_name(options->words) : session__name(session),
				  session__pid(session), name);
		delivery.path = name;
	}
	status = open_output(delivery.path, &delivery.file) ? EXIT_FAILED : run(session, &delivery);
	if (session__was_stopped(session))
		control__answer(control, CONTROL_STOP, status ? why_stopped_badly(status) : NULL);
	session__close(session);
	return status;
}

static enum exit_status record(const struct record_options *options, struct launch *launch)
{
	struct control *control = NULL;
	enum exit_status status;

	if (options->control && control__open(options->control, options->control_ack, &control))
		return EXIT_FAILED;
	status = record_with(options, launch, control);
	control__close(control);
	return status;
}

/* The command's own status says more than luaspy's, unless it is that all was well. */
static int record_command(const struct record_options *options)
{
	struct launch *launch;
	int error = launch__new(options->words, &launch);
	int status, own_status;

	if (error) {
		log_error("cannot start '%s': %s", options->words[0], strerror(-error));
		return EXIT_FAILED;
	}
	own_status = record(options, launch);
	status = launch__is_released(launch) ? launch__wait(launch) : 0;
	launch__free(launch);
	return status ? status : (int)own_status;
}

int command_record__run(const struct record_options *options)
{
	if (options->words)
		return record_command(options);
	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pids[i] == getpid()) {
			log_error("cannot profile process %d: that is luaspy itself", getpid());
			return EXIT_NOTHING;
		}
	return record(options, NULL);
}
