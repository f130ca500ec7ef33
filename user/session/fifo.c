/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fifo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "invoker.h"

struct fifo {
	int fd;
	int folder;         /* held open: what was made there is removed there */
	struct stat status; /* of the FIFO */
	bool is_made;       /* by us */
	char name[];
};

/*
 * Made by root, it is given to whom luaspy works for; nobody else can have put another in its place
 * that looks the same: one of root's, with a single name.
 */
static int give_to_invoker(int fd, const struct stat *status)
{
	struct invoker invoker;

	if (!invoker__find(&invoker))
		return 0;
	if (status->st_uid != geteuid() || status->st_nlink != 1)
		return -EPERM;
	return fchownat(fd, "", invoker.uid, invoker.gid, AT_EMPTY_PATH) ? -errno : 0;
}

/* What is there is looked at before it is opened, which a device may take for a command. */
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
	else if (fifo->is_made)
		error = give_to_invoker(place, status);
	if (!error) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
		fifo->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		error = fifo->fd < 0 ? -errno : 0;
	}
	close(place);
	return error;
}

int fifo__open(const char *path, struct fifo **opened)
{
	const char *name = folder__name_in(path);
	struct fifo *fifo = calloc(1, sizeof(*fifo) + strlen(name) + 1);
	int error;

	*opened = NULL;
	if (!fifo)
		return -ENOMEM;
	fifo->fd = -1;
	strcpy(fifo->name, name);
	error = fifo->folder = folder__open_of(path);
	if (error >= 0)
		error = *name ? open_there(fifo) : -EISDIR;
	if (error)
		fifo__close(fifo);
	else
		*opened = fifo;
	return error;
}

/* Unless something else is there by now. */
static void remove_fifo(const struct fifo *fifo)
{
	const struct stat *ours = &fifo->status;
	struct stat there;

	if (!fstatat(fifo->folder, fifo->name, &there, AT_SYMLINK_NOFOLLOW) &&
	    ours->st_dev == there.st_dev && ours->st_ino == there.st_ino)
		unlinkat(fifo->folder, fifo->name, 0);
}

void fifo__close(struct fifo *fifo)
{
	if (!fifo)
		return;
	if (fifo->is_made)
		remove_fifo(fifo);
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
