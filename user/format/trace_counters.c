/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "format/trace_counters.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "json/json_field.h"

/* A step is a thousandth of the session, but at least 10 ms. */
#define STEP_US_MIN 10000
#define STEPS       1000

static uint64_t end_of_session(const struct sample_order *order)
{
	uint64_t end_us = 0;

	for (size_t i = 0; i < order->count; i++) {
		const struct ordered_sample *sample = &order->samples[i];

		if (sample->thread && sample->at_us + sample->us > end_us)
			end_us = sample->at_us + sample->us;
	}
	return end_us;
}

int trace_counters__init(struct trace_counters *counters, const struct ls_profile *profile,
			 const struct sample_order *order)
{
	uint64_t end_us = end_of_session(order);

	*counters = (struct trace_counters){.profile = profile, .order = order};
	counters->step_us = end_us / STEPS;
	if (counters->step_us < STEP_US_MIN)
		counters->step_us = STEP_US_MIN;
	counters->count = (size_t)(end_us / counters->step_us) + 2;
	counters->cpu_us = calloc(counters->count, sizeof(uint64_t));
	counters->gc_us = calloc(counters->count, sizeof(uint64_t));
	return counters->cpu_us && counters->gc_us ? 0 : -ENOMEM;
}

void trace_counters__free(struct trace_counters *counters)
{
	free(counters->cpu_us);
	free(counters->gc_us);
}

static void add_time(const struct trace_counters *counters, uint64_t *by_step,
		     const struct ordered_sample *sample)
{
	uint64_t at_us = sample->at_us, end_us = at_us + sample->us;

	while (at_us < end_us) {
		size_t step = (size_t)(at_us / counters->step_us);
		uint64_t until_us = (step + 1) * counters->step_us;

		if (until_us > end_us)
			until_us = end_us;
		by_step[step] += until_us - at_us;
		at_us = until_us;
	}
}

static bool is_gc(const struct trace_counters *counters, const struct ordered_sample *sample)
{
	uint32_t function = counters->profile->nodes[sample->node].function;

	return function && profile__is_gc(&counters->profile->functions[function]);
}

static void add_sample(struct trace_counters *counters, const struct ordered_sample *sample)
{
	if (!sample->thread)
		return;
	add_time(counters, counters->cpu_us, sample);
	if (is_gc(counters, sample))
		add_time(counters, counters->gc_us, sample);
}

static void write_event(const struct trace_counters *counters, struct json_writer *writer,
			const char *name, uint32_t process, uint64_t at_us, uint64_t us)
{
	json_writer__object(writer);
	json_field__text(writer, "name", name);
	json_field__text(writer, "cat", "luaspy");
	json_field__text(writer, "ph", "C");
	json_field__uint(writer, "ts", at_us);
	json_field__uint(writer, "pid", process);
	json_field__object(writer, "args");
	json_writer__key(writer, "%");
	json_writer__thousandths(writer, us * 100 * 1000 / counters->step_us);
	json_writer__end_object(writer);
	json_writer__end_object(writer);
}

/* The last step has no time, so a counter ends at 0. Clears the steps for the next process. */
static void write_counter(const struct trace_counters *counters, struct json_writer *writer,
			  const char *name, uint64_t *by_step, uint32_t process, uint64_t start_us)
{
	uint64_t before_us = 0;

	for (size_t step = 0; step < counters->count; step++) {
		if (by_step[step] != before_us)
			write_event(counters, writer, name, process,
				    start_us + step * counters->step_us, by_step[step]);
		before_us = by_step[step];
		by_step[step] = 0;
	}
}

void trace_counters__write(struct trace_counters *counters, struct json_writer *writer,
			   size_t first, size_t end, uint64_t start_us)
{
	uint32_t process = counters->order->samples[first].category + 1;

	for (size_t i = first; i < end; i++)
		add_sample(counters, &counters->order->samples[i]);
	write_counter(counters, writer, "CPU", counters->cpu_us, process, start_us);
	write_counter(counters, writer, "GC", counters->gc_us, process, start_us);
}
