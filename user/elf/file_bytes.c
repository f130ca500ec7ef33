/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE (256u << 10) /* bytes per read: what a processor's cache holds */

/* Opening a device has side effects and opening a FIFO blocks, so check the type first. */
int file_bytes__open(int found, uint64_t *size)
{
	char itself[32];
	struct stat status;
	int fd;

	if (fstat(found, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -ENOEXEC;
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", found);
	/* O_NONBLOCK: do not wait for the holder of a lease. */
	fd = open(itself, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	*size = (uint64_t)status.st_size;
	if (fd < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return fd;
}

char *file_bytes__read(int fd, uint64_t offset, uint64_t *size)
{
	char *bytes = malloc(*size);
	uint64_t done = 0;

	if (!bytes)
		return NULL;
	while (done < *size) {
		ssize_t count = pread(fd, bytes + done, *size - done, (off_t)(offset + done));

		if (count <= 0)
			break;
		done += (uint64_t)count;
	}
	*size = done;
	return bytes;
}

/* Keeps the end of each piece and searches it again with the next: `needle` may span both. */
bool file_bytes__hold(int fd, uint64_t offset, uint64_t size, const char *needle)
{
	char *piece = malloc(PIECE + FILE_BYTES_NEEDLE);
	size_t length = strlen(needle), kept = 0;
	bool found = !piece;

	for (uint64_t done = 0; !found && done < size;) {
		uint64_t left = size - done;
		ssize_t count = pread(fd, piece + kept, left < PIECE ? left : PIECE,
				      (off_t)(offset + done));

		if (count <= 0)
			break;
		done += (uint64_t)count;
		count += (ssize_t)kept;
		found = memmem(piece, (size_t)count, needle, length) != NULL;
		kept = (size_t)count < length ? (size_t)count : length - 1;
		memmove(piece, piece + count - kept, kept);
	}
	free(piece);
	return found;
}
