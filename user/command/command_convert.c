/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/command_convert.h"

#include <errno.h>

#include "base/resource_limits.h"
#include "command/exit_status.h"
#include "command/output_set.h"
#include "reader/profile_file.h"

/* A format that shows what ran when cannot be made of sums. */
static bool has_what_formats_need(const struct convert_options *options,
				  const struct ls_profile *profile)
{
	const struct format *format = output_choice__ordered(&options->outputs);

	if (!format || profile->sample_count)
		return true;
	log_error("cannot write %s: '%s' has sums, not the order of samples (record it with "
		  "'--timeline')",
		  format->name, options->input);
	return false;
}

static int convert(const struct convert_options *options, const struct ls_profile *profile)
{
	struct output_set set = {};
	struct ls_totals totals;
	int err = totals__compute(profile, &totals);

	if (err) {
		log_error("cannot convert '%s': %s", options->input, resource_limits__reason(err));
		return err;
	}
	err = output_set__open(&set, &options->outputs, options->mode);
	if (!err)
		err = output_set__write(&set, profile, &totals);
	output_set__close(&set);
	totals__free(&totals);
	return err;
}

int command_convert__run(const struct convert_options *options)
{
	struct profile_file *file;
	int err = profile_file__open(options->input, &file);

	if (err)
		return EXIT_FAILED;
	if (!has_what_formats_need(options, profile_file__profile(file)) ||
	    convert(options, profile_file__profile(file)))
		err = -EINVAL;
	profile_file__close(file);
	return err ? EXIT_FAILED : EXIT_OK;
}
