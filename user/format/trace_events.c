/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "format/trace_events.h"

#include <errno.h>

#include "json/json_field.h"

/* No process has a thread of this id (PID_MAX_LIMIT of Linux), and 0 is the idle thread's. */
#define REST_THREAD ((4U << 20) + 1)

int trace_events__init(struct trace_events *events, const struct ls_profile *profile,
		       const struct ls_totals *totals, uint64_t start_us, FILE *stream)
{
	int error;

	*events = (struct trace_events){.profile = profile,
					.labels = frame_labels__new(profile, FRAME_LABELS_UNIQUE),
					.start_us = start_us};
	json_writer__init(&events->writer, stream);
	error = sample_order__make(profile, totals, &events->order);
	if (!error && !events->labels)
		error = -ENOMEM;
	if (!error)
		error = sample_order__group(&events->order);
	if (error)
		return error;
	sample_order__lay_out(&events->order, profile);
	return trace_counters__init(&events->counters, profile, &events->order);
}

void trace_events__free(struct trace_events *events)
{
	trace_counters__free(&events->counters);
	sample_order__free(&events->order);
	frame_labels__free(events->labels);
}

void trace_events__put_metadata(struct trace_events *events)
{
	const char *target = events->profile->recorder.target;

	json_field__object(&events->writer, "metadata");
	json_field__printable(&events->writer, "source", "luaspy");
	if (target)
		json_field__text(&events->writer, "target", target);
	json_writer__end_object(&events->writer);
}

uint32_t trace_events__process(const struct ordered_sample *sample)
{
	return sample->category + 1;
}

void trace_events__open(struct trace_events *events, const char *name, const char *category,
			const char *phase, const struct ordered_sample *sample, uint64_t at_us)
{
	json_writer__object(&events->writer);
	json_field__printable(&events->writer, "name", name);
	json_field__printable(&events->writer, "cat", category);
	json_field__printable(&events->writer, "ph", phase);
	json_field__uint(&events->writer, "pid", trace_events__process(sample));
	json_field__uint(&events->writer, "tid", sample->thread ? sample->thread : REST_THREAD);
	json_field__uint(&events->writer, "ts", at_us);
}

void trace_events__close(struct trace_events *events)
{
	json_writer__end_object(&events->writer);
}

/* "process_name" or "thread_name". */
static void put_name(struct trace_events *events, const char *what,
		     const struct ordered_sample *sample, const char *name)
{
	trace_events__open(events, what, "__metadata", "M", sample, 0);
	json_field__object(&events->writer, "args");
	json_field__printable(&events->writer, "name", name);
	json_writer__end_object(&events->writer);
	trace_events__close(events);
}

void trace_events__put_thread_name(struct trace_events *events, const struct ordered_sample *sample,
				   const char *name)
{
	put_name(events, "thread_name", sample, name);
}

/* The samples from `first` to `end` are those of a category. */
static int put_process(struct trace_events *events, size_t first, size_t end,
		       trace_events__put_thread *put_thread, void *context)
{
	const struct ordered_sample *sample = &events->order.samples[first];
	size_t thread_end;
	int error = 0;

	put_name(events, "process_name", sample,
		 frame_labels__of_category(events->labels, sample->category));
	for (size_t at = first; at < end && !error; at = thread_end) {
		thread_end = sample_order__group_end(&events->order, at);
		error = put_thread(context, at, thread_end);
	}
	trace_counters__write(&events->counters, &events->writer, first, end, events->start_us);
	return error;
}

int trace_events__put_processes(struct trace_events *events, trace_events__put_thread *put_thread,
				void *context)
{
	size_t end;
	int error = 0;

	for (size_t at = 0; at < events->order.count && !error; at = end) {
		end = sample_order__category_end(&events->order, at);
		error = put_process(events, at, end, put_thread, context);
	}
	return error;
}
