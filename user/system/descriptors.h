/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* File descriptors that cross between processes: by fork(2), and by messages of Unix sockets. */
#ifndef LS_DESCRIPTORS_H
#define LS_DESCRIPTORS_H

#include <stddef.h>

/* The most that one message may carry. */
#define DESCRIPTORS_MOST 2

/* Closes all descriptors from 3 on, except `kept`, which this sorts. */
void descriptors__close_others(int *kept, size_t count);

/*
 * Sends `size` bytes over a Unix socket, with `count` descriptors, of which the receiver gets
 * duplicates. 0 or -errno.
 */
int descriptors__send(int socket, const void *data, size_t size, const int *fds, size_t count);

/*
 * Receives a message of exactly `size` bytes. Returns how many descriptors came with it, into fds,
 * at most DESCRIPTORS_MOST; the caller closes them, and exec(2) does. -EPIPE: the sender has closed
 * the socket or sent less.
 */
int descriptors__receive(int socket, void *data, size_t size, int *fds);

#endif
