/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal, through ncurses: shows a top_view and returns keys. There is only one. */
#ifndef LS_SCREEN_H
#define LS_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "top/top_view.h"

/* Whether it is interactive: standard input and output are a terminal. */
bool screen__is_there(void);

/*
 * Takes over the terminal until screen__close(), which restores it and may be called even if it was
 * not taken over. 0, or -ENOTTY: TERM names no terminal that ncurses knows.
 */
int screen__open(void);
void screen__close(void);

/* The current size, at least 1 by 1. Returns whether it has changed since the last call. */
bool screen__size(unsigned *width, unsigned *height);

/* The descriptor to poll for keys. */
int screen__fd(void);

/* A key that was pressed, as listing__press() takes it; 0: none. */
uint32_t screen__key(void);

/* Whether the terminal is gone. To be asked if screen__fd() is readable but there is no key. */
bool screen__is_gone(void);

/* Shows the view, whose size must be the screen's. */
void screen__show(const struct top_view *top_view);

#endif
