/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scans registers and the native stack for pointers to states, from SP upward, in chunks that never
 * cross a page (a page never touched cannot be read). Only a
 * family knows what a state is: before it includes this header, its own header defines ls_layout_t
 * and LS_HEAD_OFFSET, the distance in bytes from the start of an object to the word with its tag.
 * It also defines the functions declared first below, and LS_HALF_WORDS if a pointer to a state may
 * be half a word.
 */
#ifndef LS_SCAN_STACK_BPF_H
#define LS_SCAN_STACK_BPF_H

#include "fold.h"
#include "machine.bpf.h"
#include "scratch.bpf.h"
#include "unmapped.bpf.h"

/* Whether an object with that word is a state, as far as its tag tells. */
static bool is_state_head(__u64 head);

/*
 * Considers an object with the tag of a state. Adds it to the chain and returns true if it is
 * active on this stack.
 */
__noinline bool consider(struct ls_scratch *scratch, const ls_layout_t *layout, __u64 address);

/* Whether the search is done, because nothing further up the stack matters. */
static bool is_found(const struct ls_scratch *scratch);

#define LS_USER_MIN 0x10000ULL /* vm.mmap_min_addr's usual value */

/* Period in which a word that could not be followed is not tried again. */
#define LS_BAD_POINTER_NS 5000000
#define LS_SMALL_NUMBER   0x10000

/* Context of the steps of most loops. */
struct ls_pass {
	struct ls_scratch *scratch;
	const ls_layout_t *layout;
};

static __always_inline int is_pointer(__u64 word)
{
	return !(word & 7) && word >= LS_USER_MIN && word < LS_USER_MAX;
}

static __always_inline int on_stack(const struct ls_scratch *scratch, __u64 address)
{
	return address >= scratch->sp && address < scratch->search.high && !(address & 7);
}

/* Returns the slot for remembering that a word was considered. */
static __always_inline __u32 place_of(__u64 word)
{
	return (word >> 4 ^ word >> 12) % LS_SEEN_MAX;
}

/* Counts a state of the current chunk, once, even if an earlier chunk had it. */
static __always_inline void meet_state(struct ls_search *search, __u64 state)
{
	__u32 at = search->states_met;

	for (__u32 i = 0; i < LS_CHUNK_STATES; i++)
		if (i < at && search->met[i] == state)
			return;
	if (at < LS_CHUNK_STATES)
		search->met[at] = state;
	search->states_met = at + 1;
}

/* Notes a state, which this search does not consider again. */
static __always_inline void note_state(struct ls_search *search, __u64 state)
{
	__u32 slot = place_of(state);

	meet_state(search, state);
	search->seen[slot] = state;
	search->seen_in[slot] = search->generation + 1;
}

/*
 * Reads the word of an object with its tag, at LS_HEAD_OFFSET. Returns 1 if it cannot be read.
 * Pairs of small numbers that look like a pointer are common on every stack, and following one
 * costs a page fault, ten times as much as a read: one that could not be followed is skipped for
 * LS_BAD_POINTER_NS. More likely pointers are not skipped, because their page may be absent only
 * for now, unless they are known to point between mappings (unmapped.bpf.h); until then, the chunk
 * remembers each as if it pointed to a state.
 */
static __always_inline long read_head(struct ls_scratch *scratch, __u64 address, __u64 *head)
{
	__u64 word = address ^ (__u64)scratch->tgid << 48;
	struct ls_bad_pointer *bad =
		&scratch->bad_pointers[(word >> 3 ^ word >> 32) % LS_BAD_POINTER_MAX];
	bool is_small = (__u32)address < LS_SMALL_NUMBER;

	if (is_small && bad->word == word && scratch->now_ns - bad->time_ns < LS_BAD_POINTER_NS)
		return 1;
	if (!read_target(head, sizeof(*head), address + LS_HEAD_OFFSET))
		return 0;
	scratch->search.lost = address;
	if (is_small) {
		bad->word = word;
		bad->time_ns = scratch->now_ns;
	} else {
		note_state(&scratch->search, address);
	}
	return 1;
}

/* The highest bit of the result: whether the address `word` is in [low, high), also addresses. */
static __always_inline __u64 lies_in(__u64 word, __u64 low, __u64 high)
{
	return ~(word - low) & (word - high);
}

