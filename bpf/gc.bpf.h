/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a sample interrupted the garbage collector, or something that it called.
 *
 * The garbage collector runs in C, on the native stack, below the function that allocated. So
 * either the pc is in its code, or a return address into it is on the stack. The return address
 * nearest to SP decides: if it points into code from which the garbage collector may be entered
 * (the executor, lua_pushstring, string.gsub), the garbage collector is not running, or it waits
 * for a finalizer; return addresses that it left on the stack earlier are then further up, in
 * buffers that were never filled. Where finalizers run under a protected call of their own, as in
 * PUC Lua since 5.2, its errorJmp is nearer than the garbage collector's frames: anything beyond
 * the running state's anchor proves nothing (LS_ANCHOR_ENDS_GC).
 *
 * On AArch64, compilers keep a linked list of frame records, so the callers are known. On x86-64,
 * and for AArch64 code that was built without frame records, every word of the stack may be a
 * return address, or a stale one.
 *
 * Machine code made of script has room on the stack that it may never fill, where the frames of a
 * collection that has ended are still whole. The walker tells when there is such code: then the
 * return address into it decides as well (LS_HAS_MADE_CODE).
 */
#ifndef LS_GC_BPF_H
#define LS_GC_BPF_H

#include "machine.bpf.h"
#include "scratch.bpf.h"
#include "window.bpf.h"

/*
 * How far up to search for return addresses. 64 words find 99%, but an allocator that frees whole
 * bins (jemalloc) has larger frames.
 */
#define LS_COLLECTOR_WORDS LS_CHUNK_WORDS

#define LS_COLLECTOR_FRAMES 6
#define LS_RECORDS_MAX      64 /* frame records to follow at most */

struct ls_look {
	struct ls_scratch *scratch;
	const struct ls_image *target;
	__u32 count;    /* words to examine */
	__u32 found;    /* enum ls_code_kind */
	__u32 has_made; /* machine code made of script is on the stack */
};

/*
 * Returns how many entries of target->map do not begin above `address`. A binary search without
 * branches, because the verifier would follow each of a thousand paths: a negative difference has
 * its highest bit set. __noinline: verified once for all callers.
 */
__noinline __u32 count_code(const struct ls_image *target, __u64 address)
{
	__u32 count = 0;

	if (!target || address >> 63)
		return 0;
	for (__u32 half = LS_CODE_MAP_MAX; half; half /= 2) {
		__u32 last = count + half - 1;
		__u32 is_there = (last - target->map_count) >> 31;
		__u64 begins = target->map[last % LS_CODE_MAP_MAX].address;

		count += half & -(is_there & (__u32)((begins - address - 1) >> 63));
	}
	return count;
}

static __always_inline const struct ls_code *code_of(const struct ls_image *target, __u32 number)
{
	return &target->map[(number - 1) % LS_CODE_MAP_MAX];
}

/*
 * Returns the number, from 1 on, of the entry of target->map that covers `address`, or 0. It is a
 * number because the verifier follows every possible pointer.
 */
static __always_inline __u32 find_code(const struct ls_image *target, __u64 address)
{
	__u32 number = count_code(target, address);
	const struct ls_code *code = code_of(target, number);

	return number && address - code->address < code->size ? number : 0;
}

static __always_inline bool is_code(const struct ls_image *target, __u64 address)
{
	for (__u32 i = 0; i < LS_CODE_RANGES; i++)
		if (address >= target->code[i].low && address < target->code[i].high)
			return true;
	return false;
}

static __always_inline __u64 callee_through(__u64 pointer)
{
	__u64 callee;

	return pointer && !read_target(&callee, sizeof(callee), pointer) ? callee : 0;
}

/*
 * Whether the function that returns to `address` can be number `number` of target->map: the call
 * before `address` tells what it called, unless it called through a pointer. The callee may have
 * jumped on by a tail call, as lua_pushstring does to the garbage collector, or luaC_step to
 * luaC_forcestep. Machine code made from script, which is in no file, has pointers to what it calls
 * (LS_HAS_MADE_CODE).
 */
