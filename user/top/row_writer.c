/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/row_writer.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/log.h"
#include "base/terminal.h"

#define MARKS_MAX 2 /* combining marks on one character; a name may have hundreds */

unsigned row_writer__width(const struct row_writer *writer)
{
	return writer->top_view->width < ROW_WIDTH_MAX ? writer->top_view->width : ROW_WIDTH_MAX;
}

void row_writer__make_printable(const struct row_writer *writer, const char *text, char *to,
				size_t size)
{
	char safe[ROW_TEXT_SIZE];
	unsigned marks = 0;
	size_t used = 0;

	log__printable(text, safe, sizeof(safe));
	for (const char *from = safe; *from && used + 17 < size;) {
		uint32_t character = 0;
		size_t length = terminal__decode(from, &character);
		int width = character < 0x80 ? 1 : wcwidth((wchar_t)character);

		length = length ? length : 1;
		marks = width ? 0 : marks + 1;
		if (character < 0x80 ||
		    (writer->top_view->is_utf8 && width >= 0 && marks <= MARKS_MAX)) {
			memcpy(to + used, from, length);
			used += length;
		} else {
			for (size_t i = 0; i < length; i++)
				used += (size_t)snprintf(to + used, size - used, "\\x%02x",
							 (unsigned char)from[i]);
		}
		from += length;
	}
	to[used] = '\0';
}

void row_writer__put(const struct row_writer *writer, enum top_view_style style, const char *line)
{
	unsigned width = row_writer__width(writer);
	char text[ROW_LINE_SIZE];

	if (terminal__width(line) > width)
		terminal__cell(line, width, false, writer->top_view->is_utf8, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s", line);
	/* On a screen of one column there is no room for two dots. */
	text[terminal__fit(text, width, NULL)] = '\0';
	writer->paint(writer->context, style, text);
}

void row_writer__put_either(const struct row_writer *writer, enum top_view_style style,
			    const char *full, const char *brief)
{
	row_writer__put(writer, style,
			terminal__width(full) <= row_writer__width(writer) ? full : brief);
}
