/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "walker_puc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

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

/* Of a coroutine, what was read of its CallInfos and values, to be read once more. */
#define PIECES_MAX  32768
#define PIECE_BYTES 80   /* a CallInfo */
#define PIECES_ONCE 1024 /* IOV_MAX */

/*
 * So often. What is resumed meanwhile may pass once, if it moves on just between two of the pieces
 * that are read together within a microsecond or two, and had done so during the walk.
 */
#define READ_AGAIN 3

struct piece {
	uint64_t address;
	uint32_t size;
	uint8_t bytes[PIECE_BYTES];
};

struct walker_puc {
	struct target_memory memory;
	struct walker_puc_receiver receiver;
	uint64_t reads; /* of this walk */
	struct ls_thread thread;
	struct ls_scratch *scratch;
	struct piece *pieces;
	size_t piece_count;
	bool keeps_pieces;
	bool lacks_pieces; /* not all could be kept */
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

static void keep(struct walker_puc *walker, const void *bytes, uint32_t size, uint64_t address)
{
	struct piece *piece;

	if (walker->piece_count == PIECES_MAX || size > PIECE_BYTES) {
		walker->lacks_pieces = true;
		return;
	}
	piece = &walker->pieces[walker->piece_count++];
	piece->address = address;
	piece->size = size;
	memcpy(piece->bytes, bytes, size);
}

/* CallInfos, values, and what of a lua_State changes when it is resumed: not the collector's. */
static void keep_piece(struct walker_puc *walker, const void *to, uint32_t size, uint64_t address)
{
	const struct ls_scratch *scratch = walker->scratch;
	const struct ls_puc_layout *layout = find_layout(scratch->sample.layout);
	const uint8_t words[] = {layout->state_ci, layout->state_top, layout->state_stack,
				 layout->state_error_jump};

	if (to == scratch->ci.bytes || to == scratch->stack.bytes)
		keep(walker, to, size, address);
	if (to != scratch->state)
		return;
	for (size_t i = 0; i < sizeof(words); i++)
		keep(walker, scratch->state + words[i], 8, address + words[i]);
	keep(walker, scratch->state + layout->state_status, 1, address + layout->state_status);
}

static long read_bytes(void *context, void *to, __u32 size, __u64 address)
{
	struct walker_puc *walker = context;

	if (walker->reads++ < READS_MAX &&
	    !target_memory__read(&walker->memory, address, to, size)) {
		if (walker->keeps_pieces)
			keep_piece(walker, to, size, address);
		return 0;
	}
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
	walker->pieces = calloc(PIECES_MAX, sizeof(*walker->pieces));
	if (walker->scratch && walker->pieces)
		return walker;
	walker_puc__free(walker);
	return NULL;
}

void walker_puc__free(struct walker_puc *walker)
{
	if (!walker)
		return;
	free(walker->scratch);
	free(walker->pieces);
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
	scratch->ci.is_exact = 1;
	scratch->stack.is_exact = 1;
	walker->piece_count = 0;
	walker->keeps_pieces = true;
	walker->lacks_pieces = false;
	current = walker;
	host__select(&host);
	walk_chain(scratch, find_layout(layout));
	scratch->sample.verified = is_evidence(scratch);
	host__select(NULL);
	walker->keeps_pieces = false;
	scratch->ci.is_exact = 0;
	scratch->stack.is_exact = 0;
	return end(walker);
}

/* Pieces [first, first + count), in one system call. */
static bool are_unchanged(const struct walker_puc *walker, size_t first, size_t count)
{
	const struct piece *pieces = walker->pieces + first;
	struct iovec remote[PIECES_ONCE], local;
	uint8_t bytes[PIECES_ONCE * PIECE_BYTES];
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		remote[i] = (struct iovec){.iov_base = (void *)(uintptr_t)pieces[i].address,
					   .iov_len = pieces[i].size};
		size += pieces[i].size;
	}
	local = (struct iovec){.iov_base = bytes, .iov_len = size};
	if (process_vm_readv(walker->memory.pid, &local, 1, remote, count, 0) != (ssize_t)size)
		return false;
	size = 0;
	for (size_t i = 0; i < count; i++) {
		if (memcmp(bytes + size, pieces[i].bytes, pieces[i].size) != 0)
			return false;
		size += pieces[i].size;
	}
	return true;
}

bool walker_puc__is_unchanged(const struct walker_puc *walker)
{
	if (walker->lacks_pieces)
		return false;
	for (int i = 0; i < READ_AGAIN; i++)
		for (size_t at = 0; at < walker->piece_count; at += PIECES_ONCE) {
			size_t left = walker->piece_count - at;

			if (!are_unchanged(walker, at, left < PIECES_ONCE ? left : PIECES_ONCE))
				return false;
		}
	return true;
}
