/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/command_trim.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "base/units.h"
#include "combine/trimmed_profile.h"
#include "command/exit_status.h"
#include "offline/recording_output.h"
#include "reader/profile_file.h"
#include "system/resource_limits.h"

#define MARKS_TEXT_SIZE 1024

/* The texts of the marks that there are, for a message. */
static const char *list_marks(const struct ls_profile *profile, char to[MARKS_TEXT_SIZE])
{
	const struct ls_profile_recorder *recorder = &profile->recorder;
	size_t length = 0;

	for (uint32_t i = 0; i < recorder->event_count && length < MARKS_TEXT_SIZE; i++)
		if (!strcmp(recorder->events[i].kind, "mark") && recorder->events[i].text)
			length += (size_t)snprintf(to + length, MARKS_TEXT_SIZE - length, "%s'%s'",
						   length ? ", " : "", recorder->events[i].text);
	return length ? to : "none";
}

static int find_mark(const struct trim_options *options, const struct ls_profile *profile,
		     const char *text, uint64_t from_ns, uint64_t *time_ns)
{
	char marks[MARKS_TEXT_SIZE];

	if (trimmed_profile__find_mark(profile, text, from_ns, time_ns))
		return 0;
	log_error("cannot trim '%s': it has no mark '%s'%s (its marks: %s)", options->input, text,
		  from_ns ? " after the first one" : "", list_marks(profile, marks));
	return -ENOENT;
}

/* The part that the options ask for, within the recording. 0, or -errno after reporting it. */
static int find_part(const struct trim_options *options, const struct ls_profile *profile,
		     uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t end_ns = profile->recorder.duration_ns;
	char from[UNITS_SIZE], end[UNITS_SIZE];
	int error = 0;

	*from_ns = options->from_ns;
	*to_ns = options->to_ns ? options->to_ns : end_ns;
	if (options->marks[0])
		error = find_mark(options, profile, options->marks[0], 0, from_ns);
	if (!error && options->marks[1])
		error = find_mark(options, profile, options->marks[1], *from_ns + 1, to_ns);
	else if (!error && options->marks[0])
		trimmed_profile__find_mark(profile, NULL, *from_ns + 1, to_ns);
	if (!error && end_ns && *to_ns > end_ns)
		*to_ns = end_ns;
	if (!error && *from_ns >= *to_ns) {
		log_error("cannot trim '%s': %s is not before its end at %s", options->input,
			  units__format_time(*from_ns, from, sizeof(from)),
			  units__format_time(*to_ns, end, sizeof(end)));
		error = -ERANGE;
	}
	return error;
}

static void warn_of_losses(const struct ls_profile *profile, const struct trimmed_profile *trimmed)
{
	char text[UNITS_SIZE];

	if (!trimmed_profile__profile(trimmed)->sample_count)
		log_warn("no sample was taken in that part: the recording is empty");
	if (trimmed_profile__left_out_ns(trimmed))
		log_warn("%s that no sample covers is left out: when it passed is not known",
			 units__format_time(trimmed_profile__left_out_ns(trimmed), text,
					    sizeof(text)));
	if (profile->recorder.untimed_samples)
		log_warn(
			"%s samples are left out: the recording had no room for when they were",
			units__format_count(profile->recorder.untimed_samples, text, sizeof(text)));
	if (profile->line_count)
		log_warn("the lines of functions are left out: the recording has them as sums "
			 "('record --lines' keeps them apart)");
}

static int trim(const struct trim_options *options, const struct ls_profile *profile)
{
	struct trimmed_profile *trimmed;
	uint64_t from_ns, to_ns;
	int error;

	if (!profile->sample_count) {
		log_error("cannot trim '%s': it has sums, not the order of samples (record it "
			  "with '--timeline')",
			  options->input);
		return -EINVAL;
	}
	error = find_part(options, profile, &from_ns, &to_ns);
	if (error)
		return error;
	error = trimmed_profile__new(profile, from_ns, to_ns, &trimmed);
	if (error) {
		log_error("cannot trim '%s': %s", options->input, resource_limits__reason(error));
		return error;
	}
	warn_of_losses(profile, trimmed);
	error = recording_output__write(trimmed_profile__profile(trimmed), options->input,
					&options->outputs, options->mode);
	trimmed_profile__free(trimmed);
	return error;
}

int command_trim__run(const struct trim_options *options)
{
	struct profile_file *file;
	int error = profile_file__open(options->input, &file);

	if (error)
		return EXIT_FAILED;
	error = trim(options, profile_file__profile(file));
	profile_file__close(file);
	return error ? EXIT_FAILED : EXIT_OK;
}
