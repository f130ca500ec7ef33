/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads ahead. A read costs 30 ns plus 16 ns per KiB, so what will probably be needed next is read
 * along with what is asked for if it is close by.
 */
#ifndef LS_WINDOW_BPF_H
#define LS_WINDOW_BPF_H

#include "scratch.bpf.h"

#define LS_PAGE_BYTES  4096ULL /* the page size is this or a multiple */
#define LS_NEAR_OBJECT 2048    /* at most so many bytes between objects that are read together */
#define LS_NEAR_MIN    2 /* near objects in a row before reading ahead: most stacks are shallow */

static __always_inline bool is_in_window(const struct ls_window *window, __u64 address, __u32 size)
{
	return address >= window->start && address + size <= window->end;
}

/* Reads [start, end) and returns the copy of `address`, or NULL if it cannot be read. */
static __always_inline const __u8 *move_window(struct ls_window *window, __u64 start, __u64 end,
					       __u64 address)
{
	__u64 offset = address - start;
	__u32 size = end - start;

	window->start = start;
	window->end = end;
	if (size > LS_WINDOW_BYTES || read_target(window->bytes, size, start)) {
		window->end = 0;
		return NULL;
	}
	return offset > LS_WINDOW_BYTES ? NULL : window->bytes + offset;
}

/* Returns a copy of [address, address + size), or NULL. Moves the window there if needed. */
static __always_inline const __u8 *view(struct ls_window *window, __u64 address, __u32 size,
					__u64 low)
{
	__u64 start, offset = address - window->start;

	if (is_in_window(window, address, size))
		return offset > LS_WINDOW_BYTES ? NULL : window->bytes + offset;
	/* Callers are at lower addresses: let the window end with what is asked for. */
	start = address + size - LS_VIEW_BYTES;
	if (address + size < LS_VIEW_BYTES || start < low || start > address)
		start = low;
	if (start > address || address + size - start > LS_VIEW_BYTES)
		start = address;
#ifndef __bpf__
	if (window->is_exact)
		start = address;
#endif
	return move_window(window, start, address + size, address);
}

/*
 * Returns a copy of the object at `address`, or NULL if it cannot be read. Objects that a program
 * creates one after the other, such as the functions of a file, are close together in the heap. So
 * once several objects in a row were near the one before, the next is read together with what
 * follows or precedes it in its page.
 */
static __always_inline const __u8 *view_object(struct ls_window *window, __u64 address, __u32 size)
{
	__u64 page = address & ~(LS_PAGE_BYTES - 1), start = address, end = address + size;
	__u64 offset = address - window->start;
	bool is_near;

	if (is_in_window(window, address, size))
		return offset > LS_WINDOW_BYTES ? NULL : window->bytes + offset;
	is_near =
		address + LS_NEAR_OBJECT > window->start && address < window->end + LS_NEAR_OBJECT;
	window->near = is_near ? window->near + 1 : 0;
	if (window->near >= LS_NEAR_MIN && address >= window->start) {
		end = address + LS_WINDOW_BYTES;
		if (end > page + LS_PAGE_BYTES)
			end = page + LS_PAGE_BYTES;
		if (end < address + size)
			end = address + size;
	} else if (window->near >= LS_NEAR_MIN) {
		start = end - LS_WINDOW_BYTES;
		if (start < page)
			start = page;
	}
#ifndef __bpf__
	if (window->is_exact) {
		start = address;
		end = address + size;
	}
#endif
	return move_window(window, start, end, address);
}

#endif
