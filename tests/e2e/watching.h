/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers of the tests of luaspy top. To be included after cmocka.h. */
#ifndef TEST_WATCHING_H
#define TEST_WATCHING_H

#include "pane.h"
#include "spying.h"

#define WATCHING_PATIENCE 30

#define need_to_watch()                                                                            \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("lua5.4", "lua5.4");                                                  \
		need_program("tmux", "tmux");                                                      \
	} while (0)

/* Starts `luaspy top OPTIONS` in a terminal of this size. */
void watching__start(struct stage *stage, const char *options, const char *locale, int width,
		     int height);

/* Waits until the clock at the end of the first line shows this many seconds. */
void watching__await_seconds(struct stage *stage, int least, int most);

/* Waits until top has ended with this status and the shell is back. */
const char *watching__await_end(struct stage *stage, int status);

/* The value of "12.3%", or of ">99.9%", which is a little less than all. */
double watching__percent(const char *share);

/*
 * The line of the screen that contains this text, "" if there is none; its number in *at unless
 * NULL.
 */
const char *watching__line_with(struct stage *stage, const char *text, int *at);

/* Reads the row of that function: self and total in percent, self and total in seconds. */
void watching__read_row(struct stage *stage, const char *name, double values[4]);

#endif
