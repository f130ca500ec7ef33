/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader of recordings, which may be anybody's, and all writers of what it takes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/read_profile.h"
#include "input.h"
#include "profile_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char reason[READ_PROFILE_REASON_SIZE], *text = malloc(size + 1);
	struct read_profile *read;
	int error;

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	error = read_profile__new(text, size, &read, reason);
	require(!error == !!read);
	require(!error || error == -ENOMEM || (error == -EINVAL && *reason));
	if (!error)
		profile_checks__hold(read_profile__profile(read));
	read_profile__free(read);
	free(text);
	return 0;
}
