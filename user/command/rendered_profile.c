/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/rendered_profile.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/resource_limits.h"
#include "profile/write_scriptprofiler.h"

static int put_together(const struct ls_profile *raw, const struct record_options *options,
			struct rendered_profile *shown)
{
	enum merged_lines lines = options->lines ? MERGED_LINES_SPLIT : MERGED_LINES_FOLDED;
	struct ls_profile seen = *raw;
	int error = 0;

	if (options->strict)
		seen.recorder.version = NULL;
	if (view_options__are_any(&options->view)) {
		error = view__new(&seen, &options->view, &shown->view);
		if (!error)
			seen = *view__profile(shown->view);
	}
	if (!error)
		error = merged_profile__new(&seen, lines, &shown->merged);
	return error ? error
		     : totals__compute(merged_profile__profile(shown->merged), &shown->totals);
}

int rendered_profile__make(const struct ls_profile *raw, const struct record_options *options,
			   struct rendered_profile *shown)
{
	int error;

	*shown = (struct rendered_profile){};
	error = put_together(raw, options, shown);
	if (error)
		log_error("cannot build the profile: %s", resource_limits__reason(error));
	return error;
}

void rendered_profile__free(struct rendered_profile *shown)
{
	totals__free(&shown->totals);
	merged_profile__free(shown->merged);
	view__free(shown->view);
}

int rendered_profile__open(const char *path, const char *called, mode_t mode,
			   struct output_file **file)
{
	int error = output_file__open(path, mode, file);

	if (error == -EINVAL)
		log_error("cannot write '%s': not a regular file", called);
	else if (error)
		log_error("cannot write '%s': %s", called, resource_limits__reason(error));
	return error;
}

int rendered_profile__write(const struct rendered_profile *shown, const char *path,
			    struct output_file *file, uint64_t *size)
{
	int error = write_scriptprofiler(merged_profile__profile(shown->merged), &shown->totals,
					 output_file__stream(file));
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
