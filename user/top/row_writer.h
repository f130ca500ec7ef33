/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the rows of the live view. */
#ifndef LS_ROW_WRITER_H
#define LS_ROW_WRITER_H

#include <stddef.h>

#include "top/top_view.h"

#define ROW_TEXT_SIZE 2560 /* a chunk name of LS_SOURCE_LEN bytes, all escaped, and a line */
#define ROW_LINE_SIZE 8192 /* a line of ROW_WIDTH_MAX, with marks on every character */
#define ROW_WIDTH_MAX 512

struct row_writer {
	const struct top_view *top_view;
	void (*paint)(void *context, enum top_view_style style, const char *text);
	void *context;
};

unsigned row_writer__width(const struct row_writer *writer);

/*
 * Like log__printable(), but also escapes characters that this terminal cannot show, and excess
 * combining marks, which it would show on top of each other.
 */
void row_writer__make_printable(const struct row_writer *writer, const char *text, char *to,
				size_t size);

/* Every line goes through here, so none is wider than the screen: dots end one that was cut. */
void row_writer__put(const struct row_writer *writer, enum top_view_style style, const char *line);

/* Writes `full` if it fits, else `brief`. */
void row_writer__put_either(const struct row_writer *writer, enum top_view_style style,
			    const char *full, const char *brief);

#endif
