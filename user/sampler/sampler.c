/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "interpreter/family.h"
#include "system/priority.h"
#include "system/resource_limits.h"
#include "luaspy.skel.h"
#include "sampler/backlog.h"
#include "sampler/drain_thread.h"
#include "sampler/load_failure.h"
#include "sampler/programs.h"
#include "sampler/tick_cost.h"
#include "sampler/timers.h"
#include "sampler/walker_loader.h"
#include "sampler/walker_set.h"
#include "sampler/young_timers.h"

/* Internal: ends a drain after one bufferful. Receivers must not return it. */
#define ENOUGH -ECANCELED

struct sampler {
	struct sampler_options options;
	struct programs programs;
	struct walker_set walkers;
	struct ring_buffer *ring;
	struct timers timers;
	struct young_timers young;
	struct sampler_receiver receiver;
	uint32_t records_left; /* that one pass may still take out of the buffer */
	uint32_t hands_left;   /* records that this drain may still hand out */
	struct backlog backlog;
	struct drain_thread *drain_thread; /* NULL: only drains empty the buffer */
	uint64_t sample_ns;                /* running median of the time to hand out a sample */
	uint64_t handing_ns;               /* see sampler__handing_ns() */
};

/* Whether a record holds all of a definition, and its texts end where they should. */
static bool is_function(const struct ls_function *function, size_t size)
{
	size_t length = offsetof(struct ls_function, text) + 1;

	if (size < length)
		return false;
	length += function->source_length;
	if (function->name_length)
		length += function->name_length + 1U;
	return size >= length && length <= sizeof(*function) &&
	       !function->text[function->source_length] && !((const char *)function)[length - 1];
}

static int hand_out(const struct sampler_receiver *receiver, const void *data, size_t size)
{
	const struct ls_sample *sample = data;
	const struct ls_function *function = data;

	switch (*(const uint32_t *)data) {
	case LS_RECORD_SAMPLE:
		if (size < sizeof(*sample) + sample->frame_count * sizeof(struct ls_frame))
			return -EBADMSG;
		return receiver->sample(receiver->context, sample,
					(const struct ls_frame *)(sample + 1));
	case LS_RECORD_FUNCTION:
		if (!is_function(function, size))
			return -EBADMSG;
		return receiver->function(receiver->context, function);
	case LS_RECORD_THREAD_EXIT:
		return receiver->thread_exit(receiver->context, data);
	case LS_RECORD_THREAD_REST:
		return receiver->thread_rest ? receiver->thread_rest(receiver->context, data) : 0;
	case LS_RECORD_EXEC:
		return receiver->exec(receiver->context, data);
	case LS_RECORD_FORK:
		return receiver->fork ? receiver->fork(receiver->context, data) : 0;
	}
	return -EBADMSG;
}

/*
 * Anything new in a sample, such as a function or a whole process, is inspected once, however often
 * samples are taken. So the median counts, not the mean; it also ignores time in which we did not
 * run.
 */
static void learn_handing(struct sampler *sampler, uint64_t ns)
{
	uint64_t step = sampler->sample_ns / 16 + 1;

	if (ns > sampler->sample_ns)
		sampler->sample_ns += step;
	else if (sampler->sample_ns > step)
		sampler->sample_ns -= step;
	sampler->handing_ns += sampler->sample_ns;
}

static int receive(void *context, void *data, size_t size)
{
	struct sampler *sampler = context;
	bool measures = sampler->options.sampling.max_overhead_ppm != 0;
	uint64_t begin_ns = measures ? clock_ns(CLOCK_MONOTONIC) : 0;
	int error = hand_out(&sampler->receiver, data, size);

	if (*(const uint32_t *)data == LS_RECORD_SAMPLE) {
		timers__tick(&sampler->timers, (pid_t)((const struct ls_sample *)data)->tid);
		if (measures)
			learn_handing(sampler, clock_ns(CLOCK_MONOTONIC) - begin_ns);
	}
	return !error && !--sampler->hands_left ? ENOUGH : error;
}

/* All records go through the backlog, because a receiver may empty the buffer further. */
static int take_out(void *context, void *data, size_t size)
{
	struct sampler *sampler = context;
	int error;

	/* The ring buffer consumes the record whatever this returns. */
	backlog__add(&sampler->backlog, data, size);
	error = backlog__make_room(&sampler->backlog);
	return !error && !--sampler->records_left ? ENOUGH : error;
}

static int fail(const char *what, int error)
{
	char why[LOAD_FAILURE_SIZE];

	log_error("cannot %s: %s", what, load_failure__explain(error, why, sizeof(why)));
	return error;
}

