/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the fuzzers of walkers change in an image of memory, at once or while a sample is taken. */
#ifndef FUZZ_CHANGES_H
#define FUZZ_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "record.h"

#define CHANGES_MAX 400

struct change {
	uint64_t address;
	uint64_t word;
	uint64_t after; /* so many reads */
};

struct changes {
	struct change done[CHANGES_MAX]; /* with the words that were there before */
	size_t done_count;
	struct change planned[CHANGES_MAX];
	size_t planned_count;
};

/* The word at `address`, rounded down to a multiple of 8; 0 if the image has none there. */
uint64_t changes__read(const struct memory *memory, uint64_t address);

/* Writes a word there, if the image has one. What exceeds CHANGES_MAX is left out. */
void changes__write(struct changes *changes, struct memory *memory, uint64_t address,
		    uint64_t word);

/*
 * Plans such a write for when the sample has read `after` times. The fuzzer calls
 * changes__make_planned() before each read.
 */
void changes__plan(struct changes *changes, uint64_t address, uint64_t word, uint64_t after);
void changes__make_planned(struct changes *changes, struct memory *memory);

/* Undoes all changes, mends all holes, and forgets what is planned. */
void changes__undo(struct changes *changes, struct memory *memory);

#endif
