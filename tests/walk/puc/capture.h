/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An image of a real process that is stopped: its writable memory and its registers. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

#include <sys/types.h>

#include "image.h"

struct capture {
	pid_t pid;
	int output; /* read end of its standard output */
};

/* Starts `program` with a script. 0, or -errno. */
int capture__start(struct capture *capture, const char *program, const char *script);
void capture__end(struct capture *capture);

/* Lets it run for a while, then stops it. 0, or -errno. */
int capture__stop(const struct capture *capture);

/* Makes *image of the process; the caller ends it. Fails the test if the process cannot be read. */
void capture__take(const struct capture *capture, const struct ls_puc_layout *layout,
		   struct image *image);

#endif
