/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/terminal.h"

#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <wchar.h>

unsigned terminal__columns(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

bool terminal__takes_more(int fd)
{
	struct pollfd place = {.fd = fd, .events = POLLOUT};

	return poll(&place, 1, 0) != 0;
}

size_t terminal__decode(const char *text, uint32_t *code_point)
{
	/* By length: lead bits of the first byte, smallest code point that needs that length. */
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = {
		{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t form = 0; form < sizeof(forms) / sizeof(forms[0]); form++) {
		uint32_t value = bytes[0] & (unsigned char)~forms[form].mask;

		if ((bytes[0] & forms[form].mask) != forms[form].lead)
			continue;
		for (size_t i = 1; i <= form; i++) {
			if ((bytes[i] & 0xc0) != 0x80)
				return 0;
			value = value << 6 | (bytes[i] & 0x3f);
		}
		if (value < forms[form].least || value > 0x10ffff ||
		    (value >= 0xd800 && value < 0xe000))
			return 0;
		*code_point = value;
		return form + 1;
	}
	return 0;
}

static unsigned columns_of(uint32_t code_point)
{
	int width;

	if (code_point < 0x80)
		return 1;
	width = wcwidth((wchar_t)code_point);
	if (width >= 0)
		return (unsigned)width;
	/* No character below Hangul Jamo is wide. */
	return code_point < 0x1100 ? 1 : 2;
}

size_t terminal__fit(const char *text, unsigned columns, unsigned *taken)
{
	unsigned used = 0;
	size_t bytes = 0;

	while (text[bytes]) {
		uint32_t code_point = 0;
		size_t length = terminal__decode(text + bytes, &code_point);
		unsigned width = length ? columns_of(code_point) : 1;

		if (width > columns - used)
			break;
		used += width;
		bytes += length ? length : 1;
	}
	if (taken)
		*taken = used;
	return bytes;
}

unsigned terminal__width(const char *text)
{
	unsigned columns;

	terminal__fit(text, UINT16_MAX, &columns);
	return columns;
}

char *terminal__cell(const char *text, unsigned columns, bool keep_end, bool utf8, char *to,
		     size_t size)
{
	const char *dots = utf8 ? "\u2026" : "..";
	unsigned dots_columns = utf8 ? 1 : 2;
	unsigned all = terminal__width(text), taken = 0;
	size_t bytes;

	if (all <= columns) {
		snprintf(to, size, "%s%*s", text, (int)(columns - all), "");
		return to;
	}
	columns = columns > dots_columns ? columns - dots_columns : 0;
	if (keep_end) {
		/* Cut twice: the first cut may fall into a wide character, which then goes, too. */
		text += terminal__fit(text, all - columns, &taken);
		if (all - taken > columns)
			text += terminal__fit(text, 2, NULL);
		taken = terminal__width(text);
		snprintf(to, size, "%s%s%*s", dots, text, (int)(columns - taken), "");
	} else {
		bytes = terminal__fit(text, columns, &taken);
		snprintf(to, size, "%.*s%s%*s", (int)bytes, text, dots, (int)(columns - taken), "");
	}
	return to;
}
