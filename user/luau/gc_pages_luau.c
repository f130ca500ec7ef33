/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "luau/gc_pages_luau.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define GLOBAL_WORDS 128     /* of global_State: its first fields lead to the pages */
#define PAGES_MAX    1000000 /* 16 GiB */
#define CLOCK_EVERY  256

#define PAGE_BYTES_MIN 128
#define PAGE_BYTES_MAX 32768 /* kLargePageSize, lmem.cpp; larger pages have a single object */

/* lua_Page. Objects follow; releases from 2025 on have padding before them. */
struct page {
	uint64_t free_previous, free_next;
	uint64_t previous, next; /* in the list of all pages with objects */
	int32_t size;            /* the whole page's, in bytes */
	int32_t object_size;
	uint64_t free_list;
	int32_t free_next_at; /* objects at this offset and below were never used */
	int32_t used;
};
_Static_assert(sizeof(struct page) == 56, "lua_Page, lmem.cpp");

struct visit {
	const struct target_memory *memory;
	const struct gc_page_visitor_luau *visitor;
	uint64_t end_ns;
	uint64_t count; /* of pages */
	uint8_t *bytes;
	uint64_t words[GLOBAL_WORDS]; /* of global_State; pointers to visited pages are cleared */
};

/* Reads the page at that address. Returns false if there is none. */
static bool read_page(const struct target_memory *memory, uint64_t address, struct page *page)
{
	return address && !(address & 7) &&
	       !target_memory__read(memory, address, page, sizeof(*page)) &&
	       page->size >= PAGE_BYTES_MIN && page->object_size >= 8 &&
	       page->object_size < page->size && page->used > 0 &&
	       page->used <= page->size / page->object_size &&
	       page->free_next_at >= -page->object_size && page->free_next_at < page->size;
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

static bool is_enough(struct visit *visit)
{
	return ++visit->count > PAGES_MAX || (visit->count % CLOCK_EVERY == 0 &&
					      clock_ns(CLOCK_THREAD_CPUTIME_ID) > visit->end_ns);
}

/* Goes back from *address to the first page of its list. 0, -EAGAIN or -E2BIG. */
static int find_first(struct visit *visit, uint64_t *address)
{
	struct page page, other;

	if (!read_page(visit->memory, *address, &page))
		return -EAGAIN;
	for (; page.previous; page = other) {
		if (is_enough(visit))
			return -E2BIG;
		if (!read_page(visit->memory, page.previous, &other) || other.next != *address)
			return -EAGAIN;
		*address = page.previous;
	}
	return 0;
}

static void leave_out(struct visit *visit, uint64_t address)
{
	for (size_t i = 0; i < GLOBAL_WORDS; i++)
		if (visit->words[i] == address)
			visit->words[i] = 0;
}

/*
 * Visits a page and those after it. Checking each link back keeps the walk out of cycles; the first
 * page is not checked, as the program may have put another before it.
 */
static int follow_list(struct visit *visit, uint64_t address)
{
	uint64_t previous = 0;
	struct page page;

	while (address) {
		int error = is_enough(visit) ? -E2BIG : 0;

		if (!error && (!read_page(visit->memory, address, &page) ||
			       (previous && page.previous != previous)))
			error = -EAGAIN;
		if (!error)
			error = visit_page(visit, address, &page);
		if (error)
			return error;
		leave_out(visit, address);
		previous = address;
		address = page.next;
	}
	return 0;
}

/* Whether `address` is a page in a list with others. Pages without GC objects are in no list. */
static bool is_listed(const struct target_memory *memory, uint64_t address)
{
	struct page page, other;

	if (!read_page(memory, address, &page))
		return false;
	if (page.previous)
		return read_page(memory, page.previous, &other) && other.next == address;
	return read_page(memory, page.next, &other) && other.previous == address;
}

/*
 * The offset of the list's head differs between releases, and the head changes all the time. But
 * many fields of global_State point into the list, such as those for pages with free room. Builds
 * with assertions have another list, of pages without GC objects.
 */
static int visit_lists(struct visit *visit, uint64_t global)
{
	int error = target_memory__read(visit->memory, global, visit->words, sizeof(visit->words));
	bool is_found = false;

	for (size_t i = 0; i < GLOBAL_WORDS && !error; i++) {
		uint64_t address = visit->words[i];

		if (!is_listed(visit->memory, address))
			continue;
		is_found = true;
		error = find_first(visit, &address);
		if (!error)
			error = follow_list(visit, address);
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
