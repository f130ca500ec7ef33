/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes compressed bytes (gzip) into a stream. The first failure is kept, and nothing is written
 * after it, so it is enough to check gzip_stream__finish().
 */
#ifndef LS_GZIP_STREAM_H
#define LS_GZIP_STREAM_H

#include <stddef.h>
#include <stdio.h>

struct gzip_stream;

/* NULL when out of memory. `stream` is borrowed. */
struct gzip_stream *gzip_stream__new(FILE *stream);

void gzip_stream__put(struct gzip_stream *gzip, const void *bytes, size_t size);

/* Writes what is left, and frees. 0, or -errno of the stream, or -ENOMEM. Takes NULL: -ENOMEM. */
int gzip_stream__finish(struct gzip_stream *gzip);

#endif
