/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which instruction the running function is at, if the interpreter knows better than the CallInfo.
 * The includer has defined struct ls_walk with `code` and `code_end`: the code of the running
 * function if pc may be in a register, otherwise 0.
 *
 * luaV_execute of Lua 5.1, 5.4 and 5.5 and luau_execute keep pc in a local variable and store it
 * only before they call what may raise an error: in a loop of arithmetic, savedpc never changes.
 * Compilers keep the variable in a register, a different one in each build, and may leave in other
 * registers pointers into the same code: the pc of an earlier instruction, or the target of a jump
 * that is not taken. The instruction itself distinguishes them: it was fetched from right below pc
 * and is decoded in some register. So the register is pc if the instruction below its address is in
 * another register. That is seen in a third of the samples or more, but for registers other than pc
 * never for long, so a register is trusted by how often it was seen. If no trusted register points
 * into the function's code, pc is in memory, or its register is in use by a function that the
 * interpreter has called; before most calls pc was saved.
 */
#ifndef LS_CURRENT_PC_BPF_H
#define LS_CURRENT_PC_BPF_H

#include "scratch.bpf.h"

#define LS_PC_LEARNED 255     /* times that a register was seen; then the others had their chance */
#define LS_PC_TRUSTED 8       /* trusted if seen at least 1/8 as often as the most frequent one */
#define LS_SMALL_WORD 0x10000 /* an instruction below this could be any small number */

struct ls_pc_search {
	struct ls_scratch *scratch;
	struct ls_thread *thread;
	__u64 pc; /* the best so far; 0: none */
	__u32 score;
	__u32 instruction;
	__u32 is_held; /* the instruction is in some register */
};

static long look_for_instruction(__u32 i, void *context)
{
	struct ls_pc_search *search = context;

	search->is_held =
		(__u32)search->scratch->registers[i % LS_REGISTER_MAX] == search->instruction;
	return search->is_held;
}
LS_STEP(look_for_instruction);

/* Whether the instruction below `pc` is in a register. */
static __always_inline bool is_fetched(struct ls_pc_search *search, __u64 pc)
{
	search->is_held = 0;
	if (read_target(&search->instruction, sizeof(search->instruction), pc - 4) ||
	    search->instruction < LS_SMALL_WORD)
		return false;
	repeat(search->scratch->register_count, look_for_instruction, search);
	return search->is_held;
}

static __always_inline bool points_into_code(const struct ls_walk *walk, __u64 word)
{
	return word > walk->code && word <= walk->code_end && !(word & 3);
}

static long learn_register(__u32 i, void *context)
{
	struct ls_pc_search *search = context;
	struct ls_thread *thread = search->thread;
	__u64 pc = search->scratch->registers[i % LS_REGISTER_MAX];
	__u8 *score = &thread->pc_scores[i % LS_REGISTER_MAX];

	if (!points_into_code(&search->scratch->walk, pc) || !is_fetched(search, pc) ||
	    *score == LS_PC_LEARNED)
		return 0;
	++*score;
	if (*score > thread->pc_best)
		thread->pc_best = *score;
	return 0;
}
LS_STEP(learn_register);

/*
 * Prefers the highest score, then, as before anything was learned, the highest value: the others
 * are mostly older.
 */
static long choose_register(__u32 i, void *context)
{
	struct ls_pc_search *search = context;
	__u64 pc = search->scratch->registers[i % LS_REGISTER_MAX];
	__u32 score = search->thread->pc_scores[i % LS_REGISTER_MAX];

	if (!points_into_code(&search->scratch->walk, pc) ||
	    score * LS_PC_TRUSTED < search->thread->pc_best || score < search->score ||
	    (score == search->score && pc < search->pc))
		return 0;
	search->score = score;
	search->pc = pc;
	return 0;
}
LS_STEP(choose_register);

/* Corrects the pc of the leaf in scratch->frames if the leaf is a running Lua function. */
static __always_inline void correct_leaf(struct ls_scratch *scratch, struct ls_thread *thread)
{
	struct ls_pc_search search = {.scratch = scratch, .thread = thread};

	if (!scratch->walk.code || !scratch->sample.frame_count)
		return;
	if (thread->pc_best < LS_PC_LEARNED)
		repeat(scratch->register_count, learn_register, &search);
	repeat(scratch->register_count, choose_register, &search);
	if (search.pc)
		scratch->frames[0].pc = (search.pc - scratch->walk.code) / 4 - 1;
}

#endif
