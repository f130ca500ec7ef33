/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A FUSE file system with one file, "file", served from the bare device, until it no longer
 * answers. Without a capability it is mounted in namespaces of the caller's own; root mounts it as
 * the setuid program fusermount does for a user, and becomes that user. Failures end the program.
 */
#ifndef ATTACKS_FUSE_TRAP_H
#define ATTACKS_FUSE_TRAP_H

#include <stdint.h>
#include <sys/types.h>

/* linux/fuse.h, FUSE_*: requests that are not answered once the trap is shut. */
enum fuse_trap_kind {
	FUSE_TRAP_READ,
	FUSE_TRAP_OPEN,
	FUSE_TRAP_GETATTR,
	FUSE_TRAP_ALL,
};

struct fuse_trap {
	const char *device;  /* "/dev/fuse" */
	const char *folder;  /* where it is mounted */
	const char *content; /* the file's, a path; NULL: zeroes */
	uid_t user;          /* the user that root becomes */
	enum fuse_trap_kind kind;
	volatile int *is_shut;
};

/* "read", "open", "getattr" or "all"; anything else ends the program. */
enum fuse_trap_kind fuse_trap__kind(const char *name);

/* Mounts it and serves it in a process of its own, which dies with the calling thread. */
void fuse_trap__start(struct fuse_trap *trap);

/* Opens the file for reading. */
int fuse_trap__open(const struct fuse_trap *trap);

/* From then on, requests get no answer. */
void fuse_trap__shut(const struct fuse_trap *trap);

#define FUSE_TRAP_SIZE (64ull << 20) /* of a file of zeroes */

#endif
