/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burning.h"

void files__copy(const char *from, const char *to)
{
	static char piece[1 << 20];
	int source = open(from, O_RDONLY | O_CLOEXEC);
	int copy = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	ssize_t count;

	if (source < 0)
		give_up(from);
	if (copy < 0)
		give_up(to);
	while ((count = read(source, piece, sizeof(piece))) > 0)
		if (write(copy, piece, (size_t)count) != count)
			give_up(to);
	close(source);
	close(copy);
}

void *files__map(const char *path, unsigned long *size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *start;

	if (file < 0 || fstat(file, &status))
		give_up(path);
	*size = (unsigned long)status.st_size;
	start = mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	if (start == MAP_FAILED)
		give_up(path);
	close(file);
	return start;
}

void files__show(const char *path)
{
	unsigned long size;
	void *start = files__map(path, &size);

	munmap(start, size);
}
