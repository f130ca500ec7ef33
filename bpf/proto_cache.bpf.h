/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers prototypes whose content was read, so that a walk need not read it again for each
 * frame. The includer has defined struct ls_scratch, with a member proto_cache[LS_PROTO_CACHE_MAX].
 */
#ifndef LS_PROTO_CACHE_BPF_H
#define LS_PROTO_CACHE_BPF_H

#include "fold.h"
#include "proof.bpf.h"

static __always_inline bool is_cached_proto(const struct ls_cached_proto *cached, __u64 proto,
					    __u32 tgid)
{
	return cached->proto == proto && cached->proof.tgid == tgid;
}

/* Whether the entry is also of this `fixed` part, of this sample's layout and edition. */
static __always_inline bool is_known_proto(const struct ls_cached_proto *cached,
					   const struct ls_scratch *scratch, __u64 proto,
					   __u64 fixed)
{
	return cached->proto == proto && cached->fixed == fixed &&
	       is_of_sample(&cached->proof, scratch);
}

/*
 * Puts a prototype into the cache whose content is new. `proto` is 0 if its definition could not be
 * sent: it stays unknown, so that the next sample tries again. A new innermost
 * function is news (ls_scratch.news); another one may just have been evicted from the cache.
 */
static __always_inline void cache_proto(struct ls_cached_proto *cached, struct ls_scratch *scratch,
					__u64 proto, __u64 fixed, __u64 content)
{
	if (scratch->lua_frames == 1)
		scratch->news++;
	cached->proto = proto;
	cached->fixed = fixed;
	cached->content = content;
	begin_proof(&cached->proof, scratch);
}

/*
 * Returns the entry of the prototype cache for a prototype: one of two, by default the one that
 * has to be read again first. Processes forked by one process, as servers do, have their prototypes
 * at the same addresses, so the hash includes the tgid.
 */
static __always_inline struct ls_cached_proto *find_cached_proto(struct ls_scratch *scratch,
								 __u64 proto)
{
	__u32 tgid = scratch->tgid;
	__u32 at = ls_fold(tgid, proto) % LS_PROTO_CACHE_MAX;
	struct ls_cached_proto *first = &scratch->proto_cache[at],
			       *second = &scratch->proto_cache[at ^ 1];

	if (is_cached_proto(first, proto, tgid))
		return first;
	return is_cached_proto(second, proto, tgid) ||
			       second->proof.until_ns < first->proof.until_ns
		       ? second
		       : first;
}

#endif
