/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the active states runs on this native stack, and which one resumed which.
 *
 * A state that has resumed another one is in a C function: coroutine.resume, or one of the program.
 * So if one state has a Lua function on top, that state runs. If all are in C functions, the one
 * runs that holds no other: coroutine.resume has the coroutine as its argument, the function that
 * coroutine.wrap makes has it as an upvalue. Likewise the resumer of a state is the one that holds
 * it. A scheduler in C++ holds nothing; then the resumer is known if one state is left that holds
 * no other either, or if the counts of nested C calls show it. They do not if the scheduler calls
 * lua_resume(L, NULL, ...), which starts them anew.
 *
 * While other threads exist, a state that this stack merely has a pointer to may be active on
 * another one. A state that runs here has left more: the VM keeps, in registers or in its frames,
 * pointers to its values and calls, or to the instruction after the running call.
 * What such words prove: state_holder.bpf.h.
 *
 * What remains in doubt is not shown: the stack ends there, or no state is taken.
 */
#ifndef LS_ORDER_LUAU_BPF_H
#define LS_ORDER_LUAU_BPF_H

#include "luau/find_state_luau.bpf.h"
#include "machine.bpf.h"
#include "state_holder.bpf.h"

/*
 * 1 if the words are equal, else 0. There is no branch: in a loop over the chain, the verifier of
 * Linux 6.1 would follow each combination of the answers.
 */
static __always_inline __u64 are_equal(__u64 one, __u64 other)
{
	__u64 difference = one - other;

	return ~(difference | -difference) >> 63;
}

static __always_inline int is_single(__u32 bits)
{
	return bits && !(bits & (bits - 1));
}

/* Whether that word begins a value that is a thread. A word alone may be what one has left. */
static __always_inline bool is_thread_held(const struct ls_scratch *scratch, __u32 i)
{
	const struct ls_luau_order *order = &scratch->order;
	__u32 type_at = ls_luau_type_at(scratch->other_sizes.value);
	__u32 type_word = i + type_at / 8;

	if (i < LS_ARGUMENT_WORDS ? type_word >= order->argument_words
				  : type_word >= LS_ARGUMENT_WORDS + order->upvalue_words)
		return false;
	return (__u32)(order->held[type_word % LS_HELD_WORDS] >> (type_at % 8 * 8)) ==
	       scratch->other_sizes.thread;
}

/* Compares one word that a C function holds with the states of the chain. */
static long note_held(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_luau_order *order = &scratch->order;
	__u64 word = order->held[i % LS_HELD_WORDS];
	__u32 held = 0;

	/* A word of zeros would match the unused part of the chain. */
	if (!word || !is_thread_held(scratch, i))
		return 0;
	for (__u32 j = 0; j < LS_CHAIN_MAX; j++)
		held |= (__u32)are_equal(scratch->chain[j].state, word) << j;
	order->links[order->at % LS_CHAIN_MAX].holds |= held;
	return 0;
}
LS_STEP(note_held);

/*
 * Notes which states the C function with that closure holds. It runs in scratch->other_state. Reads
 * the closure's upvalues and the names before them.
 */
static __always_inline void note_holding(struct ls_pass *pass, __u64 closure, __u8 upvalues)
{
	struct ls_luau_order *order = &pass->scratch->order;
	const struct ls_luau_state *state = &pass->scratch->other_state;
	__u64 size = state->top > state->base ? state->top - state->base : 0;

	if (size > LS_ARGUMENT_WORDS * 8)
		size = LS_ARGUMENT_WORDS * 8;
	order->argument_words = size / 8;
	if (size && read_target(order->held, size, state->base + pass->scratch->other_sizes.moved))
		order->argument_words = 0;
	order->upvalue_words = upvalues ? LS_UPVALUE_WORDS : 0;
	if (upvalues && read_target(order->held + LS_ARGUMENT_WORDS, LS_UPVALUE_WORDS * 8,
				    closure + LS_LUAU_FIRST_UPVALUE))
		order->upvalue_words = 0;
	repeat(LS_ARGUMENT_WORDS + LS_UPVALUE_WORDS, note_held, pass);
}

