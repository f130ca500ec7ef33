/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which lua_States run on this thread, from outside, in a program without symbols.
 *
 * Every protected call goes through luaD_rawrunprotected (ldo.c, all releases), which puts a
 * struct lua_longjmp on the C stack and links it in L->errorJmp. A coroutine that yielded, ended
 * or never started has none. So a state is active here exactly if its errorJmp lies between this
 * thread's SP and the end of its stack; the lowest is the one that runs, and those above are its
 * resumers, in order. That is a decision, not a guess.
 *
 * Pointers to the active states lie in registers and on the native stack: whoever calls into Lua
 * holds its L. So they are searched for there, from SP upward, in chunks that never cross a page
 * (a page never touched cannot be read). The main thread is known from any state of its VM.
 *
 * Only the main thread can run unprotected (a host that uses lua_call alone): it has no errorJmp
 * then, but calls in progress.
 */
#ifndef LS_FIND_STATE_BPF_H
#define LS_FIND_STATE_BPF_H

#include "machine.bpf.h"
#include "scratch.bpf.h"

#define LS_USER_MIN    0x10000ULL /* vm.mmap_min_addr's usual value */
#define LS_THREAD_TAG  8          /* LUA_TTHREAD, lua.h: all releases */
#define LS_YIELDED     1          /* LUA_YIELD, lua.h; what is above it are errors */
#define LS_UNPROTECTED (~0ULL)    /* errorJmp of a main thread without one: above all others */

/* A mapping that grew since it was looked up has not grown by more. */
#define LS_GROWTH_BYTES (64ULL << 20)

/* So long a word that could not be followed is not tried again. */
#define LS_NOWHERE_NS   5000000
#define LS_SMALL_NUMBER 0x10000

/* Chunks to read where nothing says that script runs, and where something does. */
#define LS_CHUNKS_BLIND 12
#define LS_CHUNKS_MAX   64

/* Who is in no hurry may search further. */
#ifndef LS_SEARCH_BLIND
#define LS_SEARCH_BLIND LS_CHUNKS_BLIND
#define LS_SEARCH_MAX   LS_CHUNKS_MAX
#endif

static __always_inline int is_pointer(__u64 word)
{
	return !(word & 7) && word >= LS_USER_MIN && word < LS_USER_MAX;
}

static __always_inline int on_stack(const struct ls_scratch *scratch, __u64 address)
{
	return address >= scratch->sp && address < scratch->search.high && !(address & 7);
}

/*
 * Copies the lua_State at `address` into `copy`. 0, or 1: it is none that could run. A coroutine
 * that died by an error keeps the calls that it died in: whoever resumes it is told so, under
 * protection (ldo.c, lua_resume). stack_last is of no help: it lags behind a stack that grows.
 */
static __always_inline int read_state(const struct ls_puc_layout *layout, __u64 address, __u8 *copy)
{
	return read_target(copy, layout->state_size, address) || copy[8] != LS_THREAD_TAG ||
	       copy[layout->state_status] > LS_YIELDED ||
	       !is_pointer(ls_word(copy, layout->state_stack)) ||
	       !is_pointer(ls_word(copy, layout->state_ci)) ||
	       !is_pointer(ls_word(copy, layout->state_global));
}

static __always_inline __u64 base_ci_of(const struct ls_puc_layout *layout, const __u8 *copy,
					__u64 state)
{
	return layout->ci_is_array ? ls_word(copy, layout->state_base_ci)
				   : state + layout->state_base_ci;
}

/* Where its errorJmp lies, LS_UNPROTECTED, or 0: it does not run on this stack. */
static __always_inline __u64 activity_of(const struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, const __u8 *copy,
					 __u64 state, __u64 main_thread)
{
	__u64 error_jump = ls_word(copy, layout->state_error_jump);

	if (on_stack(scratch, error_jump))
		return error_jump;
	if (error_jump || state != main_thread || copy[layout->state_status])
		return 0;
	return ls_word(copy, layout->state_ci) != base_ci_of(layout, copy, state) ? LS_UNPROTECTED
										  : 0;
}

