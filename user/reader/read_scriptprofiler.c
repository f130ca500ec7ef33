/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ScriptProfiler files: read_profile.h. Their keys begin with capitals. */
#include <ctype.h>

#include "reader/input_format.h"

bool is_scriptprofiler(const char *head, size_t size)
{
	const char *key = input_format__first_key(head);

	(void)size;
	return key && (isupper((unsigned char)*key) || *key == '\\');
}

int read_scriptprofiler(struct input_stream *stream, struct loaded_profile *loaded,
			char reason[INPUT_REASON_SIZE])
{
	size_t size;
	int error = input_stream__text(stream, &loaded->text, &size);

	return error ? error : read_profile__new(loaded->text, size, &loaded->read, reason);
}
