/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_OUTPUT_NAME_H
#define LS_OUTPUT_NAME_H

#include <sys/types.h>
#include <time.h>

#define OUTPUT_NAME_SIZE       112
#define OUTPUT_NAME_ENDING_MAX 24

/*
 * NAME-PID-DATE.json, or NAME-DATE.json without a PID (0): a file in the current folder, whatever
 * the target calls itself. `ending` is ".json" or another one of up to OUTPUT_NAME_ENDING_MAX
 * bytes.
 */
void output_name__make(const char *name, pid_t pid, const char *ending, char to[OUTPUT_NAME_SIZE]);

/* The same without the date. */
void output_name__make_dateless(const char *name, pid_t pid, const char *ending,
				char to[OUTPUT_NAME_SIZE]);

/*
 * NAME.json, for a group of processes of that name. If the name is long, a path perhaps, only its
 * end is used.
 */
void output_name__make_of_group(const char *name, const char *ending, char to[OUTPUT_NAME_SIZE]);

#define OUTPUT_NAME_DATE_SIZE 32

/* A time as it appears in names: "20261124-083000", local time. */
void output_name__date(time_t time, char to[OUTPUT_NAME_DATE_SIZE]);

#endif
