/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The objects of a Luau VM. No list links them: the allocator keeps them in pages, each for objects
 * of one size, and links the pages (lua_Page, lmem.cpp). A running VM may free a page at any time.
 */
#ifndef LS_GC_PAGES_LUAU_H
#define LS_GC_PAGES_LUAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/target_memory.h"

/* The part of a page that may hold objects, at multiples of 8 bytes. */
struct gc_page_luau {
	uint64_t address;
	uint32_t size;
	uint32_t object_size;
	uint32_t object_count;
	const uint8_t *bytes; /* GC_PAGE_LUAU_SLACK more are readable */
};

#define GC_PAGE_LUAU_SLACK 128

struct gc_page_visitor_luau {
	void *context;
	/* Bytes: only pages with objects of sizes in this range are visited. */
	uint32_t object_min, object_max;
	/* 0: go on; positive: that is enough; negative: -errno. */
	int (*visit)(void *context, const struct gc_page_luau *page);
};

/*
 * Visits the pages of the VM with that global_State, newest first, until this thread's CPU time is
 * `end_ns`. Returns 0: all visited; -EAGAIN: the list broke off; -E2BIG: it is too long, or out of
 * time; -ENOENT: it was not found; -ENOMEM; or what the visitor returned, positive or negative.
 */
int gc_pages_luau__visit(const struct target_memory *memory, uint64_t global, uint64_t end_ns,
			 const struct gc_page_visitor_luau *visitor);

#endif
