/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The terminal, by ncurses: takes a picture, gives keys. There is one. */
#ifndef LS_SCREEN_H
#define LS_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "picture.h"

/* It is interactive: standard input and output are a terminal. */
bool screen__is_there(void);

/*
 * Takes the terminal, until screen__close(), which gives it back as it was and may be called where
 * it was not taken. 0, or -ENOTTY: TERM names none that ncurses knows.
 */
int screen__open(void);
void screen__close(void);

/* Its size as it is now, at least 1 by 1. True: it has changed since the last call. */
bool screen__size(unsigned *width, unsigned *height);

/* What to poll for keys. */
int screen__fd(void);

/* A key that was pressed, as listing__press() takes it; 0: none. */
uint32_t screen__key(void);

/* The terminal is gone, where screen__fd() is readable and there is no key. */
bool screen__is_gone(void);

/* Shows the picture, whose size is the screen's. */
void screen__show(const struct picture *picture);

#endif
