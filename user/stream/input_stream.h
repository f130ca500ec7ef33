/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of an input, in order, once; decompressed if they are gzip's (RFC 1952). A file is read
 * and never mapped: one that somebody cuts off meanwhile must not end luaspy.
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
 * The first bytes of the input, of which none was taken yet, and with a NUL behind them; *size is 0
 * if it has none. NULL: input_stream__error().
 */
const char *input_stream__head(struct input_stream *stream, size_t *size);

/* Takes `size` bytes, or all if they are fewer. How many, or a failure below 0. */
ssize_t input_stream__read(struct input_stream *stream, void *to, size_t size);

/*
 * All bytes that are left, with a NUL behind them, for the caller to free. 0 or a failure below 0;
 * *text is NULL then.
 */
int input_stream__text(struct input_stream *stream, char **text, size_t *size);

/* How many bytes were taken, for messages. */
uint64_t input_stream__place(const struct input_stream *stream);

/*
 * The first failure: -errno of the file; -EFBIG: more than INPUT_STREAM_MOST; -EBADMSG: what is
 * compressed is damaged, or ends too early; -ENOMEM. 0: there was none.
 */
int input_stream__error(const struct input_stream *stream);

#endif