/* Whether the word was considered in this search; remembers that it is now. */
static __always_inline bool was_seen(struct ls_search *search, __u64 word)
{
	__u32 slot = place_of(word);

	if (search->seen[slot] == word && search->seen_in[slot] >= search->generation) {
		if (search->seen_in[slot] > search->generation)
			meet_state(search, word);
		return true;
	}
	search->seen[slot] = word;
	search->seen_in[slot] = search->generation;
	return false;
}

/* Whether it is certain that the word points to no state. Most words point to the heap. */
static __always_inline bool is_barren(const struct ls_search *search, __u64 word)
{
	__u64 is_in = lies_in(word, search->values.low, search->values.high);

	if (lies_in(word, search->heap.low, search->heap.high) >> 63)
		return is_in >> 63;
	for (__u32 i = 0; i < LS_BARREN_RANGES; i++)
		is_in |= lies_in(word, search->barren[i].low, search->barren[i].high);
	return is_in >> 63;
}

static long consider_candidate(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_search *search = &scratch->search;
	__u64 word = search->candidates[i % LS_CHUNK_WORDS], head;

	if (is_barren(search, word) || was_seen(search, word) || read_head(scratch, word, &head) ||
	    !is_state_head(head))
		return 0;
	note_state(search, word);
	consider(scratch, pass->layout, word);
	return 0;
}
LS_STEP(consider_candidate);

static __always_inline void consider_noted(struct ls_pass *pass)
{
	__u32 count = pass->scratch->search.candidate_count;

	if (count > LS_CHUNK_WORDS)
		count = LS_CHUNK_WORDS;
	repeat(count, consider_candidate, pass);
	pass->scratch->search.candidate_count = 0;
}

/*
 * Notes a word that may point to a state. There is no branch, because no CPU can predict what is on
 * a stack, and mispredictions would cost more than all the rest.
 */
static __always_inline void note_word(struct ls_search *search, __u64 word)
{
	__u64 is_aligned = (word & 7) - 1;

	search->candidates[search->candidate_count % LS_CHUNK_WORDS] = word;
	search->candidate_count += (lies_in(word, LS_USER_MIN, LS_USER_MAX) & is_aligned &
				    ~lies_in(word, search->own.low, search->own.high)) >>
				   63;
}

static __always_inline __u64 word_of_chunk(const struct ls_search *search, __u32 i)
{
	return search->chunk[i % LS_CHUNK_WORDS];
}

#ifndef LS_HALF_WORDS
static long note_words(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_search *search = &pass->scratch->search;

	for (__u32 j = 0; j < LS_STRIDE_WORDS; j++)
		note_word(search, word_of_chunk(search, i * LS_STRIDE_WORDS + j));
	return 0;
}
LS_STEP(note_words);
#else
static long note_low_halves(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_search *search = &pass->scratch->search;

	for (__u32 j = 0; j < LS_STRIDE_WORDS; j++)
		note_word(search, (__u32)word_of_chunk(search, i * LS_STRIDE_WORDS + j));
	return 0;
}
LS_STEP(note_low_halves);

static long note_high_halves(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_search *search = &pass->scratch->search;

	for (__u32 j = 0; j < LS_STRIDE_WORDS; j++)
		note_word(search, word_of_chunk(search, i * LS_STRIDE_WORDS + j) >> 32);
	return 0;
}
LS_STEP(note_high_halves);
#endif

/* Considers all that may point to a state in that many bytes of the chunk. */
static __always_inline void consider_words(struct ls_pass *pass, __u32 size)
{
	__u32 strides = (size + LS_STRIDE_BYTES - 1) / LS_STRIDE_BYTES;

#ifndef LS_HALF_WORDS
	repeat(strides, note_words, pass);
#else
	repeat(strides, note_low_halves, pass);
	consider_noted(pass);
	repeat(strides, note_high_halves, pass);
#endif
	consider_noted(pass);
}

/*
 * Hash of the chunk's first `size` bytes, in four lanes, because each step of a lane waits for the
 * one before.
 */
__noinline __u64 hash_chunk(const struct ls_scratch *scratch, __u32 size)
{
	const __u64 factor = 0x9e3779b97f4a7c15ULL; /* odd, otherwise bits would be lost */
	__u32 words = size / 8;
	__u64 a, b, c, d;

	if (!scratch)
		return 0;
	a = b = c = d = scratch->tgid | (__u64)size << 32;
	for (__u32 i = 0; i < LS_CHUNK_WORDS; i += 4) {
		if (i >= words)
			break;
		a = (a ^ scratch->search.chunk[i]) * factor;
		b = (b ^ scratch->search.chunk[i + 1]) * factor;
		c = (c ^ scratch->search.chunk[i + 2]) * factor;
		d = (d ^ scratch->search.chunk[i + 3]) * factor;
	}
	return ls_fold(ls_fold(ls_fold(a, b), c), d);
}

