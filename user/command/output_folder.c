/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/output_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "command/rendered_profile.h"
#include "output/output_name.h"
#include "output/profile_output.h"
#include "output/rolled_files.h"
#include "session/session_subprofiles.h"
#include "system/folder.h"
#include "system/resource_limits.h"
#include "system/user_rights.h"

#define COUNT_SIZE 32

/* What one call of output_folder__write() came to. */
struct round {
	uint64_t written, failed, bytes;
	int first_error;
};

struct output_folder {
	const struct record_options *options;
	const char *path;
	struct rolled_files *files;
	bool is_made;    /* by luaspy */
	bool has_warned; /* of too many subprofiles */
	uint64_t written, failed;
	struct round last; /* not reported yet */
};

/*
 * Creates the folder. Called with the rights of the user who called sudo, then with root's if those
 * do not suffice.
 */
static int make(void *context, const struct user_rights *rights)
{
	struct output_folder *folder = context;
	struct stat status;

	(void)rights;
	if (!mkdir(folder->path, 0777)) {
		folder->is_made = true;
		return 0;
	}
	if (errno != EEXIST)
		return -errno;
	if (folder__is_strangers(folder->path))
		return -EKEYREJECTED;
	if (stat(folder->path, &status))
		return -errno;
	return S_ISDIR(status.st_mode) ? 0 : -ENOTDIR;
}

static int remove_folder(void *context, const struct user_rights *rights)
{
	const struct output_folder *folder = context;

	(void)rights;
	return rmdir(folder->path) ? -errno : 0;
}

static void explain_no_folder(const char *path, int error)
{
	if (error == -ENOENT)
		log_error("cannot make the folder '%s': its parent does not exist "
			  "(try mkdir -p)",
			  path);
	else if (error == -ENOTDIR)
		log_error("cannot write into '%s': it is not a folder", path);
	else if (error == -EKEYREJECTED)
		log_error(
			"cannot write into '%s': another user made it in a folder that everyone may "
			"write to (choose another name)",
			path);
	else
		log_error("cannot make the folder '%s': %s", path, resource_limits__reason(error));
}

/* NULL when out of memory. */
static char *path_in(const struct output_folder *folder, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", folder->path, name) < 0 ? NULL : path;
}

/* Tries to create a file: a wrong folder must not cost a recording. */
static int try(struct output_folder *folder)
{
	struct output_file *probe = NULL;
	char *path = path_in(folder, "luaspy.json");
	int error = path ? rolled_files__new(path, folder->options->keep,
					     folder->options->keep_bytes, &folder->files)
			 : -ENOMEM;
	const char *name = error ? NULL : rolled_files__name(folder->files, path, time(NULL));

	if (!error)
		error = name ? output_file__open(name, folder->options->mode, &probe) : -ENOMEM;
	output_file__discard(probe);
	free(path);
	return error;
}

int output_folder__new(const struct record_options *options, struct output_folder **made)
{
	struct output_folder *folder = calloc(1, sizeof(*folder));
	int error;

	*made = NULL;
	if (!folder) {
		log_error("out of memory");
		return -ENOMEM;
	}
	folder->options = options;
	folder->path = options->output_dir;
	error = user_rights__try(make, folder);
	if (error) {
		explain_no_folder(folder->path, error);
		goto cleanup;
	}
	error = try(folder);
	if (error) {
		log_error("cannot write into '%s': %s", folder->path,
			  resource_limits__reason(error));
		goto cleanup;
	}
	*made = folder;
	folder = NULL;
cleanup:
	output_folder__free(folder);
	return error;
}

void output_folder__free(struct output_folder *folder)
{
	if (!folder)
		return;
	/* Fails if the folder holds files of others. */
	if (folder->is_made && !folder->written && user_rights__try(remove_folder, folder))
		log_debug("'%s' stays", folder->path);
	rolled_files__free(folder->files);
	free(folder);
}

uint64_t output_folder__failed(const struct output_folder *folder)
{
	return folder->failed;
}

/* An unused name for a subprofile's file, with a date. NULL: none is left, or out of memory. */
static const char *new_name(struct output_folder *folder, const struct subprofile *subprofile,
			    uint64_t start_ms)
{
	const char *ending = output_choice__default(&folder->options->outputs)->endings[0];
	char name[OUTPUT_NAME_SIZE];
	const char *found;
	char *path;

	if (subprofile->pid)
		output_name__make_dateless(subprofile->name, subprofile->pid, ending, name);
	else
		output_name__make_of_group(subprofile->id ? subprofile->name : "rest", ending,
					   name);
	path = path_in(folder, name);
	found = path ? rolled_files__name(folder->files, path, (time_t)(start_ms / 1000)) : NULL;
	free(path);
	return found;
}

