/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lease COUNT FOLDER: maps COUNT files of its own as code and never gives up its write lease on
 * each: whoever opens one waits for /proc/sys/fs/lease-break-time. Prints "mapped", then maps a new
 * one every second and uses a tenth of a processor.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

/* The file stays open: closing it would end its lease. */
static void add(const char *folder, int number)
{
	unsigned long size;
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/leased-%d", folder, number);
	files__copy("/proc/self/exe", path);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0 || fcntl(file, F_SETLEASE, F_WRLCK))
		give_up(path);
	size = (unsigned long)lseek(file, 0, SEEK_END);
	if (mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		give_up("mmap");
}

int main(int argc, char **argv)
{
	int count;

	if (argc < 3)
		return 2;
	signal(SIGIO, SIG_IGN);
	for (count = 0; count < atoi(argv[1]); count++)
		add(argv[2], count);
	say("mapped");
	for (;; count++) {
		burn(10, 1);
		add(argv[2], count);
	}
}
