/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/typed_text.h"

#include <string.h>

void typed_text__add(char *text, size_t size, uint32_t character)
{
	size_t length = strlen(text);
	unsigned char *to = (unsigned char *)text + length;

	if (character < 0x20 || character == 0x7f || length + 5 > size)
		return;
	if (character < 0x80) {
		*to++ = (unsigned char)character;
	} else if (character < 0x800) {
		*to++ = (unsigned char)(0xc0 | character >> 6);
		*to++ = (unsigned char)(0x80 | (character & 0x3f));
	} else if (character < 0x10000) {
		*to++ = (unsigned char)(0xe0 | character >> 12);
		*to++ = (unsigned char)(0x80 | (character >> 6 & 0x3f));
		*to++ = (unsigned char)(0x80 | (character & 0x3f));
	} else {
		*to++ = (unsigned char)(0xf0 | character >> 18);
		*to++ = (unsigned char)(0x80 | (character >> 12 & 0x3f));
		*to++ = (unsigned char)(0x80 | (character >> 6 & 0x3f));
		*to++ = (unsigned char)(0x80 | (character & 0x3f));
	}
	*to = '\0';
}

void typed_text__erase(char *text)
{
	size_t length = strlen(text);

	/* Remove all bytes of a character. */
	while (length && (text[--length] & 0xc0) == 0x80)
		;
	text[length] = '\0';
}
