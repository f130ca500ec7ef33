/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "puc/family_puc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "process/target_memory.h"
#include "puc/coroutines_puc.h"
#include "puc/layout_puc.h"
#include "puc/main_thread_puc.h"
#include "walk_error.h"

/* No sampled program waits for this walk, so it searches stacks to their end, mostly 8 MiB. */
#define LS_SEARCH_BLIND 4096
#define LS_SEARCH_MAX   8192

static long send_definition(struct ls_function *function);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "process/bpf_shim.h"
#include "walk_puc.bpf.h"
#include "select_layout.bpf.h"
#include "gc.bpf.h"
#pragma GCC diagnostic pop

/* Reads per walk, far more than an honest stack needs; they take a tenth of a second. */
#define READS_MAX 200000

/* Each walk advances now_ns by this, so that it trusts no prototype cached by an earlier one. */
#define MEMO_NS 1000000000

/* Copies of a coroutine's CallInfos and values, to be compared when they are read again. */
#define PIECES_MAX  32768
#define PIECE_BYTES 80   /* a CallInfo */
#define PIECES_ONCE 1024 /* IOV_MAX */

/*
 * How often the pieces are read again. A coroutine that is resumed meanwhile may pass once, if it
 * moves on just between two of the pieces that are read together within a microsecond or two, and
 * had done so during the walk.
 */
#define READ_AGAIN 3

/* Fields of a lua_State that change when it is resumed. */
struct mark {
	uint64_t ci, top, stack;
};

struct piece {
	uint64_t address;
	uint32_t size;
	uint8_t bytes[PIECE_BYTES];
};

struct walker {
	struct target_memory memory;
	struct walker_receiver receiver;
	uint64_t reads; /* of this walk */
	struct ls_thread thread;
	struct ls_scratch *scratch;
	struct piece *pieces;
	size_t piece_count;
	bool keeps_pieces;
	bool lacks_pieces;  /* not all fitted */
	uint64_t suspended; /* the coroutine that was walked last */
	uint32_t suspended_slot;
	struct mark mark; /* of `suspended`, before that walk */
};

/* The walker in use, for send_definition(), which is not passed one. */
static struct walker *current;

static long send_definition(struct ls_function *function)
{
	return current->receiver.function(current->receiver.context, function);
}

static const struct ls_puc_layout *find_layout(__u32 slot)
{
	return slot < layouts_puc_count ? &layouts_puc[slot].offsets : NULL;
}

#define X(code, class, counter, sentence) [LS_WALK_##code] = LS_SAMPLE_##class,
static const uint8_t class_of_error[] = {LS_WALK_ERRORS(X)};
#undef X

static void keep(struct walker *walker, const void *bytes, uint32_t size, uint64_t address)
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

/*
 * Keeps CallInfos, values, and the fields of a lua_State that change when it is resumed, not those
 * that the garbage collector changes.
 */
static void keep_piece(struct walker *walker, const void *to, uint32_t size, uint64_t address)
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
	struct walker *walker = context;

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
	free(walker->pieces);
	free(walker);
}

static struct walker *new_walker(pid_t pid, const struct walker_receiver *receiver)
{
	struct walker *walker = calloc(1, sizeof(*walker));

	if (!walker)
		return NULL;
	walker->memory.pid = pid;
	walker->receiver = *receiver;
	walker->scratch = calloc(1, sizeof(*walker->scratch));
	walker->pieces = calloc(PIECES_MAX, sizeof(*walker->pieces));
	if (walker->scratch && walker->pieces)
		return walker;
	free_walker(walker);
	return NULL;
}

/* Counterpart of begin_sample() in bpf/sample.bpf.h. */
static void begin(struct walker *walker, uint64_t sp, uint64_t pc)
{
	struct ls_scratch *scratch = walker->scratch;

	walker->reads = 0;
	scratch->sample = (struct ls_sample){.family = LS_FAMILY_PUC};
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
}

