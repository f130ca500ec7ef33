/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Outputs that are no files of their own: open descriptors and harmless devices. */
#ifndef LS_SPECIAL_FILE_H
#define LS_SPECIAL_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * The descriptor that `path` names ("/dev/stdout", "/dev/fd/3"), which is to be used as it is:
 * opening it again by name would start over a file that the shell opened for appending, and cannot
 * work for a socket. -EINVAL: `path` names none.
 */
int special_file__descriptor(const char *path);

/*
 * Whether luaspy may write to this descriptor; to be asked before there is something to write. 0;
 * -EBADF: it is read-only, or luaspy's own; other -errno. Descriptors inherited from the process
 * that started luaspy have no FD_CLOEXEC, since execve(2) closes those: ones with it are its own.
 */
int special_file__check(int descriptor);

/* Whether it is a device that anyone is meant to write to: /dev/null, /dev/full, the terminal. */
bool special_file__is_device(const struct stat *status);

/*
 * Opens such a device, which the caller has found at `path`: merely opening another one may do
 * harm. The descriptor, for the caller to close; -EINVAL: it is another file by now; other -errno.
 */
int special_file__open(const char *path);

#endif
