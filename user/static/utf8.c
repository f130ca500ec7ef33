/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UTF-8 for the static luaspy, without locale files.
 *
 * glibc reads locales from files, which a container made from scratch does not have, and converts
 * other charsets with shared libraries. These functions replace the ones of glibc that luaspy and
 * ncurses call to write text and read keys. There are two charsets: UTF-8 if the environment names
 * it, otherwise ASCII.
 */
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <wctype.h>

#define INVALID    ((size_t)-1) /* as mbrtowc() returns it */
#define INCOMPLETE ((size_t)-2)

/* Characters that do not take one column, in order; -1: not printable. widths.c makes the list. */
static const struct {
	uint32_t first, last;
	int width;
} widths[] = {
#include "widths.inc"
};

static bool is_utf8;

/* "de_DE.UTF-8@euro": the charset is between the dot and the @. */
static bool names_utf8(const char *locale)
{
	const char *charset = strchr(locale, '.');
	size_t length = charset ? strcspn(++charset, "@") : 0;

	return (length == 5 && !strncasecmp(charset, "UTF-8", 5)) ||
	       (length == 4 && !strncasecmp(charset, "UTF8", 4));
}

/*
 * Calls of setlocale() end up here: glibc's own shares an object file with what its startup needs.
 */
char *__wrap_setlocale(int category, const char *locale);

char *__wrap_setlocale(int category, const char *locale)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; locale && !*locale && i < 3; i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			locale = value;
	}
	if (locale && (category == LC_CTYPE || category == LC_ALL))
		is_utf8 = names_utf8(locale);
	return is_utf8 ? "C.UTF-8" : "C";
}

char *nl_langinfo(nl_item item)
{
	if (item != CODESET)
		return "";
	return is_utf8 ? "UTF-8" : "ANSI_X3.4-1968";
}

int wcwidth(wchar_t character)
{
	size_t low = 0, high = sizeof(widths) / sizeof(widths[0]);
	uint32_t code = (uint32_t)character;

	if (code > (is_utf8 ? 0x10ffff : 0x7f))
		return -1;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (code > widths[middle].last)
			low = middle + 1;
		else if (code < widths[middle].first)
			high = middle;
		else
			return widths[middle].width;
	}
	return 1;
}

int iswprint(wint_t character)
{
	return character != WEOF && character && wcwidth((wchar_t)character) >= 0;
}

/* How many bytes a character has that begins with this one; 0: none begins with it. */
static size_t length_after(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (!is_utf8 || first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Refuses surrogates, codes beyond Unicode, and overlong encodings. */
static bool is_character(uint32_t code, size_t length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	return code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/* No caller converts a character in pieces: there is no state. */
size_t mbrtowc(wchar_t *to, const char *from, size_t size, mbstate_t *state)
{
	const unsigned char *bytes = (const unsigned char *)from;
	size_t length;
	uint32_t code;

	(void)state;
	if (!from)
		return 0;
	if (!size)
		return INCOMPLETE;
	length = length_after(bytes[0]);
	if (!length)
		return INVALID;
	code = length == 1 ? bytes[0] : bytes[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if (i == size)
			return INCOMPLETE;
		if ((bytes[i] & 0xc0) != 0x80)
			return INVALID;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (!is_character(code, length))
		return INVALID;
	if (to)
		*to = (wchar_t)code;
	return code ? length : 0;
}

int mbtowc(wchar_t *to, const char *from, size_t size)
{
	size_t length = mbrtowc(to, from, size, NULL);

	return length == INCOMPLETE ? -1 : (int)length;
}

int mblen(const char *from, size_t size)
{
	return mbtowc(NULL, from, size);
}

size_t wcrtomb(char *to, wchar_t character, mbstate_t *state)
{
	uint32_t code = (uint32_t)character;
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	(void)state;
	if (!to)
		return 1;
	if (!is_character(code, length) || (length > 1 && !is_utf8))
		return INVALID;
	for (size_t i = length - 1; i; i--, code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	*to = (char)(length == 1 ? code : (0xf00U >> length & 0xf0) | code);
	return length;
}

wint_t btowc(int byte)
{
	return byte >= 0 && byte < 0x80 ? (wint_t)byte : WEOF;
}

int wctob(wint_t character)
{
	return character < 0x80 ? (int)character : -1;
}
