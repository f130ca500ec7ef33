/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers prototypes whose content was read, so that a walk need not read it again for each
 * frame. The includer has defined struct ls_scratch, with a member proto_cache[LS_PROTO_CACHE_MAX].
 */
#ifndef LS_PROTO_CACHE_BPF_H
#define LS_PROTO_CACHE_BPF_H

#include "fold.h"
#include "scratch.bpf.h"

/* `unproven`: ns since the last check; `proven`: ns for which it had been the same by then. */
static __always_inline bool is_trusted(__u64 unproven, __u64 proven)
{
	return !unproven || (unproven < 20000000 && unproven < proven / 64);
}

/*
 * Whether a prototype's content may be taken from the prototype cache without reading it again. The
 * longer it has stayed the same, the less often it is checked: less than 1/64 of that time and less
 * than 20 ms may go unchecked, measured either in real time or in time in which anybody could have
 * written it (own_ns).
 */
static __always_inline bool is_fresh(const struct ls_cached_proto *cached,
				     const struct ls_scratch *scratch)
{
	if (is_trusted(scratch->now_ns - cached->verified_ns,
		       cached->verified_ns - cached->since_ns))
		return true;
	return scratch->own_ns && cached->own_verified_ns &&
	       is_trusted(scratch->own_ns - cached->own_verified_ns,
			  cached->own_verified_ns - cached->own_since_ns);
}

static __always_inline bool is_cached_proto(const struct ls_cached_proto *cached, __u64 proto,
					    __u32 tgid)
{
	return cached->proto == proto && cached->tgid == tgid;
}

/* Whether the entry is also of this `fixed` part, of this sample's layout and edition. */
static __always_inline bool is_known_proto(const struct ls_cached_proto *cached,
					   const struct ls_scratch *scratch, __u64 proto,
					   __u64 fixed)
{
	return is_cached_proto(cached, proto, scratch->tgid) && cached->fixed == fixed &&
	       cached->layout == scratch->sample.layout && cached->edition == scratch->edition;
}

/*
 * Puts a prototype into the cache whose content is new. `proto` is 0 if its definition could not be
 * sent: it stays unknown, so that the next sample tries again.
 */
static __always_inline void cache_proto(struct ls_cached_proto *cached,
					const struct ls_scratch *scratch, __u64 proto, __u64 fixed,
					__u64 content)
{
	cached->proto = proto;
	cached->fixed = fixed;
	cached->content = content;
	cached->tgid = scratch->tgid;
	cached->layout = scratch->sample.layout;
	cached->edition = scratch->edition;
	cached->since_ns = scratch->now_ns;
	cached->own_since_ns = 0;
}

/* Notes that the content, read just now, is what the cache has. */
static __always_inline void mark_verified(struct ls_cached_proto *cached,
					  const struct ls_scratch *scratch)
{
	cached->verified_ns = scratch->now_ns;
	cached->own_verified_ns = scratch->own_ns;
	if (!cached->own_since_ns)
		cached->own_since_ns = scratch->own_ns;
}

/*
 * Returns the entry of the prototype cache for a prototype: one of two, by default the one verified
 * longer ago. Processes forked by one process, as servers do, have their prototypes at the same
 * addresses, so the hash includes the tgid.
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
	return is_cached_proto(second, proto, tgid) || second->verified_ns < first->verified_ns
		       ? second
		       : first;
}

#endif
