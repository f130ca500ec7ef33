/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that may be at BASE, and the evidence that one runs: PC, in its register or where a
 * helper saved it. The includer defines LS_VM_PC, the index of that register.
 */
#ifndef LS_BASE_CANDIDATE_LUAJIT_BPF_H
#define LS_BASE_CANDIDATE_LUAJIT_BPF_H

#include "luajit/find_state_luajit.bpf.h"

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

static __always_inline bool is_function_value(__u64 value)
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
static __always_inline bool holds_pc(const struct ls_base_candidate *candidate, __u64 pc)
{
	return pc >= candidate->code && pc <= candidate->code_end && !(pc & 3);
}

/* The caller's base, computed from a link; 0: unreadable. */
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

/* The VM is being entered or left: the stack of values is empty, or a C function is on top. */
static __always_inline int find_c_function(struct ls_scratch *scratch)
{
	__u64 base = scratch->state.base;

	if (base == scratch->walk.stack + LS_FRAME_BYTES ||
	    (read_candidate(scratch, base) && !scratch->base.candidate.is_lua))
		return found(scratch, base, 0);
	return LS_WALK_FRAME_FUNCTION;
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

/*
 * Whether the candidate's PC is in its register or saved on the native stack; if so, it is in
 * base.pc.
 */
__noinline int has_live_pc(struct ls_scratch *scratch, const struct ls_luajit_layout *layout)
{
	struct ls_pass pass = {.scratch = scratch, .layout = layout};

	if (!scratch || !layout)
		return 0;
	scratch->base.pc = scratch->registers[LS_VM_PC];
	if (holds_pc(&scratch->base.candidate, scratch->base.pc))
		return 1;
	scratch->base.has_pc = 0;
	repeat(scratch->base.word_count, look_for_pc, &pass);
	return scratch->base.has_pc;
}

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

#endif
