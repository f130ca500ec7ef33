/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/timer_set.h"

#include <errno.h>
#include <stdbool.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/resource_limits.h"

#define PERIOD_NS_MIN 400000

uint32_t timer_set__count(uint64_t period_ns)
{
	uint64_t count = period_ns ? PERIOD_NS_MIN / period_ns : 1;

	if (count < 1)
		return 1;
	return count < TIMERS_MAX ? (uint32_t)count : TIMERS_MAX;
}

/* Uniform in frequency, not in period, so that the mean rate is the requested one. */
static uint64_t random_period(const struct timer_set *set, uint64_t period_ns)
{
	return (uint64_t)((double)(set->count * period_ns) / (0.75 + drand48() / 2));
}

static int open_event(struct perf_event_attr attributes, pid_t tid, int cpu)
{
	attributes.type = PERF_TYPE_SOFTWARE;
	attributes.size = sizeof(attributes);
	attributes.disabled = 1;
	return (int)syscall(SYS_perf_event_open, &attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Task clock: the timer runs only while the thread does, at no other thread's cost. inherit_thread:
 * only threads that it creates inherit the timer, not processes, unless these are followed.
 */
static int open_thread_event(pid_t tid, uint64_t period_ns, bool follows_children)
{
	struct perf_event_attr attributes = {
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period_ns,
		.inherit = 1,
		.inherit_thread = !follows_children,
	};

	return open_event(attributes, tid, -1);
}

static int open_processor_event(int cpu, uint64_t period_ns)
{
	struct perf_event_attr attributes = {
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.exclude_idle = 1,
	};

	return open_event(attributes, -1, cpu);
}

/* Takes over `file`, or the errno, that perf_event_open() has just returned. */
static int add_timer(struct timer_set *set, uint32_t at, int file, struct bpf_program *program)
{
	int error;

	if (file < 0)
		return -errno;
	if (resource_limits__is_last(file)) {
		close(file);
		return -EMFILE;
	}
	set->links[at] = bpf_program__attach_perf_event(program, file);
	if (set->links[at]) {
		set->files[at] = file;
		return 0;
	}
	error = -errno;
	close(file);
	return error;
}

int timer_set__open(struct timer_set *set, pid_t tid, const struct timer_options *options,
		    struct bpf_program *program)
{
	int error = 0;

	*set = (struct timer_set){.count = options->timers ? options->timers
							   : timer_set__count(options->period_ns)};
	for (uint32_t i = 0; i < set->count && !error; i++)
		error = add_timer(set, i,
				  open_thread_event(tid, random_period(set, options->period_ns),
						    options->follows_children),
				  program);
	if (error)
		timer_set__close(set);
	return error;
}

int timer_set__open_on(struct timer_set *set, int cpu, uint64_t period_ns,
		       struct bpf_program *program)
{
	int error, file = open_processor_event(cpu, period_ns);

	*set = (struct timer_set){};
	if (file >= 0 && resource_limits__is_scarce(file)) {
		close(file);
		return -EMFILE;
	}
	error = add_timer(set, 0, file, program);
	if (error)
		return error;
	set->count = 1;
	timer_set__switch(set, 0);
	return 0;
}

void timer_set__close(struct timer_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		bpf_link__destroy(set->links[i]);
	set->count = 0;
}

void timer_set__vary(const struct timer_set *set, uint64_t period_ns)
{
	for (uint32_t i = 0; i < set->count; i++) {
		uint64_t period = random_period(set, period_ns);

		/* Fails if the thread is gone. */
		ioctl(set->files[i], PERF_EVENT_IOC_PERIOD, &period);
	}
}

void timer_set__switch(const struct timer_set *set, int on)
{
	for (uint32_t i = 0; i < set->count; i++)
		ioctl(set->files[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}
