/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * large_start COUNT PATH PROGRAM ARGUMENT...: maps PATH1 to PATH<COUNT> as code, a file at a time,
 * so that a profiler has a look at each, and then executes the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

#define PATH_SIZE     4096
#define PAUSE_SECONDS 0.25

static void map_numbered(const char *path, int number)
{
	unsigned long size;
	char name[PATH_SIZE];

	snprintf(name, sizeof(name), "%s%d", path, number);
	files__map(name, &size);
}

int main(int argc, char **argv)
{
	int count = argc > 3 ? atoi(argv[1]) : 0;

	if (!count)
		return 2;
	for (int i = 1; i <= count; i++) {
		map_numbered(argv[2], i);
		burn(10, PAUSE_SECONDS);
	}
	execvp(argv[3], argv + 3);
	give_up(argv[3]);
}
