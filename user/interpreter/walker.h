/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A family's walker outside of BPF, for stacks that do not change, as luaspy dump needs it. It
 * returns what BPF would send.
 */
#ifndef LS_WALKER_H
#define LS_WALKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "memory/target_memory.h"
#include "record.h"
#include "target.h"

struct walker;

struct walker_receiver {
	void *context;
	/* Called while a stack is walked, before the walk returns. Negative: no room. */
	int (*function)(void *context, const struct ls_function *function);
};

/* A thread's registers, and its native stack. */
struct walker_place {
	uint64_t sp, pc;
	uint64_t stack_low, stack_high; /* the mapping that SP is in, or what can be the stack */
	int own_stack;                  /* it holds nothing but the stack of this thread */
	bool in_system_call;            /* the thread waits in one */
};

/* The result of a walk; valid until the next one. */
struct walked_stack {
	const struct ls_sample *sample; /* class, error, layout and so on; times are 0 */
	const struct ls_frame *frames;  /* leaf first, sample->frame_count of them */
	uint64_t reads;
	bool is_cut_short; /* it would have taken too many reads: the sample is unreadable */
	bool is_resumed;   /* the coroutine is no longer suspended: nothing was walked */
};

enum coroutine_status {
	COROUTINE_ACTIVE, /* it runs, or has resumed another; or has calls without having yielded */
	COROUTINE_SUSPENDED,   /* it has yielded */
	COROUTINE_NOT_STARTED, /* it has a function and nothing else */
	COROUTINE_FINISHED,    /* nothing is on its stack */
	COROUTINE_FAILED,      /* ended by an error */
};

struct coroutine {
	uint64_t state;
	enum coroutine_status status;
};

struct coroutines {
	struct coroutine *items; /* the oldest first; malloc()ed, the caller's */
	size_t count;
	uint64_t objects;  /* how many were read */
	bool is_cut_short; /* the VM's list of objects is too long or broke off: more may exist */
};

/* Bytes that find_main_thread() reads from an address on. */
#define MAIN_THREAD_BYTES 256

struct walker_ops {
	/* NULL when out of memory. Free with free(), which takes NULL. */
	struct walker *(*new)(pid_t pid, const struct walker_receiver *receiver);
	void (*free)(struct walker *walker);

	/*
	 * Looks for script on the native stack of a thread, whose registers are not known, and
	 * walks it under whichever of the image's layouts fits, as a sample would be.
	 */
	struct walked_stack (*walk)(struct walker *walker, const struct walker_place *place,
				    const struct ls_image *image);

	/*
	 * Walks the calls of a coroutine of `vm` (its main thread) that has yielded, under the
	 * layout in this slot. If that is undecided, sample->verified tells whether the stack is
	 * evidence for it, as one of a thread would be. Its class is LS_SAMPLE_HOST where it has no
	 * calls.
	 */
	struct walked_stack (*walk_suspended)(struct walker *walker, uint64_t state, uint64_t vm,
					      uint32_t slot, bool is_undecided);

	/*
	 * Whether the coroutine, its calls and its values are still as its last walk found them,
	 * when read several times: then it was not resumed in the middle of the walk.
	 */
	bool (*is_unchanged)(const struct walker *walker);

	/*
	 * Reads the coroutines of the VM whose main thread is `vm`, except that one. Returns 0,
	 * even if cut short; -ENOMEM; -EFAULT or -ESRCH: the VM cannot be read; -EINVAL: it is no
	 * VM.
	 */
	int (*read_coroutines)(const struct target_memory *memory, const void *offsets, uint64_t vm,
			       struct coroutines *coroutines);

	/*
	 * Searches `bytes`, which the process has at `address`, for the first main thread of a VM
	 * under exactly one of `layouts` (bits), in steps of 8 from *at to below `size`. True: it
	 * is at bytes[*at], and *slot is that layout, or LS_LAYOUT_MAX: it is one for certain, but
	 * which layout it has is not known. MAIN_THREAD_BYTES more must be readable.
	 */
	bool (*find_main_thread)(const struct target_memory *memory, uint16_t layouts,
				 const uint8_t *bytes, uint64_t size, uint64_t address,
				 uint64_t *at, uint32_t *slot);
};

#endif
