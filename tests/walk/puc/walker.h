/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walker of bpf/puc/walk_puc.bpf.h, as built for this host, and what it makes of an image. */
#ifndef TEST_WALKER_H
#define TEST_WALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image.h"
#include "offsets_puc.h"
#include "record.h"
#include "puc/scratch_puc.bpf.h"
#include "walk_error.h"

#define WALKER_DEFINITION_MAX 64

struct walker {
	struct ls_scratch *scratch; /* as of one CPU */
	struct ls_thread thread;
	uint32_t max_depth;
	uint64_t now_ns; /* advances by step_ns before each sample */
	uint64_t step_ns;
	uint64_t asleep_ns; /* the part of now_ns in which the target has not run */
	bool is_alone;      /* its thread is the only one */
	bool room;          /* the ring buffer has room for definitions */
	bool is_undecided;  /* samples have to prove their layout */

	/* of the last sample */
	bool is_evidence;
	uint8_t class;
	uint64_t reads;
	uint32_t definition_count;
	struct ls_function definitions[WALKER_DEFINITION_MAX]; /* the first of them */
};

void walker__start(struct walker *walker);
void walker__end(struct walker *walker);

/* Takes a sample with the image's layout, or with another; the thread's cache is kept. */
void walker__sample(struct walker *walker, struct image *image);
void walker__sample_as(struct walker *walker, struct image *image,
		       const struct ls_puc_layout *layout);

/*
 * Whether the last sample, with that pc, was in the garbage collector, according to target's code.
 */
bool walker__is_in_collector(struct walker *walker, const struct ls_image *target, uint64_t pc);

/* Forgets all that earlier samples left behind. */
void walker__forget(struct walker *walker);

static inline uint32_t walker__count(const struct walker *walker)
{
	return walker->scratch->sample.frame_count;
}

static inline uint8_t walker__error(const struct walker *walker)
{
	return walker->scratch->sample.error;
}

/* Chunks of native stack that the last sample searched. */
static inline uint32_t walker__chunks(const struct walker *walker)
{
	return walker->scratch->search.chunks_read;
}

/*
 * Fails unless the last sample is of that class and consists of the calls of these threads of the
 * image, the running one first.
 */
void walker__expect(const struct walker *walker, const struct image *image, uint8_t class,
		    const size_t *threads, size_t thread_count);

#define expect_threads(walker, image, class, ...)                                                  \
	walker__expect(walker, image, class, (const size_t[]){__VA_ARGS__},                        \
		       sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

/* Fails unless frame `at` of the last sample is that call. */
void walker__expect_call(const struct walker *walker, size_t at, const struct image_call *call);

#endif
