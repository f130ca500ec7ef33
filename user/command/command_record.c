/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "exit_status.h"
#include "merged_profile.h"
#include "output_file.h"
#include "output_name.h"
#include "rolled_files.h"
#include "session.h"
#include "signals.h"
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
	return error;
}

/* Where a session's profile goes. */
struct delivery {
	const struct record_options *options;
	const char *path;
	struct output_file *file;   /* NULL where there are more: */
	struct rolled_files *files; /* one for each interval; NULL: there is one */
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
static int deliver(struct session *session, const struct delivery *delivery, const char *path,
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
	error = write_profile(merged_profile__profile(merged), &totals, path, file);
	/* The file is there: now there is no hurry. */
	log__wait(is_end);
	if (is_end && !delivery->files && log__level() >= LOG_INFO)
		summary__print(merged_profile__profile(merged), &totals, stderr);
	if (!error && strcmp(path, "-"))
		log_info("wrote %s", path);
cleanup:
	totals__free(&totals);
	merged_profile__free(merged);
	view__free(view);
	return error;
}

/* Who watches no summary is told what is missing in the file. */
static void tell_losses(const struct ls_profile_recorder *recorder, const char *path)
{
	uint64_t lost =
		recorder->classes[LS_SAMPLE_DROPPED] + recorder->classes[LS_SAMPLE_UNREADABLE];

	if (lost)
		log_warn("'%s' lacks %llu of %llu samples", path, (unsigned long long)lost,
			 (unsigned long long)recorder->samples);
	if (recorder->lost_records)
		log_warn("'%s' lacks %llu records of functions, threads or processes", path,
			 (unsigned long long)recorder->lost_records);
	if (recorder->missed_processes)
		log_warn("'%s' lacks %llu processes that could not be looked into, or be sampled",
			 path, (unsigned long long)recorder->missed_processes);
}

/* What was sampled since the last one; also nothing. */
static int deliver_interval(struct session *session, const struct delivery *delivery)
{
	struct output_file *file = NULL;
	struct ls_profile sampled = {};
	const char *path;
	int error;

	session__export(session, &sampled);
	path = rolled_files__name(delivery->files, (time_t)(sampled.recorder.start_ms / 1000));
	if (!path) {
		log_error("cannot write '%s': no name left for it", delivery->path);
		return -EEXIST;
	}
	error = open_output(path, &file);
	if (!error)
		error = deliver(session, delivery, path, file, false);
	if (error)
		return error;
	tell_losses(&sampled.recorder, path);
	if (rolled_files__add(delivery->files))
		log_warn("out of memory: '%s' stays", path);
	return 0;
}

/* While the session goes on: what fails costs nothing but this profile. */
static int write_so_far(void *context, struct session *session)
{
	const struct delivery *delivery = context;
	struct output_file *file;
	int error;

	if (delivery->files)
		return deliver_interval(session, delivery);
	error = output_file__again(delivery->file, &file);
	if (error == -ENOTSUP)
		log_warn("'write' is passed over: '%s' takes one profile, at the end",
			 delivery->path);
	else if (error)
		log_error("cannot write '%s': %s", delivery->path, strerror(-error));
	else
		error = deliver(session, delivery, delivery->path, file, false);
	return error;
}

/* In the end. A profile of no sample at all is none, a minute without any in a day of them is. */
static int deliver_last(struct session *session, const struct delivery *delivery, int error)
{
	struct ls_profile sampled = {};

	session__export(session, &sampled);
	if (delivery->files)
		return error != -ENOENT && session__has_begun(session)
			       ? deliver_interval(session, delivery)
			       : 0;
	if (sampled.recorder.samples && error != -ENOENT)
		return deliver(session, delivery, delivery->path, delivery->file, true);
	output_file__discard(delivery->file);
	return 0;
}

static enum exit_status run(struct session *session, const struct delivery *delivery)
{
	const char *why;
	int error, failed;

	/* Who does not read its messages does not stop it. */
	log__wait(0);
	error = session__run(session);
	signals__let_end();
	why = session__why_empty(session);
	failed = deliver_last(session, delivery, error);
	log__wait(1);
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

/* A wrong path must not cost a recording, nor its first interval. 0 or -errno, after saying so. */
static int prepare(struct delivery *delivery)
{
	const struct record_options *options = delivery->options;
	struct output_file *probe = NULL;
	const char *path;
	int error;

	if (!options->interval_ns)
		return open_output(delivery->path, &delivery->file);
	error = rolled_files__new(delivery->path, options->keep, options->keep_bytes,
				  &delivery->files);
	if (error) {
		log_error("cannot write '%s': %s", delivery->path, strerror(-error));
		return error;
	}
	path = rolled_files__name(delivery->files, time(NULL));
	error = path ? open_output(path, &probe) : -ENOMEM;
	output_file__discard(probe);
	return error;
}

/* What the file is called where nobody said it; dates of intervals come later. */
static void make_name(const struct record_options *options, const struct session *session,
		      char to[OUTPUT_NAME_SIZE])
{
	const char *name = options->words ? command_name(options->words) : session__name(session);

	if (options->interval_ns)
		output_name__make_dateless(name, session__pid(session), to);
	else
		output_name__make(name, session__pid(session), to);
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
		.interval_ns = options->interval_ns,
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
		make_name(options, session, name);
		delivery.path = name;
	}
	status = prepare(&delivery) ? EXIT_FAILED : run(session, &delivery);
	rolled_files__free(delivery.files);
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
