/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "rolled_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "log.h"
#include "output_name.h"

#define ATTEMPTS 10000

/* A name may come to stand for something else: what is removed is what was written. */
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
	char *next; /* path of the one that is written next */
	struct rolled_file *items;
	size_t count, room;
	uint64_t interval;  /* the newest */
	uint64_t intervals; /* that items are of */
	uint64_t bytes;     /* of all items */
	uint64_t failed;    /* removals */
};

int rolled_files__new(const char *path, uint64_t count, uint64_t bytes, struct rolled_files **made)
{
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
	files->folder = folder__open_of(path);
	if (files->folder >= 0) {
		*made = files;
		return 0;
	}
	error = files->folder;
	rolled_files__free(files);
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

/* Where the ending of the path begins, ".json"; or where it ends, if it has none. */
static size_t ending_of(const char *path)
{
	const char *name = folder__name_in(path), *dot = strrchr(name, '.');

	return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

static int is_free(const struct rolled_files *files, const char *path)
{
	struct stat status;

	return fstatat(files->folder, folder__name_in(path), &status, AT_SYMLINK_NOFOLLOW) != 0;
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
	size_t stem = ending_of(path);
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
		/* Sorts after the point. */
		snprintf(number, sizeof(number), "_%d", attempt);
	}
	return NULL;
}

static int is_as_written(const struct rolled_files *files, const struct rolled_file *file,
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
	int error, is_ours = is_as_written(files, file, &error);

	if (is_ours && unlinkat(files->folder, file->name, 0))
		error = -errno;
	if (error && error != -ENOENT)
		log_warn("cannot remove '%s': %s (%" PRIu64 " files so far stay for such reasons)",
			 file->name, strerror(-error), ++files->failed);
	else if (!is_ours && !error)
		log_warn("'%s' stays: somebody has changed it", file->name);
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
	/* Somebody took it away already. */
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
