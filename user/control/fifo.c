/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "control/fifo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/folder.h"
#include "system/user_rights.h"

struct fifo {
	int fd;
	int folder;         /* kept open: the FIFO is removed from there */
	struct stat status; /* of the FIFO */
	bool is_made;       /* by us */
	char name[];
};

/* Checks the file before opening it, because a device may act on being opened. */
static int open_there(struct fifo *fifo)
{
	struct stat *status = &fifo->status;
	char path[64];
	int place, error = 0;

	if (!mkfifoat(fifo->folder, fifo->name, S_IRUSR | S_IWUSR))
		fifo->is_made = true;
	else if (errno != EEXIST)
		return -errno;
	place = openat(fifo->folder, fifo->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0)
		return -errno;
	if (fstat(place, status))
		error = -errno;
	else if (!S_ISFIFO(status->st_mode))
		error = -EINVAL;
	else if (!user_rights__trust(status->st_uid))
		error = -EKEYREJECTED;
	if (!error) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
		fifo->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		error = fifo->fd < 0 ? -errno : 0;
	}
	close(place);
	return error;
}

struct opening {
	struct fifo *fifo;
	const char *path;
};

static int open_path(void *context, const struct user_rights *rights)
{
	const struct opening *opening = context;
	struct fifo *fifo = opening->fifo;
	int error = folder__open_of(opening->path);

	(void)rights;
	if (error < 0)
		return error;
	fifo->folder = error;
	error = *fifo->name ? open_there(fifo) : -EISDIR;
	if (!error || fifo->is_made)
		return error;
	close(fifo->folder);
	fifo->folder = -1;
	return error;
}

int fifo__open(const char *path, struct fifo **opened)
{
	const char *name = folder__name_in(path);
	struct fifo *fifo = calloc(1, sizeof(*fifo) + strlen(name) + 1);
	struct opening opening = {.fifo = fifo, .path = path};
	int error;

	*opened = NULL;
	if (!fifo)
		return -ENOMEM;
	fifo->fd = fifo->folder = -1;
	strcpy(fifo->name, name);
	error = user_rights__try(open_path, &opening);
	if (error)
		fifo__close(fifo);
	else
		*opened = fifo;
	return error;
}

/* Removes the FIFO, unless another file has replaced it. */
static int remove_fifo(void *context, const struct user_rights *rights)
{
	const struct fifo *fifo = context;
	const struct stat *ours = &fifo->status;
	struct stat there;

	(void)rights;
	if (fstatat(fifo->folder, fifo->name, &there, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (ours->st_dev != there.st_dev || ours->st_ino != there.st_ino)
		return 0;
	return unlinkat(fifo->folder, fifo->name, 0) ? -errno : 0;
}

void fifo__close(struct fifo *fifo)
{
	if (!fifo)
		return;
	if (fifo->is_made)
		user_rights__try(remove_fifo, fifo);
	if (fifo->fd >= 0)
		close(fifo->fd);
	if (fifo->folder >= 0)
		close(fifo->folder);
	free(fifo);
}

int fifo__fd(const struct fifo *fifo)
{
	return fifo->fd;
}

bool fifo__is_same(const struct fifo *one, const struct fifo *other)
{
	return one->status.st_dev == other->status.st_dev &&
	       one->status.st_ino == other->status.st_ino;
}
