/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trapped_file KIND DEVICE FOLDER CONTENT [UID]: maps a file of a FUSE file system as code; the
 * file system answers until the file is mapped, and not afterwards. Prints "mapped" and uses a
 * tenth of a processor. KIND is one of fuse_trap__kind(); started by root, it becomes the user UID.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "parts/burning.h"
#include "parts/fuse_trap.h"

int main(int argc, char **argv)
{
	struct fuse_trap trap = {};
	struct stat status;
	int file;

	if (argc < 5)
		return 2;
	trap.kind = fuse_trap__kind(argv[1]);
	trap.device = argv[2];
	trap.folder = argv[3];
	trap.content = argv[4];
	trap.user = argc > 5 ? (uid_t)atoi(argv[5]) : 0;
	fuse_trap__start(&trap);
	file = fuse_trap__open(&trap);
	if (fstat(file, &status))
		give_up("fstat");
	if (mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) ==
	    MAP_FAILED)
		give_up("mmap");
	fuse_trap__shut(&trap);
	say("mapped");
	burn(10, 0);
}
