/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/command_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/resource_limits.h"
#include "command/coroutine_starts.h"
#include "command/exit_status.h"
#include "command/named_process.h"
#include "command/output_folder.h"
#include "summary/printer.h"
#include "command/rendered_profile.h"
#include "summary/summary.h"
#include "output/output_file.h"
#include "output/output_name.h"
#include "output/rolled_files.h"
#include "recording/parts.h"
#include "session/control.h"
#include "session/session.h"
#include "session/session_profile.h"
#include "session/signals.h"

/* Where a session's profile goes. */
struct delivery {
	const struct record_options *options;
	const char *path;
	struct output_file *file;     /* NULL if there are several: */
	struct rolled_files *files;   /* one per interval; NULL: not by interval */
	struct output_folder *folder; /* one per part instead; NULL: not by part */
};

/* What can be done with the file: Luau's sources have a tool that reads it. */
static void tell_use(const struct delivery *delivery)
{
	const struct printer printer = printer__on(stderr);
	char text[128];

	snprintf(text, sizeof(text),
		 "ScriptProfiler v2 JSON: Luau's perfgraph.py --json makes a flame graph of %s",
		 delivery->folder ? "each" : "it");
	printer__wrapped(&printer, "  ", text);
}

/* An interval's file has no summary, so the line that names it holds the most of it. */
static void tell_interval(const char *path, const struct rendered_profile *shown,
			  const struct category_words *words)
{
	char line[SUMMARY_LINE_SIZE];

	summary__describe(merged_profile__profile(shown->merged), &shown->totals, words, line,
			  sizeof(line));
	log_info("wrote %s: %s", path, line);
}

static void tell_file(const struct delivery *delivery, const char *path, bool has_summary)
{
	if (delivery->folder && !output_folder__report(delivery->folder))
		return;
	if (!delivery->folder && !strcmp(path, "-"))
		return;
	if (!delivery->folder)
		log_info("wrote %s", path);
	if (has_summary)
		tell_use(delivery);
}

/* --merge-by chooses the processes of each file, where there are several. */
static const struct category_words *words_of(const struct record_options *options)
{
	return category_words__of(options->category,
				  options->output_dir ? GROUPING_NONE : options->targets.merge_by);
}

/* Takes over `file`; if it is NULL, the files of all parts are written. */
static int deliver(struct session *session, const struct delivery *delivery, const char *path,
		   struct output_file *file, bool is_end)
{
	struct rendered_profile shown;
	struct ls_profile raw = {};
	struct summary_options summary = {
		.words = words_of(delivery->options),
		.tree_depth = delivery->options->tree_depth,
		.callers = delivery->options->callers,
	};
	bool has_summary = is_end && log__level() >= LOG_INFO;
	uint64_t size;
	int error;

	session__export(session, &raw);
	error = rendered_profile__make(&raw, delivery->options, &shown);
	if (error) {
		output_file__discard(file);
		goto cleanup;
	}
	if (file)
		error = rendered_profile__write(&shown, path, file, &size);
	/* The file is written: at the end, messages may now block. */
	log__wait(is_end);
	if (has_summary)
		summary__print(merged_profile__profile(shown.merged), &shown.totals, &summary,
			       stderr);
	if (!error && delivery->files)
		tell_interval(path, &shown, summary.words);
	else if (!error)
		tell_file(delivery, path, has_summary);
	if (has_summary)
		summary__print_accounting(merged_profile__profile(shown.merged), &shown.totals,
					  log__level() >= LOG_DEBUG, stderr);
	if (is_end)
		coroutine_starts__warn(&raw, &delivery->options->view.coroutines);
cleanup:
	rendered_profile__free(&shown);
	return error;
}

/* Warns of what is missing in the file, as there is no summary to show it. */
static void tell_losses(const struct ls_profile_recorder *recorder, const char *path)
{
	uint64_t lost =
		recorder->classes[LS_SAMPLE_DROPPED] + recorder->classes[LS_SAMPLE_UNREADABLE];

	if (lost)
		log_warn("'%s' lacks %llu of %llu samples", path, (unsigned long long)lost,
			 (unsigned long long)recorder->samples);
	if (recorder->lost_records)
		log_warn("'%s' lacks %llu record%s of functions, threads or processes", path,
			 (unsigned long long)recorder->lost_records,
			 recorder->lost_records == 1 ? "" : "s");
	if (recorder->missed_processes)
		log_warn("'%s' lacks %llu process%s that could not be inspected or sampled", path,
			 (unsigned long long)recorder->missed_processes,
			 recorder->missed_processes == 1 ? "" : "es");
}

