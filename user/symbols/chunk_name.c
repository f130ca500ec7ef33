/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbols/chunk_name.h"

#include <string.h>

#define ID_SIZE 60 /* LUA_IDSIZE, luaconf.h of all releases, including the NUL */
#define PREFIX  "[string \""
#define SUFFIX  "\"]"
#define DOTS    "..."

void chunk_name__show(const char *chunk, size_t length, char to[CHUNK_NAME_SIZE])
{
	const size_t room = ID_SIZE - strlen(PREFIX) - strlen(DOTS) - strlen(SUFFIX) - 1;
	const char *newline = memchr(chunk, '\n', length);
	size_t line = newline ? (size_t)(newline - chunk) : length;
	char *end = to;

	if (length && (*chunk == '@' || *chunk == '=')) {
		if (length > CHUNK_NAME_SIZE)
			length = CHUNK_NAME_SIZE;
		memcpy(to, chunk + 1, length - 1);
		to[length - 1] = '\0';
		return;
	}
	end = stpcpy(end, PREFIX);
	if (!newline && length < room) {
		end = (char *)memcpy(end, chunk, length) + length;
	} else {
		if (line > room)
			line = room;
		end = (char *)memcpy(end, chunk, line) + line;
		end = stpcpy(end, DOTS);
	}
	strcpy(end, SUFFIX);
}
