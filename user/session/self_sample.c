/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "self_sample.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "layout_puc.h"
#include "log.h"
#include "sampler.h"
#include "threads.h"

#define PERIOD_NS   1000000
#define ENOUGH      10                   /* samples */
#define PATIENCE_NS UINT64_C(2000000000) /* ten take 10 ms, or more where others want the CPU */

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

	for (int class = 0; class < LS_SAMPLE_CLASS_COUNT; class ++)
		sum += result->classes[class];
	return sum;
}

/* Draining is work like any other. */
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

/* What is told of a target in which some Lua was found: that all layouts are to be tried. */
static int register_self(struct sampler *sampler)
{
	struct ls_target target = {.family = LS_FAMILY_PUC};
	int error = 0;

	for (size_t i = 0; !error && i < layouts_puc_count; i++) {
		target.layouts |= (uint16_t)(1U << i);
		error = sampler__set_layout(sampler, i, &layouts_puc[i].offsets);
	}
	return error ? error : sampler__set_target(sampler, getpid(), &target);
}

int self_sample__take(struct self_sample *main_thread, struct self_sample *other_thread)
{
	struct subject subject = {.result = main_thread};
	struct sampler_options options = {.period_ns = PERIOD_NS, .max_depth = 512};
	struct sampler_receiver receiver = {.context = &subject,
					    .sample = take_sample,
					    .function = pass_function,
					    .thread_exit = pass_thread_exit,
					    .exec = pass_exec};
	pthread_t thread;
	int error;

	memset(main_thread, 0, sizeof(*main_thread));
	memset(other_thread, 0, sizeof(*other_thread));
	threads__raise_file_limit();
	error = sampler__open(&options, &receiver, &subject.sampler);
	if (error)
		return error;
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
		log_error("cannot sample luaspy itself: %s", strerror(-error));
	sampler__close(subject.sampler);
	return error;
}
