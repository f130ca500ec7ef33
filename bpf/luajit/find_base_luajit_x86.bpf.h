/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds BASE in the VM and in its helpers on x86-64 (vm_x64.dasc, vm_x86.dasc): BASE is in rdx, PC
 * in rbx. C code does not preserve rdx. So before the VM calls a helper, it stores BASE in L->base,
 * or if the helper takes no L, moves it to rbp. L->base is stale then, and may well look right.
 */
#ifndef LS_FIND_BASE_LUAJIT_X86_BPF_H
#define LS_FIND_BASE_LUAJIT_X86_BPF_H

/* Registers in struct pt_regs, asm/ptrace.h, x86-64. */
#define LS_RBP 4
#define LS_RBX 5
#define LS_RAX 10
#define LS_RCX 11
#define LS_RDX 12

#define LS_VM_PC LS_RBX

#include "luajit/base_candidate_luajit.bpf.h"

/*
 * The VM returns to C code (vm_return): it has set the state already, and turns PC from the link
 * into the base of the C function that called it. Returns that base, or 0 if it does not return.
 */
static __always_inline __u64 base_to_return_to(const struct ls_scratch *scratch, __u64 base,
					       __u64 pc)
{
	if (scratch->global.vm_state != LS_LUAJIT_IN_C)
		return 0;
	if (pc < LS_LINK_MAX)
		return base - (pc & ~LS_LINK_FLAGS);
#ifdef LS_NARROW
	return is_base(&scratch->walk, (__u32)-pc) ? (__u32)-pc : pc;
#else
	return -pc < LS_USER_MAX ? -pc : pc;
#endif
}

/*
 * Whether the function at BASE is a result: a builtin stores its first result over itself, and that
 * may be a function, as pairs() returns next(). The result comes from RD (rax) or RB (rbp), with
 * its type; if the function runs, neither has a value with a type. If a link is half a slot, the
 * type is stored over it, before the function.
 */
static __always_inline bool is_result(const struct ls_scratch *scratch)
{
	__u64 value = scratch->base.candidate.value;

#ifdef LS_NARROW
	return scratch->base.candidate.link == LS_LUAJIT_TYPE(LS_LUAJIT_FUNCTION);
#endif
	return scratch->base.candidate.is_function && !scratch->base.candidate.is_lua &&
	       (scratch->registers[LS_RAX] == value || scratch->registers[LS_RBP] == value);
}

/*
 * The candidate at BASE does not hold PC, which is a distance: the VM calls or leaves a function
 * that C code, pcall() or a metamethod called. Between moving BASE and storing the link, BASE is in
 * RA (rcx) as well.
 */
static __always_inline int find_by_distance(struct ls_scratch *scratch, __u64 base, __u64 distance)
{
	const struct ls_base_candidate *candidate = &scratch->base.candidate;
	__u64 caller = base - (distance & ~LS_LINK_FLAGS);

	if (((scratch->registers[LS_RCX] == base && candidate->link != distance) ||
	     is_result(scratch)) &&
	    read_candidate(scratch, caller))
		return found(scratch, caller, 0);
	return read_candidate(scratch, base) ? found(scratch, base, 0) : LS_WALK_FRAME_FUNCTION;
}

/*
 * The candidate at BASE does not hold PC, which is in bytecode: the function there is about to be
 * called or to return, and its caller holds PC. Or it is being replaced by a tail call, and its
 * callee is at RA (rcx), above BASE, until it has been moved down.
 */
static __always_inline int find_by_instruction(struct ls_scratch *scratch, __u64 base, __u64 pc,
					       bool is_function)
{
	const struct ls_base_candidate *candidate = &scratch->base.candidate;
	__u64 from = scratch->registers[LS_RCX], caller;

	if (is_function && from > base && is_base(&scratch->walk, from))
		return found(scratch, base, 0);
	caller = caller_by(base, pc);
	if (read_candidate(scratch, caller) && candidate->is_lua && holds_pc(candidate, pc))
		return found(scratch, caller, pc);
	return LS_WALK_FRAME_FUNCTION;
}

/*
 * The VM is about to call a helper, or just has: rdx is an argument or a leftover, BASE is in rbp
 * or saved in L->base, and PC is live. Returns LS_WALK_NONE or the error.
 */
