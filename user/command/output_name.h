/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LS_OUTPUT_NAME_H
#define LS_OUTPUT_NAME_H

#include <sys/types.h>

#define OUTPUT_NAME_SIZE 96

/*
 * NAME-PID-DATE.json, or NAME-DATE.json without a PID (0): a file of the current folder whatever
 * the target calls itself.
 */
void output_name__make(const char *name, pid_t pid, char to[OUTPUT_NAME_SIZE]);

#endif