__noinline int is_return_of(const struct ls_image *target, __u32 number, __u64 address)
{
	bool is_outer, may_differ;
	__u32 called;
	ls_call_t call;
	__u64 callee;
	bool is_made;

	if (!target)
		return 0;
	is_made = !is_code(target, address);
	if ((is_made && !LS_HAS_MADE_CODE) ||
	    read_target(&call, sizeof(call), address - sizeof(call)))
		return 0;
	if (is_made)
		return is_call_of_made_code(call);
	is_outer = code_of(target, number)->kind == LS_CODE_OUTER;
	may_differ = !is_outer && code_of(target, number)->is_tail_called;
	if (is_direct_call(call))
		callee = callee_of(address, call);
	else
		callee = callee_through(pointer_of_call(address, call));
	if (!callee)
		return is_outer;
	called = find_code(target, callee);
	if (!called) {
		callee = callee_through(pointer_of_stub(callee));
		called = find_code(target, callee);
	}
	/* The pointer of a stub may not be resolved yet: then it leads back to the file's stubs. */
	if (!called)
		return is_outer && is_code(target, callee);
	return called == number || may_differ;
}

/* Whether `address` follows a call, in whatever file it is. */
__noinline int follows_call(__u64 address)
{
	ls_call_t call;

	return !read_target(&call, sizeof(call), address - sizeof(call)) &&
	       (is_direct_call(call) || is_call_by_pointer(call));
}

/* Returns the number of the entry of target->map that `word` returns into, or 0. */
static __always_inline __u32 piece_returned_to(const struct ls_image *target, __u64 word)
{
	if (!is_code(target, word))
		return 0;
	/* A pointer to a function is not a return address into it: those follow a call. */
	return find_code(target, word - LS_CALL_BYTES);
}

static __always_inline __u32 returns_into(const struct ls_look *look, __u32 at)
{
	__u64 word = look->scratch->search.chunk[at % LS_CHUNK_WORDS];

	return at < look->count ? piece_returned_to(look->target, address_of_return(word)) : 0;
}

/*
 * Likewise, whatever file the caller is in: it may be a program or a module, or a function that is
 * too far from the collector to be in the map.
 */
static __always_inline int enters(const struct ls_image *target, __u32 number, __u64 address)
{
	ls_call_t call;

	if (!is_code(target, address))
		return follows_call(address);
	/* The kernel may have reclaimed the code of a caller that has waited for a long time. */
	if (read_target(&call, sizeof(call), address - sizeof(call)))
		return 1;
	return code_of(target, number)->is_tail_called ? follows_call(address)
						       : is_return_of(target, number, address);
}

#define LS_CONTRADICTION 0 /* no frame can have its return address in the lowest word */

/*
 * Returns the index of the word with the return address of the frame record that the word below
 * `at` points to; look->count: it is not among these words.
 */
static __always_inline __u32 caller_by_record(const struct ls_look *look, __u32 at)
{
	__u64 offset = look->scratch->search.chunk[(at - 1) % LS_CHUNK_WORDS] - look->scratch->sp;

	if (!at || (offset < LS_CHUNK_BYTES && (offset & 7 || offset / 8 <= at)))
		return at ? LS_CONTRADICTION : look->count;
	return offset < LS_CHUNK_BYTES ? offset / 8 + 1 : look->count;
}

/*
 * Returns the index of the word with the return address of the frame that word `at` returns into;
 * look->count: unknown. On x86-64 the size of that frame tells, or, if the callee has a frame
 * pointer, that of the caller, which it has saved below its return address. On AArch64 each frame
 * record begins with the address of the next.
 */
static __always_inline __u32 caller_of(const struct ls_look *look, const struct ls_code *code,
				       __u32 at, bool saves_pointer)
{
	if (LS_HAS_FRAME_RECORDS) {
		/* Code that was built without frame records has anything there. */
		at = caller_by_record(look, at);
		return at == LS_CONTRADICTION ? look->count : at;
	}
	if (code->frame == LS_FRAME_POINTER)
		return saves_pointer ? caller_by_record(look, at) : look->count;
	return code->frame ? at + code->frame / 8 : look->count;
}

