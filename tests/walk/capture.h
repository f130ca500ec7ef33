/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A real process, stopped, as an image: its writable memory, its registers. */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H

#include <sys/types.h>

#include "image.h"

struct capture {
	pid_t pid;
	int output; /* what it writes */
};

/* Starts `program` with a script. 0, or -errno. */
int capture__start(struct capture *capture, const char *program, const char *script);
void capture__end(struct capture *capture);

/* Lets it run for a while, then stops it. 0, or -errno. */
int capture__stop(const struct capture *capture);

/* Makes *image of it, which the caller ends. Fails the test if it cannot be read. */
void capture__take(const struct capture *capture, const struct ls_puc_layout *layout,
		   struct image *image);

#endif
