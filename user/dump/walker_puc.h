/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walker of bpf/, in user space: for stacks that stand still, read through process_vm_readv().
 * What it finds is as BPF would send it.
 */
#ifndef LS_WALKER_PUC_H
#define LS_WALKER_PUC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout.h"
#include "record.h"
#include "target.h"

struct walker_puc;

struct walker_puc_receiver {
	void *context;
	/* Called while a stack is walked, before it is handed on. Negative: it has no room. */
	int (*function)(void *context, const struct ls_function *function);
};

/* Where a thread stands, and its native stack. */
struct walker_puc_place {
	uint64_t sp, pc;
	uint64_t stack_low, stack_high; /* the mapping that SP is in, or what can be its stack */
	int own_stack;                  /* it holds nothing but the stack of this thread */
};

/* What was walked; good until the next walk. */
struct walker_puc_stack {
	const struct ls_sample *sample; /* class, error, layout and so on; times are 0 */
	const struct ls_frame *frames;  /* leaf first, sample->frame_count of them */
	uint64_t reads;
	int is_cut_short; /* it would have taken too many reads: the sample is unreadable */
};

/* NULL when out of memory. Free with walker_puc__free(), which takes NULL. */
struct walker_puc *walker_puc__new(pid_t pid, const struct walker_puc_receiver *receiver);
void walker_puc__free(struct walker_puc *walker);

/*
 * Looks for script on the native stack of a thread, whose registers are not known, and walks it
 * under whichever of target->layouts fits, as a sample would be.
 */
struct walker_puc_stack walker_puc__walk(struct walker_puc *walker,
					 const struct walker_puc_place *place,
					 const struct ls_target *target);

/*
 * Walks the calls of a coroutine of `vm` (its main thread) that has yielded, under layouts_puc[
 * layout]. Where that is undecided, sample->verified tells whether the stack is proof of it, as one
 * of a thread would be. Its class is LS_SAMPLE_HOST where it has no calls.
 */
struct walker_puc_stack walker_puc__walk_suspended(struct walker_puc *walker, uint64_t state,
						   uint64_t vm, uint32_t layout, int is_undecided);

/*
 * Whether all of the calls and values that the last walk of a coroutine found still are as they
 * were, read several times over: then it has not been resumed in the middle of the walk.
 */
bool walker_puc__is_unchanged(const struct walker_puc *walker);

#endif