/*
 * Returns the running call of scratch->other_state, which is below L->ci if the call there has not
 * begun (has_begun()). Notes where the call below L->ci goes on.
 */
static __always_inline __u64 running_call(struct ls_scratch *scratch, struct ls_luau_link *link)
{
	const struct ls_luau_state *state = &scratch->other_state;
	__u32 size = scratch->other_sizes.ci == 48 ? 48 : 40;
	__u64 below = state->ci - size, base;

	if (state->ci <= state->base_ci || read_target(scratch->call, size, below))
		return state->ci;
	base = ls_luau_word(scratch->call, LS_LUAU_CI_BASE);
	link->pc = ls_luau_word(scratch->call, size - LS_LUAU_CI_FROM_SAVEDPC);
	if (link->pc < LS_USER_MIN)
		link->pc = 0;
	return below > state->base_ci && !has_begun(state, base) ? below : state->ci;
}

/* Fills in the link of a state. One that is no longer active gets no place. */
static long describe_link(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_luau_order *order = &scratch->order;
	struct ls_luau_link *link = &order->links[i % LS_CHAIN_MAX];
	struct ls_luau_state *state = &scratch->other_state;
	struct ls_active *active = &scratch->chain[i % LS_CHAIN_MAX];
	__u64 ci, func, closure, head;

	order->at = i;
	if (read_active(active->state, state, &scratch->other_sizes))
		return 0;
	link->global = state->global;
	link->thread = scratch->other_sizes.thread;
	for (__u32 j = 0; j < LS_UNSETTLED_MAX; j++)
		scratch->unsettled.is_here |=
			are_equal(scratch->unsettled.globals[j], state->global);
	order->left |= 1U << (i & 31);
	link->stack = state->stack;
	link->stack_end = state->stack_last + scratch->other_sizes.moved;
	link->c_calls = state->c_calls;
	link->base_c_calls = state->base_c_calls;
	link->ci_low = state->base_ci;
	link->ci_high = state->end_ci;
	ci = running_call(scratch, link);
	if (read_target(&func, sizeof(func), ci + LS_LUAU_CI_FUNC) ||
	    read_target(&closure, sizeof(closure), func + scratch->other_sizes.moved) ||
	    read_target(&head, sizeof(head), closure))
		return 0;
	if ((__u8)head != scratch->other_sizes.thread - scratch->types.function)
		return 0;
	if (!(head >> (8 * LS_LUAU_CLOSURE_IS_C) & 0xff))
		order->lua |= 1U << (i & 31);
	else
		note_holding(pass, closure, head >> (8 * LS_LUAU_CLOSURE_UPVALUES) & 0xff);
	link->holds &= ~(1U << (i & 31));
	return 0;
}
LS_STEP(describe_link);

/* Removes a state that belongs to no VM. */
static long check_vm(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_luau_order *order = &scratch->order;
	struct ls_luau_link *link = &order->links[i % LS_CHAIN_MAX];
	struct ls_active *active = &scratch->chain[i % LS_CHAIN_MAX];

	if (!(order->left >> (i & 31) & 1))
		return 0;
	active->main_thread = main_thread_of(scratch, link->global, link->thread);
	if (active->main_thread)
		return 0;
	order->left &= ~(1U << (i & 31));
	order->lua &= ~(1U << (i & 31));
	*link = (struct ls_luau_link){};
	return 0;
}
LS_STEP(check_vm);

/* Returns 1 if the VM keeps such a word while it runs the state, else 0, without a branch. */
static __always_inline __u32 is_of_link(const struct ls_luau_link *link, __u64 word)
{
	return (lies_in(word, link->stack, link->stack_end) |
		lies_in(word, link->ci_low, link->ci_high)) >>
		       63 |
	       (are_equal(word, link->pc) & ~are_equal(link->pc, 0));
}

/* Returns a bit for each state of the chain for which the VM keeps such a word. */
static __always_inline __u32 links_of(const struct ls_luau_order *order, __u64 word)
{
	__u32 links = 0;

	for (__u32 j = 0; j < LS_CHAIN_MAX; j++)
		links |= is_of_link(&order->links[j], word) << j;
	return links;
}

