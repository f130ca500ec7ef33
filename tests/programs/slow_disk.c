/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* To be preloaded: simulates a disk that needs a second and a half to rename a file. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int renameat(int old_folder, const char *old_name, int folder, const char *name)
{
	nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000}, NULL);
	return (int)syscall(SYS_renameat2, old_folder, old_name, folder, name, 0);
}