/* Writes one file per part; with intervals, what was sampled since the last one. */
static int deliver_parts(struct session *session, const struct delivery *delivery)
{
	struct ls_profile sampled = {};
	int error = output_folder__write(delivery->folder, session);

	session__export(session, &sampled);
	if (delivery->options->interval_ns && !error)
		tell_losses(&sampled.recorder, delivery->options->output_dir);
	return error;
}

/* Writes what was sampled since the last interval, even if that is nothing. */
static int deliver_interval(struct session *session, const struct delivery *delivery)
{
	struct output_file *file = NULL;
	struct ls_profile sampled = {};
	const char *path;
	int error;

	session__export(session, &sampled);
	rolled_files__begin(delivery->files);
	path = rolled_files__name(delivery->files, delivery->path,
				  (time_t)(sampled.recorder.start_ms / 1000));
	if (!path) {
		log_error("cannot write '%s': no unused name is left for it", delivery->path);
		return -EEXIST;
	}
	error = rendered_profile__open(path, path, delivery->options->mode, &file);
	if (!error)
		error = deliver(session, delivery, path, file, false);
	if (error)
		return error;
	tell_losses(&sampled.recorder, path);
	if (rolled_files__add(delivery->files))
		log_warn("out of memory: '%s' was not removed", path);
	return 0;
}

/* Writes the profile while the session goes on; a failure costs only this profile. */
static int write_so_far(void *context, struct session *session)
{
	const struct delivery *delivery = context;
	struct output_file *file;
	int error;

	if (delivery->folder) {
		error = deliver_parts(session, delivery);
		output_folder__report(delivery->folder);
		return error;
	}
	if (delivery->files)
		return deliver_interval(session, delivery);
	error = output_file__again(delivery->file, &file);
	if (error == -ENOTSUP)
		log_warn("ignored 'write': '%s' takes one profile, at the end", delivery->path);
	else if (error)
		log_error("cannot write '%s': %s", delivery->path, resource_limits__reason(error));
	else
		error = deliver(session, delivery, delivery->path, file, false);
	return error;
}

/*
 * Writes at the end. A profile without samples is discarded, but an interval without any is not;
 * and a profile of nothing that luaspy can look into.
 */
static int deliver_last(struct session *session, const struct delivery *delivery, int error)
{
	struct ls_profile sampled = {};

	session__export(session, &sampled);
	if (error == -ENOENT || !session__has_begun(session) || session__is_unsupported(session) ||
	    (!delivery->options->interval_ns && !sampled.recorder.samples)) {
		output_file__discard(delivery->file);
		return 0;
	}
	if (delivery->files)
		return deliver_interval(session, delivery);
	if (!delivery->folder)
		return deliver(session, delivery, delivery->path, delivery->file, true);
	error = deliver_parts(session, delivery);
	/* The summary covers all parts. */
	if (!delivery->options->interval_ns && log__level() >= LOG_INFO)
		deliver(session, delivery, delivery->path, NULL, true);
	output_folder__report(delivery->folder);
	return error;
}

static enum exit_status run(struct session *session, const struct delivery *delivery)
{
	const char *why;
	int error, failed;

	/* Messages that nobody reads must not block it. */
	log__wait(0);
	error = session__run(session);
	signals__let_end();
	why = session__why_empty(session);
	failed = deliver_last(session, delivery, error);
	log__wait(1);
	if (delivery->folder && output_folder__failed(delivery->folder))
		failed = -EIO;
	if (why && !error)
		log_error("no script in the profile of %s: %s", session__target(session), why);
	if (error || failed)
		return error == -ENOENT && !failed ? EXIT_NOTHING : EXIT_FAILED;
	return why ? EXIT_NOTHING : EXIT_OK;
}

/* The last component of the command's path, for the name of the file. */
static const char *command_name(char *const *words)
{
	const char *slash = strrchr(words[0], '/');

	return slash && slash[1] ? slash + 1 : words[0];
}

