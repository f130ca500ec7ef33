/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A named FIFO through which other programs talk to luaspy. */
#ifndef LS_FIFO_H
#define LS_FIFO_H

#include <stdbool.h>

struct fifo;

/*
 * Opens the FIFO at `path` with the user's rights (user_rights.h). If there is none, creates one
 * for that user alone, which fifo__close() removes. Symbolic links are not followed, and other file
 * types are not touched; nor is a FIFO of another user, who may have created it to control luaspy.
 * A FIFO of root or the user is accepted whoever may write to it: that is what its mode is for. 0;
 * -EINVAL: not a FIFO; -EKEYREJECTED: another user's; other -errno; *fifo is then NULL.
 */
int fifo__open(const char *path, struct fifo **fifo);

/* Takes NULL. */
void fifo__close(struct fifo *fifo);

/*
 * Its non-blocking descriptor, for reading and writing. Because it is open for both, the FIFO
 * always has a reader and a writer: reading never sees an end of file, and writing never raises
 * SIGPIPE.
 */
int fifo__fd(const struct fifo *fifo);

/* Whether both are the same file, by whatever names. */
bool fifo__is_same(const struct fifo *one, const struct fifo *other);

#endif
