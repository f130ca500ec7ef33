/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/musl_thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "memory/target_memory.h"

#define PIECE_WORDS 8192        /* read at a time */
#define BLOCK_WORDS 40          /* of struct pthread; they contain the fields searched for */
#define SEARCH_MAX  (64U << 20) /* bytes above SP; a thread's stack is seldom larger */
#define PAGE        4096

/*
 * struct pthread (src/internal/pthread_impl.h) begins with `self`, its own address. Further down,
 * at an offset that depends on the release, follow map_base, map_size, stack (its end) and
 * stack_size. If these fit each other, the block and SP, that is no accident. map_base is 0 for a
 * stack that the program itself provided.
 */
static bool describes(const uint64_t *words, uint64_t block, uint64_t sp)
{
	uint64_t map = words[0], map_size = words[1], stack = words[2], stack_size = words[3];

	return map && !(map % PAGE) && map_size && !(map_size % PAGE) && map < block &&
	       block - map < map_size && stack <= block && stack > sp && stack_size <= stack &&
	       stack - stack_size <= sp && stack - stack_size >= map;
}

/* `room`: how many words of `block` were read. */
static bool find_stack(const uint64_t *block, size_t room, uint64_t address, uint64_t sp,
		       uint64_t *low, uint64_t *high)
{
	if (block[0] != address)
		return false;
	if (room > BLOCK_WORDS)
		room = BLOCK_WORDS;
	for (size_t i = 1; i + 4 <= room; i++) {
		if (!describes(block + i, address, sp))
			continue;
		*low = block[i + 2] - block[i + 3];
		*high = block[i + 2] & ~7ULL;
		return true;
	}
	return false;
}

int musl_thread__stack(pid_t pid, uint64_t sp, uint64_t end, uint64_t *low, uint64_t *high)
{
	/* The last block that begins in a piece may extend beyond it. */
	uint64_t words[PIECE_WORDS + BLOCK_WORDS];
	const struct target_memory memory = {.pid = pid};

	sp = (sp + 7) & ~7ULL;
	if (end - sp > SEARCH_MAX)
		end = sp + SEARCH_MAX;
	for (uint64_t at = sp; at < end; at += PIECE_WORDS * sizeof(*words)) {
		uint64_t left = end - at;
		size_t wanted = left < sizeof(words) ? (size_t)left : sizeof(words);
		ssize_t got = target_memory__read_some(&memory, at, words, wanted);
		size_t count = got > 0 ? (size_t)got / sizeof(*words) : 0;

		for (size_t i = 0; i < count; i++)
			if (find_stack(words + i, count - i, at + i * sizeof(*words), sp, low,
				       high))
				return 0;
		if (got < (ssize_t)wanted)
			break;
	}
	return -ENOENT;
}