/* The log has the details, which the client that sent 'stop' by the FIFO may not have seen. */
static const char *why_stopped_badly(enum exit_status status)
{
	return status == EXIT_NOTHING ? "no script in the profile" : "the profile was not written";
}

/*
 * Checks the output path early: a wrong one must not cost a recording, nor its first interval. 0 or
 * -errno, which was reported unless no name could be made.
 */
static int prepare(struct delivery *delivery)
{
	const struct record_options *options = delivery->options;
	struct output_file *probe = NULL;
	const char *path;
	int error;

	if (options->output_dir)
		return output_folder__new(options, &delivery->folder);
	if (!options->interval_ns)
		return rendered_profile__open(delivery->path, delivery->path, options->mode,
					      &delivery->file);
	error = rolled_files__new(delivery->path, options->keep, options->keep_bytes,
				  &delivery->files);
	if (error) {
		log_error("cannot write '%s': %s", delivery->path, resource_limits__reason(error));
		return error;
	}
	path = rolled_files__name(delivery->files, delivery->path, time(NULL));
	error = path ? rendered_profile__open(path, path, options->mode, &probe) : -ENOMEM;
	output_file__discard(probe);
	return error;
}

/* Makes the default name of the file; with intervals, dates are added later. */
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
				    struct control *control, struct parts *parts)
{
	struct delivery delivery = {.options = options, .path = options->output};
	struct session_options session_options = {
		.targets = &options->targets,
		.sampling = options->sampling,
		.duration_ns = options->duration_ns,
		.start_after_ns = options->start_after_ns,
		.until_samples = options->until_samples,
		.interval_ns = options->interval_ns,
		.category = options->category,
		.parts = parts,
		.keeps_timeline = options->timeline,
		.keeps_coroutines = options->view.coroutines.count != 0,
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
	if (!delivery.path && !options->output_dir) {
		make_name(options, session, name);
		delivery.path = name;
	}
	status = prepare(&delivery) ? EXIT_FAILED : run(session, &delivery);
	rolled_files__free(delivery.files);
	output_folder__free(delivery.folder);
	if (session__was_stopped(session))
		control__answer(control, CONTROL_STOP, status ? why_stopped_badly(status) : NULL);
	session__close(session);
	return status;
}

static enum exit_status record(const struct record_options *options, struct launch *launch)
{
	struct control *control = NULL;
	struct parts *parts = options->output_dir ? parts__new() : NULL;
	enum exit_status status = EXIT_FAILED;

	if (options->output_dir && !parts) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	if (options->control && control__open(options->control, options->control_ack, &control))
		goto cleanup;
	status = record_with(options, launch, control, parts);
	control__close(control);
cleanup:
	parts__free(parts);
	return status;
}

/* Returns the command's own status unless it is 0, as it says more than luaspy's. */
static int record_command(const struct record_options *options)
{
	struct record_options chosen = *options;
	struct launch *launch;
	int error = launch__new(options->words, &launch);
	int status, own_status;

	if (error) {
		log_error("cannot start '%s': %s", options->words[0],
			  resource_limits__reason(error));
		return EXIT_FAILED;
	}
	chosen.targets.pids[0] = launch__pid(launch);
	chosen.targets.pid_count = 1;
	chosen.targets.waits = true;
	own_status = record(&chosen, launch);
	status = launch__is_released(launch) ? launch__wait(launch) : 0;
	launch__free(launch);
	return status ? status : (int)own_status;
}

/* Records the only process that fits, as if its PID had been given. */
static int record_named(const struct record_options *options)
{
	struct record_options chosen = *options;
	enum exit_status status = named_process__find(
		&options->targets.wish, options->targets.no_command_lines, &chosen.targets.pids[0]);

	if (status != EXIT_OK)
		return status;
	chosen.targets.pid_count = 1;
	chosen.targets.wish = (struct process_wish){};
	return record(&chosen, NULL);
}

int command_record__run(const struct record_options *options)
{
	if (options->words)
		return record_command(options);
	if (target_choice__is_by_name(&options->targets))
		return record_named(options);
	if (target_choice__refuse_self(&options->targets))
		return EXIT_NOTHING;
	return record(options, NULL);
}
