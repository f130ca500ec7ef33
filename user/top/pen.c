/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pen.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "log.h"
#include "terminal.h"

#define MARKS_MAX 2 /* on one character, which has a column: a name may have hundreds */

unsigned pen__width(const struct pen *pen)
{
	return pen->picture->width < PEN_WIDTH_MAX ? pen->picture->width : PEN_WIDTH_MAX;
}

void pen__make_printable(const struct pen *pen, const char *text, char *to, size_t size)
{
	char safe[PEN_TEXT_SIZE];
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
		    (pen->picture->is_utf8 && width >= 0 && marks <= MARKS_MAX)) {
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

void pen__put(const struct pen *pen, enum picture_style style, const char *line)
{
	char text[PEN_LINE_SIZE];
	size_t bytes = terminal__fit(line, pen__width(pen), NULL);

	snprintf(text, sizeof(text), "%.*s", (int)bytes, line);
	pen->paint(pen->context, style, text);
}

void pen__put_either(const struct pen *pen, enum picture_style style, const char *full,
		     const char *brief)
{
	pen__put(pen, style, terminal__width(full) <= pen__width(pen) ? full : brief);
}
