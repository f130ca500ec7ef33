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

/*
 * Returns the copy of `address`, which must be in the window. Without the barrier, the compiler may
 * compute the pointer before the check, which the verifier refuses.
 */
static __always_inline const __u8 *copy_of(const struct ls_window *window, __u64 address)
{
	__u64 offset = address - window->start;

	if (offset > LS_WINDOW_BYTES)
		return NULL;
	barrier_var(offset);
	return window->bytes + offset;
}

/* Reads [start, end). Returns 0, or 1: unreadable. */
static __always_inline int move_window(struct ls_window *window, __u64 start, __u64 end)
{
	__u32 size = end - start;

	window->start = start;
	window->end = end;
	if (size <= LS_WINDOW_BYTES && !read_target(window->bytes, size, start))
		return 0;
	window->end = 0;
	return 1;
}

/*
 * How much to read: twice as much as before if what is asked for is right below the window, because
 * a walk that has come so far is probably one of a deep stack.
 */
static __always_inline __u64 view_bytes(const struct ls_window *window, __u64 address)
{
	__u64 bytes = 2 * (window->end - window->start);

	if (!window->end || address >= window->start || address + LS_VIEW_BYTES < window->start ||
	    bytes < LS_VIEW_BYTES)
		return LS_VIEW_BYTES;
	return bytes < LS_WINDOW_BYTES ? bytes : LS_WINDOW_BYTES;
}

/*
 * Moves the window to [address, address + size) and, because callers are at lower addresses, to
 * what precedes that, down to `low`. Returns 0, or 1: unreadable. __noinline: verified once for all
 * callers.
 */
__noinline int move_view(struct ls_window *window, __u64 address, __u32 size, __u64 low)
{
	__u64 start, bytes;

	if (!window)
		return 1;
	bytes = view_bytes(window, address);
	start = address + size - bytes;
	if (address + size < bytes || start < low || start > address)
		start = low;
	if (start > address || address + size - start > bytes)
		start = address;
#ifndef __bpf__
	if (window->is_exact)
		start = address;
#endif
	return move_window(window, start, address + size);
}

/* Returns a copy of [address, address + size), or NULL. Moves the window there if needed. */
static __always_inline const __u8 *view(struct ls_window *window, __u64 address, __u32 size,
					__u64 low)
{
	if (!is_in_window(window, address, size) && move_view(window, address, size, low))
		return NULL;
	return copy_of(window, address);
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
	bool is_near;

	if (is_in_window(window, address, size))
		return copy_of(window, address);
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
	return move_window(window, start, end) ? NULL : copy_of(window, address);
}

#endif
