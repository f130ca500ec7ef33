/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What files in the Trace Event format have in common: a process for each category, with a thread
 * for each of the target's, their names, and counters (trace_counters.h).
 */
#ifndef LS_TRACE_EVENTS_H
#define LS_TRACE_EVENTS_H

#include "derived/frame_labels.h"
#include "derived/sample_order.h"
#include "format/trace_counters.h"
#include "json/json_writer.h"

struct trace_events {
	const struct ls_profile *profile;
	struct frame_labels *labels; /* unique ones */
	struct sample_order order;   /* grouped and laid out */
	struct trace_counters counters;
	struct json_writer writer;
	uint64_t start_us; /* of the session, in the file's time */
};

/*
 * Prepares to write the profile, which is borrowed, to the stream. 0 or -ENOMEM. Free the events
 * even after a failure.
 */
int trace_events__init(struct trace_events *events, const struct ls_profile *profile,
		       const struct ls_totals *totals, uint64_t start_us, FILE *stream);
void trace_events__free(struct trace_events *events);

/* "metadata", a field of the document. */
void trace_events__put_metadata(struct trace_events *events);

/*
 * Opens an event of the phase ("X") at that time of the file, in the thread of the sample. The
 * caller adds fields and closes it.
 */
void trace_events__open(struct trace_events *events, const char *name, const char *category,
			const char *phase, const struct ordered_sample *sample, uint64_t at_us);
void trace_events__close(struct trace_events *events);

/* Names the thread of the sample. */
void trace_events__put_thread_name(struct trace_events *events, const struct ordered_sample *sample,
				   const char *name);

/* The id of the process of a sample's category, from 1. */
uint32_t trace_events__process(const struct ordered_sample *sample);

/* Writes a thread, which has the samples from `first` to `end`. 0 or a negative errno code. */
typedef int trace_events__put_thread(void *context, size_t first, size_t end);

/* Writes all processes, each with its name, threads and counters. 0 or the code of put_thread(). */
int trace_events__put_processes(struct trace_events *events, trace_events__put_thread *put_thread,
				void *context);

#endif
