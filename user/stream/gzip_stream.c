/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stream/gzip_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#define CHUNK     (64U << 10)
#define AS_GZIP   (15 + 16) /* zlib.h, deflateInit2(): the largest window, and gzip's header */
#define MEM_LEVEL 8         /* its default */

struct gzip_stream {
	FILE *stream;
	int error;
	z_stream zlib;
	unsigned char input[CHUNK], output[CHUNK];
	size_t used; /* of the input */
};

struct gzip_stream *gzip_stream__new(FILE *stream)
{
	struct gzip_stream *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return NULL;
	gzip->stream = stream;
	if (deflateInit2(&gzip->zlib, Z_BEST_SPEED, Z_DEFLATED, AS_GZIP, MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

/* Compresses the input so far; `flush` is Z_NO_FLUSH, or Z_FINISH at the end. */
static void compress_input(struct gzip_stream *gzip, int flush)
{
	int result;

	gzip->zlib.next_in = gzip->input;
	gzip->zlib.avail_in = (uInt)gzip->used;
	gzip->used = 0;
	do {
		size_t size;

		gzip->zlib.next_out = gzip->output;
		gzip->zlib.avail_out = CHUNK;
		result = deflate(&gzip->zlib, flush);
		size = CHUNK - gzip->zlib.avail_out;
		errno = 0;
		if (!gzip->error && fwrite(gzip->output, 1, size, gzip->stream) != size)
			gzip->error = errno ? -errno : -EIO;
	} while (flush == Z_FINISH ? result == Z_OK : !gzip->zlib.avail_out);
}

void gzip_stream__put(struct gzip_stream *gzip, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	while (size && !gzip->error) {
		size_t room = CHUNK - gzip->used, part = size < room ? size : room;

		memcpy(gzip->input + gzip->used, at, part);
		gzip->used += part;
		at += part;
		size -= part;
		if (gzip->used == CHUNK)
			compress_input(gzip, Z_NO_FLUSH);
	}
}

int gzip_stream__finish(struct gzip_stream *gzip)
{
	int error;

	if (!gzip)
		return -ENOMEM;
	compress_input(gzip, Z_FINISH);
	error = gzip->error;
	deflateEnd(&gzip->zlib);
	free(gzip);
	return error;
}
