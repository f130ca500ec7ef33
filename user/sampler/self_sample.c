/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sampler/self_sample.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "interpreter/family.h"
#include "sampler/sampler.h"
#include "system/resource_limits.h"

#define PERIOD_NS   1000000
#define ENOUGH      10                   /* samples */
#define PATIENCE_NS UINT64_C(2000000000) /* of CPU time; ten take 10 ms */

/* The thread that is sampled. */
struct sampled_thread {
	struct sampler *sampler;
	struct self_sample *result;
	pid_t tid;
};

static int take_sample(void *context, const struct ls_sample *sample, const struct ls_frame *frames)
{
	struct sampled_thread *thread = context;

	(void)frames;
	if (sample->tid != (uint32_t)thread->tid)
		return 0;
	thread->result->classes[sample->class % LS_SAMPLE_CLASS_COUNT]++;
	if (sample->class != LS_SAMPLE_HOST)
		thread->result->error = sample->error;
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

/*
 * The thread works by draining, which is sampled like any other work. Its own CPU time counts: on a
 * busy machine it may get none for seconds.
 */
static void *be_sampled(void *context)
{
	struct sampled_thread *thread = context;
	uint64_t until_ns;
	int error;

	thread->tid = gettid();
	error = sampler__attach_thread(thread->sampler, getpid(), thread->tid);
	until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + PATIENCE_NS;
	while (!error && count(thread->result) < ENOUGH &&
	       clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		error = sampler__drain(thread->sampler);
	sampler__stop(thread->sampler);
	thread->result->attach_error = error;
	return NULL;
}

/* Loads every walker that can be. 0, or -errno if there is none. */
static int load_walkers(struct sampler *sampler, int errors[LS_FAMILY_COUNT])
{
	int error = -ENOENT;

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		errors[id] = sampler__load_walker(sampler, id);
		error = error ? errors[id] : 0;
	}
	return error;
}

/* Tells BPF what it is told about a target with interpreters: to try all layouts of all of them. */
static int register_self(struct sampler *sampler, const int errors[LS_FAMILY_COUNT])
{
	struct ls_image target = {};

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (!errors[id])
			target.candidates[id].layouts = family__layouts(families__get(id));
	families__choose(&target);
	return sampler__set_target(sampler, getpid(), &target);
}

static int sample_both(struct sampled_thread *sampled, struct self_test *test)
{
	pthread_t thread;
	int error;

	sampled->result = &test->main_thread;
	be_sampled(sampled);
	sampled->result = &test->other_thread;
	error = -pthread_create(&thread, NULL, be_sampled, sampled);
	if (!error)
		pthread_join(thread, NULL);
	return error;
}

int self_sample__take(struct self_test *test)
{
	struct sampled_thread sampled = {.result = &test->main_thread};
	struct sampler_options options = {.sampling = {.period_ns = PERIOD_NS, .max_depth = 512}};
	struct sampler_receiver receiver = {.context = &sampled,
					    .sample = take_sample,
					    .function = pass_function,
					    .thread_exit = pass_thread_exit,
					    .exec = pass_exec};
	int error;

	*test = (struct self_test){};
	error = resource_limits__raise_files();
	if (error) {
		log_error("cannot start: %s", resource_limits__reason(error));
		return error;
	}
	error = sampler__open(&options, &receiver, &sampled.sampler);
	if (error)
		return error;
	test->is_old = sampler__is_old(sampled.sampler);
	error = load_walkers(sampled.sampler, test->walkers);
	if (error)
		goto cleanup;
	error = register_self(sampled.sampler, test->walkers);
	if (!error)
		error = sample_both(&sampled, test);
	if (error)
		log_error("cannot sample luaspy itself: %s", resource_limits__reason(error));
cleanup:
	sampler__close(sampled.sampler);
	return error;
}
