/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds BASE in the VM and in its helpers on AArch64 (vm_arm64.dasc): BASE is in x19, PC in x21. C
 * code preserves both, so they are in their registers, or where a helper saved them.
 *
 * The VM and its traces maintain the frame pointer: it points to the record of the VM's C frame,
 * and the first function that they call links its own record to that one.
 */
#ifndef LS_FIND_BASE_LUAJIT_ARM64_BPF_H
#define LS_FIND_BASE_LUAJIT_ARM64_BPF_H

/* x0 and so on, in struct user_pt_regs, asm/ptrace.h. */
#define LS_VM_ARG3  2  /* CARG3: while results are copied, the frame that they replace */
#define LS_VM_OLD   17 /* RB: BASE of the caller, during a call */
#define LS_VM_BASE  19
#define LS_VM_KBASE 20 /* the constants of the Lua function that runs */
#define LS_VM_PC    21

#include "luajit/base_candidate_luajit.bpf.h"

#define LS_FRAME_RECORD  192 /* SAVE_FP_LR_: of the VM's C frame */
#define LS_RECORDS_MAX   64  /* frame records to follow at most */
#define LS_SAVED_WORDS   20  /* x19 to x28 and d8 to d15, after a frame record; and two more */
#define LS_RESULTS_BYTES (8 * 256)
#define LS_OPERAND_MAX   255        /* of an instruction: its A, B and C are bytes */
#define LS_STORES_LINK   0xf81f8275 /* STR x21, [x19, #-8]: ins_call, vm_arm64.dasc */
#define LS_LINK_STEPS    8 /* instructions from setting BASE up to and including that one */

static __always_inline __u64 record_of_vm(const struct ls_scratch *scratch)
{
	return scratch->chain[0].anchor + LS_FRAME_RECORD;
}

/* Follows one frame record. 1: it links to the VM's, or is not a record. */
static long follow_vm_record(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;
	struct ls_base_search *search = &scratch->base;
	__u64 record[2]; /* address of the caller's record, return address */

	if (search->record & 7 || search->record < scratch->sp ||
	    read_target(record, sizeof(record), search->record) || record[0] <= search->record)
		return 1;
	if (record[0] == record_of_vm(scratch)) {
		search->return_address = address_of_return(record[1]);
		return 1;
	}
	search->record = record[0];
	return 0;
}
LS_STEP(follow_vm_record);

/*
 * Sets base.return_address to the return address of what the VM or a trace has called (0: unknown),
 * and base.record to its frame record (0: none yet). __noinline: verified once.
 */
__noinline int find_first_call(struct ls_scratch *scratch, const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_base_search *search;

	if (!scratch || !layout)
		return 0;
	search = &scratch->base;
	search->record = scratch->registers[LS_FRAME_REGISTER];
	search->return_address = 0;
	if (search->record == record_of_vm(scratch)) {
		search->record = 0;
		search->return_address = address_of_return(scratch->registers[LS_LINK_REGISTER]);
		return 1;
	}
	repeat(LS_RECORDS_MAX, follow_vm_record, &pass);
	return search->return_address != 0;
}

/* ---- the VM itself */

/*
 * PC is a distance: the VM calls or leaves a function that C code, pcall() or a metamethod called.
 * Until the link has been stored, or once results are copied over the frame, the distance shows
 * whether the old BASE is the caller's.
 */
static __always_inline int find_by_distance(struct ls_scratch *scratch, __u64 base, __u64 distance,
					    bool is_function)
{
	__u64 old = scratch->registers[LS_VM_OLD], size = distance & ~LS_LINK_FLAGS;

	if (is_function && scratch->base.candidate.link == distance)
		return found(scratch, base, 0);
	if ((old == base - size || old == base + LS_FRAME_BYTES - size) &&
	    (old == scratch->walk.stack + LS_FRAME_BYTES || read_candidate(scratch, old)))
		return found(scratch, old, 0);
	return read_candidate(scratch, base) ? found(scratch, base, 0) : LS_WALK_FRAME_FUNCTION;
}

/* Whether the candidate is the Lua function whose constants are at KBASE. */
static __always_inline bool has_constants(const struct ls_scratch *scratch)
{
	const struct ls_base_candidate *candidate = &scratch->base.candidate;
	ls_luajit_ref_t constants;

	return candidate->is_lua &&
	       !read_target(&constants, sizeof(constants),
			    candidate->code - sizeof(struct ls_luajit_proto) +
				    offsetof(struct ls_luajit_proto, constants)) &&
	       constants == scratch->registers[LS_VM_KBASE];
}

/* Takes the caller of the function at `base`, by the call before `pc`, if that holds `pc`. */
static __always_inline bool take_caller(struct ls_scratch *scratch, __u64 base, __u64 pc)
{
	__u64 caller = caller_by(base, pc);

	return read_candidate(scratch, caller) && scratch->base.candidate.is_lua &&
	       holds_pc(&scratch->base.candidate, pc) && !found(scratch, caller, pc);
}

/*
 * Results are copied over a frame that began right after CARG3, while BASE moves up: what is below
 * BASE now may be a result, even a function that holds PC. Takes the caller.
 */
static __always_inline bool take_receiver(struct ls_scratch *scratch, __u64 base, __u64 pc)
{
	__u64 returning = scratch->registers[LS_VM_ARG3] + LS_FRAME_BYTES;

	return base - returning - 8 < LS_RESULTS_BYTES && take_caller(scratch, returning, pc);
}

