/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the bytes of an input once, in order, and decompresses gzip (RFC 1952). Files are read,
 * never mapped: truncating one meanwhile must not kill luaspy.
 */
#ifndef LS_INPUT_STREAM_H
#define LS_INPUT_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The most bytes that are handed out: a file of some kilobytes may decompress to any number. */
#define INPUT_STREAM_MOST      (UINT64_C(1) << 30)
#define INPUT_STREAM_MOST_TEXT "1 GiB"

/* How many bytes input_stream__head() shows, at most. */
#define INPUT_STREAM_HEAD 4096

struct input_stream;

/* Both borrow what they read. NULL when out of memory. input_stream__free() takes NULL. */
struct input_stream *input_stream__of_file(int fd);
struct input_stream *input_stream__of_memory(const void *bytes, size_t size);
void input_stream__free(struct input_stream *stream);

/*
 * The first bytes of the input, NUL-terminated, as long as none was taken; *size is 0 if the input
 * is empty. NULL: see input_stream__error().
 */
const char *input_stream__head(struct input_stream *stream, size_t *size);

/* Takes `size` bytes, or all that are left. Returns how many, or -errno. */
ssize_t input_stream__read(struct input_stream *stream, void *to, size_t size);

/*
 * Takes all bytes that are left, NUL-terminated, for the caller to free. 0, or -errno with *text
 * NULL.
 */
int input_stream__text(struct input_stream *stream, char **text, size_t *size);

/* How many bytes were taken, for messages. */
uint64_t input_stream__place(const struct input_stream *stream);

/*
 * The first failure: -errno of the file; -EFBIG: more than INPUT_STREAM_MOST; -EBADMSG: compressed
 * data are damaged or truncated; -ENOMEM. 0: there was none.
 */
int input_stream__error(const struct input_stream *stream);

#endif
