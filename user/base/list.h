/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An array that grows while a file is read. All zero, it is empty; free() its items. */
#ifndef LS_LIST_H
#define LS_LIST_H

#include <stdlib.h>
#include <string.h>

struct list {
	void *items;
	size_t count, room;
};

/* Another element of `size` bytes, zeroed, valid until the next call. NULL: out of memory. */
static inline void *list__add(struct list *list, size_t size)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room + list->room / 2 : 64;
		void *items = reallocarray(list->items, room, size);

		if (!items)
			return NULL;
		list->items = items;
		list->room = room;
	}
	return memset((char *)list->items + size * list->count++, 0, size);
}

#endif
