/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flame graph as one SVG file that any browser shows, also without scripts: a row for each depth,
 * the outermost calls on top, each frame as wide as its part of the whole. What a frame is, its
 * tooltip says. With scripts, a click zooms, and Ctrl-F marks what matches.
 *
 * Frames that would be narrower than a tenth of a pixel are left out, which the head says. Names
 * are text, never markup, and the script knows none of them.
 */
#ifndef LS_FLAME_PICTURE_H
#define LS_FLAME_PICTURE_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/totals.h"

#define FLAME_PICTURE_TEXT_SIZE 1024

struct flame_picture {
	const struct ls_profile *profile;
	const struct ls_totals *totals; /* node_total_us and all_us say how wide frames are */
	const char *title, *note;       /* lines at the head, printable */
	const char *style;              /* rules of CSS, beside those that every picture has */
	void *context;
	/* The text of a node's frame, printable; valid until the next call. */
	const char *(*label)(void *context, uint32_t node);
	/* The rest of its tooltip, likewise. */
	const char *(*detail)(void *context, uint32_t node);
	/* The class of its frame, of `style`. */
	const char *(*class)(void *context, uint32_t node);
};

/* 0; -ENOMEM; -EIO. */
int flame_picture__write(const struct flame_picture *picture, FILE *stream);

#endif
