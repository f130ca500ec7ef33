/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is wrong with a sample: the first error, and the first doubt about the layout. */
#ifndef LS_FAULT_BPF_H
#define LS_FAULT_BPF_H

#include "scratch.bpf.h"

static __always_inline void note_error(struct ls_scratch *scratch, __u8 error)
{
	if (!scratch->sample.error)
		scratch->sample.error = error;
}

static __always_inline void doubt(struct ls_scratch *scratch, __u32 part)
{
	if (!scratch->doubt)
		scratch->doubt = part;
}

#endif
