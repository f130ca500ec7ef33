/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oldjit [SECONDS [STATUS]]: what luaspy takes for an interpreter that it does not support: it has
 * strings of LuaJIT, and no machine code of a LuaJIT with 64-bit references. It works that long, or
 * forever.
 */
#include <stdlib.h>
#include <time.h>

const char *const strings[] = {"_VMEVENTS", "function too long for return fixup",
			       "cannot load malformed bytecode",
			       "bad action while in __gc metamethod", "__newindex"};

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	while (argc < 2 || (double)clock() / CLOCKS_PER_SEC < seconds)
		;
	return argc > 2 ? atoi(argv[2]) : 0;
}
