/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers the Lua functions of closures, so that a walk need not read closures and prototypes
 * again. It serves callers only: a walk reads the innermost function in each sample, because a call
 * that has not begun, or is over, may have anything in its place. The includer has defined struct
 * ls_scratch, with a member closure_cache[LS_CLOSURE_CACHE_MAX], and struct ls_walk, with `frame`
 * and a struct ls_closure_read `closure_read`.
 *
 * An entry may be out of date: the closure was collected, and another one is at its address. The
 * caller's next instruction shows that, unless the code of the other function is also where the
 * known one was, as with templates that replace each other. Some function of the new template soon
 * is the innermost one, though, and from then on no entry made before is trusted (proof.bpf.h).
 */
#ifndef LS_CLOSURE_CACHE_BPF_H
#define LS_CLOSURE_CACHE_BPF_H

#include "proof.bpf.h"

/* Whether `pc` may be the next instruction of the function, which may be its first. */
static __always_inline bool owns_pc(const struct ls_lua_function *function, __u64 pc)
{
	__u64 offset = pc - function->code;

	return !(offset & 3) && offset <= 4ULL * function->code_count;
}

/* Returns the entry for the closure at that address; it may be of another one. */
static __always_inline struct ls_cached_closure *find_cached_closure(struct ls_scratch *scratch,
								     __u64 closure)
{
	return &scratch->closure_cache[(closure >> 5 ^ closure >> 10) % LS_CLOSURE_CACHE_MAX];
}

/*
 * Whether a call that goes on at `pc` is one of the function in the entry. The innermost function
 * is never known. While the layout is in question, none is: the self-check needs copies of closures
 * and prototypes.
 */
static __always_inline bool is_known_caller(const struct ls_cached_closure *cached,
					    const struct ls_scratch *scratch, __u64 closure,
					    __u64 pc)
{
	return cached->closure == closure && scratch->lua_frames &&
	       is_of_sample(&cached->proof, scratch) && !scratch->is_undecided &&
	       is_fresh_briefly(&cached->proof, scratch) && owns_pc(&cached->function, pc);
}

/* Begins to read a closure. It stays unknown if it is of no Lua function, or is unreadable. */
static __always_inline void begin_closure(struct ls_scratch *scratch, __u64 closure)
{
	struct ls_cached_closure *cached = find_cached_closure(scratch, closure);
	struct ls_closure_read *read = &scratch->walk.closure_read;

	read->was_cached = cached->closure == closure && is_of_sample(&cached->proof, scratch);
	if (cached->closure == closure)
		cached->closure = 0;
}

/*
 * Puts a closure into the cache whose function was read: walk.closure_read has it, walk.frame its
 * fingerprint. If user space was not sent the definition, the next sample tries that again.
 */
static __always_inline void keep_closure(struct ls_scratch *scratch, __u64 closure)
{
	struct ls_cached_closure *cached = find_cached_closure(scratch, closure);
	struct ls_closure_read *read = &scratch->walk.closure_read;

	read->function.fingerprint = scratch->walk.frame.fingerprint;
	if (!read->was_cached || cached->function.proto != read->function.proto ||
	    cached->function.fingerprint != read->function.fingerprint) {
		cached->function = read->function;
		begin_proof(&cached->proof, scratch);
	}
	mark_verified_briefly(&cached->proof, scratch);
	cached->closure = read->is_defined ? closure : 0;
}

#endif