/* Counterpart of send_sample() in bpf/sample.bpf.h. */
static struct walked_stack end(struct walker *walker)
{
	struct ls_sample *sample = &walker->scratch->sample;
	bool is_cut_short = walker->reads > READS_MAX;

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

static struct walked_stack walk(struct walker *walker, const struct walker_place *place,
				const struct ls_image *target)
{
	struct bpf_shim_target host = {walker, read_bytes, read_string};
	struct ls_scratch *scratch = walker->scratch;

	begin(walker, place->sp, place->pc);
	walker->thread = (struct ls_thread){.stack_low = place->stack_low,
					    .stack_high = place->stack_high,
					    .own_stack = !!place->own_stack};
	current = walker;
	bpf_shim__select(&host);
	select_layout(scratch, &walker->thread, target);
	if (scratch->sample.frame_count && is_in_gc(scratch, target))
		scratch->sample.activity = LS_ACTIVITY_GC;
	bpf_shim__select(NULL);
	return end(walker);
}

static void read_exactly(struct ls_scratch *scratch, __u64 is_exact)
{
	scratch->ci.is_exact = is_exact;
	scratch->stack.is_exact = is_exact;
	scratch->closures.is_exact = is_exact;
	scratch->protos.is_exact = is_exact;
}

/* False: the coroutine cannot be read, or is no longer suspended. */
static bool read_mark(const struct walker *walker, struct mark *mark)
{
	const struct ls_puc_layout *layout = find_layout(walker->suspended_slot);
	uint8_t copy[256] = {};
	uint64_t error_jump;

	if (target_memory__read(&walker->memory, walker->suspended, copy, layout->state_size))
		return false;
	memcpy(&mark->ci, copy + layout->state_ci, sizeof(mark->ci));
	memcpy(&mark->top, copy + layout->state_top, sizeof(mark->top));
	memcpy(&mark->stack, copy + layout->state_stack, sizeof(mark->stack));
	memcpy(&error_jump, copy + layout->state_error_jump, sizeof(error_jump));
	return copy[layout->state_status] == COROUTINE_PUC_YIELDED && !error_jump;
}

static struct walked_stack walk_suspended(struct walker *walker, uint64_t state, uint64_t vm,
					  uint32_t slot, bool is_undecided)
{
	struct bpf_shim_target host = {walker, read_bytes, read_string};
	struct ls_scratch *scratch = walker->scratch;

	walker->suspended = state;
	walker->suspended_slot = slot;
	if (!read_mark(walker, &walker->mark))
		return (struct walked_stack){.is_resumed = true};
	begin(walker, 0, 0);
	begin_stack(scratch);
	scratch->chain[0] = (struct ls_active){.state = state, .main_thread = vm};
	scratch->chain_count = 1;
	scratch->sample.layout = (uint8_t)slot;
	scratch->sample.state = state;
	scratch->sample.vm = vm;
	scratch->is_undecided = !!is_undecided;
	scratch->walk.is_suspended = true;
	read_exactly(scratch, 1);
	walker->piece_count = 0;
	walker->keeps_pieces = true;
	walker->lacks_pieces = false;
	current = walker;
	bpf_shim__select(&host);
	walk_chain(scratch, find_layout(slot));
	scratch->sample.verified = is_evidence(scratch);
	bpf_shim__select(NULL);
	walker->keeps_pieces = false;
	read_exactly(scratch, 0);
	return end(walker);
}

/* Compares pieces [first, first + count), reading them in one system call. */
static bool are_unchanged(const struct walker *walker, size_t first, size_t count)
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

static bool is_unchanged(const struct walker *walker)
{
	struct mark mark;

	if (walker->lacks_pieces)
		return false;
	for (int i = 0; i < READ_AGAIN; i++)
		for (size_t at = 0; at < walker->piece_count; at += PIECES_ONCE) {
			size_t left = walker->piece_count - at;

			if (!are_unchanged(walker, at, left < PIECES_ONCE ? left : PIECES_ONCE))
				return false;
		}
	return read_mark(walker, &mark) && memcmp(&mark, &walker->mark, sizeof(mark)) == 0;
}

static int read_coroutines(const struct target_memory *memory, const void *offsets, uint64_t vm,
			   struct coroutines *coroutines)
{
	return coroutines_puc__read(memory, offsets, vm, coroutines);
}

const struct walker_ops walker_ops_puc = {
	.new = new_walker,
	.free = free_walker,
	.walk = walk,
	.walk_suspended = walk_suspended,
	.is_unchanged = is_unchanged,
	.read_coroutines = read_coroutines,
	.find_main_thread = main_thread_puc__find,
};
