/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The readers of foreign formats, compressed or not: the input itself says which one it is in. */
#include <errno.h>

#include "base/log.h"
#include "reader/input_format.h"
#include "input.h"
#include "profile_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input_stream *stream = input_stream__of_memory(bytes, size);
	struct loaded_profile loaded = {};
	char reason[INPUT_REASON_SIZE];
	int error;

	log__set_level(LOG_ERROR);
	require(stream);
	error = input_format__read(stream, &loaded, reason);
	require(!error || error == -ENOMEM || *reason);
	require(!error || (!loaded.text && !loaded.read && !loaded.builder));
	if (!error)
		profile_checks__hold(loaded_profile__profile(&loaded));
	loaded_profile__clear(&loaded);
	input_stream__free(stream);
	return 0;
}
