/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walker_puc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout_puc.h"
#include "target_memory.h"
#include "walk_error.h"

/* Nobody waits for it as a sampled program does: stacks are searched to their end, 8 MiB mostly. */
#define LS_SEARCH_BLIND 4096
#define LS_SEARCH_MAX   8192

static long send_definition(struct ls_function *function);
static const struct ls_puc_layout *find_layout(__u32 index);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "host.h"
#include "attempt_puc.bpf.h"
#include "collector.bpf.h"
#pragma GCC diagnostic pop

/* Far more than an honest stack needs: a tenth of a second. */
#define READS_MAX 200000

/* So much later, nothing that an earlier walk has read of a prototype is taken for true. */
#define MEMO_NS 1000000000

struct walker_puc {
	struct target_memory memory;
	struct walker_puc_receiver receiver;
	uint64_t reads; /* of this walk */
	struct ls_thread thread;
	struct ls_scratch *scratch;
};

/* send_definition() is told no walker: it is the one that walks. */
static struct walker_puc *current;

static long send_definition(struct ls_function *function)
{
	return current->receiver.function(current->receiver.context, function);
}

static const struct ls_puc_layout *find_layout(__u32 index)
{
	return index < layouts_puc_count ? &layouts_puc[index].offsets : NULL;
}

#define X(code, class, counter, sentence) [LS_WALK_##code] = LS_SAMPLE_##class,
static const uint8_t class_of_error[] = {LS_WALK_ERRORS(X)};
#undef X

static long read_bytes(void *context, void *to, __u32 size, __u64 address)
{
	struct walker_puc *walker = context;

	if (walker->reads++ < READS_MAX && !target_memory__read(&walker->memory, address, to, size))
		return 0;
	memset(to, 0, size);
	return -EFAULT;
}

static long read_string(void *context, void *to, __u32 size, __u64 address)
{
	struct walker_puc *walker = context;
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

struct walker_puc *walker_puc__new(pid_t pid, const struct walker_puc_receiver *receiver)
{
	struct walker_puc *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return NULL;
	walker->memory.pid = pid;
	walker->receiver = *receiver;
	walker->scratch = calloc(1, sizeof(*walker->scratch));
	if (walker->scratch)
		return walker;
	free(walker);
	return NULL;
}

void walker_puc__free(struct walker_puc *walker)
{
	if (!walker)
		return;
	free(walker->scratch);
	free(walker);
}

/* As begin_sample() in bpf/sampler.bpf.c. */
static void begin(struct walker_puc *walker, uint64_t sp, uint64_t pc)
{
	struct ls_scratch *scratch = walker->scratch;

	walker->reads = 0;
	memset(&scratch->sample, 0, sizeof(scratch->sample));
	memset(&scratch->walk, 0, sizeof(scratch->walk));
	scratch->now_ns += MEMO_NS;
	scratch->tgid = (uint32_t)walker->memory.pid;
	scratch->sp = (sp + 7) & ~7ULL;
	scratch->pc = pc;
	scratch->register_count = 0;
	scratch->frame_room = LS_DEPTH_MAX;
	scratch->is_undecided = 0;
	scratch->search.is_beyond = 0;
}

/* As send_sample() in bpf/sample.bpf.h. */
static struct walker_puc_stack end(struct walker_puc *walker)
{
	struct ls_sample *sample = &walker->scratch->sample;
	int is_cut_short = walker->reads > READS_MAX;

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
	return (struct walker_puc_stack){.sample = sample,
					 .frames = walker->scratch->frames,
					 .reads = walker->reads,
					 .is_cut_short = is_cut_short};
}

struct walker_puc_stack walker_puc__walk(struct walker_puc *walker,
					 const struct walker_puc_place *place,
					 const struct ls_target *target)
{
	struct host_target host = {walker, read_bytes, read_string};
	struct ls_scratch *scratch = walker->scratch;

	begin(walker, place->sp, place->pc);
	walker->thread = (struct ls_thread){.stack_low = place->stack_low,
					    .stack_high = place->stack_high,
					    .own_stack = !!place->own_stack};
	current = walker;
	host__select(&host);
	attempt_stack(scratch, &walker->thread, target);
	if (scratch->sample.frame_count && is_in_collector(scratch, target))
		scratch->sample.flags |= LS_SAMPLE_IN_COLLECTOR;
	host__select(NULL);
	return end(walker);
}

struct walker_puc_stack walker_puc__walk_suspended(struct walker_puc *walker, uint64_t state,
						   uint64_t vm, uint32_t layout, int is_undecided)
{
	struct host_target host = {walker, read_bytes, read_string};
	struct ls_scratch *scratch = walker->scratch;

	begin(walker, 0, 0);
	begin_stack(scratch);
	scratch->chain[0] = (struct ls_active){.state = state, .main_thread = vm};
	scratch->chain_count = 1;
	scratch->sample.layout = (uint8_t)layout;
	scratch->sample.state = state;
	scratch->sample.vm = vm;
	scratch->is_undecided = !!is_undecided;
	scratch->walk.is_suspended = 1;
	current = walker;
	host__select(&host);
	walk_chain(scratch, find_layout(layout));
	scratch->sample.verified = is_evidence(scratch);
	host__select(NULL);
	return end(walker);
}