static long weigh_register(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_luau_order *order = &scratch->order;
	__u32 links = links_of(order, scratch->registers[i % LS_REGISTER_MAX]);

	order->here |= links;
	if (is_callee_saved(i))
		order->in_register |= links;
	return 0;
}
LS_STEP(weigh_register);

static long weigh_stack_word(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;

	scratch->order.here |= links_of(&scratch->order, scratch->search.chunk[i % LS_CHUNK_WORDS]);
	return 0;
}
LS_STEP(weigh_stack_word);

static long weigh_chunk(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_luau_order *order = &scratch->order;
	__u64 next = (order->address | (LS_CHUNK_BYTES - 1)) + 1;
	__u32 size;

	if (order->address >= scratch->search.high || !(order->left & ~order->here))
		return 1;
	if (next > scratch->search.high)
		next = scratch->search.high;
	size = next - order->address;
	if (size > LS_CHUNK_BYTES)
		return 1;
	if (size && !read_target(scratch->search.chunk, size, order->address))
		repeat(size / 8, weigh_stack_word, pass);
	order->address = next;
	return 0;
}
LS_STEP(weigh_chunk);

/* Removes a state from those that run here if another thread may run it. */
static long check_holder(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_luau_order *order = &scratch->order;
	__u32 bit = 1U << (i & 31);

	if (!(order->left & bit) ||
	    is_run_by_this_thread(scratch, scratch->chain[i % LS_CHAIN_MAX].state,
				  !!(order->here & bit), !!(order->in_register & bit),
				  !scratch->search.is_shared))
		return 0;
	order->unsure |= order->here & bit;
	order->here &= ~bit;
	return 0;
}
LS_STEP(check_holder);

/* Finds out which states run here: all that are active, unless there are other threads. */
static __always_inline void weigh_stack(struct ls_pass *pass)
{
	struct ls_scratch *scratch = pass->scratch;
	struct ls_luau_order *order = &scratch->order;

	order->here = order->left;
	order->unsure = 0;
	if (scratch->own_ns && !scratch->search.is_shared)
		return;
	order->here = 0;
	order->in_register = 0;
	order->address = scratch->sp;
	repeat(scratch->register_count, weigh_register, pass);
	repeat(LS_CHUNKS_MAX, weigh_chunk, pass);
	order->here &= order->left;
	repeat(scratch->chain_count, check_holder, pass);
}

static long note_resumer(__u32 i, void *context)
{
	struct ls_luau_order *order = &((const struct ls_pass *)context)->scratch->order;
	__u32 bit = 1U << (i & 31);

	if (order->left & bit && order->links[i % LS_CHAIN_MAX].holds & order->left)
		order->resumers |= bit;
	return 0;
}
LS_STEP(note_resumer);

/*
 * lua_resume() starts a state's count of nested C calls at one more than its resumer's, if it is
 * told the resumer.
 */
static __always_inline __u32 is_nested_in(const struct ls_luau_link *link,
					  const struct ls_luau_link *resumer)
{
	return are_equal(link->base_c_calls, resumer->c_calls + 1ULL);
}

/* Notes whether a state of order->among counts its C calls from this one. */
static long note_nesting(__u32 i, void *context)
{
	struct ls_luau_order *order = &((const struct ls_pass *)context)->scratch->order;
	const struct ls_luau_link *link = &order->links[i % LS_CHAIN_MAX];
	__u32 has_nested = 0;

	for (__u32 j = 0; j < LS_CHAIN_MAX; j++)
		has_nested |= order->among >> j & is_nested_in(&order->links[j], link);
	order->nested |= has_nested << (i & 31);
	return 0;
}
LS_STEP(note_nesting);

/* Returns the states from which one of `among` counts its C calls. */
static __always_inline __u32 resumers_by_nesting(struct ls_pass *pass, __u32 among)
{
	struct ls_luau_order *order = &pass->scratch->order;

	order->among = among;
	order->nested = 0;
	repeat(pass->scratch->chain_count, note_nesting, pass);
	return order->nested;
}

