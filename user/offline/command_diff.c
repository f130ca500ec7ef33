/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/command_diff.h"

#include <errno.h>

#include "base/log.h"
#include "base/units.h"
#include "combine/profile_diff.h"
#include "command/exit_status.h"
#include "offline/diff_report.h"
#include "offline/recording_list.h"
#include "output/profile_output.h"
#include "summary/function_label.h"
#include "system/resource_limits.h"

static int write_picture(const struct profile_diff *diff, const struct diff_options *options)
{
	struct output_file *file;
	int error = profile_output__open(options->output, options->output, options->mode, &file);

	if (error)
		return error;
	error = diff_report__write_flamegraph(diff, output_file__stream(file));
	if (error)
		output_file__discard(file);
	else
		error = output_file__commit(file);
	if (error)
		log_error("cannot write '%s': %s", options->output, resource_limits__reason(error));
	return error;
}

static int print(const struct profile_diff *diff, const struct diff_options *options)
{
	int error = 0;

	/* The flame graph has standard output for itself. */
	if (options->output && !strcmp(options->output, "-"))
		return 0;
	errno = 0;
	if (options->json)
		error = diff_report__print_json(diff, options, stdout);
	else
		diff_report__print(diff, options, stdout);
	if (!error && (ferror(stdout) || fflush(stdout)))
		error = errno ? -errno : -EIO;
	if (error)
		log_error("cannot write to standard output: %s", resource_limits__reason(error));
	return error;
}

static void warn_of_guesses(const struct profile_diff *diff)
{
	if (profile_diff__side(diff, false).assumes_samples ||
	    profile_diff__side(diff, true).assumes_samples)
		log_warn("a recording does not count its samples: their number, and with it the "
			 "error, is a guess from its time");
}

/* EXIT_OK or EXIT_WORSE. */
static int judge(const struct profile_diff *diff, const struct diff_options *options)
{
	uint32_t id;
	double limit = options->fail_over_ppm / 1e6, worst = diff_report__worst(diff, &id);
	struct function_label label;
	char percent[UNITS_SIZE];

	if (!options->has_fail_over || worst < limit)
		return EXIT_OK;
	function_label__make(&profile_diff__profile(diff)->functions[id], &label);
	log_error("'%s'%s%s%s takes %.2f%% more of the CPU time than before, beyond noise "
		  "('--fail-over' allows %s)",
		  label.name, *label.source ? " at " : "", label.source, label.line, 100 * worst,
		  units__format_percent(options->fail_over_ppm, percent, sizeof(percent)));
	return EXIT_WORSE;
}

static int compare(const struct diff_options *options, const struct ls_profile *const *profiles)
{
	struct profile_diff_settings settings = {.by_time = options->by_time,
						 .noise = options->noise_ppm / 1e6,
						 .confidence = options->confidence_ppm / 1e6};
	struct profile_diff *diff;
	int status = EXIT_FAILED;
	size_t empty;
	int error = profile_diff__new(profiles, options->input_count, options->before_count,
				      &settings, &diff, &empty);

	if (error == -ENODATA)
		log_error("cannot compare '%s': it has no CPU time", options->inputs[empty]);
	else if (error == -ERANGE)
		log_error("cannot compare '%s' with the others: together they have more time than "
			  "a recording can hold",
			  options->inputs[0]);
	else if (error)
		log_error("cannot compare '%s' with the others: %s", options->inputs[0],
			  resource_limits__reason(error));
	if (error)
		return EXIT_FAILED;
	warn_of_guesses(diff);
	error = options->output ? write_picture(diff, options) : 0;
	if (!error && !print(diff, options))
		status = judge(diff, options);
	profile_diff__free(diff);
	return status;
}

int command_diff__run(const struct diff_options *options)
{
	struct recording_list *list;
	int status = EXIT_FAILED;

	if (!recording_list__open(options->inputs, options->input_count, &list))
		status = compare(options, recording_list__profiles(list));
	recording_list__close(list);
	return status;
}
