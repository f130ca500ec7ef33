/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/special_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int parse_id(const char *text, unsigned long limit, unsigned long *id)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*id = strtoul(text, &end, 10);
	return errno || *end || *id > limit ? -EINVAL : 0;
}

int special_file__check(int fd)
{
	int flags = fcntl(fd, F_GETFL), own = fcntl(fd, F_GETFD);

	if (flags < 0 || own < 0)
		return -errno;
	if (own & FD_CLOEXEC)
		return -EBADF;
	return (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

int special_file__descriptor(const char *path)
{
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	unsigned long descriptor;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(path, names[i]))
			return (int)i;
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		size_t length = strlen(folders[i]);

		if (!strncmp(path, folders[i], length) &&
		    !parse_id(path + length, INT_MAX, &descriptor))
			return (int)descriptor;
	}
	return -EINVAL;
}

bool special_file__is_device(const struct stat *status)
{
	return S_ISCHR(status->st_mode) && (status->st_rdev == makedev(1, 3) /* null */ ||
					    status->st_rdev == makedev(1, 7) /* full */ ||
					    status->st_rdev == makedev(5, 0) /* tty */);
}

int special_file__open(const char *path)
{
	struct stat status;
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || !special_file__is_device(&status)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}
