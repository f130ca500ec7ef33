/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_in(const char *directories, const char *program)
{
	char path[4096];
	int length;

	while (*directories) {
		length = (int)strcspn(directories, ":");
		snprintf(path, sizeof(path), "%.*s/%s", length, directories, program);
		if (length > 0 && access(path, X_OK) == 0)
			return true;
		directories += length;
		directories += *directories == ':';
	}
	return false;
}

bool has_program(const char *program)
{
	const char *path = getenv("PATH");

	if (strchr(program, '/'))
		return access(program, X_OK) == 0;
	return is_in(path ? path : "", program) || is_in("/usr/sbin:/sbin", program);
}

bool skips_are_failures(void)
{
	const char *strict = getenv("LUASPY_CI_STRICT");

	return strict && *strict && strcmp(strict, "0") != 0;
}
