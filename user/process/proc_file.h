/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of /proc/PID. */
#ifndef LS_PROC_FILE_H
#define LS_PROC_FILE_H

#include <stdio.h>

/*
 * Converts an errno from such a file into -errno, and ENOENT into -ESRCH: procfs reports ENOENT for
 * a process that is gone before its file is opened, ESRCH after that.
 */
int proc_file__error(int error);

/* Opens a file whose path has at most 63 bytes, for fclose(). NULL, with errno set, on failure. */
FILE *proc_file__open(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
