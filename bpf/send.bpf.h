/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends records through the ring buffer. */
#ifndef LS_SEND_BPF_H
#define LS_SEND_BPF_H

#include "maps.bpf.h"

/*
 * User space drains the buffer every 50 ms at the latest (DRAIN_MS, user/session/session.c); waking
 * it for each record would cost 5 us per sample. It is woken only if the buffer fills faster than
 * that.
 */
#define LS_WAKE_BYTES (1024 * 1024)

static __always_inline long send_record(void *record, __u32 size)
{
	__u64 flags = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > LS_WAKE_BYTES
			      ? BPF_RB_FORCE_WAKEUP
			      : BPF_RB_NO_WAKEUP;

	return bpf_ringbuf_output(&records, record, size, flags);
}

/*
 * Returns 0, or an error if the definition found no room. A program that creates functions all the
 * time sends more definitions than samples, so only the used part of `text` is sent.
 */
static __always_inline long send_definition(struct ls_function *function)
{
	struct ls_counters *counters = counters_here();
	__u32 source = function->source_length, name = function->name_length;
	long error;

	if (source >= LS_SOURCE_LEN)
		source = LS_SOURCE_LEN - 1;
	if (name >= LS_NAME_LEN)
		name = LS_NAME_LEN - 1;
	error = send_record(function,
			    offsetof(struct ls_function, text) + source + 1 + name + !!name);
	if (counters) {
		counters->definitions++;
		counters->records_lost += !!error;
	}
	return error;
}

#endif