static __always_inline int find_around_helper(struct ls_scratch *scratch, __u64 pc)
{
	const struct ls_base_candidate *candidate = &scratch->base.candidate;
	__u64 base = scratch->registers[LS_RBP];

	if (read_candidate(scratch, base) && holds_pc(candidate, pc))
		return found(scratch, base, candidate->is_lua ? pc : 0);
	base = scratch->state.base;
	if (read_candidate(scratch, base) && holds_pc(candidate, pc))
		return found(scratch, base, candidate->is_lua ? pc : 0);
	return LS_WALK_FRAME_FUNCTION;
}

/* SP is at the VM's C frame. Returns LS_WALK_NONE or the error. */
static __always_inline int find_base_in_vm(struct ls_scratch *scratch)
{
	const struct ls_base_candidate *candidate = &scratch->base.candidate;
	__u64 base = scratch->registers[LS_RDX], pc = scratch->registers[LS_RBX], caller;
	bool is_function = read_candidate(scratch, base);
	int error = LS_WALK_FRAME_FUNCTION;

	if (is_function && holds_pc(candidate, pc))
		return found(scratch, base, candidate->is_lua ? pc : 0);
	caller = base_to_return_to(scratch, base, pc);
	if (caller == scratch->walk.stack + LS_FRAME_BYTES ||
	    (caller && read_candidate(scratch, caller)))
		return found(scratch, caller, 0);
	if (pc < LS_LINK_MAX) {
		read_candidate(scratch, base);
		error = find_by_distance(scratch, base, pc);
	} else if (!(pc & 3)) {
		error = find_by_instruction(scratch, base, pc, is_function);
	}
	if (error)
		error = find_around_helper(scratch, pc);
	return error ? find_c_function(scratch) : error;
}

/*
 * Considers a word that may be rbp, saved by the helper, from the VM's frame downward. rbp is BASE,
 * or L if the VM has saved BASE in L->base. Returns true if it was found.
 */
static __always_inline bool weigh_word(struct ls_pass *pass, __u64 word)
{
	struct ls_scratch *scratch = pass->scratch;

	scratch->base.is_of_state |= word == scratch->chain[0].state;
	if (!is_base(&scratch->walk, word) || !read_candidate(scratch, word) ||
	    !has_live_pc(scratch, pass->layout))
		return false;
	scratch->base.base = word;
	return true;
}

static long weigh_saved_word(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	__u32 at = pass->scratch->base.word_count - 1 - i;

	return weigh_word(pass, pass->scratch->base.words[at % LS_NATIVE_WORDS]);
}
LS_STEP(weigh_saved_word);

/*
 * Takes L->base, unless BASE was found elsewhere. If both hold PC, in a recursion, L on the native
 * stack shows that the VM has saved BASE in L->base.
 */
static __always_inline int choose_base(struct ls_scratch *scratch,
				       const struct ls_luajit_layout *layout)
{
	struct ls_base_search *search = &scratch->base;
	__u64 base = scratch->state.base, other = search->base, pc = search->pc;
	bool is_function = read_candidate(scratch, base), has_pc;

	has_pc = is_function && has_live_pc(scratch, layout);
	if (other && (!has_pc || !search->is_of_state))
		return found(scratch, other, pc);
	if (is_function || base == scratch->walk.stack + LS_FRAME_BYTES)
		return found(scratch, base, has_pc ? search->pc : scratch->walk.cframe.pc);
	return LS_WALK_FRAME_FUNCTION;
}

/* The VM has called C code as a helper. Returns LS_WALK_NONE or the error. */
static __always_inline int find_base_of_helper(struct ls_scratch *scratch,
					       const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_base_search *search = &scratch->base;

	search->is_of_state = 0;
	search->base = 0;
	read_native_words(scratch);
	/* Subroutines of the VM itself keep its registers, and push only a return address. */
	if (scratch->chain[0].anchor - scratch->sp <= 16 &&
	    read_candidate(scratch, scratch->registers[LS_RDX]) &&
	    holds_pc(&search->candidate, scratch->registers[LS_RBX]))
		return found(scratch, scratch->registers[LS_RDX], scratch->registers[LS_RBX]);
	repeat(search->word_count, weigh_saved_word, &pass);
	if (!search->base)
		weigh_word(&pass, scratch->registers[LS_RBP]);
	return choose_base(scratch, layout);
}

#endif
