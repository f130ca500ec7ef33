/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * characters [END]: prints what the C library says, in the locale of the environment, of every
 * character (of those below END, hexadecimal, if given) and of invalid bytes. It is built with
 * glibc's functions, and with those of the static luaspy.
 */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

/* Nothing beyond Unicode is here, because glibc takes that for characters. */
static const char *const odd[] = {
	"\x80",         "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80", "\xc3",
	"\xf0\x9f\x98", "\xe4\xb8", "\xe4\xb8(",    "\xc3(",        "\xff",
};

static long decoded(const char *bytes, size_t size)
{
	mbstate_t state = {};
	wchar_t character = 0;
	long length = (long)mbrtowc(&character, bytes, size, &state);

	return length < 0 ? length : 1000L * character + length;
}

static void tell_character(wchar_t character)
{
	mbstate_t state = {};
	char bytes[16];
	long length = (long)wcrtomb(bytes, character, &state);

	printf("%x: %ld %d %d %ld %d\n", (unsigned)character, length, wcwidth(character),
	       iswprint((wint_t)character) != 0,
	       length > 0 ? decoded(bytes, (size_t)length) : length, wctob((wint_t)character));
}

int main(int argc, char **argv)
{
	long end = argc > 1 ? strtol(argv[1], NULL, 16) : 0x110000;

	setlocale(LC_CTYPE, "");
	puts(nl_langinfo(CODESET));
	for (wchar_t i = 0; i < end; i++)
		tell_character(i);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		printf("%zu: %ld %d\n", i, decoded(odd[i], strlen(odd[i])),
		       mblen(odd[i], strlen(odd[i])));
	for (int i = -1; i < 256; i++)
		printf("%d: %d\n", i, (int)btowc(i));
	return 0;
}