struct ls_insertion {
	struct ls_scratch *scratch;
	struct ls_active carried; /* what is still to find its place */
};

/* Looks at one place of the chain; 1: done. */
static long insert_active(__u32 i, void *context)
{
	struct ls_insertion *insertion = context;
	struct ls_active *place = &insertion->scratch->chain[i % LS_CHAIN_MAX];
	struct ls_active there = *place;

	if (i >= insertion->scratch->chain_count) {
		*place = insertion->carried;
		insertion->scratch->chain_count = i + 1;
		insertion->carried.state = 0;
		return 1;
	}
	if (there.state == insertion->carried.state) {
		insertion->carried.state = 0;
		return 1;
	}
	if (insertion->carried.error_jump < there.error_jump) {
		*place = insertion->carried;
		insertion->carried = there;
	}
	return 0;
}
LS_STEP(insert_active);

/* Keeps the chain in order of errorJmp, the lowest first; one state stands in it once. */
static __always_inline void add_active(struct ls_scratch *scratch, __u64 state, __u64 error_jump,
				       __u64 ci, __u64 main_thread)
{
	struct ls_insertion insertion = {
		.scratch = scratch,
		.carried = {.state = state,
			    .error_jump = error_jump,
			    .ci = ci,
			    .main_thread = main_thread},
	};

	repeat(LS_CHAIN_MAX, insert_active, &insertion);
	if (insertion.carried.state && !scratch->search.is_shared)
		scratch->search.is_cut = 1; /* the outermost fell off */
}

/* The VM's main thread by its global_State, if that is one. 0: it is none. */
static __always_inline __u64 main_thread_of(const struct ls_puc_layout *layout, __u64 global)
{
	__u64 main_thread = global + layout->global_main_thread, head;

	if (!layout->main_thread_is_embedded &&
	    read_target(&main_thread, sizeof(main_thread), main_thread))
		return 0;
	if (!is_pointer(main_thread) || read_target(&head, sizeof(head), main_thread + 8) ||
	    (head & 0xff) != LS_THREAD_TAG)
		return 0;
	return main_thread;
}

/*
 * Adds a main thread that is active without having been met on the stack. It tells how far up its
 * coroutines can lie. An unprotected one has to be met itself. 1: it was added.
 */
static __always_inline int add_protected(struct ls_scratch *scratch,
					 const struct ls_puc_layout *layout, __u64 state,
					 __u64 main_thread)
{
	__u64 error_jump;

	if (read_state(layout, state, scratch->other_state))
		return 0;
	error_jump = ls_word(scratch->other_state, layout->state_error_jump);
	if (!on_stack(scratch, error_jump))
		return 0;
	add_active(scratch, state, error_jump, ls_word(scratch->other_state, layout->state_ci),
		   main_thread);
	return 1;
}

/* Where a word is remembered that has been considered. */
static __always_inline __u32 place_of(__u64 word)
{
	return (word >> 4 ^ word >> 12) % LS_SEEN_MAX;
}

/*
 * What tells the kind of an object. Pairs of small numbers that look like a pointer lie about on
 * every stack, and each costs a page fault, ten times a read: one that could not be followed is
 * left alone for a moment. Not so what may well be a pointer: its page may only just be away.
 */
static __always_inline long read_head(struct ls_scratch *scratch, __u64 address, __u64 *head)
{
	__u64 word = address ^ (__u64)scratch->tgid << 48;
	struct ls_nowhere *nowhere = &scratch->nowhere[(word >> 3 ^ word >> 32) % LS_NOWHERE_MAX];

	if (nowhere->word == word && scratch->now_ns - nowhere->time_ns < LS_NOWHERE_NS)
		return 1;
	if (!read_target(head, sizeof(*head), address + 8))
		return 0;
	if ((__u32)address < LS_SMALL_NUMBER) {
		nowhere->word = word;
		nowhere->time_ns = scratch->now_ns;
	}
	return 1;
}

