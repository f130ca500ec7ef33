/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each thread's last stack with its nodes in the call tree. The thread's next stack mostly shares
 * its outer part, for which no function has to be looked up again.
 */
#ifndef LS_LAST_STACKS_H
#define LS_LAST_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash_table.h"
#include "record.h"

struct last_stack {
	uint32_t tid;
	uint32_t count, room;
	uint32_t category;
	bool leaf_has_line, leaf_keeps_line; /* see struct symbol_quality */
	struct ls_frame *frames;             /* leaf first */
	uint32_t *nodes;                     /* of the frames */
	UT_hash_handle hh;
};

/* The last stacks of a limited number of threads. All zero: none. */
struct last_stacks {
	struct last_stack *items;
};

/*
 * Returns the thread's last stack, created if there is none, with room for `count` frames. NULL:
 * out of memory.
 */
struct last_stack *last_stacks__of(struct last_stacks *stacks, uint32_t tid, uint32_t count);

/*
 * Returns how many frames of the new stack, from the root, are the same and in the same category.
 * Moves their nodes[] to their indices in the new stack, which count from the leaf.
 */
uint32_t last_stack__share(struct last_stack *stack, const struct ls_frame *frames, uint32_t count,
			   uint32_t category);

void last_stacks__forget(struct last_stacks *stacks, uint32_t tid);
void last_stacks__forget_all(struct last_stacks *stacks);

#endif
