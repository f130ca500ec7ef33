/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process/quarantine.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#define FILES_MAX 1024 /* the oldest make room for more */

struct file_key {
	uint64_t device, inode;
};

/* A compromised worker can write here; the worst that follows is a wrong entry. */
static struct shared {
	struct file_key current; /* that the worker has open; inode 0: none */
	struct file_key files[FILES_MAX];
	uint32_t count; /* of files that were ever added */
} * shared;

int quarantine__share(void)
{
	void *memory;

	if (shared)
		return 0;
	memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return -errno;
	shared = memory;
	return 0;
}

void quarantine__enter(uint64_t device, uint64_t inode)
{
	if (shared)
		*(volatile struct file_key *)&shared->current = (struct file_key){device, inode};
}

void quarantine__leave(void)
{
	quarantine__enter(0, 0);
}

bool quarantine__holds(uint64_t device, uint64_t inode)
{
	size_t count = shared ? shared->count : 0;

	if (count > FILES_MAX)
		count = FILES_MAX;
	for (size_t i = 0; i < count; i++)
		if (shared->files[i].inode == inode && shared->files[i].device == device)
			return true;
	return false;
}

bool quarantine__add_current(void)
{
	struct file_key file;

	if (!shared)
		return false;
	file = *(volatile struct file_key *)&shared->current;
	quarantine__leave();
	if (!file.inode)
		return false;
	shared->files[shared->count++ % FILES_MAX] = file;
	return true;
}