/* Whether the function that returns to word `at` has saved its caller's frame pointer. */
static __always_inline int saves_pointer_at(const struct ls_look *look, __u32 at)
{
	__u64 address = look->scratch->search.chunk[at % LS_CHUNK_WORDS];
	ls_call_t call;

	return !read_target(&call, sizeof(call), address - sizeof(call)) && is_direct_call(call) &&
	       saves_frame_pointer(callee_of(address, call));
}

/* Goes on to the caller of the frame that is followed. 1: it is known whether that is alive. */
static long follow_caller(__u32 i, void *context)
{
	const struct ls_look *look = context;
	struct ls_followed *followed = &look->scratch->followed;
	const struct ls_code *code = code_of(look->target, followed->number);
	__u32 at = caller_of(look, code, followed->at, followed->saves_pointer);
	__u64 address = address_of_return(look->scratch->search.chunk[at % LS_CHUNK_WORDS]);

	if (at >= look->count)
		return 1;
	if (at == LS_CONTRADICTION) {
		followed->is_alive = 0;
		return 1;
	}
	if (code->kind != LS_CODE_COLLECTOR && followed->is_entered) {
		followed->is_alive = enters(look->target, followed->number, address);
		return 1;
	}
	followed->is_alive = is_return_of(look->target, followed->number, address);
	if (!followed->is_alive || code->kind != LS_CODE_COLLECTOR)
		return 1;
	followed->saves_pointer = code->frame == LS_FRAME_POINTER;
	followed->at = at;
	followed->number = returns_into(look, at);
	return !followed->number;
}
LS_STEP(follow_caller);

/*
 * Whether the word `at`, a return address into entry `number`, will be used. For a stale one, left
 * in a hole of a frame, the word where its own frame would have its return address is mostly
 * something else. The garbage collector's frames are followed to the function that entered it. If
 * that frame still exists, and has called something else since, its return address there differs.
 * If it has ended, too, what is above it is no return address, unless all of it is left as it was.
 */
static __always_inline bool is_alive(struct ls_look *look, __u32 number, __u32 at)
{
	struct ls_followed *followed = &look->scratch->followed;
	const struct ls_code *code = code_of(look->target, number);

	if (!follows_call(address_of_return(look->scratch->search.chunk[at % LS_CHUNK_WORDS])))
		return false;
	followed->at = at;
	followed->number = number;
	followed->saves_pointer = !LS_HAS_FRAME_RECORDS && code->frame == LS_FRAME_POINTER &&
				  saves_pointer_at(look, at);
	followed->is_entered = code->kind == LS_CODE_COLLECTOR;
	followed->is_alive = 1;
	repeat(LS_COLLECTOR_FRAMES, follow_caller, look);
	return followed->is_alive;
}

#if LS_HAS_MADE_CODE
/* Whether a word is a return address into machine code made of script. */
static __always_inline bool returns_into_made_code(const struct ls_look *look, __u32 at)
{
	__u64 word = look->scratch->search.chunk[at % LS_CHUNK_WORDS];
	ls_call_t call;

	return may_be_made_code(look->scratch, word) && !is_code(look->target, word) &&
	       !read_target(&call, sizeof(call), word - sizeof(call)) && is_call_of_made_code(call);
}
#endif

/* Checks one word. 1: it is a return address that decides, or there are no more words. */
static long look_at_return(__u32 i, void *context)
{
	struct ls_look *look = context;
	__u32 number;

	if (i >= look->count)
		return 1;
#if LS_HAS_MADE_CODE
	if (look->has_made && returns_into_made_code(look, i)) {
		look->found = LS_CODE_OUTER;
		return 1;
	}
#endif
	number = returns_into(look, i);
	if (!number || !is_alive(look, number, i))
		return 0;
	look->found = code_of(look->target, number)->kind;
	return 1;
}
LS_STEP(look_at_return);

