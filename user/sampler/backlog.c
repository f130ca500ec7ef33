/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/backlog.h"

#include <errno.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (1024 * 1024)

struct entry {
	size_t size;
	alignas(8) unsigned char record[];
};

struct backlog_chunk {
	struct backlog_chunk *next;
	size_t begin, end; /* the part of `bytes` not handed out yet */
	alignas(8) unsigned char bytes[CHUNK_BYTES];
};

static size_t entry_size(size_t size)
{
	return (sizeof(struct entry) + size + 7) & ~(size_t)7;
}

int backlog__make_room(struct backlog *backlog)
{
	struct backlog_chunk *chunk = backlog->last;

	if (chunk && CHUNK_BYTES - chunk->end >= entry_size(BACKLOG_RECORD_MAX))
		return 0;
	if (backlog->bytes >= BACKLOG_BYTES_MAX)
		return -ENOSPC;
	chunk = malloc(sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->next = NULL;
	chunk->begin = chunk->end = 0;
	if (backlog->last)
		backlog->last->next = chunk;
	else
		backlog->first = chunk;
	backlog->last = chunk;
	backlog->bytes += CHUNK_BYTES;
	return 0;
}

void backlog__add(struct backlog *backlog, const void *record, size_t size)
{
	struct backlog_chunk *chunk = backlog->last;
	struct entry *entry = (struct entry *)(chunk->bytes + chunk->end);

	entry->size = size;
	memcpy(entry->record, record, size);
	chunk->end += entry_size(size);
}

static void drop_first(struct backlog *backlog)
{
	struct backlog_chunk *chunk = backlog->first;

	backlog->first = chunk->next;
	if (!backlog->first)
		backlog->last = NULL;
	backlog->bytes -= CHUNK_BYTES;
	free(chunk);
}

static bool is_empty(const struct backlog *backlog)
{
	const struct backlog_chunk *first = backlog->first;

	return !first || (first->begin == first->end && !first->next);
}

/* Keeps the last chunk for the next records. */
int backlog__hand_out(struct backlog *backlog,
		      int (*receive)(void *context, void *record, size_t size), void *context)
{
	while (!is_empty(backlog)) {
		struct backlog_chunk *chunk = backlog->first;

		while (chunk->begin < chunk->end) {
			struct entry *entry = (struct entry *)(chunk->bytes + chunk->begin);
			int error = receive(context, entry->record, entry->size);

			chunk->begin += entry_size(entry->size);
			if (error < 0)
				return error;
		}
		if (chunk->next)
			drop_first(backlog);
		else
			chunk->begin = chunk->end = 0;
	}
	return 0;
}

void backlog__free(struct backlog *backlog)
{
	while (backlog->first)
		drop_first(backlog);
}
