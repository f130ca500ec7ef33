/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "memory/page_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory/remote_memory.h"

#define PAGE_SIZE 4096 /* the smallest of any machine; mappings are multiples of it */
#define PAGES     64

/* Stored by number, modulo PAGES. */
struct page {
	uint64_t number; /* 0: empty, because nothing is mapped at address 0 */
	uint8_t bytes[PAGE_SIZE];
};

struct page_cache {
	struct page pages[PAGES];
};

struct page_cache *page_cache__new(void)
{
	return calloc(1, sizeof(struct page_cache));
}

void page_cache__free(struct page_cache *cache)
{
	free(cache);
}

void page_cache__clear(struct page_cache *cache)
{
	for (size_t i = 0; i < PAGES; i++)
		cache->pages[i].number = 0;
}

/* NULL: the page cannot be read, and *error says why. */
static const struct page *find_page(struct page_cache *cache, pid_t pid, uint64_t number,
				    int *error)
{
	struct page *page = &cache->pages[number % PAGES];
	ssize_t count;

	if (number && page->number == number)
		return page;
	page->number = 0;
	count = remote_memory__read(pid, number * PAGE_SIZE, page->bytes, PAGE_SIZE);
	if (count != PAGE_SIZE) {
		*error = count < 0 ? (int)count : -EFAULT;
		return NULL;
	}
	page->number = number;
	return page;
}

int page_cache__read(struct page_cache *cache, pid_t pid, uint64_t address, void *to, size_t size)
{
	uint8_t *end = to;

	if (address + size < address)
		return -EFAULT;
	while (size) {
		size_t offset = address % PAGE_SIZE;
		size_t count = size < PAGE_SIZE - offset ? size : PAGE_SIZE - offset;
		int error = 0;
		const struct page *page = find_page(cache, pid, address / PAGE_SIZE, &error);

		if (!page)
			return error;
		memcpy(end, page->bytes + offset, count);
		end += count;
		address += count;
		size -= count;
	}
	return 0;
}
