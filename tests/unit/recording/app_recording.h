/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording of a process that is not there, and the functions of its script, "app.lua". */
#ifndef TEST_APP_RECORDING_H
#define TEST_APP_RECORDING_H

#include <stdint.h>

#include "recording/recording.h"

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no process to read names from. */
#define NO_PID 2000000000

#define MAIN 0x1000 /* the prototype of "main chunk"; the next are those of app.lua:1, :2 ... */

/* NULL: out of memory. */
struct recording *new_recording(enum category_kind kind);

/* Setup and teardown of cmocka; *state is the recording. */
int make_recording(void **state);
int free_recording(void **state);

/* Tells it of the function that is defined on that line, as BPF does. */
void define(struct recording *recording, uint32_t line);

#endif
