/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walker of bpf/luau/walk_luau.bpf.h, as built for this host, and what it makes of an image. */
#ifndef TEST_LUAU_WALKER_H
#define TEST_LUAU_WALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "luau_image.h"
#include "luau/scratch_luau.bpf.h"

#include "family_walker.h"

void luau_walker__start(struct walker *walker);
void luau_walker__end(struct walker *walker);

/* Takes a sample with the image's layout, or with another; the thread's cache is kept. */
void luau_walker__sample(struct walker *walker, struct image *image);
void luau_walker__sample_as(struct walker *walker, struct image *image,
			    const struct ls_luau_layout *layout);

/* Forgets all that earlier samples left behind. */
void luau_walker__forget(struct walker *walker);

static inline uint32_t luau_walker__count(const struct walker *walker)
{
	return walker->scratch->sample.frame_count;
}

static inline uint8_t luau_walker__error(const struct walker *walker)
{
	return walker->scratch->sample.error;
}

/*
 * Fails unless the last sample is of that class and consists of the calls of these threads of the
 * image, the running one first.
 */
void luau_walker__expect(const struct walker *walker, const struct image *image, uint8_t class,
			 const size_t *threads, size_t thread_count);

#define expect_threads(walker, image, class, ...)                                                  \
	luau_walker__expect(walker, image, class, (const size_t[]){__VA_ARGS__},                   \
			    sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

/* Whether frame `at` of the last sample is that call. */
bool luau_walker__is_call(const struct walker *walker, size_t at, const struct image_call *call);

#endif