/* A pointer found somewhere: is it an active state? Verified once, for all its callers. */
__noinline int consider(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
			__u64 address)
{
	__u64 head, global, main_thread, error_jump;

	if (!scratch || !layout)
		return 0;
	if (read_head(scratch, address, &head) || (head & 0xff) != LS_THREAD_TAG)
		return 0;
	/* Every chunk that has it is to know. */
	scratch->search.states_met++;
	scratch->search.seen_in[place_of(address)] = 0;
	if (read_state(layout, address, scratch->other_state))
		return 0;
	error_jump = ls_word(scratch->other_state, layout->state_error_jump);
	if (error_jump && !on_stack(scratch, error_jump)) {
		if (error_jump - scratch->search.high < LS_GROWTH_BYTES)
			scratch->search.is_beyond = 1;
		return 0;
	}
	global = ls_word(scratch->other_state, layout->state_global);
	main_thread = main_thread_of(layout, global);
	if (!main_thread)
		return 0;
	error_jump = activity_of(scratch, layout, scratch->other_state, address, main_thread);
	if (!error_jump)
		return 0;
	add_active(scratch, address, error_jump, ls_word(scratch->other_state, layout->state_ci),
		   main_thread);
	if (address == main_thread)
		scratch->search.rooted = 1;
	else if (!scratch->search.is_shared && !scratch->search.rooted &&
		 scratch->search.global != global)
		scratch->search.rooted = add_protected(scratch, layout, main_thread, main_thread);
	scratch->search.global = global;
	return 1;
}

