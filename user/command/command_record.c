/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/command_record.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/exit_status.h"
#include "command/named_process.h"
#include "command/output_folder.h"
#include "command/output_set.h"
#include "command/rendered_profile.h"
#include "control/control.h"
#include "control/signals.h"
#include "output/output_name.h"
#include "recording/subprofiles.h"
#include "session/session.h"
#include "session/session_profile.h"
#include "summary/coroutine_starts.h"
#include "summary/printer.h"
#include "summary/summary.h"
#include "system/resource_limits.h"

/* Where a session's profile goes. */
struct delivery {
	const struct record_options *options;
	struct output_choice outputs; /* as in the options, or of the default name */
	struct output_set set;
	struct output_folder *folder; /* one file per subprofile instead; NULL: not by subprofile */
};

/* Whether a shell takes the name as it is. */
static bool is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-+:@%,";

	return *path != '-' && !path[strspn(path, plain)];
}

/* What can be done with a file; NULL: with several. luaspy's own format has commands to type. */
static void tell_use(const struct format *format, const char *path)
{
	static const char *const commands[] = {"open", "report"};
	const struct printer printer = printer__on(stderr);
	bool has_commands = path && format == format__at(0) && is_plain(path);
	char text[PATH_MAX + 64];

	snprintf(text, sizeof(text), "%s%s%s", format->title, has_commands ? "" : ": ",
		 has_commands ? ", which these show in the browser or print:" : format->use);
	printer__wrapped(&printer, "  ", text);
	for (int i = 0; has_commands && i < 2; i++) {
		snprintf(text, sizeof(text), "luaspy %s %s", commands[i], path);
		printer__wrapped(&printer, "    ", text);
	}
}

/* An interval's file has no summary, so the line that names it holds the most of it. */
static void tell_interval(const struct output_set *set, const struct rendered_profile *shown,
			  const struct category_words *words)
{
	char line[SUMMARY_LINE_SIZE];
	const char *path;

	summary__describe(merged_profile__profile(shown->merged), &shown->totals, words, line,
			  sizeof(line));
	for (size_t i = 0; (path = output_set__path(set, i)); i++)
		log_info("wrote %s: %s", path, line);
}

static void tell_files(const struct delivery *delivery, const struct output_set *set,
		       bool has_summary)
{
	const char *path;

	if (!set) {
		if (output_folder__report(delivery->folder) && has_summary)
			tell_use(output_choice__default(&delivery->outputs), NULL);
		return;
	}
	for (size_t i = 0; i < delivery->outputs.count; i++) {
		path = output_set__path(set, i);
		if (!path || !strcmp(path, "-"))
			continue;
		log_info("wrote %s", path);
		if (has_summary)
			tell_use(output_set__format(set, i), path);
	}
}

/* --merge-by chooses the processes of each file, where there are several. */
static const struct category_words *words_of(const struct record_options *options)
{
	return category_words__of(options->category,
				  options->output_dir ? GROUPING_NONE : options->targets.merge_by);
}

