/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* memory.h for an image in the memory of this very process. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void memory__start(struct memory *memory)
{
	*memory = (struct memory){0};
}

/* The image's native stack is not mapped: a thread has one. */
void memory__map(struct memory *memory, uint64_t start, uint64_t size)
{
	if (memory->segment_count++)
		return;
	if (mmap((void *)start, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)start) {
		perror("mmap");
		exit(1);
	}
}

void memory__end(struct memory *memory)
{
	*memory = (struct memory){0};
}

void memory__put_bytes(struct memory *memory, uint64_t address, const void *bytes, size_t size)
{
	(void)memory;
	memcpy((void *)address, bytes, size);
}

void memory__put(struct memory *memory, uint64_t address, uint64_t number, size_t size)
{
	memory__put_bytes(memory, address, &number, size);
}

uint64_t memory__get(const struct memory *memory, uint64_t address, size_t size)
{
	uint64_t number = 0;

	(void)memory;
	memcpy(&number, (const void *)address, size);
	return number;
}
