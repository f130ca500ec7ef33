/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What all walkers share outside of BPF, where they walk stacks that stand still: the counterpart
 * of bpf/sample.bpf.h. A family's file includes this after its headers of bpf/, which have defined
 * LS_FAMILY and struct ls_scratch. It has defined struct mark, the fields of a state that change
 * when a coroutine is resumed, and defines the functions that are declared first.
 */
#ifndef LS_STANDING_WALK_H
#define LS_STANDING_WALK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interpreter/walker.h"
#include "memory/target_memory.h"
#include "walk/bpf_shim.h"
#include "walk/kept_memory.h"
#include "walk_error.h"

/* Reads per walk, far more than an honest stack needs; they take a tenth of a second. */
#define READS_MAX 200000

/* Each walk advances now_ns by this, so that it trusts no prototype cached by an earlier one. */
#define MEMO_NS 1000000000

struct walker {
	struct target_memory memory;
	struct bpf_shim_target shim;
	struct walker_receiver receiver;
	uint64_t reads; /* of this walk */
	struct ls_thread thread;
	struct ls_scratch *scratch;
	struct kept_memory *kept;
	bool keeps;         /* what is read of a coroutine's own is kept */
	uint64_t suspended; /* the coroutine that was walked last */
	uint32_t suspended_slot;
	struct mark mark; /* of `suspended`, before that walk */
};

/*
 * Keeps what was just read into the scratch if it is a call, a value, or a field of a state that
 * changes when it is resumed, not if the garbage collector changes it.
 */
static void keep_read(struct walker *walker, const void *to, uint32_t size, uint64_t address);

/* Reads walker->suspended. Returns whether it is a coroutine that has yielded. */
static bool read_mark(const struct walker *walker, struct mark *mark);

/* Walks the calls of walker->suspended, the only state of scratch->chain. */
static void walk_yielded(struct ls_scratch *scratch, uint32_t slot);

/* The walker in use, for send_definition(), which is not passed one. */
static struct walker *current_walker;

static long send_definition(struct ls_function *function)
{
	return current_walker->receiver.function(current_walker->receiver.context, function);
}

#define X(code, class, counter, sentence) [LS_WALK_##code] = LS_SAMPLE_##class,
static const uint8_t class_of_error[] = {LS_WALK_ERRORS(X)};
#undef X

static long read_bytes(void *context, void *to, __u32 size, __u64 address)
{
	struct walker *walker = context;

	if (walker->reads++ < READS_MAX &&
	    !target_memory__read(&walker->memory, address, to, size)) {
		if (walker->keeps)
			keep_read(walker, to, size, address);
		return 0;
	}
	memset(to, 0, size);
	return -EFAULT;
}

static long read_string(void *context, void *to, __u32 size, __u64 address)
{
	struct walker *walker = context;
	ssize_t count = -EFAULT;
	size_t length;

	if (walker->reads++ < READS_MAX)
		count = target_memory__read_some(&walker->memory, address, to, size);
	length = count > 0 ? strnlen(to, (size_t)count) : size;
	if (count <= 0 || (length == (size_t)count && length < size)) {
		memset(to, 0, size);
		return -EFAULT;
	}
	if (length == size)
		((char *)to)[--length] = '\0';
	return (long)length + 1;
}

static void free_walker(struct walker *walker)
{
	if (!walker)
		return;
	free(walker->scratch);
	kept_memory__free(walker->kept);
	free(walker);
}

static struct walker *new_walker(pid_t pid, const struct walker_receiver *receiver)
{
	struct walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return NULL;
	walker->memory.pid = pid;
	walker->shim = (struct bpf_shim_target){
		.context = walker, .read = read_bytes, .read_string = read_string};
	walker->receiver = *receiver;
	walker->scratch = calloc(1, sizeof(*walker->scratch));
	walker->kept = kept_memory__new();
	if (walker->scratch && walker->kept)
		return walker;
	free_walker(walker);
	return NULL;
}

/* Counterpart of begin_sample(). From here to end_walk(), the walker's headers read this target. */
static void begin_walk(struct walker *walker, uint64_t sp, uint64_t pc)
{
	struct ls_scratch *scratch = walker->scratch;

	walker->reads = 0;
	scratch->sample = (struct ls_sample){.family = LS_FAMILY};
	memset(&scratch->walk, 0, sizeof(scratch->walk));
	scratch->doubt = LS_DOUBT_NONE;
	scratch->lua_frames = 0;
	scratch->now_ns += MEMO_NS;
	scratch->tgid = (uint32_t)walker->memory.pid;
	scratch->sp = (sp + 7) & ~7ULL;
	scratch->pc = pc;
	scratch->register_count = 0;
	scratch->frame_room = LS_DEPTH_MAX;
	scratch->is_undecided = false;
	scratch->search.is_beyond = false;
	current_walker = walker;
	bpf_shim__select(&walker->shim);
}

/* Counterpart of end_sample(). */
static struct walked_stack end_walk(struct walker *walker)
{
	struct ls_sample *sample = &walker->scratch->sample;
	bool is_cut_short = walker->reads > READS_MAX;

	bpf_shim__select(NULL);
	if (is_cut_short) {
		sample->error = LS_WALK_STACK_MEMORY;
		sample->verified = 0;
		sample->flags = 0;
	}
	if (!sample->error && !sample->frame_count)
		sample->error = LS_WALK_NO_SCRIPT;
	sample->class = class_of_error[sample->error];
	if (sample->class == LS_SAMPLE_HOST || sample->class == LS_SAMPLE_UNREADABLE)
		sample->frame_count = 0;
	return (struct walked_stack){.sample = sample,
				     .frames = walker->scratch->frames,
				     .reads = walker->reads,
				     .is_cut_short = is_cut_short};
}

/* Begins walker_ops.walk(); end_walk() ends it. */
static void begin_thread(struct walker *walker, const struct walker_place *place)
{
	begin_walk(walker, place->sp, place->pc);
	walker->thread = (struct ls_thread){.stack_low = place->stack_low,
					    .stack_high = place->stack_high,
					    .own_stack = !!place->own_stack};
}

static struct walked_stack walk_suspended(struct walker *walker, uint64_t state, uint64_t vm,
					  uint32_t slot, bool is_undecided)
{
	struct ls_scratch *scratch = walker->scratch;

	walker->suspended = state;
	walker->suspended_slot = slot;
	if (!read_mark(walker, &walker->mark))
		return (struct walked_stack){.is_resumed = true};
	begin_walk(walker, 0, 0);
	begin_stack(scratch);
	scratch->chain[0] = (struct ls_active){.state = state, .main_thread = vm};
	scratch->chain_count = 1;
	scratch->sample.layout = (uint8_t)slot;
	scratch->sample.state = state;
	scratch->sample.vm = vm;
	scratch->is_undecided = !!is_undecided;
	kept_memory__clear(walker->kept);
	walker->keeps = true;
	walk_yielded(scratch, slot);
	scratch->sample.verified = is_evidence(scratch);
	walker->keeps = false;
	return end_walk(walker);
}

static bool is_unchanged(const struct walker *walker)
{
	struct mark mark;

	return kept_memory__is_unchanged(walker->kept, walker->memory.pid) &&
	       read_mark(walker, &mark) && memcmp(&mark, &walker->mark, sizeof(mark)) == 0;
}

#endif
