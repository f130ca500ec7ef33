/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * planted FOLDER: maps files of its own as code and changes its root to FOLDER. The paths of these
 * files then lead to links to the files of others, a FIFO and a folder. Prints "mapped" and uses a
 * tenth of a processor.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parts/burning.h"
#include "parts/files.h"

static const char *const links[] = {"/etc/shadow", "/proc/self/fd/0", "/dev/tty", "../../../etc",
				    "loop"};

#define LINKS (sizeof(links) / sizeof(links[0]))

/* Both as luaspy sees it and from that root. */
static void plant(const char *folder, const char *name, const char *link)
{
	char path[4096];
	unsigned long size;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	files__copy("/proc/self/exe", path);
	files__map(path, &size);
	unlink(path);
	if (link ? symlink(link, path) : mkfifo(path, 0666))
		give_up(path);
}

int main(int argc, char **argv)
{
	char name[16];

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < LINKS; i++) {
		snprintf(name, sizeof(name), i == LINKS - 1 ? "loop" : "link-%zu", i);
		plant(argv[1], name, links[i]);
	}
	plant(argv[1], "fifo", NULL);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
		perror("cannot have namespaces of my own");
		return BURNING_CANNOT;
	}
	if (chroot(argv[1]) || chdir("/"))
		give_up("chroot");
	say("mapped");
	burn(10, 0);
}
