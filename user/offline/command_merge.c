/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/command_merge.h"

#include <errno.h>

#include "base/log.h"
#include "base/units.h"
#include "combine/joined_profile.h"
#include "command/exit_status.h"
#include "offline/recording_list.h"
#include "offline/recording_output.h"
#include "system/resource_limits.h"

/*
 * Refuses timelines of different periods in one tree: each sample counts as an equal part of the
 * time of its node, so it must not matter which recording it is of.
 */
static int check_periods(const struct merge_options *options,
			 const struct ls_profile *const *profiles)
{
	char first[UNITS_SIZE], other[UNITS_SIZE];
	size_t known = 0;

	for (size_t i = 0; i < options->input_count; i++) {
		uint64_t known_ns = profiles[known]->recorder.period_ns;
		uint64_t period_ns = profiles[i]->recorder.period_ns;

		if (!known_ns)
			known = i;
		if (!known_ns || !period_ns || period_ns == known_ns)
			continue;
		log_error(
			"cannot merge the timelines of '%s' and '%s': they were sampled at %s and "
			"%s (record at one frequency, or merge without '--together')",
			options->inputs[known], options->inputs[i],
			units__format_frequency(known_ns, first, sizeof(first)),
			units__format_frequency(period_ns, other, sizeof(other)));
		return -EINVAL;
	}
	return 0;
}

static int write_joined(const struct merge_options *options, const struct joined_profile *joined)
{
	if (joined_profile__lost_order(joined))
		log_warn("the order of samples and the marks are left out: not all of the "
			 "recordings have an order and a start ('record --timeline' keeps them)");
	return recording_output__write(joined_profile__profile(joined), "the merged recording",
				       &options->outputs, options->mode);
}

static int merge(const struct merge_options *options, const struct ls_profile *const *profiles)
{
	enum joined_categories categories = options->together ? JOINED_BY_NAME : JOINED_APART;
	struct joined_profile *joined;
	int error = joined_profile__new(profiles, options->input_count, categories, &joined);

	if (error) {
		log_error("cannot merge '%s' with the others: %s", options->inputs[0],
			  error == -ERANGE
				  ? "together they have more time than a recording can hold"
				  : resource_limits__reason(error));
		return error;
	}
	if (options->together && joined_profile__profile(joined)->sample_count)
		error = check_periods(options, profiles);
	if (!error)
		error = write_joined(options, joined);
	joined_profile__free(joined);
	return error;
}

int command_merge__run(const struct merge_options *options)
{
	struct recording_list *list;
	int error = recording_list__open(options->inputs, options->input_count, &list);

	if (!error)
		error = merge(options, recording_list__profiles(list));
	recording_list__close(list);
	return error ? EXIT_FAILED : EXIT_OK;
}
