/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/rendered_profile.h"

#include "base/log.h"
#include "system/resource_limits.h"

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
