/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parser of source text, which the target writes. An input is the text. */
#include <errno.h>
#include <string.h>

#include "input.h"
#include "source/definitions.h"

#define BYTES_MAX (64U << 20) /* of definitions in one input */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct definitions *definitions;
	int error = definitions__find((const char *)data, size, &definitions);

	require(!error == !!definitions);
	require(!error || error == -EINVAL || error == -E2BIG || error == -ENOMEM);
	if (error)
		return 0;
	require(definitions__size(definitions) < BYTES_MAX);
	for (uint32_t first = 0; first < 20; first++)
		for (uint32_t last = first; last < 20; last++) {
			const char *name = definitions__name(definitions, first, last);

			require(!name || (*name && strlen(name) < DEFINITION_NAME_SIZE));
		}
	definitions__free(definitions);
	return 0;
}
