/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/command_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/exit_status.h"
#include "desktop/pager.h"
#include "offline/recording_list.h"
#include "report/report.h"
#include "system/resource_limits.h"

/* The recordings, as they were read and as one. */
struct recordings {
	struct recording_list *list;
	struct selected_profile *selected;
	struct ls_totals totals;
};

static void close_recordings(struct recordings *recordings)
{
	totals__free(&recordings->totals);
	selected_profile__free(recordings->selected);
	recording_list__close(recordings->list);
}

static void report_failure(const struct report_options *options, int error)
{
	if (error == -ENOENT)
		log_error("cannot focus on '%s': no function of the recording has that name or "
			  "place (try '--search')",
			  options->selection.focus);
	else
		log_error("cannot report '%s': %s", options->files[0],
			  resource_limits__reason(error));
}

/* 0, or -errno after reporting it. */
static int open_recordings(const struct report_options *options, struct recordings *recordings)
{
	int error = recording_list__open(options->files, options->file_count, &recordings->list);

	if (error)
		return error;
	error = selected_profile__new(recording_list__profiles(recordings->list),
				      options->file_count, &options->selection,
				      &recordings->selected);
	if (!error)
		error = totals__compute(selected_profile__profile(recordings->selected),
					&recordings->totals);
	if (error)
		report_failure(options, error);
	return error;
}

/* Wall clock time without pauses; 0: the recordings do not say. */
static uint64_t wall_ns(const struct recordings *recordings)
{
	const struct ls_profile_recorder *recorder =
		&selected_profile__profile(recordings->selected)->recorder;

	return recorder->duration_ns > recorder->paused_ns
		       ? recorder->duration_ns - recorder->paused_ns
		       : 0;
}

/* NO_COLOR, if not empty, turns colors off: no-color.org. */
static bool has_color(void)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(none && *none) && terminal && strcmp(terminal, "dumb");
}

static int print(const struct report_options *options, const struct report *report, uint64_t wall)
{
	struct printer printer = printer__on(stdout);
	struct pager pager;
	int error, failed;

	printer.has_color = has_color();
	printer.average_s = options->average_s;
	printer.wall_ns = wall;
	pager__start(&pager);
	printer.stream = pager.stream;
	error = report__print(report, &printer);
	failed = pager__end(&pager);
	return error ? error : failed;
}

static int write_json(const struct report *report)
{
	int error = report__write_json(report, stdout);

	errno = 0;
	if (!error && (fflush(stdout) || ferror(stdout)))
		error = errno ? -errno : -EIO;
	return error;
}

static int show(const struct report_options *options, const struct recordings *recordings)
{
	const struct ls_profile *profile = selected_profile__profile(recordings->selected);
	const struct report report = {.selected = recordings->selected,
				      .totals = &recordings->totals,
				      .selection = options->selection,
				      .folders = {.recordings = (const char *const *)options->files,
						  .count = options->file_count,
						  .recorded_ms = profile->recorder.start_ms},
				      .no_source = options->no_source,
				      .view = options->view,
				      .order = options->order,
				      .limit = options->limit,
				      .least_ppm = options->least_ppm,
				      .search = options->search};
	uint64_t wall = wall_ns(recordings);
	int error;

	if (options->average_s && !wall) {
		log_error("cannot average '%s': it does not say how long it took",
			  options->files[0]);
		return -EINVAL;
	}
	error = options->json ? write_json(&report) : print(options, &report, wall);
	if (error)
		log_error("cannot write to standard output: %s", resource_limits__reason(error));
	return error;
}

int command_report__run(const struct report_options *options)
{
	struct recordings recordings = {.list = NULL};
	int error = open_recordings(options, &recordings);

	if (!error)
		error = show(options, &recordings);
	close_recordings(&recordings);
	return error ? EXIT_FAILED : EXIT_OK;
}
