/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the coroutines of a VM whose garbage collector links all objects to one list. An object may
 * be unlinked and freed at any moment while the VM runs.
 */
#ifndef LS_COROUTINE_LIST_H
#define LS_COROUTINE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "interpreter/walker.h"
#include "memory/target_memory.h"

#define COROUTINE_STATE_MAX 256 /* bytes of a state that status() gets */

/* How the objects of a VM are linked, and which of them are coroutines. The link is at offset 0. */
struct coroutine_list {
	uint8_t type_at; /* offset in each object of the byte that tells its type */
	uint8_t type_mask;
	uint8_t type_first, type_last; /* under the mask: the types that objects have */
	uint8_t coroutine;             /* that byte of a coroutine, without the mask */
	uint16_t state_size;           /* at most COROUTINE_STATE_MAX */
	uint16_t state_global;         /* offset in a state of the address of what its VM shares */
	uint16_t global_objects;       /* offset there of the address of the newest object */
	uint8_t reference_size;        /* bytes of such an address: 4 or 8 */
	const void *offsets;           /* for status() */
	/* The status of the coroutine at `state`, of which `copy` is a copy. */
	enum coroutine_status (*status)(const void *offsets, uint64_t state, const uint8_t *copy);
};

/*
 * Reads the coroutines of the VM whose main thread is `vm`, except that one. Returns 0, even if
 * cut short; -ENOMEM; -EFAULT or -ESRCH: the VM cannot be read; -EINVAL: it is no VM. The caller
 * frees coroutines->items in every case.
 */
int coroutine_list__read(const struct coroutine_list *list, const struct target_memory *memory,
			 uint64_t vm, struct coroutines *coroutines);

/*
 * Adds the coroutine at `state`. *room, at first 0, is how many fit into the items. Returns 0; 1:
 * there are too many, so that this one is missing; -ENOMEM.
 */
int coroutine_list__add(struct coroutines *coroutines, size_t *room, uint64_t state,
			enum coroutine_status status);

/* A VM has its newest objects first: puts the oldest coroutine first. */
void coroutine_list__turn_around(struct coroutines *coroutines);

#endif
