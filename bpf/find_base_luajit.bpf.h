/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds BASE, the place of the running function on the stack of values, and PC, its next
 * instruction.
 *
 * The VM keeps both in registers (vm_x64.dasc: BASE in rdx, PC in rbx) and stores them in L->base
 * and in its C frame only before it calls what needs them. So:
 *
 * - SP is at the VM's C frame: the VM itself runs, and both are in their registers.
 * - A trace runs, or what it called: BASE of the function that it began in is in jit_base.
 * - A C function runs, or the collector: L->base.
 * - The VM has called a helper: L->base, or if the helper takes no L, BASE is in rbp, or where the
 *   helper saved rbp. L->base is stale then, and may well look right.
 *
 * Whether a function is at BASE is not enough: a call writes its frame after BASE, and a return
 * copies results over it. So PC decides: it lies in the bytecode of the running function. If it
 * does not, it is the link to the caller, and that runs.
 */
#ifndef LS_FIND_BASE_LUAJIT_BPF_H
#define LS_FIND_BASE_LUAJIT_BPF_H

#include "find_state_luajit.bpf.h"

/* Registers in struct pt_regs, asm/ptrace.h, x86-64. */
#define LS_RBP 4
#define LS_RBX 5
#define LS_RAX 10
#define LS_RCX 11
#define LS_RDX 12

/* A function and a link: two slots (LJ_FR2, lj_arch.h), or the halves of one. */
#define LS_FRAME_BYTES LS_LUAJIT_BYTES(16, 8)
#define LS_LINK_MAX    (1ULL << 24) /* a link that is a distance: below any pointer */
#define LS_VALUE_TYPES 0xffff0000U  /* types of values, LJ_T* of lj_obj.h, that are no numbers */

/* The types of links, lj_frame.h. */
#define LS_LINK_TYPE   3ULL
#define LS_LINK_FLAGS  7ULL
#define LS_LINK_LUA    0
#define LS_LINK_C      1
#define LS_LINK_CONT   2
#define LS_LINK_VARARG 3
#define LS_LINK_PCALL  6 /* with the flags; 7 if a hook is active */

/* The function of a frame that is at `slots`: a value, or a mere reference. */
static __always_inline __u64 function_at(const __u64 *slots)
{
	return LS_LUAJIT_BYTES(slots[0], (__u32)slots[0]);
}

static __always_inline __u64 link_at(const __u64 *slots)
{
	return LS_LUAJIT_BYTES(slots[1], slots[0] >> 32);
}

static __always_inline int is_function_value(__u64 value)
{
	return LS_LUAJIT_BYTES(value >> LS_LUAJIT_TYPE_SHIFT == LS_LUAJIT_TYPE(LS_LUAJIT_FUNCTION),
			       value != 0);
}

/* Whether a frame can be there: above the first two slots, which belong to no function. */
static __always_inline int is_base(const struct ls_walk *walk, __u64 base)
{
	return !(base & 7) && base >= walk->stack + 2 * LS_FRAME_BYTES && base < walk->stack_end;
}

/* Fills scratch->base.candidate with what is at `base`. Returns whether it is a function. */
__noinline int read_candidate(struct ls_scratch *scratch, __u64 base)
{
	struct ls_base_candidate *candidate;
	struct ls_luajit_function function;
	__u32 count;
	__u64 slots[LS_FRAME_BYTES / 8];

	if (!scratch)
		return 0;
	candidate = &scratch->base.candidate;
	candidate->base = base;
	candidate->is_function = 0;
	candidate->is_lua = 0;
	candidate->code = 0;
	candidate->code_end = 0;
	if (!is_base(&scratch->walk, base) ||
	    read_target(slots, sizeof(slots), base - LS_FRAME_BYTES))
		return 0;
	candidate->value = function_at(slots);
	candidate->link = link_at(slots);
	if (!is_function_value(candidate->value) ||
	    read_target(&function, sizeof(function), candidate->value & LS_LUAJIT_ADDRESS) ||
	    function.gct != LS_LUAJIT_FUNCTION)
		return 0;
	candidate->code = function.pc;
	candidate->code_end = function.pc + 4;
	candidate->is_lua = function.ffid == LS_LUAJIT_FF_LUA;
	if (candidate->is_lua) {
		if (read_target(&count, sizeof(count),
				function.pc - sizeof(struct ls_luajit_proto) +
					offsetof(struct ls_luajit_proto, code_count)))
			return 0;
		candidate->code_end = function.pc + 4ULL * count;
	}
	candidate->is_function = 1;
	return 1;
}

