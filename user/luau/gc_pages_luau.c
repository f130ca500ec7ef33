/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/gc_pages_luau.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GLOBAL_BYTES 1024    /* of global_State: the heads of lists are among its first fields */
#define PAGES_MAX    1000000 /* 16 GiB */
#define CLOCK_EVERY  256

#define PAGE_BYTES_MIN 128
#define PAGE_BYTES_MAX 32768 /* kLargePageSize, lmem.cpp; one for a larger object has no other */

/* lua_Page. Objects follow; releases from 2025 on have padding before them. */
struct page {
	uint64_t free_previous, free_next;
	uint64_t previous, next; /* in the list of all pages with objects */
	int32_t size;            /* the whole page's, in bytes */
	int32_t object_size;
	uint64_t free_list;
	int32_t free_next_at; /* objects from there downward were never used */
	int32_t used;
};
_Static_assert(sizeof(struct page) == 56, "lua_Page, lmem.cpp");

struct visit {
	const struct target_memory *memory;
	const struct gc_page_visitor_luau *visitor;
	uint64_t end_ns;
	uint64_t count; /* of pages */
	uint8_t *bytes;
};

uint64_t gc_pages_luau__now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Reads the page at that address. False: it is none. */
static bool read_page(const struct target_memory *memory, uint64_t address, struct page *page)
{
	return address && !(address & 7) &&
	       !target_memory__read(memory, address, page, sizeof(*page)) &&
	       page->size >= PAGE_BYTES_MIN && page->object_size >= 8 &&
	       page->object_size < page->size && page->used > 0 &&
	       page->used <= page->size / page->object_size &&
	       page->free_next_at >= -page->object_size && page->free_next_at < page->size;
}

/* Whether the page is the first one of a list with others. Pages without objects are in none. */
static bool is_first(const struct target_memory *memory, uint64_t address)
{
	struct page page, next;

	return read_page(memory, address, &page) && !page.previous &&
	       read_page(memory, page.next, &next) && next.previous == address;
}

static int visit_page(struct visit *visit, uint64_t address, const struct page *page)
{
	const struct gc_page_visitor_luau *visitor = visit->visitor;
	uint32_t unused = (uint32_t)(page->free_next_at + page->object_size) + sizeof(*page);
	uint32_t object_size = (uint32_t)page->object_size, size = (uint32_t)page->size;
	ssize_t count;

	if (object_size < visitor->object_min || object_size > visitor->object_max ||
	    size > PAGE_BYTES_MAX || unused >= size)
		return 0;
	count = target_memory__read_some(visit->memory, address + unused, visit->bytes,
					 size - unused);
	if (count <= 0)
		return 0;
	memset(visit->bytes + count, 0, GC_PAGE_LUAU_SLACK);
	return visitor->visit(visitor->context,
			      &(struct gc_page_luau){.address = address + unused,
						     .size = (uint32_t)count,
						     .object_size = object_size,
						     .object_count = (uint32_t)page->used,
						     .bytes = visit->bytes});
}

/* Each page tells the one before it, so that no list leads back into itself. */
static int follow_list(struct visit *visit, uint64_t address)
{
	uint64_t previous = 0;
	struct page page;

	while (address) {
		int error;

		if (++visit->count > PAGES_MAX ||
		    (visit->count % CLOCK_EVERY == 0 && gc_pages_luau__now_ns() > visit->end_ns))
			return -E2BIG;
		if (!read_page(visit->memory, address, &page) || page.previous != previous)
			return -EAGAIN;
		error = visit_page(visit, address, &page);
		if (error)
			return error;
		previous = address;
		address = page.next;
	}
	return 0;
}

static bool is_repeated(const uint64_t *words, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (words[i] == words[at])
			return true;
	return false;
}

/*
 * The list is found by what it is: releases have its head at different places, and one that was
 * built with assertions has another list, of pages without objects. The lists of pages with room
 * lead to no other.
 */
static int visit_lists(struct visit *visit, uint64_t global)
{
	uint64_t words[GLOBAL_BYTES / 8];
	int error = target_memory__read(visit->memory, global, words, sizeof(words));
	bool is_found = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !error; i++) {
		if (is_repeated(words, i) || !is_first(visit->memory, words[i]))
			continue;
		is_found = true;
		error = follow_list(visit, words[i]);
	}
	return !error && !is_found ? -ENOENT : error;
}

int gc_pages_luau__visit(const struct target_memory *memory, uint64_t global, uint64_t end_ns,
			 const struct gc_page_visitor_luau *visitor)
{
	struct visit visit = {.memory = memory, .visitor = visitor, .end_ns = end_ns};
	int error;

	visit.bytes = malloc(PAGE_BYTES_MAX + GC_PAGE_LUAU_SLACK);
	if (!visit.bytes)
		return -ENOMEM;
	error = visit_lists(&visit, global);
	free(visit.bytes);
	return error;
}
