/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fake address space: segments, some of whose pages may be absent. Functions fail the test if the
 * test itself is wrong; only the walker may read what is not there.
 */
#ifndef TEST_MEMORY_H
#define TEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "walk/bpf_shim.h"

#define MEMORY_PAGE     4096ULL
#define MEMORY_HOLE_MAX 64

struct memory_segment {
	uint64_t start;
	uint64_t size;
	uint8_t *bytes;
};

struct memory;

/* What the target changes between two reads of a sample, as another of its threads may run. */
typedef void memory_change(struct memory *memory);

struct memory {
	struct memory_segment *segments;
	size_t segment_count;
	uint64_t holes[MEMORY_HOLE_MAX]; /* absent pages */
	size_t hole_count;
	uint64_t reads;                /* by the walker, those that failed included */
	memory_change *before_read;    /* NULL: nothing changes */
	struct bpf_shim_target target; /* as the walker sees it */
};

/* Makes an empty address space, which the walker reads from then on. */
void memory__start(struct memory *memory);
void memory__end(struct memory *memory);

/* Makes the walker read this one from then on. */
void memory__select(struct memory *memory);

/* Adds the segment [start, start + size), all zero. */
void memory__map(struct memory *memory, uint64_t start, uint64_t size);

/* memory__punch() removes the page that contains `address`, memory__mend() restores all pages. */
void memory__punch(struct memory *memory, uint64_t address);
void memory__mend(struct memory *memory);

/* Whether a segment has all of [address, address + size), in punched pages or not. */
bool memory__has(const struct memory *memory, uint64_t address, size_t size);

/* Tests read and write with these, punched pages as well. */
void memory__put_bytes(struct memory *memory, uint64_t address, const void *bytes, size_t size);
void memory__put(struct memory *memory, uint64_t address, uint64_t number, size_t size);
void memory__get_bytes(const struct memory *memory, uint64_t address, void *bytes, size_t size);
uint64_t memory__get(const struct memory *memory, uint64_t address, size_t size);

#endif
