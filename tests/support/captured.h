/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Captures what the test program writes to a file descriptor, such as standard error. */
#ifndef TEST_CAPTURED_H
#define TEST_CAPTURED_H

#include <stdio.h>

struct captured {
	int fd, saved;
	FILE *file;
};

/* Starts to capture what is written to `fd`. Fails the test if that is impossible. */
void captured__start(struct captured *captured, int fd);

/* Restores `fd`. Returns what was captured, NUL-terminated; the caller frees it. */
char *captured__end(struct captured *captured);

#endif
