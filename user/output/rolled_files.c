/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/rolled_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "format/format.h"
#include "output/output_name.h"
#include "system/folder.h"
#include "system/user_rights.h"

#define ATTEMPTS 10000

/* The name may later refer to another file: only the file that was written is removed. */
struct rolled_file {
	char *name; /* in the folder */
	dev_t device;
	ino_t inode;
	struct timespec modified;
	uint64_t size;
	uint64_t interval; /* its number */
};

struct rolled_files {
	uint64_t count_most, bytes_most;
	int folder;
	char *next; /* path of the file to be written next */
	struct rolled_file *items;
	size_t count, room;
	uint64_t interval;  /* number of the newest */
	uint64_t intervals; /* how many the items belong to */
	uint64_t bytes;     /* of all items */
	uint64_t failed;    /* how many removals failed */
};

struct opening {
	const char *path;
	int folder;
};

static int open_folder(void *context, const struct user_rights *rights)
{
	struct opening *opening = context;

	(void)rights;
	opening->folder = folder__open_of(opening->path);
	return opening->folder < 0 ? opening->folder : 0;
}

int rolled_files__new(const char *path, uint64_t count, uint64_t bytes, struct rolled_files **made)
{
	struct opening opening = {.path = path, .folder = -1};
	struct rolled_files *files;
	int error;

	*made = NULL;
	if (!*folder__name_in(path))
		return -EISDIR;
	files = calloc(1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	files->count_most = count;
	files->bytes_most = bytes;
	error = user_rights__try(open_folder, &opening);
	files->folder = opening.folder;
	if (error)
		rolled_files__free(files);
	else
		*made = files;
	return error;
}

void rolled_files__free(struct rolled_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++)
		free(files->items[i].name);
	free(files->items);
	free(files->next);
	if (files->folder >= 0)
		close(files->folder);
	free(files);
}

/* A name in the folder that is held open. */
struct place {
	int folder;
	const char *name;
};

static int find_place(void *context, const struct user_rights *rights)
{
	const struct place *place = context;
	struct stat status;

	(void)rights;
	return fstatat(place->folder, place->name, &status, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

static bool is_free(const struct rolled_files *files, const char *path)
{
	struct place place = {.folder = files->folder, .name = folder__name_in(path)};

	return user_rights__try(find_place, &place) != 0;
}

static int empty_place(void *context, const struct user_rights *rights)
{
	const struct place *place = context;

	(void)rights;
	return unlinkat(place->folder, place->name, 0) ? -errno : 0;
}

int rolled_files__folder(const struct rolled_files *files)
{
	return files->folder;
}

void rolled_files__begin(struct rolled_files *files)
{
	files->interval++;
}

const char *rolled_files__name(struct rolled_files *files, const char *path, time_t begin)
{
	size_t stem = format__stem_length(path);
	char date[OUTPUT_NAME_DATE_SIZE], number[16] = "";

	output_name__date(begin, date);
	for (int attempt = 2; attempt < ATTEMPTS; attempt++) {
		free(files->next);
		if (asprintf(&files->next, "%.*s-%s%s%s", (int)stem, path, date, number,
			     path + stem) < 0) {
			files->next = NULL;
			return NULL;
		}
		if (is_free(files, files->next))
			return files->next;
		/* '_' sorts after the '.' of the extension. */
		snprintf(number, sizeof(number), "_%d", attempt);
	}
	return NULL;
}

static bool is_as_written(const struct rolled_files *files, const struct rolled_file *file,
			  int *error)
{
	struct stat status;

	*error = fstatat(files->folder, file->name, &status, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
	return !*error && status.st_dev == file->device && status.st_ino == file->inode &&
	       (uint64_t)status.st_size == file->size &&
	       status.st_mtim.tv_sec == file->modified.tv_sec &&
	       status.st_mtim.tv_nsec == file->modified.tv_nsec;
}

static void remove_file(struct rolled_files *files, const struct rolled_file *file)
{
	struct place place = {.folder = files->folder, .name = file->name};
	int error, is_ours = is_as_written(files, file, &error);

	if (is_ours)
		error = user_rights__try(empty_place, &place);
	if (error && error != -ENOENT)
		log_warn("cannot remove '%s': %s (%" PRIu64 " files so far were not removed)",
			 file->name, strerror(-error), ++files->failed);
	else if (!is_ours && !error)
		log_warn("did not remove '%s': it changed since luaspy wrote it", file->name);
	else
		log_debug("removed '%s'", file->name);
	files->bytes -= file->size;
}

static void remove_oldest(struct rolled_files *files)
{
	uint64_t interval = files->items[0].interval;
	size_t gone = 0;

	for (; gone < files->count && files->items[gone].interval == interval; gone++) {
		remove_file(files, &files->items[gone]);
		free(files->items[gone].name);
	}
	files->count -= gone;
	files->intervals--;
	memmove(files->items, files->items + gone, files->count * sizeof(*files->items));
}

static int note(struct rolled_files *files)
{
	const char *name = folder__name_in(files->next);
	struct rolled_file file = {};
	struct stat status;

	if (files->count == files->room) {
		size_t room = files->room ? 2 * files->room : 16;
		struct rolled_file *items = reallocarray(files->items, room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		files->items = items;
		files->room = room;
	}
	/* Somebody has already removed or replaced it. */
	if (fstatat(files->folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return 0;
	file = (struct rolled_file){.name = strdup(name),
				    .device = status.st_dev,
				    .inode = status.st_ino,
				    .modified = status.st_mtim,
				    .size = (uint64_t)status.st_size,
				    .interval = files->interval};
	if (!file.name)
		return -ENOMEM;
	if (!files->count || files->items[files->count - 1].interval != files->interval)
		files->intervals++;
	files->items[files->count++] = file;
	files->bytes += file.size;
	return 0;
}

int rolled_files__add(struct rolled_files *files)
{
	int error;

	if (!files->count_most && !files->bytes_most)
		return 0;
	error = note(files);
	while (files->intervals > 1 &&
	       ((files->count_most && files->intervals > files->count_most) ||
		(files->bytes_most && files->bytes > files->bytes_most)))
		remove_oldest(files);
	return error;
}
