/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "system/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static void close_each(int first, int last)
{
	DIR *files = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (files && (entry = readdir(files))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd <= last && fd != dirfd(files))
			close(fd);
	}
	if (files)
		closedir(files);
}

/* The C library has close_range() since glibc 2.34; seccomp filters that are older forbid it. */
static void close_between(int first, int last)
{
	if (first <= last && syscall(SYS_close_range, first, last, 0))
		close_each(first, last);
}

void descriptors__close_others(int *kept, size_t count)
{
	int first = 3;

	qsort(kept, count, sizeof(*kept), compare);
	for (size_t i = 0; i < count; i++) {
		close_between(first, kept[i] - 1);
		if (kept[i] >= first)
			first = kept[i] + 1;
	}
	close_between(first, INT_MAX);
}

/* Room for the control data of DESCRIPTORS_MOST descriptors, aligned as its header must be. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(DESCRIPTORS_MOST * sizeof(int))];
};

int descriptors__send(int socket, const void *data, size_t size, const int *fds, size_t count)
{
	union control control = {};
	struct iovec part = {(void *)data, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -errno;
}

static int take_descriptors(struct msghdr *message, int *fds)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(message);
	size_t bytes;

	if (!header || header->cmsg_type != SCM_RIGHTS)
		return 0;
	bytes = header->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(header), bytes);
	return (int)(bytes / sizeof(int));
}

int descriptors__receive(int socket, void *data, size_t size, int *fds)
{
	union control control = {};
	struct iovec part = {data, size};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != (ssize_t)size)
		return -EPIPE;
	return take_descriptors(&message, fds);
}
