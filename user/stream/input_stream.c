/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stream/input_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#define CHUNK        (64U << 10)
#define GZIP_ONLY    (15 + 16) /* zlib.h, inflateInit2(): the largest window, gzip's header */
#define TEXT_LEAST   (64U << 10)
#define MAGIC_SIZE   2
#define MAGIC        "\x1f\x8b" /* RFC 1952, 2.3.1 */
#define NUL_AND_MORE 2          /* room for the NUL, and one byte to detect the end of the file */

struct input_stream {
	int fd;                     /* -1: memory */
	const unsigned char *bytes; /* of memory: what is left */
	size_t left;
	int error;
	bool has_begun, is_gzip;
	bool is_at_end; /* nothing follows what is in `ready` */
	z_stream zlib;
	unsigned char raw[CHUNK];
	size_t raw_size;
	unsigned char ready[CHUNK + 1]; /* the last one is for input_stream__head()'s NUL */
	size_t from, to;                /* what is left of `ready` */
	uint64_t place;
};

static struct input_stream *new (int fd, const void *bytes, size_t size)
{
	struct input_stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->fd = fd;
		stream->bytes = bytes;
		stream->left = size;
	}
	return stream;
}

struct input_stream *input_stream__of_file(int fd)
{
	return new (fd, NULL, 0);
}

struct input_stream *input_stream__of_memory(const void *bytes, size_t size)
{
	return new (-1, bytes, size);
}

void input_stream__free(struct input_stream *stream)
{
	if (!stream)
		return;
	if (stream->is_gzip)
		inflateEnd(&stream->zlib);
	free(stream);
}

int input_stream__error(const struct input_stream *stream)
{
	return stream->error;
}

uint64_t input_stream__place(const struct input_stream *stream)
{
	return stream->place;
}

static ssize_t read_memory(struct input_stream *stream, void *to, size_t size)
{
	size_t part = size < stream->left ? size : stream->left;

	if (part)
		memcpy(to, stream->bytes, part);
	stream->bytes += part;
	stream->left -= part;
	return (ssize_t)part;
}

