/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/last_stacks.h"

#include <stdlib.h>
#include <string.h>

#define STACKS_MAX 1024U

static void forget(struct last_stacks *stacks, struct last_stack *stack)
{
	HASH_DEL(stacks->items, stack);
	free(stack->frames);
	free(stack->nodes);
	free(stack);
}

void last_stacks__forget(struct last_stacks *stacks, uint32_t tid)
{
	struct last_stack *stack;

	HASH_FIND(hh, stacks->items, &tid, sizeof(tid), stack);
	if (stack)
		forget(stacks, stack);
}

void last_stacks__forget_all(struct last_stacks *stacks)
{
	struct last_stack *stack, *next;

	HASH_ITER (hh, stacks->items, stack, next)
		forget(stacks, stack);
}

static struct last_stack *find_or_add(struct last_stacks *stacks, uint32_t tid)
{
	struct last_stack *stack;

	HASH_FIND(hh, stacks->items, &tid, sizeof(tid), stack);
	if (stack)
		return stack;
	if (HASH_COUNT(stacks->items) >= STACKS_MAX)
		forget(stacks, stacks->items);
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return NULL;
	stack->tid = tid;
	HASH_ADD(hh, stacks->items, tid, sizeof(stack->tid), stack);
	if (HASH_HAS_ADDED(stack))
		return stack;
	free(stack);
	return NULL;
}

struct last_stack *last_stacks__of(struct last_stacks *stacks, uint32_t tid, uint32_t count)
{
	struct last_stack *stack = find_or_add(stacks, tid);
	struct ls_frame *frames;
	uint32_t *nodes;

	if (!stack || count <= stack->room)
		return stack;
	frames = reallocarray(stack->frames, count, sizeof(*frames));
	if (!frames)
		return NULL;
	stack->frames = frames;
	nodes = reallocarray(stack->nodes, count, sizeof(*nodes));
	if (!nodes)
		return NULL;
	stack->nodes = nodes;
	stack->room = count;
	return stack;
}

static uint32_t same_frames(const struct last_stack *stack, const struct ls_frame *frames,
			    uint32_t count)
{
	uint32_t same = 0;

	while (same < count && same < stack->count &&
	       !memcmp(&frames[count - 1 - same], &stack->frames[stack->count - 1 - same],
		       sizeof(*frames)))
		same++;
	return same;
}

uint32_t last_stack__share(struct last_stack *stack, const struct ls_frame *frames, uint32_t count,
			   uint32_t category)
{
	uint32_t shared = stack->category == category ? same_frames(stack, frames, count) : 0;

	/* A caller that has become the leaf must be looked up as a leaf. */
	if (shared && shared == count && count < stack->count)
		shared--;
	if (shared)
		memmove(stack->nodes + count - shared, stack->nodes + stack->count - shared,
			shared * sizeof(*stack->nodes));
	return shared;
}
