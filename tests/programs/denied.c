/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * To be preloaded: the program may not read the mappings of process DENIED_PID, whatever privileges
 * it has, as if a security module of the kernel guarded that process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*really)(const char *, const char *);
	const char *pid = getenv("DENIED_PID");
	char denied[64];

	snprintf(denied, sizeof(denied), "/proc/%s/maps", pid ? pid : "");
	if (!strcmp(path, denied)) {
		errno = EACCES;
		return NULL;
	}
	*(void **)&really = dlsym(RTLD_NEXT, "fopen");
	return really(path, mode);
}
