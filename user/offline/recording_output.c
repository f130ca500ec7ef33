/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "offline/recording_output.h"

#include <errno.h>

#include "base/log.h"
#include "command/output_set.h"
#include "system/resource_limits.h"

/* A format that shows what ran when cannot be made of sums. */
static bool has_what_formats_need(const struct ls_profile *profile, const char *of,
				  const struct output_choice *outputs)
{
	const struct format *format = output_choice__ordered(outputs);

	if (!format || profile->sample_count)
		return true;
	log_error("cannot write %s: '%s' has sums, not the order of samples (record it with "
		  "'--timeline')",
		  format->name, of);
	return false;
}

int recording_output__write(const struct ls_profile *profile, const char *of,
			    const struct output_choice *outputs, mode_t mode)
{
	struct output_set set = {};
	struct ls_totals totals;
	int error;

	if (!has_what_formats_need(profile, of, outputs))
		return -EINVAL;
	error = totals__compute(profile, &totals);
	if (error) {
		log_error("cannot convert '%s': %s", of, resource_limits__reason(error));
		totals__free(&totals);
		return error;
	}
	error = output_set__open(&set, outputs, mode);
	if (!error)
		error = output_set__write(&set, profile, &totals);
	output_set__close(&set);
	totals__free(&totals);
	return error;
}
