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
