/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fake address space: segments, and pages of them that are not there. Functions fail the test
 * where a test itself goes wrong; only the walker may read what is not there.
 */
#ifndef TEST_MEMORY_H
#define TEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"

#define MEMORY_PAGE     4096ULL
#define MEMORY_HOLE_MAX 64

struct memory_segment {
	uint64_t start;
	uint64_t size;
	uint8_t *bytes;
};

struct memory;

/* What the target does between two reads of a sample, which it may: another of its threads runs. */
typedef void memory_change(struct memory *memory);

struct memory {
	struct memory_segment *segments;
	size_t segment_count;
	uint64_t holes[MEMORY_HOLE_MAX]; /* pages that were never touched */
	size_t hole_count;
	uint64_t reads;             /* by the walker, those that failed included */
	memory_change *before_read; /* NULL: it stands still */
	struct host_target target;  /* as the walker sees it */
};

/* An empty one, which is what the walker reads from here on. */
void memory__start(struct memory *memory);
void memory__end(struct memory *memory);

/* The walker reads this one from here on. */
void memory__select(struct memory *memory);

/* [start, start + size), all zero. */
void memory__map(struct memory *memory, uint64_t start, uint64_t size);

/* The page that `address` is in is there no more, or is there again. */
void memory__punch(struct memory *memory, uint64_t address);
void memory__mend(struct memory *memory);

/* Whatever is punched, tests read and write it. */
void memory__put_bytes(struct memory *memory, uint64_t address, const void *bytes, size_t size);
void memory__put(struct memory *memory, uint64_t address, uint64_t number, size_t size);
void memory__get_bytes(const struct memory *memory, uint64_t address, void *bytes, size_t size);
uint64_t memory__get(const struct memory *memory, uint64_t address, size_t size);

#endif
