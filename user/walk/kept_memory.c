/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walk/kept_memory.h"

#include <stdlib.h>
#include <string.h>

#include "memory/remote_memory.h"

#define PIECES_MAX  32768
#define PIECE_BYTES 80   /* a CallInfo: the largest of them */
#define PIECES_ONCE 1024 /* IOV_MAX */

/*
 * How often the pieces are read again. A coroutine that is resumed meanwhile may pass once, if it
 * moves on just between two of the pieces that are read together within a microsecond or two, and
 * had done so during the walk.
 */
#define READ_AGAIN 3

struct piece {
	uint64_t address;
	uint32_t size;
	uint8_t bytes[PIECE_BYTES];
};

struct kept_memory {
	size_t count;
	bool lacks_pieces; /* not all fitted */
	struct piece pieces[PIECES_MAX];
};

struct kept_memory *kept_memory__new(void)
{
	return calloc(1, sizeof(struct kept_memory));
}

void kept_memory__free(struct kept_memory *kept)
{
	free(kept);
}

void kept_memory__clear(struct kept_memory *kept)
{
	kept->count = 0;
	kept->lacks_pieces = false;
}

void kept_memory__add(struct kept_memory *kept, const void *bytes, uint32_t size, uint64_t address)
{
	struct piece *piece;

	if (kept->count == PIECES_MAX || size > PIECE_BYTES) {
		kept->lacks_pieces = true;
		return;
	}
	piece = &kept->pieces[kept->count++];
	piece->address = address;
	piece->size = size;
	memcpy(piece->bytes, bytes, size);
}

/* Compares pieces [first, first + count), reading them in one system call. */
static bool are_unchanged(const struct kept_memory *kept, pid_t pid, size_t first, size_t count)
{
	const struct piece *pieces = kept->pieces + first;
	struct iovec remote[PIECES_ONCE];
	uint8_t bytes[PIECES_ONCE * PIECE_BYTES];
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		remote[i] = (struct iovec){.iov_base = (void *)(uintptr_t)pieces[i].address,
					   .iov_len = pieces[i].size};
		size += pieces[i].size;
	}
	if (remote_memory__read_pieces(pid, remote, count, bytes, size) != (ssize_t)size)
		return false;
	size = 0;
	for (size_t i = 0; i < count; i++) {
		if (memcmp(bytes + size, pieces[i].bytes, pieces[i].size) != 0)
			return false;
		size += pieces[i].size;
	}
	return true;
}

bool kept_memory__is_unchanged(const struct kept_memory *kept, pid_t pid)
{
	if (kept->lacks_pieces)
		return false;
	for (int i = 0; i < READ_AGAIN; i++)
		for (size_t at = 0; at < kept->count; at += PIECES_ONCE) {
			size_t left = kept->count - at;

			if (!are_unchanged(kept, pid, at, left < PIECES_ONCE ? left : PIECES_ONCE))
				return false;
		}
	return true;
}