/* Considers only the words that the chunk remembers. */
static __always_inline void consider_known(struct ls_pass *pass,
					   const struct ls_cached_chunk *cached)
{
	struct ls_search *search = &pass->scratch->search;

	for (__u32 i = 0; i < LS_CHUNK_STATES; i++)
		search->candidates[i] = cached->states[i];
	search->candidate_count = !!cached->states[0] + !!cached->states[1] + !!cached->states[2] +
				  !!cached->states[3];
	consider_noted(pass);
}

/*
 * Examines the chunk that was read. Of an unchanged chunk, only the words that pointed to states
 * are considered: a state's frames store such pointers when the state starts to run, which is also
 * when its errorJmp is written. So a thread pays only for what changes on its stack.
 */
static __always_inline void look_through_chunk(struct ls_pass *pass, __u32 size)
{
	struct ls_scratch *scratch = pass->scratch;
	struct ls_search *search = &scratch->search;
	__u64 address = search->address, hash = hash_chunk(scratch, size);
	struct ls_cached_chunk *cached =
		&scratch->chunk_cache[(address / LS_CHUNK_BYTES ^ scratch->tgid) %
				      LS_CHUNK_CACHE_MAX];

	if (cached->hash == hash && cached->address == address) {
		consider_known(pass, cached);
		return;
	}
	search->states_met = 0;
	for (__u32 i = 0; i < LS_CHUNK_STATES; i++)
		search->met[i] = 0;
	consider_words(pass, size);
	if (search->states_met > LS_CHUNK_STATES)
		return;
	cached->address = address;
	cached->hash = hash;
	__builtin_memcpy(cached->states, search->met, sizeof(cached->states));
}

/* Clears the words behind a partial chunk, because its last stride reads some of them. */
static __always_inline void clear_rest(struct ls_search *search, __u32 size)
{
	for (__u32 i = 0; i < LS_STRIDE_WORDS - 1; i++)
		search->chunk[size / 8 % LS_CHUNK_WORDS + i] = 0;
}

static long scan_chunk(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_search *search = &pass->scratch->search;
	__u64 next = (search->address | (LS_CHUNK_BYTES - 1)) + 1, size;

	if (search->address >= search->end || is_found(pass->scratch))
		return 1;
	if (next > search->end)
		next = search->end;
	size = next - search->address;
	if (size > LS_CHUNK_BYTES)
		return 1;
	search->chunks_read++;
	if (size && !read_target(search->chunk, size, search->address)) {
		if (size < LS_CHUNK_BYTES)
			clear_rest(search, size);
		look_through_chunk(pass, size);
	}
	search->address = next;
	return 0;
}
LS_STEP(scan_chunk);

/* Scans from the current address of the search to `end`, at most `chunks` chunks. */
__noinline int scan_stack(struct ls_scratch *scratch, const ls_layout_t *layout, __u64 end,
			  __u32 chunks)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout)
		return 0;
	scratch->search.end = end;
	repeat(chunks, scan_chunk, &pass);
	return 0;
}

static long note_register(__u32 i, void *context)
{
	const struct ls_pass *pass = context;

	note_word(&pass->scratch->search, pass->scratch->registers[i % LS_REGISTER_MAX]);
	return 0;
}
LS_STEP(note_register);

/* Considers the registers: the first step of each search. */
__noinline int scan_registers(struct ls_scratch *scratch, const ls_layout_t *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout)
		return 0;
	recall_gaps(scratch);
	repeat(scratch->register_count, note_register, &pass);
	consider_noted(&pass);
	return 0;
}

static __always_inline void search_begin(struct ls_scratch *scratch, const struct ls_thread *thread)
{
	struct ls_search *search = &scratch->search;

	search->high = thread->stack_high;
	search->address = scratch->sp;
	search->own.low = scratch->sp;
	search->own.high = thread->own_stack ? thread->stack_high : 0;
	search->lost = 0;
	search->generation += 2;
	search->candidate_count = 0;
	search->chunks_read = 0;
	search->values = (struct ls_range){};
	search->heap = heap_of_process();
	search->global = 0;
	search->rooted = 0;
	search->is_cut = 0;
	search->is_shared = !thread->own_stack;
}

#endif
