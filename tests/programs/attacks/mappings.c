/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mappings COUNT [PAUSE_MS]: creates COUNT mappings of a file whose path is as long as paths can
 * be, prints "mapped", and then maps one new file after the other as code, forever. Reading all of
 * /proc/PID/maps for each one means reading a quarter of a gigabyte. Works in the current folder.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

#define PAGE   4096
#define LEVELS 15
#define NAME   250

static int make_file_far_below(void)
{
	char name[NAME + 1];
	int file;

	memset(name, 'x', NAME);
	name[NAME] = '\0';
	for (int i = 0; i < LEVELS; i++) {
		mkdir(name, 0755);
		if (chdir(name))
			give_up("cannot enter a folder");
	}
	file = open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (file < 0 || ftruncate(file, 2 * PAGE))
		give_up("cannot make a file");
	return file;
}

/* Adjacent mappings are of different places in the file, so the kernel does not merge them. */
static void map_many(int file, int count)
{
	for (int i = 0; i < count; i++)
		if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, i % 2 * PAGE) == MAP_FAILED)
			give_up("mmap");
}

static void map_new_one(void)
{
	int file = open("new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (file < 0 || ftruncate(file, PAGE))
		give_up("cannot make a file");
	close(file);
	files__show("new");
	unlink("new");
}

int main(int argc, char **argv)
{
	int pause_ms = argc > 2 ? atoi(argv[2]) : 1;

	if (argc < 2)
		return 2;
	map_many(make_file_far_below(), atoi(argv[1]));
	say("mapped");
	for (;;) {
		map_new_one();
		usleep((useconds_t)pause_ms * 1000);
	}
}
