/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The C functions of Lua's own library (user/puc/library_puc.c), such as string.format, that never
 * run another state than their caller's: whatever they call of a script is a call of that state.
 */
#ifndef LS_LIBRARY_PUC_BPF_H
#define LS_LIBRARY_PUC_BPF_H

#include "puc/scratch_puc.bpf.h"

#ifdef __bpf__
#include "maps.bpf.h"

/*
 * A binary search that neither branches nor masks with a bit, because recent verifiers follow both
 * values of such a bit. Without the barriers, the compiler would turn the products into such masks,
 * and drop the bound of the index, which the verifier of Linux 6.1 cannot derive.
 */
__noinline int is_in_library(const struct ls_image *image, __u64 function)
{
	__u32 count = 0, last;

	if (!image || function >> 63)
		return 0;
	for (__u32 half = LS_LIBRARY_MAX / 2; half; half /= 2) {
		__u32 at = count + half, is_there;

		barrier_var(at);
		at %= LS_LIBRARY_MAX;
		is_there = (at - image->library_count) >> 31;
		barrier_var(is_there);
		count += half * is_there * (__u32)((image->library[at] - function - 1) >> 63);
		barrier_var(count);
	}
	last = count % LS_LIBRARY_MAX;
	return count < image->library_count && image->library[last] == function;
}

static __always_inline const struct ls_image *image_of(const struct ls_scratch *scratch)
{
	__u32 image = scratch->image; /* Linux 6.1 takes keys from the stack only */

	return bpf_map_lookup_elem(&images, &image);
}
#else
static __always_inline const struct ls_image *image_of(const struct ls_scratch *scratch)
{
	return NULL;
}

static __always_inline bool is_in_library(const struct ls_image *image, __u64 function)
{
	return false;
}
#endif

#endif