static int load(struct sampler *sampler)
{
	int error = programs__load(&sampler->options, &sampler->programs);

	if (error)
		return fail("load the BPF program", error);
	timers__start(&sampler->timers,
		      &(struct timer_options){
			      .period_ns = sampler->options.sampling.period_ns,
			      .timers = timer_set__count(sampler->options.sampling.period_ns),
			      .follows_children = sampler->options.follows_children},
		      sampler->programs.core->progs.sample);
	young_timers__open(&sampler->young, sampler->programs.core);
	error = luaspy_bpf__attach(sampler->programs.core);
	if (error)
		return fail("attach to the kernel's tracepoints", error);
	sampler->ring = ring_buffer__new(bpf_map__fd(sampler->programs.core->maps.records),
					 take_out, sampler, NULL);
	if (sampler->ring)
		return 0;
	error = -errno;
	log_error("cannot map the ring buffer: %s", resource_limits__reason(error));
	return error;
}

int sampler__open(const struct sampler_options *options, const struct sampler_receiver *receiver,
		  struct sampler **opened)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	int error;

	*opened = NULL;
	if (!sampler)
		return -ENOMEM;
	sampler->options = *options;
	sampler->receiver = *receiver;
	sampler->walkers.programs = &sampler->programs;
	srand48(clock_ns(CLOCK_MONOTONIC));
	error = load(sampler);
	if (error)
		sampler__close(sampler);
	else
		*opened = sampler;
	priority__raise();
	return error;
}

void sampler__stop(struct sampler *sampler)
{
	timers__close(&sampler->timers);
	young_timers__close(&sampler->young);
}

void sampler__close(struct sampler *sampler)
{
	if (!sampler)
		return;
	sampler__stop_draining_aside(sampler);
	sampler__stop(sampler);
	backlog__free(&sampler->backlog);
	ring_buffer__free(sampler->ring);
	walker_set__free(&sampler->walkers);
	programs__free(&sampler->programs);
	free(sampler);
}

int sampler__delegate_loading(struct sampler *sampler)
{
	return walker_set__delegate(&sampler->walkers);
}

void sampler__load_aside(struct sampler *sampler)
{
	sampler->walkers.loads_aside = true;
}

uint64_t sampler__loading_ns(const struct sampler *sampler)
{
	return walker_loader__cpu_ns(sampler->walkers.loader);
}

int sampler__loading_fd(const struct sampler *sampler)
{
	return sampler->walkers.awaited ? walker_loader__fd(sampler->walkers.loader) : -1;
}

int sampler__take_walkers(struct sampler *sampler)
{
	return walker_set__take(&sampler->walkers);
}

int sampler__load_walker(struct sampler *sampler, uint32_t family)
{
	return walker_set__need(&sampler->walkers, 1U << family);
}

int sampler__load_walkers(struct sampler *sampler, bool only_common)
{
	return walker_set__load_all(&sampler->walkers, only_common);
}

int sampler__set_target(struct sampler *sampler, pid_t pid, const struct ls_image *target)
{
	int error = walker_set__need(&sampler->walkers, target->families);
	uint32_t tgid = pid;

	if (error)
		return error;
	if (bpf_map_update_elem(bpf_map__fd(sampler->programs.core->maps.images), &tgid, target,
				BPF_ANY) ||
	    bpf_map_update_elem(bpf_map__fd(sampler->programs.core->maps.targets), &tgid, &tgid,
				BPF_ANY))
		return -errno;
	return 0;
}

void sampler__forget_target(struct sampler *sampler, pid_t pid)
{
	uint32_t tgid = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(sampler->programs.core->maps.targets), &tgid);
	bpf_map_delete_elem(bpf_map__fd(sampler->programs.core->maps.images), &tgid);
	if (sampler->options.is_system_wide)
		timers__end(&sampler->timers, pid);
}

int sampler__attach_thread(struct sampler *sampler, pid_t pid, pid_t tid)
{
	return timers__attach(&sampler->timers, pid, tid);
}

static void adapt_young_timers(struct sampler *sampler)
{
	young_timers__adapt(&sampler->young, sampler->programs.core,
			    sampler->timers.options.period_ns, sampler->timers.is_off);
}

void sampler__switch(struct sampler *sampler, int on)
{
	timers__switch(&sampler->timers, on);
	adapt_young_timers(sampler);
}

void sampler__vary_periods(struct sampler *sampler)
{
	timers__vary(&sampler->timers);
	adapt_young_timers(sampler);
}

struct timers *sampler__timers(struct sampler *sampler)
{
	return &sampler->timers;
}

uint64_t sampler__measure_tick(const struct sampler *sampler)
{
	return tick_cost__measure(sampler->programs.core->progs.sample);
}

/* A thread's creator may itself have been created since: how many creators to trace back. */
#define GENERATIONS_MAX 64

bool sampler__has_thread(struct sampler *sampler, pid_t tid)
{
	int births = bpf_map__fd(sampler->programs.core->maps.births);

	if (timers__attached_ns(&sampler->timers, tid))
		return true;
	for (int i = 0; i < GENERATIONS_MAX; i++) {
		struct ls_birth birth;
		uint64_t attached_ns;

		if (bpf_map_lookup_elem(births, &tid, &birth))
			return false;
		tid = birth.parent_tid;
		attached_ns = timers__attached_ns(&sampler->timers, tid);
		if (attached_ns)
			return birth.time_ns >= attached_ns;
	}
	return false;
}

