/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_OUTPUT_NAME_H
#define LS_OUTPUT_NAME_H

#include <sys/types.h>
#include <time.h>

#define OUTPUT_NAME_SIZE 96

/*
 * NAME-PID-DATE.json, or NAME-DATE.json without a PID (0): a file of the current folder whatever
 * the target calls itself.
 */
void output_name__make(const char *name, pid_t pid, char to[OUTPUT_NAME_SIZE]);

/* The same without the date. */
void output_name__make_dateless(const char *name, pid_t pid, char to[OUTPUT_NAME_SIZE]);

/*
 * The same for several processes that are called so together, a path perhaps, of which it has the
 * end: NAME.json.
 */
void output_name__make_of_group(const char *name, char to[OUTPUT_NAME_SIZE]);

#define OUTPUT_NAME_DATE_SIZE 32

/* A time as names have it: "20261124-083000", of the local clock. */
void output_name__date(time_t time, char to[OUTPUT_NAME_DATE_SIZE]);

#endif