static long consider_candidate(__u32 i, void *context)
{
	const struct ls_pass *pass = context;

	consider(pass->scratch, pass->layout, pass->scratch->search.candidates[i % LS_CHUNK_WORDS]);
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

/* Notes a word that may point to a state, once. */
static __always_inline void note_word(struct ls_search *search, __u64 word)
{
	__u32 slot;

	if (!is_pointer(word))
		return;
	for (__u32 i = 0; i < LS_BARREN_RANGES; i++)
		if (word >= search->barren[i].low && word < search->barren[i].high)
			return;
	slot = place_of(word);
	if (search->seen[slot] == word && search->seen_in[slot] == search->generation)
		return;
	search->seen[slot] = word;
	search->seen_in[slot] = search->generation;
	search->candidates[search->candidate_count % LS_CHUNK_WORDS] = word;
	search->candidate_count++;
}

static long note_words(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_search *search = &pass->scratch->search;

	for (__u32 j = 0; j < 4; j++)
		note_word(search, search->chunk[(i * 4 + j) % LS_CHUNK_WORDS]);
	return 0;
}
LS_STEP(note_words);

/*
 * Where other stacks may follow, those who resumed each other lie close together, and what lies
 * far above the last of them is another stack's. Verified once, for all its callers.
 */
__noinline int is_other_stack(const struct ls_scratch *scratch)
{
	const struct ls_active *chain;
	__u64 end;
	int is_main;

	if (!scratch)
		return 0;
	chain = scratch->chain;
	end = chain[0].error_jump;
	is_main = chain[0].state == chain[0].main_thread;
	if (end == LS_UNPROTECTED)
		return scratch->search.chunks_read >= LS_CHUNKS_BLIND;
	for (__u32 i = 1; i < LS_CHAIN_MAX; i++) {
		if (i >= scratch->chain_count || is_main ||
		    chain[i].error_jump > end + LS_FAR_BYTES)
			break;
		end = chain[i].error_jump;
		is_main = chain[i].state == chain[i].main_thread;
	}
	return scratch->search.address > end + (is_main ? 0 : LS_FAR_BYTES);
}

/* Nothing that matters lies above the main thread's own errorJmp, once that is known. */
static __always_inline int is_found(const struct ls_scratch *scratch)
{
	__u32 last = scratch->chain_count - 1;

	if (scratch->search.is_cut)
		return 1;
	if (scratch->search.is_shared)
		return scratch->chain_count && is_other_stack(scratch);
	return scratch->search.rooted && last < LS_CHAIN_MAX &&
	       scratch->chain[last].error_jump < scratch->search.address;
}

/* Of the whole chunk that was read; four at a time, for each waits for the one before. */
__noinline __u64 hash_chunk(const struct ls_scratch *scratch)
{
	const __u64 factor = 0x9e3779b97f4a7c15ULL; /* odd, or bits were lost */
	__u64 a, b, c, d;

	if (!scratch)
		return 0;
	a = b = c = d = scratch->tgid;
	for (__u32 i = 0; i < LS_CHUNK_WORDS; i += 4) {
		a = (a ^ scratch->search.chunk[i]) * factor;
		b = (b ^ scratch->search.chunk[i + 1]) * factor;
		c = (c ^ scratch->search.chunk[i + 2]) * factor;
		d = (d ^ scratch->search.chunk[i + 3]) * factor;
	}
	return ls_fold(ls_fold(ls_fold(a, b), c), d);
}

/*
 * Looks through the chunk that was read. One that had no pointer to a state when it was the same is
 * passed over: what a state's frames keep of it is written when it begins to run, as is its
 * errorJmp. So a thread that works far from Lua pays for what changes on its stack alone.
 */
static __always_inline void look_through_chunk(struct ls_pass *pass, __u32 size)
{
	struct ls_scratch *scratch = pass->scratch;
	__u64 address = scratch->search.address;
	struct ls_quiet *quiet =
		&scratch->quiet[(address / LS_CHUNK_BYTES ^ scratch->tgid) % LS_QUIET_MAX];
	__u64 hash = size == LS_CHUNK_BYTES ? hash_chunk(scratch) : 0;

	if (hash && quiet->hash == hash && quiet->address == address)
		return;
	scratch->search.states_met = 0;
	repeat((size + 31) / 32, note_words, pass);
	consider_noted(pass);
	if (scratch->search.states_met)
		return;
	quiet->address = address;
	quiet->hash = hash;
}

static long scan_chunk(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_search *search = &pass->scratch->search;
	__u64 next = (search->address | (LS_CHUNK_BYTES - 1)) + 1;
	__u32 size;

	if (search->address >= search->end || is_found(pass->scratch))
		return 1;
	if (next > search->end)
		next = search->end;
	size = next - search->address;
	if (size > LS_CHUNK_BYTES)
		return 1;
	search->chunks_read++;
	if (size && !read_target(search->chunk, size, search->address))
		look_through_chunk(pass, size);
	search->address = next;
	return 0;
}
LS_STEP(scan_chunk);

/* Scans from where the search stands to `end`, at most `chunks` of them. */
__noinline int scan_stack(struct ls_scratch *scratch, const struct ls_puc_layout *layout, __u64 end,
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

__noinline int scan_registers(struct ls_scratch *scratch, const struct ls_puc_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout)
		return 0;
	repeat(scratch->register_count, note_register, &pass);
	consider_noted(&pass);
	return 0;
}

static __always_inline void search_begin(struct ls_scratch *scratch, const struct ls_thread *thread)
{
	struct ls_search *search = &scratch->search;

	search->high = thread->stack_high;
	search->address = scratch->sp;
	search->barren[0].low = scratch->sp;
	search->barren[0].high = thread->own_stack ? thread->stack_high : 0;
	search->generation++;
	search->candidate_count = 0;
	search->chunks_read = 0;
	search->global = 0;
	search->rooted = 0;
	search->is_cut = 0;
	search->is_shared = !thread->own_stack;
}

/*
 * Fills scratch->chain from nothing but this sample. LS_WALK_NONE or what is wrong. A root that
 * the last sample saw may still be active: then script runs for certain, and its errorJmp says how
 * far up.
 */
static __always_inline int search_stack(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout,
					struct ls_thread *thread)
{
	__u32 last;
	int known = 0;

	if (!scratch || !layout || !thread)
		return LS_WALK_NO_SCRIPT;
	scratch->chain_count = 0;
	/* Side by side with others, it may well be active on another stack. */
	if (thread->root.state && thread->own_stack)
		known = add_protected(scratch, layout, thread->root.state,
				      thread->root.main_thread);
	scan_registers(scratch, layout);
	scan_stack(scratch, layout, scratch->search.high, LS_SEARCH_BLIND);
	if (scratch->chain_count && !is_found(scratch))
		scan_stack(scratch, layout, scratch->search.high, LS_SEARCH_MAX - LS_SEARCH_BLIND);
	if (!scratch->chain_count)
		return LS_WALK_NO_SCRIPT;
	last = scratch->chain_count - 1;
	if (known && !is_found(scratch) && last < LS_CHAIN_MAX &&
	    scratch->search.address < scratch->search.high &&
	    scratch->search.address < scratch->chain[last].error_jump)
		return LS_WALK_STATE_BEYOND;
	return LS_WALK_NONE;
}

struct ls_recall {
	struct ls_scratch *scratch;
	const struct ls_puc_layout *layout;
	const struct ls_thread *thread;
	__u32 stands;
};

/* One link of the last sample's chain, the root first; 1: it has moved. */
static long recall_active(__u32 i, void *context)
{
	struct ls_recall *recall = context;
	struct ls_scratch *scratch = recall->scratch;
	const struct ls_puc_layout *layout = recall->layout;
	__u32 at = (recall->thread->chain_count - 1 - i) % LS_CHAIN_MAX;
	const struct ls_active *active = &recall->thread->chain[at];
	__u64 error_jump, ci;

	scratch->state_address = 0;
	if (read_state(layout, active->state, scratch->state))
		return 1;
	scratch->state_address = active->state;
	error_jump = ls_word(scratch->state, layout->state_error_jump);
	ci = ls_word(scratch->state, layout->state_ci);
	if (active->error_jump == LS_UNPROTECTED) {
		if (error_jump)
			return 1;
	} else if (error_jump != active->error_jump || !on_stack(scratch, error_jump)) {
		return 1;
	}
	if (at && ci != active->ci)
		return 1;
	scratch->chain[at] = *active;
	scratch->chain[at].ci = ci;
	recall->stands++;
	return 0;
}
LS_STEP(recall_active);

/*
 * The last sample's chain decides alone only if nothing in it has moved: every resumer stands at
 * the same call under the same errorJmp, and the running state has the same errorJmp. Whether the
 * running one has resumed another since is for the caller to rule out: only a C function or a hook
 * can have done so. Leaves the running state's copy in scratch->state.
 */
__noinline int chain_stands(struct ls_scratch *scratch, const struct ls_puc_layout *layout,
			    struct ls_thread *thread)
{
	struct ls_recall recall = {.scratch = scratch, .layout = layout, .thread = thread};
	__u32 count;

	if (!scratch || !layout || !thread)
		return 0;
	count = thread->chain_count;
	if (!count || count > LS_CHAIN_MAX)
		return 0;
	repeat(count, recall_active, &recall);
	scratch->chain_count = count;
	return recall.stands == count;
}

/*
 * Adds the deeper states that appeared between SP and the chain that stands. LS_WALK_NONE, or
 * LS_WALK_STATE_BEYOND: there is too much in between to say.
 */
static __always_inline int search_below(struct ls_scratch *scratch,
					const struct ls_puc_layout *layout)
{
	__u64 end = scratch->chain[0].error_jump;

	scratch->search.rooted = 1;
	scan_registers(scratch, layout);
	scan_stack(scratch, layout, end == LS_UNPROTECTED ? scratch->search.high : end,
		   LS_CHUNKS_MAX);
	return end != LS_UNPROTECTED && !scratch->search.is_cut && scratch->search.address < end
		       ? LS_WALK_STATE_BEYOND
		       : LS_WALK_NONE;
}

#endif
