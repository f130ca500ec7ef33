/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

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
