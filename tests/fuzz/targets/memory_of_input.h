/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A target whose memory is the input: fuzz targets link this in place of
 * user/memory/target_memory.c. The input is ranges: address (8 bytes), size (2), content.
 */
#ifndef FUZZ_MEMORY_OF_INPUT_H
#define FUZZ_MEMORY_OF_INPUT_H

#include <stdbool.h>

#include "input.h"

/*
 * `ranges` is parsed and borrowed. Where `wraps`, what no range holds is the input itself, over and
 * over, so that every pointer leads somewhere; else it is not there.
 */
void memory_of_input__set(const struct input *ranges, bool wraps);

/* Reads since it was set, and the bytes that they asked for. */
size_t memory_of_input__reads(void);
size_t memory_of_input__bytes(void);

#endif