/* Whether `pc` follows an instruction of the candidate, or is its first one. */
static __always_inline int holds_pc(const struct ls_base_candidate *candidate, __u64 pc)
{
	return pc >= candidate->code && pc <= candidate->code_end && !(pc & 3);
}

/* The base of the caller by a link; 0: it cannot be read. */
static __always_inline __u64 caller_by(__u64 base, __u64 link)
{
	__u32 instruction;

	if ((link & LS_LINK_TYPE) != LS_LINK_LUA)
		return base - (link & ~LS_LINK_FLAGS);
	if (read_target(&instruction, sizeof(instruction), link - 4))
		return 0;
	return base - LS_FRAME_BYTES - 8 * (instruction >> 8 & 0xff);
}

static __always_inline int found(struct ls_scratch *scratch, __u64 base, __u64 pc)
{
	scratch->base.base = base;
	scratch->base.pc = pc;
	return LS_WALK_NONE;
}

/*
 * The VM returns to C code (vm_return): it has set the state already and makes PC the base of the C
 * function that called it, from the link. Returns 0 if it is not at that.
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
 * Whether the function at BASE is a result: a builtin stores its first one where it was itself, and
 * that may be a function, as pairs() returns next(). It comes from RD (rax) or RB (rbp), with its
 * type; these have no value with a type if the function is one that runs. Where a link is half a
 * slot, the type is stored over it, before the function.
 */
static __always_inline int is_result(const struct ls_scratch *scratch)
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
 * called or to return, and its caller holds PC. Or it is being replaced by a tail call, and what it
 * calls is at RA (rcx), above BASE, until it has been moved down.
 */
static __always_inline int find_by_instruction(struct ls_scratch *scratch, __u64 base, __u64 pc,
					       int is_function)
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

/* Nothing is on the stack of values, or a function in C: the VM is being entered, or left. */
static __always_inline int find_c_function(struct ls_scratch *scratch)
{
	__u64 base = scratch->state.base;

	if (base == scratch->walk.stack + LS_FRAME_BYTES ||
	    (read_candidate(scratch, base) && !scratch->base.candidate.is_lua))
		return found(scratch, base, 0);
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
	int is_function = read_candidate(scratch, base), error = LS_WALK_FRAME_FUNCTION;

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

static long look_for_pc(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_base_search *search = &scratch->base;
	__u64 word = search->words[i % LS_NATIVE_WORDS];

	if (!holds_pc(&search->candidate, word))
		return 0;
	search->pc = word;
	search->has_pc = 1;
	return 1;
}
LS_STEP(look_for_pc);

/* Whether the candidate's PC is in rbx or saved on the native stack; if so, it is in base.pc. */
__noinline int has_live_pc(struct ls_scratch *scratch, const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout)
		return 0;
	scratch->base.pc = scratch->registers[LS_RBX];
	if (holds_pc(&scratch->base.candidate, scratch->base.pc))
		return 1;
	scratch->base.has_pc = 0;
	repeat(scratch->base.word_count, look_for_pc, &pass);
	return scratch->base.has_pc;
}

/*
 * Weighs a word that the helper may have saved rbp as, from the VM's frame downward. The VM has
 * BASE in rbp, or L if it has saved BASE in L->base. 1: done.
 */
static __always_inline int weigh_word(struct ls_pass *pass, __u64 word)
{
	struct ls_scratch *scratch = pass->scratch;

	scratch->base.is_of_state |= word == scratch->chain[0].state;
	if (!is_base(&scratch->walk, word) || !read_candidate(scratch, word) ||
	    !has_live_pc(scratch, pass->layout))
		return 0;
	scratch->base.base = word;
	return 1;
}

static long weigh_saved_word(__u32 i, void *context)
{
	struct ls_pass *pass = context;
	__u32 at = pass->scratch->base.word_count - 1 - i;

	return weigh_word(pass, pass->scratch->base.words[at % LS_NATIVE_WORDS]);
}
LS_STEP(weigh_saved_word);

