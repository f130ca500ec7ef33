/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs on the build machine: prints the characters that do not take one column, according to its
 * locale C.UTF-8, as initializers {first, last, width} in order.
 */
#include <locale.h>
#include <stdio.h>
#include <wchar.h>

#define END 0x110000 /* of Unicode */

int main(void)
{
	int width = 1;

	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		fputs("cannot tell the widths of characters: no locale 'C.UTF-8'\n", stderr);
		return 1;
	}
	for (wchar_t first = 0, next = 0; next <= END; next++) {
		int following = next < END ? wcwidth(next) : 1;

		if (following == width && next < END)
			continue;
		if (width != 1)
			printf("{0x%x, 0x%x, %d},\n", (unsigned)first, (unsigned)next - 1, width);
		first = next;
		width = following;
	}
	return 0;
}
