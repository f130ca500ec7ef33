/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that has but one file mapped, the input: fuzz targets link this in place of
 * user/process/process.c.
 */
#ifndef FUZZ_PROCESS_OF_INPUT_H
#define FUZZ_PROCESS_OF_INPUT_H

#include "input.h"

#define PROCESS_OF_INPUT_START 0x400000ULL

/* Writes the input into the file. */
void process_of_input__set(const struct input *input);

/* Where luaspy can open it. */
const char *process_of_input__path(void);

#endif
