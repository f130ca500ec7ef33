/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of the Trace Event format (ph "C"): "CPU", the share of a processor that a process took,
 * and "GC", the share that its garbage collectors took, in percent, over time. A counter has an
 * event wherever it changes.
 */
#ifndef LS_TRACE_COUNTERS_H
#define LS_TRACE_COUNTERS_H

#include "derived/sample_order.h"
#include "json/json_writer.h"

struct trace_counters {
	const struct ls_profile *profile;
	const struct sample_order *order;
	uint64_t *cpu_us, *gc_us; /* of the current process, by step, from the session's start */
	uint64_t step_us;
	size_t count;
};

/*
 * The order must be laid out by sample_order__lay_out(). It and the profile are borrowed. 0 or
 * -ENOMEM. Free the counters even after a failure.
 */
int trace_counters__init(struct trace_counters *counters, const struct ls_profile *profile,
			 const struct sample_order *order);
void trace_counters__free(struct trace_counters *counters);

/*
 * Writes the events of the process that has the samples from `first` to `end`. Its id is its
 * category's index plus 1. Samples of thread 0 are ignored, since their time is not known. The
 * session starts at start_us of the trace.
 */
void trace_counters__write(struct trace_counters *counters, struct json_writer *writer,
			   size_t first, size_t end, uint64_t start_us);

#endif
