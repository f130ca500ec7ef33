/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/written_profile.h"

#include "base/log.h"
#include "format/format.h"
#include "format/write_scriptprofiler.h"
#include "output/output_file.h"
#include "output/output_name.h"
#include "profile/merged_profile.h"
#include "profile/totals.h"
#include "system/resource_limits.h"

/* 0 or -errno. */
static int write_to(const char *path, const struct ls_profile *profile)
{
	struct merged_profile *merged = NULL;
	struct ls_totals totals = {};
	struct output_file *file = NULL;
	int error = merged_profile__new(profile, MERGED_LINES_FOLDED, &merged);

	if (!error)
		error = totals__compute(merged_profile__profile(merged), &totals);
	if (!error)
		error = output_file__open(path, 0, &file);
	if (!error)
		error = write_scriptprofiler(merged_profile__profile(merged), &totals,
					     output_file__stream(file));
	if (!error) {
		error = output_file__commit(file);
		file = NULL;
	}
	output_file__discard(file);
	totals__free(&totals);
	merged_profile__free(merged);
	return error;
}

int written_profile__write(struct session *session, const struct view_options *options)
{
	struct ls_profile profile = {};
	struct view *view = NULL;
	char path[OUTPUT_NAME_SIZE];
	int error = 0;

	output_name__make(session__name(session), session__pid(session), format__at(0)->endings[0],
			  path);
	session__export(session, &profile);
	if (view_options__are_any(options))
		error = view__new(&profile, options, &view);
	if (!error)
		error = write_to(path, view ? view__profile(view) : &profile);
	if (error)
		log_error("cannot write '%s': %s", path, resource_limits__reason(error));
	else
		log_info("wrote %s", path);
	view__free(view);
	return error;
}
