/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * luau [SECONDS [STATUS]]: what luaspy takes for an interpreter that it does not support, by the
 * strings that are in Luau. It works that long, or forever.
 */
#include <stdlib.h>
#include <time.h>

const char *const strings[] = {"__namecall", "missing argument #%d to '%s' (%s expected)",
			       "attempt to compare %s %s %s", "table index contains NaN",
			       "__newindex"};

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	while (argc < 2 || (double)clock() / CLOCKS_PER_SEC < seconds)
		;
	return argc > 2 ? atoi(argv[2]) : 0;
}