/* Writes the files of `set`; if it is NULL, those of all subprofiles are written. */
static int deliver(struct session *session, const struct delivery *delivery, struct output_set *set,
		   bool is_end)
{
	struct rendered_profile shown;
	struct ls_profile raw = {};
	struct summary_options summary = {
		.words = words_of(delivery->options),
		.tree_depth = delivery->options->tree_depth,
		.callers = delivery->options->callers,
	};
	bool has_summary = is_end && log__level() >= LOG_INFO;
	int error;

	session__export(session, &raw);
	error = rendered_profile__make(&raw, delivery->options, &shown);
	if (error)
		goto cleanup;
	if (set)
		error = output_set__write(set, merged_profile__profile(shown.merged),
					  &shown.totals);
	/* The files are written: at the end, messages may now block. */
	log__wait(is_end);
	if (has_summary)
		summary__print(merged_profile__profile(shown.merged), &shown.totals, &summary,
			       stderr);
	if (!error && set && delivery->options->interval_ns)
		tell_interval(set, &shown, summary.words);
	else if (!error)
		tell_files(delivery, set, has_summary);
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

/* Writes one file per subprofile; with intervals, what was sampled since the last one. */
static int deliver_subprofiles(struct session *session, const struct delivery *delivery)
{
	struct ls_profile sampled = {};
	int error = output_folder__write(delivery->folder, session);

	session__export(session, &sampled);
	if (delivery->options->interval_ns && !error)
		tell_losses(&sampled.recorder, delivery->options->output_dir);
	return error;
}

/* Writes what was sampled since the last interval, even if that is nothing. */
static int deliver_interval(struct session *session, struct delivery *delivery)
{
	struct ls_profile sampled = {};
	int error;

	session__export(session, &sampled);
	error = output_set__begin(&delivery->set, (time_t)(sampled.recorder.start_ms / 1000));
	if (!error)
		error = deliver(session, delivery, &delivery->set, false);
	if (!error)
		tell_losses(&sampled.recorder, output_set__path(&delivery->set, 0));
	return error;
}

/* Writes the profile so far into the files that can be written more than once. */
static int deliver_again(struct session *session, struct delivery *delivery)
{
	struct output_set again;
	int error = output_set__again(&delivery->set, &again);

	if (!error)
		error = deliver(session, delivery, &again, false);
	output_set__close(&again);
	return error;
}

/* Writes the profile while the session goes on; a failure costs only this profile. */
static int write_so_far(void *context, struct session *session)
{
	struct delivery *delivery = context;
	int error;

	if (delivery->folder) {
		error = deliver_subprofiles(session, delivery);
		output_folder__report(delivery->folder);
		return error;
	}
	return delivery->options->interval_ns ? deliver_interval(session, delivery)
					      : deliver_again(session, delivery);
}

/*
 * Whether the profile is worth a file: it has samples, at least some of a process with an
 * interpreter or of one that was to get one (--wait), or tells of processes that should have had
 * some. An interval is written even if it has none of these.
 */
static bool is_worth_a_file(struct session *session, const struct delivery *delivery)
{
	const struct record_options *options = delivery->options;
	bool is_awaited = options->targets.waits && !options->words;
	struct ls_profile sampled = {};

	if (options->interval_ns || session__has_missed_time(session))
		return true;
	session__export(session, &sampled);
	return sampled.recorder.samples &&
	       (is_awaited || !session__is_without_interpreter(session));
}

/* Writes at the end, unless there is nothing, or only what luaspy cannot look into. */
static int deliver_last(struct session *session, struct delivery *delivery, int error)
{
	if (error == -ENOENT || !session__has_begun(session) || session__is_unsupported(session) ||
	    !is_worth_a_file(session, delivery))
		return 0;
	if (!delivery->folder && delivery->options->interval_ns)
		return deliver_interval(session, delivery);
	if (!delivery->folder)
		return deliver(session, delivery, &delivery->set, true);
	error = deliver_subprofiles(session, delivery);
	/* The summary covers all subprofiles. */
	if (!delivery->options->interval_ns && log__level() >= LOG_INFO)
		deliver(session, delivery, NULL, true);
	output_folder__report(delivery->folder);
	return error;
}

static enum exit_status run(struct session *session, struct delivery *delivery)
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
 * Checks the output paths early: a wrong one must not cost a recording, nor its first interval. 0
 * or -errno, which was reported unless no name could be made.
 */
static int prepare(struct delivery *delivery)
{
	const struct record_options *options = delivery->options;

	if (options->output_dir)
		return output_folder__new(options, &delivery->folder);
	if (options->interval_ns)
		return output_set__open_by_interval(&delivery->set, &delivery->outputs,
						    options->mode, options->keep,
						    options->keep_bytes);
	return output_set__open(&delivery->set, &delivery->outputs, options->mode);
}

/* Makes the default name of the file; with intervals, dates are added later. */
static void make_name(const struct record_options *options, const struct session *session,
		      char to[OUTPUT_NAME_SIZE])
{
	const char *name = options->words ? command_name(options->words) : session__name(session);
	const char *ending = output_choice__default(&options->outputs)->endings[0];

	if (options->interval_ns)
		output_name__make_dateless(name, session__pid(session), ending, to);
	else
		output_name__make(name, session__pid(session), ending, to);
}

static enum exit_status record_with(const struct record_options *options, struct launch *launch,
				    struct control *control, struct subprofiles *subprofiles)
{
	struct delivery delivery = {.options = options, .outputs = options->outputs};
	struct session_options session_options = {
		.targets = &options->targets,
		.sampling = options->sampling,
		.duration_ns = options->duration_ns,
		.start_after_ns = options->start_after_ns,
		.until_samples = options->until_samples,
		.interval_ns = options->interval_ns,
		.category = options->category,
		.subprofiles = subprofiles,
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
	if (!delivery.outputs.count && !options->output_dir) {
		make_name(options, session, name);
		output_choice__name(&delivery.outputs, name);
	}
	status = prepare(&delivery) ? EXIT_FAILED : run(session, &delivery);
	output_set__close(&delivery.set);
	output_folder__free(delivery.folder);
	if (session__was_stopped(session))
		control__answer(control, CONTROL_STOP, status ? why_stopped_badly(status) : NULL);
	session__close(session);
	return status;
}

static enum exit_status record(const struct record_options *options, struct launch *launch)
{
	struct control *control = NULL;
	struct subprofiles *subprofiles = options->output_dir ? subprofiles__new() : NULL;
	enum exit_status status = EXIT_FAILED;

	if (options->output_dir && !subprofiles) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	if (options->control && control__open(options->control, options->control_ack, &control))
		goto cleanup;
	status = record_with(options, launch, control, subprofiles);
	control__close(control);
cleanup:
	subprofiles__free(subprofiles);
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
	enum exit_status status =
		named_process__find(&options->targets.criteria, options->targets.no_command_lines,
				    &chosen.targets.pids[0]);

	if (status != EXIT_OK)
		return status;
	chosen.targets.pid_count = 1;
	chosen.targets.criteria = (struct process_criteria){};
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