/* Returns the bit of the state that runs; 0: none does here; more than one: in doubt. */
static __always_inline __u32 running_state(struct ls_pass *pass)
{
	struct ls_scratch *scratch = pass->scratch;
	struct ls_luau_order *order = &scratch->order;
	__u32 rest;

	if (order->lua & order->here)
		return order->lua & order->here;
	order->resumers = 0;
	repeat(scratch->chain_count, note_resumer, pass);
	rest = order->here & ~order->resumers & ~order->lua;
	if (is_single(rest))
		return rest;
	return rest & ~resumers_by_nesting(pass, rest);
}

static __always_inline __u32 index_of(__u32 bit)
{
	__u32 index = 0;

	for (__u32 i = 0; i < LS_CHAIN_MAX; i++)
		index |= i * (__u32)are_equal(bit, 1U << i);
	return index;
}

static __always_inline void place_state(struct ls_scratch *scratch, __u32 bit)
{
	struct ls_luau_order *order = &scratch->order;
	__u32 index = index_of(bit), at = order->count;

	if (at >= LS_CHAIN_MAX)
		return;
	order->sorted[at] = scratch->chain[index % LS_CHAIN_MAX];
	order->count = at + 1;
	order->callee = index;
	order->left &= ~bit;
	order->here &= ~bit;
}

static long note_holder(__u32 i, void *context)
{
	struct ls_luau_order *order = &((const struct ls_pass *)context)->scratch->order;
	__u32 bit = 1U << (i & 31);

	if (!(order->left & bit))
		return 0;
	if (order->links[i % LS_CHAIN_MAX].holds >> (order->callee & 31) & 1)
		order->resumers |= bit;
	if (!order->links[i % LS_CHAIN_MAX].holds)
		order->free |= bit;
	return 0;
}
LS_STEP(note_holder);

/* Places the resumer of the last state. 1: none is left, or it is not known. */
static long place_resumer(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	struct ls_scratch *scratch = pass->scratch;
	struct ls_luau_order *order = &scratch->order;
	__u32 resumer;

	order->resumers = 0;
	order->free = 0;
	repeat(scratch->chain_count, note_holder, pass);
	resumer = order->resumers;
	if (!resumer)
		resumer = order->here & ~order->lua & order->free;
	if (resumer && !is_single(resumer))
		resumer &= resumers_by_nesting(pass, 1U << (order->callee & 31));
	if (!is_single(resumer)) {
		scratch->search.is_cut |= !!((order->here | order->unsure) & ~order->lua);
		return 1;
	}
	place_state(scratch, resumer);
	return 0;
}
LS_STEP(place_resumer);

/* Clears what an earlier, longer chain has left behind. */
static long clear_link(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;

	scratch->order.links[i % LS_CHAIN_MAX] = (struct ls_luau_link){};
	if (i >= scratch->chain_count)
		scratch->chain[i % LS_CHAIN_MAX].state = 0;
	return 0;
}
LS_STEP(clear_link);

/* Puts scratch->chain in order, the running state first. LS_WALK_NONE or the error. */
__noinline int order_chain(struct ls_scratch *scratch, const struct ls_luau_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_luau_order *order;
	__u32 running;

	if (!scratch || !layout)
		return LS_WALK_NO_SCRIPT;
	order = &scratch->order;
	order->left = 0;
	order->lua = 0;
	order->count = 0;
	repeat(LS_CHAIN_MAX, clear_link, &pass);
	repeat(scratch->chain_count, describe_link, &pass);
	repeat(scratch->chain_count, check_vm, &pass);
	weigh_stack(&pass);
	if (!order->left)
		return LS_WALK_NO_SCRIPT;
	running = running_state(&pass);
	if (!is_single(running))
		return running || order->unsure || order->left & ~order->lua ? LS_WALK_STACK_OWNER
									     : LS_WALK_NO_SCRIPT;
	place_state(scratch, running);
	repeat(LS_CHAIN_MAX, place_resumer, &pass);
	__builtin_memcpy(scratch->chain, order->sorted, sizeof(scratch->chain));
	scratch->chain_count = order->count;
	return LS_WALK_NONE;
}

#endif
