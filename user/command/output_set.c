/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/output_set.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "system/resource_limits.h"

static void discard(struct output_set *set)
{
	for (size_t i = 0; i < OUTPUT_CHOICE_MAX; i++) {
		output_file__discard(set->items[i].file);
		set->items[i].file = NULL;
	}
}

int output_set__open(struct output_set *set, const struct output_choice *choice, mode_t mode)
{
	int error = 0;

	*set = (struct output_set){.choice = choice, .mode = mode};
	for (size_t i = 0; i < choice->count && !error; i++) {
		const char *path = choice->files[i].path;

		set->items[i].path = path;
		error = profile_output__open(path, path, mode, &set->items[i].file);
	}
	if (error)
		discard(set);
	return error;
}

/* Names the next file of an output, and opens it. */
static int begin_one(struct output_set *set, size_t i, time_t begin)
{
	const char *path = set->choice->files[i].path;

	set->items[i].path = rolled_files__name(set->items[i].files, path, begin);
	if (!set->items[i].path) {
		log_error("cannot write '%s': no unused name is left for it", path);
		return -EEXIST;
	}
	return profile_output__open(set->items[i].path, set->items[i].path, set->mode,
				    &set->items[i].file);
}

int output_set__open_by_interval(struct output_set *set, const struct output_choice *choice,
				 mode_t mode, uint64_t keep, uint64_t keep_bytes)
{
	int error = 0;

	*set = (struct output_set){.choice = choice, .mode = mode};
	for (size_t i = 0; i < choice->count && !error; i++) {
		const char *path = choice->files[i].path;

		error = rolled_files__new(path, keep, keep_bytes, &set->items[i].files);
		if (error)
			log_error("cannot write '%s': %s", path, resource_limits__reason(error));
		else
			error = begin_one(set, i, time(NULL));
	}
	discard(set);
	return error;
}

int output_set__begin(struct output_set *set, time_t begin)
{
	int error = 0;

	for (size_t i = 0; i < set->choice->count && !error; i++) {
		rolled_files__begin(set->items[i].files);
		error = begin_one(set, i, begin);
	}
	if (error)
		discard(set);
	return error;
}

int output_set__again(const struct output_set *set, struct output_set *again)
{
	int first_error = -ENOTSUP;

	*again = (struct output_set){.choice = set->choice, .mode = set->mode};
	for (size_t i = 0; i < set->choice->count; i++) {
		const char *path = set->items[i].path;
		int error = output_file__again(set->items[i].file, &again->items[i].file);

		again->items[i].path = error ? NULL : path;
		if (error == -ENOTSUP)
			log_warn("ignored 'write': '%s' takes one profile, at the end", path);
		else if (error)
			log_error("cannot write '%s': %s", path, resource_limits__reason(error));
		if (error != -ENOTSUP && first_error == -ENOTSUP)
			first_error = error;
	}
	if (first_error)
		discard(again);
	return first_error;
}

int output_set__write(struct output_set *set, const struct ls_profile *profile,
		      const struct ls_totals *totals)
{
	int first_error = 0;

	for (size_t i = 0; i < set->choice->count; i++) {
		const char *path = set->items[i].path;
		struct output_file *file = set->items[i].file;
		uint64_t size;
		int error;

		set->items[i].file = NULL;
		if (!file)
			continue;
		error = profile_output__write(profile, totals, set->choice->files[i].format, path,
					      file, &size);
		if (error && !first_error)
			first_error = error;
		if (!error && set->items[i].files && rolled_files__add(set->items[i].files))
			log_warn("out of memory: '%s' was not removed", path);
	}
	return first_error;
}

const char *output_set__path(const struct output_set *set, size_t index)
{
	return index < set->choice->count ? set->items[index].path : NULL;
}

const struct format *output_set__format(const struct output_set *set, size_t index)
{
	return set->choice->files[index].format;
}

void output_set__close(struct output_set *set)
{
	discard(set);
	for (size_t i = 0; i < OUTPUT_CHOICE_MAX; i++) {
		rolled_files__free(set->items[i].files);
		set->items[i].files = NULL;
	}
}
