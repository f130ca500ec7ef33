/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What libFuzzer hands a target, taken from the front. Behind its end there are zeros. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input {
	const uint8_t *bytes;
	size_t left;
};

/* What libFuzzer calls. 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A little-endian number of `size` bytes, at most 8. */
static inline uint64_t input__take(struct input *input, size_t size)
{
	uint64_t number = 0;

	if (size > input->left)
		size = input->left;
	if (size)
		memcpy(&number, input->bytes, size);
	input->bytes += size;
	input->left -= size;
	return number;
}

/* As many bytes as there are, `size` at most; what they do not fill of *to is zeroed. */
static inline void input__take_bytes(struct input *input, void *to, size_t size)
{
	size_t count = size < input->left ? size : input->left;

	memset(to, 0, size);
	if (count)
		memcpy(to, input->bytes, count);
	input->bytes += count;
	input->left -= count;
}

/* What must hold whatever the input: else libFuzzer keeps it as a crash. */
#define require(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: '%s' does not hold\n", __FILE__, __LINE__,         \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
