/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one way out: records into the ring buffer. */
#ifndef LS_SEND_BPF_H
#define LS_SEND_BPF_H

#include "maps.bpf.h"

/*
 * The reader looks every few milliseconds; waking it for each record would cost 5 us a sample.
 * Only when the buffer fills faster than that is it woken.
 */
#define LS_WAKE_BYTES (1024 * 1024)

static __always_inline long send_record(void *record, __u32 size)
{
	__u64 flags = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > LS_WAKE_BYTES
			      ? BPF_RB_FORCE_WAKEUP
			      : BPF_RB_NO_WAKEUP;

	return bpf_ringbuf_output(&records, record, size, flags);
}

#endif
