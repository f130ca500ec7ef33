/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long what was read of a process may be used again without reading it again. The includer has
 * defined struct ls_scratch.
 */
#ifndef LS_PROOF_BPF_H
#define LS_PROOF_BPF_H

#include "scratch.bpf.h"

/* For how long what has been the same for `proven_ns` need not be read again. */
static __always_inline __u64 trusted_for(__u64 proven_ns)
{
	return proven_ns / 64 < 20000000 ? proven_ns / 64 : 20000000;
}

/*
 * Whether it may be used in this sample. The longer it has stayed the same, the less often it is
 * checked: 1/64 of that time and 20 ms may go unchecked at most, measured either in real time or in
 * time in which anybody could have written it (own_ns).
 */
static __always_inline bool is_fresh(const struct ls_proof *proof, const struct ls_scratch *scratch)
{
	return scratch->now_ns <= proof->until_ns ||
	       (scratch->own_ns && proof->own_verified_ns &&
		scratch->own_ns - proof->own_verified_ns <=
			trusted_for(proof->own_verified_ns - proof->own_since_ns));
}

/* Whether it is of this sample's process, layout and edition. */
static __always_inline bool is_of_sample(const struct ls_proof *proof,
					 const struct ls_scratch *scratch)
{
	return proof->tgid == scratch->tgid && proof->layout == scratch->sample.layout &&
	       proof->edition == scratch->edition;
}

/* Notes that it, read just now, is what it was. */
static __always_inline void mark_verified(struct ls_proof *proof, const struct ls_scratch *scratch)
{
	proof->until_ns = scratch->now_ns + trusted_for(scratch->now_ns - proof->since_ns);
	proof->own_verified_ns = scratch->own_ns;
	if (!proof->own_since_ns)
		proof->own_since_ns = scratch->own_ns;
}

/*
 * Like mark_verified(), for what changes when memory is recycled, such as the function of a
 * closure. It is trusted for 1/1024 of the time that it was the same, for 5 ms at most, and only
 * until a walk finds a new innermost function, which may lie where a known one lay.
 */
static __always_inline void mark_verified_briefly(struct ls_proof *proof,
						  const struct ls_scratch *scratch)
{
	__u64 brief_ns = (scratch->now_ns - proof->since_ns) / 1024;

	proof->until_ns = scratch->now_ns + (brief_ns < 5000000 ? brief_ns : 5000000);
	proof->news = scratch->news;
}

/* Whether what was verified briefly may be used in this sample. */
static __always_inline bool is_fresh_briefly(const struct ls_proof *proof,
					     const struct ls_scratch *scratch)
{
	return scratch->now_ns <= proof->until_ns && proof->news == scratch->news;
}

/* Notes that it is new; mark_verified() follows. */
static __always_inline void begin_proof(struct ls_proof *proof, const struct ls_scratch *scratch)
{
	proof->tgid = scratch->tgid;
	proof->layout = scratch->sample.layout;
	proof->edition = scratch->edition;
	proof->since_ns = scratch->now_ns;
	proof->own_since_ns = 0;
}

#endif
