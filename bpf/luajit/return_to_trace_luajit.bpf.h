/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the return address of a call that a trace has made: the trace's place in its machine code.
 *
 * On x86-64, the call has pushed it below the trace's part of the native stack. On AArch64, it is
 * in a register until the callee saves it anywhere.
 */
#ifndef LS_RETURN_TO_TRACE_LUAJIT_BPF_H
#define LS_RETURN_TO_TRACE_LUAJIT_BPF_H

#include "luajit/frame_luajit.bpf.h"

/* Returns what is remembered about the running VM. */
static __always_inline struct ls_trace_memo *memo_of(struct ls_scratch *scratch)
{
	__u64 global = scratch->global.address;
	__u32 tgid = scratch->tgid;
	struct ls_trace_memo *memo =
		&scratch->trace_memo[ls_fold(tgid, global) % LS_TRACE_MEMO_MAX];

	if (memo->global != global || memo->tgid != tgid)
		*memo = (struct ls_trace_memo){.global = global, .tgid = tgid};
	return memo;
}

#if LS_HAS_FRAME_RECORDS

#define LS_CODE_UNIT 4 /* MCode, lj_jit.h */

/*
 * Machine code fills an area from its end downward (JIT_P_sizemcode, lj_jit.h): traces not seen yet
 * lie below those seen.
 */
#define LS_CODE_AREA (64 << 10)

/* Notes where a VM has the machine code of traces: between the lowest and the highest seen. */
static __always_inline void note_code(struct ls_trace_memo *memo,
				      const struct ls_luajit_trace *header)
{
	if (!memo->code || header->code < memo->code)
		memo->code = header->code;
	if (header->code + header->code_size > memo->code_end)
		memo->code_end = header->code + header->code_size;
}

/* Whether a call precedes the address. */
static __always_inline bool follows_call(__u64 address)
{
	ls_call_t call;

	return !read_target(&call, sizeof(call), address - sizeof(call)) &&
	       (is_direct_call(call) || is_call_by_pointer(call));
}

/* Notes a word that may be the return address into a trace. */
static __always_inline void note_return(struct ls_scratch *scratch, __u64 word)
{
	const struct ls_trace_memo *memo = memo_of(scratch);
	struct ls_base_search *search = &scratch->base;
	__u64 address = address_of_return(word);
	__u32 count = search->return_count;

	if (address & 3 || address + LS_CODE_AREA <= memo->code || address > memo->code_end)
		return;
	for (__u32 i = 0; i < LS_RETURNS_MAX; i++)
		if (i < count && search->returns[i] == address)
			return;
	if (!follows_call(address))
		return;
	if (count < LS_RETURNS_MAX)
		search->returns[count] = address;
	search->return_count = count + 1;
}

static long look_for_return(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;

	note_return(scratch, scratch->base.words[i % LS_NATIVE_WORDS]);
	return scratch->base.return_count > LS_RETURNS_MAX;
}
LS_STEP(look_for_return);

/*
 * Fills base.returns with the addresses that a trace's call may return to. Code built without frame
 * records, as LuaJIT is by default, keeps its return address in the register or anywhere on the
 * stack, where those of calls that have returned may still be.
 */
static __always_inline void find_returns(struct ls_pass *pass)
{
	struct ls_scratch *scratch = pass->scratch;
	struct ls_base_search *search = &scratch->base;

	search->return_count = 0;
	if (find_first_call(scratch, pass->layout) && search->record) {
		search->returns[0] = search->return_address;
		search->return_count = 1;
		return;
	}
	note_return(scratch, scratch->registers[LS_LINK_REGISTER]);
	read_native_words(scratch);
	repeat(search->word_count, look_for_return, pass);
	search->return_address = search->return_count ? search->returns[0] : 0;
}

/* Returns the first address that find_returns() found. */
static __always_inline __u64 return_to_trace(const struct ls_scratch *scratch, __u32 stack_bytes)
{
	(void)stack_bytes;
	return scratch->base.return_address;
}

#else

#define LS_JIT_FRAME 16 /* CFRAME_SIZE_JIT - CFRAME_SIZE, lj_frame.h: two more registers */
#define LS_CODE_UNIT 1  /* MCode, lj_jit.h */

static __always_inline void note_code(struct ls_trace_memo *memo,
				      const struct ls_luajit_trace *header)
{
	(void)memo;
	(void)header;
}

static __always_inline void find_returns(struct ls_pass *pass)
{
	(void)pass;
}

/* The return address of the call made by a trace with that many bytes of stack; 0: unknown. */
static __always_inline __u64 return_to_trace(const struct ls_scratch *scratch, __u32 stack_bytes)
{
	__u64 address, at = scratch->chain[0].anchor - LS_JIT_FRAME - stack_bytes - 8;

	return at < scratch->sp || read_target(&address, sizeof(address), at) ? 0 : address;
}

#endif

#endif
