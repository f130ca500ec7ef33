/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "file_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE (256u << 10) /* read at once: what a processor's cache holds */

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

/* What may begin at the end of one piece is looked for again with the next. */
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