/*
 * With intervals, a new name each time; otherwise the name that the subprofile's file already has,
 * or a new one.
 */
static const char *file_of(struct output_folder *folder, struct subprofile *subprofile,
			   uint64_t start_ms)
{
	const char *name;

	if (folder->options->interval_ns)
		return new_name(folder, subprofile, start_ms);
	if (subprofile->file)
		return subprofile->file;
	name = new_name(folder, subprofile, start_ms);
	subprofile->file = name ? strdup(name) : NULL;
	return subprofile->file;
}

/* Opens it in the folder that is held open, wherever the folder's path leads now. */
static int open_file(const struct output_folder *folder, const char *path,
		     struct output_file **file)
{
	char held[NAME_MAX + 64];

	snprintf(held, sizeof(held), "/proc/self/fd/%d/%s", rolled_files__folder(folder->files),
		 folder__name_in(path));
	return profile_output__open(held, path, folder->options->mode, file);
}

static int write_shown(struct output_folder *folder, const struct rendered_profile *shown,
		       const char *path, struct round *round)
{
	struct output_file *file;
	uint64_t size;
	int error = open_file(folder, path, &file);

	if (!error)
		error = profile_output__write(
			merged_profile__profile(shown->merged), &shown->totals,
			output_choice__default(&folder->options->outputs), path, file, &size);
	if (error)
		return error;
	log_debug("wrote %s", path);
	round->bytes += size;
	if (folder->options->interval_ns && rolled_files__add(folder->files))
		log_warn("out of memory: '%s' was not removed", path);
	return 0;
}

static int write_subprofile(struct output_folder *folder, struct subprofile *subprofile,
			    const struct ls_profile *profile, struct round *round)
{
	const char *path = file_of(folder, subprofile, profile->recorder.start_ms);
	struct rendered_profile shown;
	int error;

	if (!path) {
		log_error("cannot write the profile of %s: no unused name is left for it in '%s'",
			  profile->recorder.target, folder->path);
		return -EEXIST;
	}
	error = rendered_profile__make(profile, folder->options, &shown);
	if (!error)
		error = write_shown(folder, &shown, path, round);
	rendered_profile__free(&shown);
	return error;
}

static void note(struct round *round, int error)
{
	round->written += !error;
	round->failed += error != 0;
	if (error && !round->first_error)
		round->first_error = error;
}

uint64_t output_folder__report(struct output_folder *folder)
{
	const struct round *round = &folder->last;
	uint64_t written = round->written;
	char files[COUNT_SIZE], failed[COUNT_SIZE], size[COUNT_SIZE];

	units__format_count(round->written + round->failed, files, sizeof(files));
	if (round->failed)
		log_error("cannot write %s of %s files into '%s'",
			  units__format_count(round->failed, failed, sizeof(failed)), files,
			  folder->path);
	units__format_count(round->written, files, sizeof(files));
	if (round->written)
		log_info("wrote %s file%s into %s (%s)", files, round->written == 1 ? "" : "s",
			 folder->path, units__format_size(round->bytes, size, sizeof(size)));
	folder->last = (struct round){};
	return written;
}

static void warn_of_too_many(struct output_folder *folder)
{
	if (!folder->has_warned)
		log_warn("more than %d processes have a profile: the others share the file of the "
			 "rest (try --interval or --merge-by)",
			 SUBPROFILES_MAX);
	folder->has_warned = true;
}

int output_folder__write(struct output_folder *folder, struct session *session)
{
	struct session_subprofiles *subprofiles;
	struct ls_profile profile;
	struct round round = {};
	struct subprofile *subprofile;
	int result = session_subprofiles__new(session, &subprofiles);

	if (result) {
		log_error("cannot build the profiles: %s", strerror(-result));
		folder->failed++;
		return result;
	}
	if (folder->options->interval_ns)
		rolled_files__begin(folder->files);
	while ((result = session_subprofiles__next(subprofiles, &subprofile, &profile))) {
		if (result < 0)
			log_error("cannot build the profile of %s: %s", subprofile->title,
				  strerror(-result));
		else
			result = write_subprofile(folder, subprofile, &profile, &round);
		note(&round, result);
	}
	if (session_subprofiles__are_too_many(subprofiles))
		warn_of_too_many(folder);
	session_subprofiles__free(subprofiles);
	folder->last = round;
	folder->written += round.written;
	folder->failed += round.failed;
	return round.written ? 0 : round.first_error;
}
