/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/user_rights.h"

const char *folder__name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int folder__open_of(const char *path)
{
	const char *name = folder__name_in(path);
	char *folder = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
	int fd;

	if (!folder)
		return -ENOMEM;
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(folder);
	return fd;
}

bool folder__is_strangers(const char *path)
{
	size_t length = strlen(path);
	struct stat folder, status;
	bool is_strangers = false;
	char *place;
	int fd;

	/* Strip trailing slashes: with one, the path would name the target of a link. */
	while (length > 1 && path[length - 1] == '/')
		length--;
	place = strndup(path, length);
	fd = place ? folder__open_of(place) : -ENOMEM;
	if (fd >= 0 && !fstat(fd, &folder) &&
	    !fstatat(fd, folder__name_in(place), &status, AT_SYMLINK_NOFOLLOW))
		is_strangers = folder.st_mode & S_ISVTX && folder.st_mode & (S_IWGRP | S_IWOTH) &&
			       !user_rights__trust(status.st_uid);
	if (fd >= 0)
		close(fd);
	free(place);
	return is_strangers;
}