/* Upper limit of the search for return addresses. */
static __always_inline __u64 end_of_search(const struct ls_scratch *scratch)
{
	__u64 end = scratch->search.high;

	if (LS_ANCHOR_ENDS_GC && scratch->chain_count && scratch->chain[0].anchor < end)
		end = scratch->chain[0].anchor;
	return end;
}

/* Number of words to examine, from SP upward. */
static __always_inline __u32 words_to_look_at(const struct ls_scratch *scratch)
{
	__u64 end = end_of_search(scratch);

	if (end <= scratch->sp)
		return 0;
	if (end - scratch->sp > LS_COLLECTOR_WORDS * 8)
		return LS_COLLECTOR_WORDS;
	return (end - scratch->sp) / 8;
}

/*
 * Copies that many words from SP upward. Returns how many it copied: fewer if the next page is
 * absent because the kernel has reclaimed it since the thread last used it.
 */
static __always_inline __u32 copy_words(struct ls_scratch *scratch, __u32 count)
{
	__u32 size = count * 8, here = LS_PAGE_BYTES - (scratch->sp & (LS_PAGE_BYTES - 1));

	if (!size || size > sizeof(scratch->search.chunk))
		return 0;
	if (!read_target(scratch->search.chunk, size, scratch->sp))
		return count;
	if (here >= size || read_target(scratch->search.chunk, here, scratch->sp))
		return 0;
	return here / 8;
}

#if LS_HAS_FRAME_RECORDS
struct ls_records {
	struct ls_look *look;
	__u64 next; /* the frame record to read next */
	__u64 end;
};

static __always_inline bool note_return(struct ls_look *look, __u64 word)
{
	__u32 number = piece_returned_to(look->target, address_of_return(word));

	if (number)
		look->found = code_of(look->target, number)->kind;
	return number != 0;
}

/* Follows one frame record. 1: its return address decides, or it is no frame record. */
static long follow_record(__u32 i, void *context)
{
	struct ls_records *records = context;
	__u64 record[2]; /* address of the caller's record, return address */

	if (records->next >= records->end || records->next & 7 ||
	    read_target(record, sizeof(record), records->next) ||
	    note_return(records->look, record[1]) || record[0] <= records->next)
		return 1;
	records->next = record[0];
	return 0;
}
LS_STEP(follow_record);

/*
 * Follows the frames from callee to caller. A function that has not set up its frame yet, or has
 * none, returns to x30; in any other, x30 points into the function itself. Code that was built
 * without frame records (-fomit-frame-pointer) may keep anything in x29.
 */
static __always_inline void follow_frames(struct ls_look *look)
{
	const struct ls_scratch *scratch = look->scratch;
	struct ls_records records = {.look = look, .end = end_of_search(scratch)};

	if (scratch->register_count <= LS_LINK_REGISTER ||
	    note_return(look, scratch->registers[LS_LINK_REGISTER]))
		return;
	records.next = scratch->registers[LS_FRAME_REGISTER];
	if (records.next >= scratch->sp)
		repeat(LS_RECORDS_MAX, follow_record, &records);
}
#endif

/* Whether the sample interrupted the GC. Call it after the walk: it needs the chain. */
__noinline bool is_in_gc(struct ls_scratch *scratch, const struct ls_image *target)
{
	struct ls_look look = {.scratch = scratch, .target = target};
	__u32 number;

	if (!scratch || !target || !target->map_count)
		return false;
	number = find_code(target, scratch->pc);
	if (number)
		return code_of(target, number)->kind == LS_CODE_COLLECTOR;
#if LS_HAS_MADE_CODE
	look.has_made = has_made_code(scratch);
	if (look.has_made && runs_made_code(scratch))
		return false;
#endif
#if LS_HAS_FRAME_RECORDS
	follow_frames(&look);
	if (look.found)
		return look.found == LS_CODE_COLLECTOR;
#endif
	look.count = copy_words(scratch, words_to_look_at(scratch));
	if (!look.count)
		return false;
	repeat(LS_COLLECTOR_WORDS, look_at_return, &look);
	return look.found == LS_CODE_COLLECTOR;
}

#endif