int sampler__execution(const struct sampler *sampler, pid_t pid, struct ls_execution *execution)
{
	uint32_t tgid = (uint32_t)pid;

	return bpf_map_lookup_elem(bpf_map__fd(sampler->programs.core->maps.executions), &tgid,
				   execution)
		       ? -ENOENT
		       : 0;
}

void sampler__note_counted(struct sampler *sampler, pid_t pid, uint64_t runtime_ns)
{
	struct ls_execution execution = {};
	uint32_t tgid = (uint32_t)pid;

	sampler__execution(sampler, pid, &execution);
	execution.counted_ns = runtime_ns;
	bpf_map_update_elem(bpf_map__fd(sampler->programs.core->maps.executions), &tgid, &execution,
			    BPF_ANY);
}

void sampler__forget_execution(struct sampler *sampler, pid_t pid)
{
	uint32_t tgid = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(sampler->programs.core->maps.executions), &tgid);
}

int sampler__poll_fd(const struct sampler *sampler)
{
	return ring_buffer__epoll_fd(sampler->ring);
}

/*
 * Events that found no room in the ring buffer are in this queue, younger than those in the buffer.
 */
static int empty_queue(struct sampler *sampler)
{
	uint32_t left = bpf_map__max_entries(sampler->programs.core->maps.events);
	int file = bpf_map__fd(sampler->programs.core->maps.events), error = 0;
	union ls_event event;

	sampler->records_left = left + 1;
	while (!error && left-- && !bpf_map_lookup_and_delete_elem(file, NULL, &event))
		error = take_out(sampler, &event, sizeof(event));
	return error;
}

static uint32_t most_records(const struct sampler *sampler)
{
	uint32_t buffer_bytes = bpf_map__max_entries(sampler->programs.core->maps.records);

	return buffer_bytes / (BPF_RINGBUF_HDR_SZ + sizeof(struct ls_exec));
}

/* 0; -ENOSPC, -ENOMEM: there is no room for more; other -errno. */
static int empty_buffer(struct sampler *sampler)
{
	int count, error = backlog__make_room(&sampler->backlog);

	if (error)
		return error;
	sampler->records_left = most_records(sampler);
	count = ring_buffer__consume(sampler->ring);
	if (count < 0 && count != ENOUGH)
		return count;
	return empty_queue(sampler);
}

void sampler__stash(struct sampler *sampler)
{
	empty_buffer(sampler);
}

int sampler__drain(struct sampler *sampler)
{
	int error = empty_buffer(sampler);

	if (error && error != -ENOSPC)
		return error;
	sampler->hands_left = most_records(sampler);
	error = backlog__hand_out(&sampler->backlog, receive, sampler);
	return error == ENOUGH ? 0 : error;
}

static int fill_backlog(void *context)
{
	return empty_buffer(context);
}

void sampler__drain_aside(struct sampler *sampler)
{
	sampler->drain_thread = drain_thread__begin(fill_backlog, sampler);
}

void sampler__stop_draining_aside(struct sampler *sampler)
{
	drain_thread__end(sampler->drain_thread);
	sampler->drain_thread = NULL;
}

bool sampler__is_old(const struct sampler *sampler)
{
	return sampler->programs.are_old;
}

uint64_t sampler__runtime_ns(const struct sampler *sampler)
{
	return programs__runtime_ns(&sampler->programs);
}

uint64_t sampler__handing_ns(const struct sampler *sampler)
{
	return sampler->handing_ns;
}

int sampler__counters(const struct sampler *sampler, struct ls_counters *sum)
{
	int cpus = libbpf_num_possible_cpus();
	struct ls_counters *each = calloc(cpus > 0 ? cpus : 1, sizeof(*each));
	uint32_t zero = 0;
	int error = 0;

	memset(sum, 0, sizeof(*sum));
	if (!each)
		return -ENOMEM;
	if (bpf_map_lookup_elem(bpf_map__fd(sampler->programs.core->maps.counters), &zero, each)) {
		error = -errno;
		goto cleanup;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		sum->ticks += each[cpu].ticks;
		sum->spare_ticks += each[cpu].spare_ticks;
		sum->dropped += each[cpu].dropped;
		sum->records_lost += each[cpu].records_lost;
		sum->vma_busy += each[cpu].vma_busy;
		sum->scans += each[cpu].scans;
		sum->chunks += each[cpu].chunks;
		sum->definitions += each[cpu].definitions;
		sum->clocked_ns += each[cpu].clocked_ns;
		sum->bpf_ns += each[cpu].bpf_ns;
	}
cleanup:
	free(each);
	return error;
}
