/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that shows text page by page, where standard output is a terminal: $PAGER, or less,
 * which ends by itself if the text fits on the screen. Under sudo, it runs as the user who called
 * sudo, in that user's environment: a pager can start a shell.
 */
#ifndef LS_PAGER_H
#define LS_PAGER_H

#include <stdio.h>
#include <sys/types.h>

struct pager {
	FILE *stream; /* to write to */
	pid_t pid;    /* 0: there is none, and the stream is standard output */
};

/* Without a terminal, with an empty $PAGER or one that is "cat", and if it cannot start: none. */
void pager__start(struct pager *pager);

/*
 * Ends the text and waits until the user has quit the pager. 0, or -errno of writing; that the user
 * quits before the end is no error.
 */
int pager__end(struct pager *pager);

#endif
