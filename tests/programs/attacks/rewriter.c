/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rewriter PATH LUA [PAUSE_MS]: makes PATH this program and the Lua alternately, always in the same
 * inode and with the same modification time, and maps it as code each time. Prints "mapped" once
 * the Lua was mapped for the first time.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

int main(int argc, char **argv)
{
	static const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	int pause_ms = argc > 3 ? atoi(argv[3]) : 10;

	if (argc < 3)
		return 2;
	for (unsigned int i = 0;; i++) {
		files__copy(i % 2 ? argv[2] : "/proc/self/exe", argv[1]);
		if (utimensat(-1, argv[1], times, 0))
			give_up("utimensat");
		files__show(argv[1]);
		if (i == 1)
			say("mapped");
		usleep((useconds_t)pause_ms * 1000);
	}
}
