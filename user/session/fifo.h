/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A FIFO by its name, for others to meet luaspy at. */
#ifndef LS_FIFO_H
#define LS_FIFO_H

#include <stdbool.h>

struct fifo;

/*
 * Opens the FIFO at `path`, or makes one there, for the invoking user alone: fifo__close() removes
 * that again. A symbolic link is not followed, and what is no FIFO not touched. 0, -EINVAL: it is
 * none; other -errno; *fifo is then NULL.
 */
int fifo__open(const char *path, struct fifo **fifo);

/* Takes NULL. */
void fifo__close(struct fifo *fifo);

/*
 * Its descriptor, to be read and written without waiting. Open for both ways it has a reader and a
 * writer at all times: no end of file is ever seen, and no signal comes of writing.
 */
int fifo__fd(const struct fifo *fifo);

/* Whether both are one, by whatever names. */
bool fifo__is_same(const struct fifo *one, const struct fifo *other);

#endif