/* Copies the native stack from `start` to `end`. Returns 0, or 1: too much, or unreadable. */
static __always_inline int copy_native_words(struct ls_base_search *search, __u64 start, __u64 end)
{
	__u32 count = (end - start) / 8;

	search->word_count = 0;
	if (!count || count > LS_NATIVE_WORDS || read_target(search->words, count * 8, start))
		return 1;
	search->word_count = count;
	return 0;
}

/*
 * Copies the native stack between SP and the VM's frame, or the part next to that frame. A page
 * that was never touched cannot be read; the nearest one was.
 */
static __always_inline void read_native_words(struct ls_scratch *scratch)
{
	__u64 start = scratch->sp, end = scratch->chain[0].anchor;

	if (end - start > LS_NATIVE_WORDS * 8)
		start = end - LS_NATIVE_WORDS * 8;
	if (copy_native_words(&scratch->base, start, end))
		copy_native_words(&scratch->base, end & ~(LS_CHUNK_BYTES - 1ULL), end);
}

/*
 * L->base, unless BASE was found elsewhere: if both hold PC, in a recursion, L on the native stack
 * tells that the VM has saved BASE there.
 */
static __always_inline int choose_base(struct ls_scratch *scratch,
				       const struct ls_luajit_layout *layout)
{
	struct ls_base_search *search = &scratch->base;
	__u64 base = scratch->state.base, other = search->base, pc = search->pc;
	int is_function = read_candidate(scratch, base), has_pc;

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
	/* Subroutines of the VM itself leave its registers alone: they have but a return address.
	 */
	if (scratch->chain[0].anchor - scratch->sp <= 16 &&
	    read_candidate(scratch, scratch->registers[LS_RDX]) &&
	    holds_pc(&search->candidate, scratch->registers[LS_RBX]))
		return found(scratch, scratch->registers[LS_RDX], scratch->registers[LS_RBX]);
	repeat(search->word_count, weigh_saved_word, &pass);
	if (!search->base)
		weigh_word(&pass, scratch->registers[LS_RBP]);
	return choose_base(scratch, layout);
}

#ifndef __bpf__
/*
 * Registers are unknown if the thread stands still. A helper that makes a system call has had the
 * VM save BASE and PC. Returns LS_WALK_NONE or the error.
 */
static __always_inline int find_base_without_registers(struct ls_scratch *scratch)
{
	__s32 vm_state = scratch->global.vm_state;

	if (scratch->chain[0].anchor == scratch->sp ||
	    (!scratch->walk.in_system_call && vm_state != LS_LUAJIT_IN_C &&
	     vm_state != LS_LUAJIT_IN_GC && vm_state != LS_LUAJIT_IN_EXIT)) {
		scratch->walk.lacks_registers = 1;
		return LS_WALK_REGISTERS;
	}
	return found(scratch, scratch->state.base, scratch->walk.cframe.pc);
}
#endif

/*
 * Sets scratch->base for the running state, of which scratch->state and walk.cframe are copies, and
 * walk.in_trace. Returns LS_WALK_NONE or the error. __noinline: verified once for all callers.
 */
__noinline int find_base(struct ls_scratch *scratch, const struct ls_luajit_layout *layout)
{
	const struct ls_luajit_global *global;
	int is_in_vm;

	if (!scratch || !layout)
		return LS_WALK_FRAME_FUNCTION;
	global = &scratch->global;
	is_in_vm = scratch->chain[0].anchor == scratch->sp;
	scratch->walk.in_trace = 0;
#ifndef __bpf__
	if (!scratch->register_count && (is_in_vm || !global->jit_base)) {
		scratch->walk.in_trace = global->vm_state == LS_LUAJIT_IN_EXIT;
		return find_base_without_registers(scratch);
	}
#endif
	if (is_in_vm)
		return find_base_in_vm(scratch);
	if (global->jit_base) {
		scratch->walk.in_trace = 1;
		return found(scratch, global->jit_base, 0);
	}
	scratch->walk.in_trace = global->vm_state == LS_LUAJIT_IN_EXIT;
	if (global->vm_state == LS_LUAJIT_IN_C || global->vm_state == LS_LUAJIT_IN_GC ||
	    global->vm_state == LS_LUAJIT_IN_EXIT)
		return found(scratch, scratch->state.base, scratch->walk.cframe.pc);
	return find_base_of_helper(scratch, layout);
}

#endif
