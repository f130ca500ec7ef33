/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crowd COUNT FOLDER: runs COUNT processes, one after the other, each from an executable file of
 * its own: copies of this program, which end immediately. Prints "begun" before the first and
 * "done" after the last one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

#define PAUSE_US 1000

static void run_copy(const char *folder, int number)
{
	char path[4096];
	pid_t child;

	snprintf(path, sizeof(path), "%s/crowd-%d", folder, number);
	files__copy("/proc/self/exe", path);
	child = vfork();
	if (!child) {
		execl(path, "crowd", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	unlink(path);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 0;
	say("begun");
	for (int i = 0; i < atoi(argv[1]); i++) {
		run_copy(argv[2], i);
		usleep(PAUSE_US);
	}
	say("done");
	return 0;
}
