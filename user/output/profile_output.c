/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/profile_output.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "system/resource_limits.h"

int profile_output__open(const char *path, const char *called, mode_t mode,
			 struct output_file **file)
{
	int error = output_file__open(path, mode, file);

	if (error == -EINVAL)
		log_error("cannot write '%s': not a regular file", called);
	else if (error)
		log_error("cannot write '%s': %s", called, resource_limits__reason(error));
	return error;
}

int profile_output__write(const struct ls_profile *profile, const struct ls_totals *totals,
			  const struct format *format, const char *path, struct output_file *file,
			  uint64_t *size)
{
	int error = format->write(profile, totals, output_file__stream(file));
	long end = error ? -1 : ftell(output_file__stream(file));

	*size = end > 0 ? (uint64_t)end : 0;
	if (error)
		output_file__discard(file);
	else
		error = output_file__commit(file);
	if (error && !strcmp(path, "-"))
		log_error("cannot write to standard output: %s", resource_limits__reason(error));
	else if (error)
		log_error("cannot write '%s': %s", path, resource_limits__reason(error));
	return error;
}
