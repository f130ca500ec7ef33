/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What draws the lines of a picture. Nobody's but picture.c's and table.c's. */
#ifndef LS_PEN_H
#define LS_PEN_H

#include <stddef.h>

#include "picture.h"

#define PEN_TEXT_SIZE 2560 /* a chunk name of LS_SOURCE_LEN bytes, all escaped, and a line */
#define PEN_LINE_SIZE 8192 /* a screen of PEN_WIDTH_MAX, with marks on every character */
#define PEN_WIDTH_MAX 512

struct pen {
	const struct picture *picture;
	void (*paint)(void *context, enum picture_style style, const char *text);
	void *context;
};

unsigned pen__width(const struct pen *pen);

/*
 * As log__printable(), and what this terminal cannot show, or shows as one on top of the other, is
 * escaped too.
 */
void pen__make_printable(const struct pen *pen, const char *text, char *to, size_t size);

/* Every line goes through here, so none is wider than the screen. */
void pen__put(const struct pen *pen, enum picture_style style, const char *line);

/* The longer of two ways to say it that fits. */
void pen__put_either(const struct pen *pen, enum picture_style style, const char *full,
		     const char *brief);

#endif
