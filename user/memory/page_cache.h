/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of a process's pages, for following hundreds of pointers through its heap with one system
 * call per page instead of one per pointer. Everything read through the cache is as old as the
 * first read of its page, so it serves one such walk and must be cleared before the next.
 */
#ifndef LS_PAGE_CACHE_H
#define LS_PAGE_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct page_cache;

/* 256 KiB; NULL when out of memory. Free with page_cache__free(), which takes NULL. */
struct page_cache *page_cache__new(void);
void page_cache__free(struct page_cache *cache);

/* Drops all copies. */
void page_cache__clear(struct page_cache *cache);

/* Reads `size` bytes of a process. 0; -errno: some cannot be read, and *to is undefined. */
int page_cache__read(struct page_cache *cache, pid_t pid, uint64_t address, void *to, size_t size);

#endif
