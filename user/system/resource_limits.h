/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The process limits (setrlimit(2)) that luaspy may run into. */
#ifndef LS_RESOURCE_LIMITS_H
#define LS_RESOURCE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From here on, a write beyond the file size limit (ulimit -f) fails with EFBIG, as one to a full
 * disk fails with ENOSPC; by default, SIGXFSZ kills the process. resource_limits__restore() undoes
 * that in a child that is about to execute a command.
 */
void resource_limits__survive_file_size(void);
void resource_limits__restore(void);

/*
 * Raises the limit on open files to the hard limit. 0; -EMFILE or -ENFILE: fewer files can still be
 * opened than a session needs.
 */
int resource_limits__raise_files(void);

/*
 * Checks whether `count` more files, at most 128, can be opened now. 0; -EMFILE: the process has
 * reached its limit; -ENFILE: the system has.
 */
int resource_limits__try_files(int count);

/*
 * Whether `file`, opened just now, is one of the last that the limit allows. These are reserved for
 * what a session must be able to open at any time, such as the file of the next interval, and not
 * for what targets can create without bound.
 */
bool resource_limits__is_last(int file);

/* Whether half of the files that the limit allows were open when `file` was opened. */
bool resource_limits__is_scarce(int file);

/* Whether this process may map less than `bytes` of memory in all (ulimit -v). */
bool resource_limits__map_less_than(uint64_t bytes);

/*
 * Describes an error (-errno) as strerror(3) does and, if a limit is the cause, says what to do
 * about it. Valid until the next call.
 */
const char *resource_limits__reason(int error);

#endif
