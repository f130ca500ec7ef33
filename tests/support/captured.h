/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program writes to a file descriptor, such as standard error, for tests to look at. */
#ifndef TEST_CAPTURED_H
#define TEST_CAPTURED_H

#include <stdio.h>

struct captured {
	int fd, saved;
	FILE *file;
};

/* From here on, what goes to `fd` is captured. Fails the test where that cannot be. */
void captured__start(struct captured *captured, int fd);

/* What came since, ended by NUL; `fd` is as before. The caller frees it. */
char *captured__end(struct captured *captured);

#endif
