/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/self_sample.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/resource_limits.h"
#include "interpreter/family.h"
#include "sampler/sampler.h"

#define PERIOD_NS   1000000
#define ENOUGH      10                   /* samples */
#define PATIENCE_NS UINT64_C(2000000000) /* ten take 10 ms, or more if the CPU is busy */

struct subject {
	struct sampler *sampler;
	struct self_sample *result;
	pid_t tid;
};

static int take_sample(void *context, const struct ls_sample *sample, const struct ls_frame *frames)
{
	struct subject *subject = context;

	(void)frames;
	if (sample->tid != (uint32_t)subject->tid)
		return 0;
	subject->result->classes[sample->class % LS_SAMPLE_CLASS_COUNT]++;
	if (sample->class != LS_SAMPLE_HOST)
		subject->result->error = sample->error;
	return 0;
}

static int pass_function(void *context, const struct ls_function *function)
{
	(void)context;
	(void)function;
	return 0;
}

static int pass_thread_exit(void *context, const struct ls_thread_exit *exit)
{
	(void)context;
	(void)exit;
	return 0;
}

static int pass_exec(void *context, const struct ls_exec *exec)
{
	(void)context;
	(void)exec;
	return 0;
}

static uint64_t count(const struct self_sample *result)
{
	uint64_t sum = 0;

	for (int i = 0; i < LS_SAMPLE_CLASS_COUNT; i++)
		sum += result->classes[i];
	return sum;
}

/* The thread works by draining, which is sampled like any other work. */
static void *be_sampled(void *context)
{
	struct subject *subject = context;
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	int error;

	subject->tid = gettid();
	error = sampler__attach_thread(subject->sampler, getpid(), subject->tid);
	while (!error && count(subject->result) < ENOUGH && clock_ns(CLOCK_MONOTONIC) < until_ns)
		error = sampler__drain(subject->sampler);
	sampler__stop(subject->sampler);
	subject->result->attach_error = error;
	return NULL;
}

/* Tells BPF what it is told about a target with an interpreter: to try all layouts. */
static int register_self(struct sampler *sampler)
{
	struct ls_image target = {};

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		target.candidates[id].layouts = family__layouts(families__get(id));
	families__choose(&target);
	return sampler__set_target(sampler, getpid(), &target);
}

int self_sample__take(struct self_sample *main_thread, struct self_sample *other_thread)
{
	struct subject subject = {.result = main_thread};
	struct sampler_options options = {.sampling = {.period_ns = PERIOD_NS, .max_depth = 512}};
	struct sampler_receiver receiver = {.context = &subject,
					    .sample = take_sample,
					    .function = pass_function,
					    .thread_exit = pass_thread_exit,
					    .exec = pass_exec};
	pthread_t thread;
	int error;

	memset(main_thread, 0, sizeof(*main_thread));
	memset(other_thread, 0, sizeof(*other_thread));
	error = resource_limits__raise_files();
	if (error) {
		log_error("cannot start: %s", resource_limits__reason(error));
		return error;
	}
	error = sampler__open(&options, &receiver, &subject.sampler);
	if (error)
		return error;
	main_thread->is_old = other_thread->is_old = sampler__is_old(subject.sampler);
	error = register_self(subject.sampler);
	if (error)
		goto cleanup;
	be_sampled(&subject);
	subject.result = other_thread;
	error = -pthread_create(&thread, NULL, be_sampled, &subject);
	if (!error)
		pthread_join(thread, NULL);
cleanup:
	if (error)
		log_error("cannot sample luaspy itself: %s", resource_limits__reason(error));
	sampler__close(subject.sampler);
	return error;
}