/* Reads the next bytes as stored. Returns how many; 0: the end, or a failure. */
static size_t read_raw(struct input_stream *stream, void *to, size_t size)
{
	ssize_t count;

	if (stream->fd < 0)
		return (size_t)read_memory(stream, to, size);
	do {
		count = read(stream->fd, to, size);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		stream->error = -errno;
	return count < 0 ? 0 : (size_t)count;
}

/* Fills `raw` with at least `least` bytes, unless the input ends. */
static void fill_raw(struct input_stream *stream, size_t least)
{
	while (stream->raw_size < least && !stream->error) {
		size_t count =
			read_raw(stream, stream->raw + stream->raw_size, CHUNK - stream->raw_size);

		if (!count)
			return;
		stream->raw_size += count;
	}
}

/* A gzip file may have several members: RFC 1952, 2.2. */
static void begin_next_member(struct input_stream *stream)
{
	memmove(stream->raw, stream->zlib.next_in, stream->zlib.avail_in);
	stream->raw_size = stream->zlib.avail_in;
	fill_raw(stream, 1);
	stream->zlib.next_in = stream->raw;
	stream->zlib.avail_in = (uInt)stream->raw_size;
	stream->is_at_end = !stream->raw_size;
	if (!stream->is_at_end && inflateReset(&stream->zlib) != Z_OK)
		stream->error = -EBADMSG;
}

static size_t decompress(struct input_stream *stream, unsigned char *to, size_t size)
{
	z_stream *zlib = &stream->zlib;

	zlib->next_out = to;
	zlib->avail_out = (uInt)size;
	while (zlib->avail_out && !stream->is_at_end && !stream->error) {
		int result;

		if (!zlib->avail_in) {
			stream->raw_size = 0;
			fill_raw(stream, 1);
			zlib->next_in = stream->raw;
			zlib->avail_in = (uInt)stream->raw_size;
		}
		result = inflate(zlib, Z_NO_FLUSH);
		if (result == Z_STREAM_END)
			begin_next_member(stream);
		else if (result != Z_OK && !stream->error)
			stream->error = result == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
	return size - zlib->avail_out;
}

/* Detects, at the beginning, whether the input is compressed. */
static void begin(struct input_stream *stream)
{
	stream->has_begun = true;
	fill_raw(stream, MAGIC_SIZE);
	if (stream->raw_size < MAGIC_SIZE || memcmp(stream->raw, MAGIC, MAGIC_SIZE) != 0)
		return;
	if (inflateInit2(&stream->zlib, GZIP_ONLY) != Z_OK) {
		stream->error = -ENOMEM;
		return;
	}
	stream->is_gzip = true;
	stream->zlib.next_in = stream->raw;
	stream->zlib.avail_in = (uInt)stream->raw_size;
}

static size_t take_plain(struct input_stream *stream, unsigned char *to, size_t size)
{
	size_t count = stream->raw_size;

	if (count) {
		/* What begin() read; `ready` has room for all of it. */
		memcpy(to, stream->raw, count);
		stream->raw_size = 0;
		return count;
	}
	count = read_raw(stream, to, size);
	stream->is_at_end = !count;
	return count;
}

/* Adds bytes to `ready`, which has room. */
static void add_ready(struct input_stream *stream)
{
	size_t room = CHUNK - stream->to, count;

	if (!stream->has_begun)
		begin(stream);
	count = stream->is_gzip ? decompress(stream, stream->ready + stream->to, room)
				: take_plain(stream, stream->ready + stream->to, room);
	stream->to += count;
	if (stream->place + (stream->to - stream->from) > INPUT_STREAM_MOST && !stream->error)
		stream->error = -EFBIG;
}

const char *input_stream__head(struct input_stream *stream, size_t *size)
{
	while (stream->to < INPUT_STREAM_HEAD && !stream->is_at_end && !stream->error)
		add_ready(stream);
	*size = stream->to;
	stream->ready[stream->to] = '\0';
	return stream->error ? NULL : (const char *)stream->ready;
}

ssize_t input_stream__read(struct input_stream *stream, void *to, size_t size)
{
	size_t done = 0;

	while (done < size && !stream->error) {
		size_t part = stream->to - stream->from;

		if (!part) {
			if (stream->is_at_end)
				break;
			stream->from = stream->to = 0;
			add_ready(stream);
			continue;
		}
		part = part < size - done ? part : size - done;
		memcpy((char *)to + done, stream->ready + stream->from, part);
		stream->from += part;
		stream->place += part;
		done += part;
	}
	return stream->error ? stream->error : (ssize_t)done;
}

/* The size of a file that is not compressed; else 0. */
static size_t size_known(const struct input_stream *stream)
{
	struct stat status;

	if (stream->fd < 0 || stream->is_gzip || fstat(stream->fd, &status) ||
	    !S_ISREG(status.st_mode) || status.st_size < 0 ||
	    (uint64_t)status.st_size > INPUT_STREAM_MOST)
		return 0;
	return (size_t)status.st_size;
}

int input_stream__text(struct input_stream *stream, char **text, size_t *size)
{
	size_t room = size_known(stream) + NUL_AND_MORE;
	ssize_t count = 0;

	*text = NULL;
	*size = 0;
	room = room > TEXT_LEAST ? room : TEXT_LEAST;
	do {
		char *longer;

		*size += (size_t)count;
		room = *size + NUL_AND_MORE > room ? 2 * room : room;
		longer = realloc(*text, room);
		if (!longer)
			stream->error = -ENOMEM;
		else
			*text = longer;
		count = stream->error ? stream->error
				      : input_stream__read(stream, *text + *size, room - *size - 1);
	} while (count > 0);
	if (!count) {
		(*text)[*size] = '\0';
		return 0;
	}
	free(*text);
	*text = NULL;
	return (int)count;
}
