/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the trace that is running. The VM has an array of traces, whose element n is a trace that
 * says that it is trace n. A trace says where its machine code is.
 */
#ifndef LS_FIND_TRACE_LUAJIT_BPF_H
#define LS_FIND_TRACE_LUAJIT_BPF_H

#include "luajit/return_to_trace_luajit.bpf.h"

#define LS_TRACES_AT_ONCE 256
#define LS_TRACES_FIRST   64

/* Copies the header of trace `number` to scratch->trace. Returns 0, or 1: there is none. */
static __always_inline int read_trace_of(struct ls_scratch *scratch, __u64 place, __u32 number)
{
	struct ls_luajit_trace *header = &scratch->trace.header;
	ls_luajit_ref_t address;
	__u64 array;

	if (read_target(&array, sizeof(array), place) || !is_pointer(array) ||
	    read_target(&address, sizeof(address), array + (__u64)sizeof(address) * number) ||
	    !is_pointer(address) || read_target(header, sizeof(*header), address) ||
	    header->gct != LS_LUAJIT_TRACE || header->number != number)
		return 1;
	note_code(memo_of(scratch), header);
	return 0;
}

/*
 * The same, from the array at one of the layout's offsets: the one where trace n has the number n.
 */
static __always_inline int read_trace(struct ls_scratch *scratch,
				      const struct ls_luajit_layout *layout, __u32 number)
{
	struct ls_trace_memo *memo = memo_of(scratch);

	if (!number || number > 0xffff)
		return 1;
	if (memo->array)
		return read_trace_of(scratch, memo->array, number);
	for (__u32 i = 0; i < LS_LUAJIT_TRACE_PLACES; i++) {
		__u64 place = memo->global + layout->global_traces[i];

		if (layout->global_traces[i] && !read_trace_of(scratch, place, number)) {
			memo->array = place;
			return 0;
		}
	}
	return 1;
}

static __always_inline bool is_in_code(const struct ls_trace_frames *trace, __u64 pc)
{
	return pc - trace->header.code < trace->header.code_size;
}

/*
 * Whether the trace in scratch->trace runs: its code contains the pc, or the return address of the
 * call that it has made. Then trace.pc is that place. Returns 0 or 1.
 */
static __always_inline int is_running(struct ls_scratch *scratch)
{
	struct ls_trace_frames *trace = &scratch->trace;

	trace->pc = scratch->pc;
	if (is_in_code(trace, trace->pc))
		return 1;
	trace->pc = return_to_trace(scratch, trace->header.stack_bytes) - 1;
	return is_in_code(trace, trace->pc);
}

/* Tries one of the traces in which this VM was seen recently. 1: it runs. */
static long try_recent_trace(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_trace_memo *memo = memo_of(pass->scratch);

	pass->scratch->trace.is_found =
		!read_trace(pass->scratch, pass->layout, memo->numbers[i % LS_TRACES_RECENT]) &&
		is_running(pass->scratch);
	return pass->scratch->trace.is_found;
}
LS_STEP(try_recent_trace);

/* Tries the next trace of the array. 1: it runs. */
static long try_next_trace(__u32 i, void *context)
{
	const struct ls_pass *pass = context;
	struct ls_trace_memo *memo = memo_of(pass->scratch);

	memo->cursor = memo->cursor + 1 < pass->scratch->trace.count ? memo->cursor + 1 : 1;
	pass->scratch->trace.is_found =
		!read_trace(pass->scratch, pass->layout, memo->cursor) && is_running(pass->scratch);
	return pass->scratch->trace.is_found;
}
LS_STEP(try_next_trace);

/* Whether the array at trace.place has trace i + 1, with that number. 1: it does. */
static long try_place(__u32 i, void *context)
{
	struct ls_scratch *scratch = ((const struct ls_pass *)context)->scratch;

	scratch->trace.is_found = !read_trace_of(scratch, scratch->trace.place, i + 1);
	return scratch->trace.is_found;
}
LS_STEP(try_place);

/*
 * Finds the array of traces if the number of a running one has not led to it: on AArch64, traces do
 * not say that they run (st_vmstate, vm_arm64.dasc). Numbers begin at 1.
 */
static __always_inline void find_array(struct ls_pass *pass)
{
	struct ls_trace_frames *trace = &pass->scratch->trace;
	struct ls_trace_memo *memo = memo_of(pass->scratch);

	for (__u32 i = 0; i < LS_LUAJIT_TRACE_PLACES && !memo->array; i++) {
		trace->place = memo->global + pass->layout->global_traces[i];
		trace->is_found = 0;
		if (pass->layout->global_traces[i])
			repeat(LS_TRACES_FIRST, try_place, pass);
		if (trace->is_found)
			memo->array = trace->place;
	}
	trace->is_found = 0;
}

/* Searches as much of the array of traces as one sample may; the next sample continues there. */
static __always_inline void search_traces(struct ls_pass *pass)
{
	struct ls_trace_frames *trace = &pass->scratch->trace;
	const struct ls_trace_memo *memo = memo_of(pass->scratch);
	__u32 count;

	find_array(pass);
	/* MSize sizetrace, after `trace` and `freetrace` of jit_State, lj_jit.h. */
	if (!memo->array || read_target(&trace->count, sizeof(trace->count), memo->array + 8 + 4))
		return;
	count = trace->count < LS_TRACES_AT_ONCE ? trace->count : LS_TRACES_AT_ONCE;
	repeat(count, try_next_trace, pass);
}

static __always_inline void remember_trace(struct ls_trace_memo *memo, __u32 number)
{
	for (__u32 i = 0; i < LS_TRACES_RECENT; i++)
		if (memo->numbers[i] == number)
			return;
	memo->numbers[memo->next % LS_TRACES_RECENT] = number;
	memo->next++;
}

/*
 * Reads the running trace. global_State has its number, unless the garbage collector has put its
 * own state there, or the trace has not stored its number yet: then it is usually the one that the
 * last trace links to, or one seen recently. Returns whether it was found.
 */
static __always_inline bool find_trace(struct ls_pass *pass)
{
	struct ls_scratch *scratch = pass->scratch;
	struct ls_trace_frames *trace = &scratch->trace;
	__s32 number = scratch->global.vm_state;

	trace->is_found = 0;
	if (number > 0 && !read_trace(scratch, pass->layout, number)) {
		trace->is_found = is_running(scratch);
		if (!trace->is_found && !read_trace(scratch, pass->layout, trace->header.link))
			trace->is_found = is_running(scratch);
	}
	if (!trace->is_found)
		repeat(LS_TRACES_RECENT, try_recent_trace, pass);
	if (!trace->is_found)
		search_traces(pass);
	if (trace->is_found)
		remember_trace(memo_of(scratch), trace->header.number);
	return trace->is_found;
}

#endif