/* Whether the machine code that runs is about to store the link of a call. */
static __always_inline bool stores_link(const struct ls_scratch *scratch)
{
	__u32 code[LS_LINK_STEPS];
	bool stores = false;

	if (read_target(code, sizeof(code), scratch->pc))
		return false;
	for (__u32 i = 0; i < LS_LINK_STEPS; i++)
		stores |= code[i] == LS_STORES_LINK;
	return stores;
}

/*
 * The function at BASE holds PC, but PC is its caller's if the function is called by itself, or by
 * another closure of its prototype. Only the machine code shows that: all that the VM keeps is the
 * same as when the callee is about to call in turn. Takes the caller.
 */
static __always_inline bool take_own_caller(struct ls_scratch *scratch, __u64 base, __u64 pc)
{
	__u64 old = scratch->registers[LS_VM_OLD];

	return base - old - LS_FRAME_BYTES <= 8 * LS_OPERAND_MAX && stores_link(scratch) &&
	       read_candidate(scratch, old) && scratch->base.candidate.is_lua &&
	       holds_pc(&scratch->base.candidate, pc) && !found(scratch, old, pc);
}

/*
 * PC is in bytecode, but not of the function at BASE. That function is being called, and the old
 * BASE is its caller's; or it is about to return or to be replaced by a tail call; or it is a
 * result, and the caller runs.
 */
static __always_inline int find_by_instruction(struct ls_scratch *scratch, __u64 base, __u64 pc)
{
	const struct ls_base_candidate *candidate = &scratch->base.candidate;
	__u64 old = scratch->registers[LS_VM_OLD];

	if (read_candidate(scratch, old) && holds_pc(candidate, pc))
		return found(scratch, old, candidate->is_lua ? pc : 0);
	if (read_candidate(scratch, base) && candidate->link == pc && has_constants(scratch))
		return found(scratch, base, 0);
	return take_caller(scratch, base, pc) ? LS_WALK_NONE : LS_WALK_FRAME_FUNCTION;
}

/* SP is at the VM's C frame. Returns LS_WALK_NONE or the error. */
static __always_inline int find_base_in_vm(struct ls_scratch *scratch)
{
	const struct ls_base_candidate *candidate = &scratch->base.candidate;
	__u64 base = scratch->registers[LS_VM_BASE], pc = scratch->registers[LS_VM_PC];
	int error = LS_WALK_FRAME_FUNCTION;
	bool is_function;

	/* The VM returns to C code (vm_return) or is about to call it, and has stored BASE. */
	if (scratch->global.vm_state == LS_LUAJIT_IN_C && !find_c_function(scratch))
		return LS_WALK_NONE;
	if (take_receiver(scratch, base, pc) || take_own_caller(scratch, base, pc))
		return LS_WALK_NONE;
	is_function = read_candidate(scratch, base);
	if (is_function && holds_pc(candidate, pc))
		return found(scratch, base, candidate->is_lua ? pc : 0);
	if (pc < LS_LINK_MAX)
		error = find_by_distance(scratch, base, pc, is_function);
	else if (!(pc & 3))
		error = find_by_instruction(scratch, base, pc);
	return error ? find_c_function(scratch) : error;
}

/* ---- helpers */

/*
 * Considers a word that may be BASE, saved by a helper: its function must hold a PC that is saved,
 * too. Returns true if two such words differ: one of them is left over from a call that has
 * returned.
 */
static __always_inline bool weigh_word(struct ls_pass *pass, __u64 word)
{
	struct ls_base_search *search = &pass->scratch->base;

	if (word == search->base || !read_candidate(pass->scratch, word) ||
	    !has_live_pc(pass->scratch, pass->layout))
		return false;
	search->base_count++;
	search->base = word;
	search->base_pc = search->candidate.is_lua ? search->pc : 0;
	return search->base_count > 1;
}

static long weigh_saved_word(__u32 i, void *context)
{
	struct ls_pass *pass = context;

	return weigh_word(pass, pass->scratch->base.words[i % LS_NATIVE_WORDS]);
}
LS_STEP(weigh_saved_word);

/* Copies the registers that the first helper has saved, right after its frame record. */
static __always_inline int read_saved_words(struct ls_scratch *scratch)
{
	__u64 start = scratch->base.record + 16, end = scratch->chain[0].anchor;

	if (start >= end)
		return 1;
	if (end - start > LS_SAVED_WORDS * 8)
		end = start + LS_SAVED_WORDS * 8;
	return copy_native_words(&scratch->base, start, end);
}

/*
 * The VM has called C code as a helper. The helper may have kept both registers, or saved them
 * after its frame record or, if built without frame records, as LuaJIT is by default, anywhere.
 * Returns LS_WALK_NONE or the error.
 */
static __always_inline int find_base_of_helper(struct ls_scratch *scratch,
					       const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};
	struct ls_base_search *search = &scratch->base;
	__u64 base = scratch->registers[LS_VM_BASE], pc = scratch->registers[LS_VM_PC];

	if (read_candidate(scratch, base) && holds_pc(&search->candidate, pc))
		return found(scratch, base, search->candidate.is_lua ? pc : 0);
	search->base = 0;
	search->base_count = 0;
	if (!find_first_call(scratch, layout) || !search->record || read_saved_words(scratch))
		read_native_words(scratch);
	repeat(search->word_count, weigh_saved_word, &pass);
	weigh_word(&pass, base);
	if (search->base_count == 1)
		return found(scratch, search->base, search->base_pc);
	base = scratch->state.base;
	if (!search->base_count &&
	    (base == scratch->walk.stack + LS_FRAME_BYTES || read_candidate(scratch, base)))
		return found(scratch, base, scratch->walk.cframe.pc);
	return LS_WALK_FRAME_FUNCTION;
}

#endif
