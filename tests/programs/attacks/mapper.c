/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapper PERCENT PATH...: maps each file as code, prints "mapped" and uses that share of a
 * processor, so that a profiler of the whole machine has to look at the files.
 */
#include <stdlib.h>

#include "parts/burning.h"
#include "parts/files.h"

int main(int argc, char **argv)
{
	unsigned long size;

	if (argc < 2)
		return 2;
	for (int i = 2; i < argc; i++)
		files__map(argv[i], &size);
	say("mapped");
	burn(atoi(argv[1]), 0);
}
