/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A thread that stands still is looked at before and after its stack is read, names and lines
 * included: if it has not run in between, all that is its own belongs together. One that runs is
 * sampled; so is one that never stands still for long enough, unless it sleeps when its turn comes.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dump_work.h"
#include "layout_puc.h"
#include "log.h"
#include "process.h"
#include "walk_error.h"

#define LOOKS_MAX   8            /* at one thread in a row, until its stack was read in one piece */
#define LOOKS_NS    100000000ULL /* for them */
#define PERIOD_NS   2000000      /* of the timer: what a sample of a deep stack costs is nothing */
#define ROUND_MS    5
#define PATIENCE_NS 2000000000ULL /* for threads that neither run nor stand still for long */
#define SETTLING_NS 250000000ULL  /* for more stacks of those that run, to decide the layout */
#define SAMPLES_MAX 16            /* of a thread whose stack cannot be read in full */
#define THREADS_MAX 32768

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static int list_threads(struct dump *dump)
{
	pid_t *tids;
	ssize_t count = process__threads(dump->options.pid, &tids);

	if (count < 0)
		return (int)count;
	if (count > THREADS_MAX)
		count = THREADS_MAX;
	dump->threads = calloc((size_t)count, sizeof(*dump->threads));
	for (ssize_t i = 0; i < count && dump->threads; i++) {
		struct dump_thread *thread = &dump->threads[dump->thread_count++];

		thread->tid = tids[i];
		if (process__name(tids[i], thread->name))
			thread->status = DUMP_THREAD_GONE;
	}
	free(tids);
	return dump->threads ? 0 : -ENOMEM;
}

/* Reads the stack once. 0: it stood; -EAGAIN: it ran meanwhile; other -errno. */
static int read_standing(struct dump *dump, struct dump_thread *thread, struct ls_sample *sample)
{
	struct dump_work *work = dump->work;
	struct standing_thread before, after;
	struct walker_puc_stack walked;
	struct dump_stack stack = {};
	struct thread_stack native;
	struct ls_target target;
	int error;

	error = standing_thread__look(dump->options.pid, thread->tid, &before);
	if (!error)
		error = standing_thread__stack(dump->options.pid, thread->tid, before.sp, &native);
	if (error)
		return error == -ENOENT ? -EAGAIN : error;
	dump_work__target(work, &target);
	walked = walker_puc__walk(work->walker,
				  &(struct walker_puc_place){.sp = before.sp,
							     .pc = before.pc,
							     .stack_low = native.low,
							     .stack_high = native.high,
							     .own_stack = native.is_own},
				  &target);
	*sample = *walked.sample;
	error = stack_reader__read(work->reader, sample, walked.frames, &stack);
	if (error)
		return error;
	error = standing_thread__look(dump->options.pid, thread->tid, &after);
	if (!error && !standing_thread__stood(&before, &after))
		error = -EAGAIN;
	if (error) {
		dump_stack__free(&stack);
		return error;
	}
	dump_stack__free(&thread->stack);
	thread->stack = stack;
	thread->place = before;
	thread->status = DUMP_THREAD_IDLE;
	return 0;
}

/* Where luaV_execute keeps pc for itself, and no system call has made it store that. */
static void mark_rough_line(struct dump_thread *thread)
{
	struct dump_frame *leaf = thread->stack.frames;

	if (thread->place.system_call < 0 && thread->stack.count && leaf->is_script &&
	    layouts_puc[thread->stack.layout].offsets.has_local_pc)
		leaf->is_rough = true;
}

/* 0: nothing more is to be had of it; -EAGAIN: it runs; other -errno. */
static int look_at_thread(struct dump *dump, struct dump_thread *thread)
{
	uint64_t end = now_ns() + LOOKS_NS;
	struct ls_sample sample;
	int error = -EAGAIN;

	for (int i = 0; i < LOOKS_MAX && error == -EAGAIN && now_ns() < end; i++)
		error = read_standing(dump, thread, &sample);
	if (error == -ESRCH)
		thread->status = DUMP_THREAD_GONE;
	if (error)
		return error == -ESRCH ? 0 : error;
	mark_rough_line(thread);
	verdicts__add(&dump->work->verdicts, &sample);
	return 0;
}

static struct dump_thread *find_thread(struct dump *dump, pid_t tid)
{
	for (size_t i = 0; i < dump->thread_count; i++)
		if (dump->threads[i].tid == tid)
			return &dump->threads[i];
	return NULL;
}

/* The most that a sample can tell is taken; then, whatever comes, nothing more. */
static int on_sample(void *context, const struct ls_sample *sample, const struct ls_frame *frames)
{
	struct dump *dump = context;
	struct dump_thread *thread = find_thread(dump, (pid_t)sample->tid);
	struct dump_stack stack;
	int error;

	verdicts__add(&dump->work->verdicts, sample);
	if (!thread || thread->status == DUMP_THREAD_IDLE)
		return 0;
	thread->samples++;
	if (thread->status == DUMP_THREAD_ACTIVE && thread->stack.class >= sample->class)
		return 0;
	error = stack_reader__read(dump->work->reader, sample, frames, &stack);
	if (error)
		return error;
	dump_stack__free(&thread->stack);
	thread->stack = stack;
	thread->status = DUMP_THREAD_ACTIVE;
	return 0;
}

static int on_function(void *context, const struct ls_function *function)
{
	return stack_reader__define(((struct dump *)context)->work->reader, function);
}

static int on_thread_exit(void *context, const struct ls_thread_exit *exit)
{
	struct dump_thread *thread = find_thread(context, (pid_t)exit->tid);

	if (thread && thread->status == DUMP_THREAD_MISSED)
		thread->status = DUMP_THREAD_GONE;
	return 0;
}

static int on_exec(void *context, const struct ls_exec *exec)
{
	(void)exec;
	((struct dump *)context)->work->has_executed = 1;
	return 0;
}

static int is_pending(const struct dump_thread *thread)
{
	if (thread->status == DUMP_THREAD_MISSED)
		return 1;
	/* A sample may have come at a bad moment; the next one is better. */
	return thread->status == DUMP_THREAD_ACTIVE && thread->samples < SAMPLES_MAX &&
	       (thread->stack.class == LS_SAMPLE_UNREADABLE ||
		thread->stack.class == LS_SAMPLE_TORN);
}

static int tell_target(struct dump *dump)
{
	struct ls_target target;

	dump_work__target(dump->work, &target);
	return sampler__set_target(dump->work->sampler, dump->options.pid, &target);
}

/* Timers on those that run. */
static int attach(struct dump *dump)
{
	struct sampler *sampler = dump->work->sampler;

	for (size_t i = 0; i < dump->thread_count; i++) {
		struct dump_thread *thread = &dump->threads[i];
		int error;

		if (!is_pending(thread) || sampler__has_thread(sampler, thread->tid))
			continue;
		error = sampler__attach_thread(sampler, dump->options.pid, thread->tid);
		if (error == -ESRCH) {
			thread->status = DUMP_THREAD_GONE;
		} else if (error) {
			log_error("cannot start timers on %s: %s", dump->target, strerror(-error));
			return error;
		}
	}
	return 0;
}

static int open_sampler(struct dump *dump)
{
	struct sampler_options options = {.period_ns = PERIOD_NS, .max_depth = LS_DEPTH_MAX};
	struct sampler_receiver receiver = {
		.context = dump,
		.sample = on_sample,
		.function = on_function,
		.thread_exit = on_thread_exit,
		.exec = on_exec,
	};
	struct dump_work *work = dump->work;
	int error = sampler__open(&options, &receiver, &work->sampler);

	for (size_t i = 0; !error && i < layouts_puc_count; i++)
		error = sampler__set_layout(work->sampler, (uint32_t)i, &layouts_puc[i].offsets);
	return error;
}

/* What came since the last round. -ENOENT: an unknown Lua, it said so. */
static int take_samples(struct dump *dump)
{
	struct dump_work *work = dump->work;
	int error;

	poll(NULL, 0, ROUND_MS);
	error = sampler__drain(work->sampler);
	if (!error && work->has_executed) {
		log_error("cannot dump %s: it runs another program now (try again)", dump->target);
		return -ECANCELED;
	}
	if (!error)
		error = identification__settle(work->identification, &work->verdicts, dump->target);
	return error ? error : tell_target(dump);
}

/* Once more at all that is pending. Returns how much of it still is, or -errno. */
static int look_at_pending(struct dump *dump)
{
	int pending = 0;

	for (size_t i = 0; i < dump->thread_count; i++) {
		struct dump_thread *thread = &dump->threads[i];
		int error;

		if (!is_pending(thread))
			continue;
		error = look_at_thread(dump, thread);
		if (error && error != -EAGAIN)
			return error;
		pending += error == -EAGAIN;
	}
	return pending;
}

/* Whether samples could still tell more of the layout, of threads that run. */
static int is_settled(const struct dump *dump)
{
	return verdicts__are_decided(&dump->work->verdicts) || dump->options.layout;
}

static int sample_threads(struct dump *dump)
{
	struct dump_work *work = dump->work;
	uint64_t begin, spent;
	int error, pending = 1;

	error = open_sampler(dump);
	if (error) {
		/* It said why. What stands still was read without. */
		sampler__close(work->sampler);
		work->sampler = NULL;
		work->sampler_failed = 1;
		return 0;
	}
	error = tell_target(dump);
	if (!error)
		error = attach(dump);
	begin = now_ns();
	do {
		if (!error)
			error = take_samples(dump);
		if (!error)
			pending = look_at_pending(dump);
		if (!error && pending < 0)
			error = pending;
		if (!error)
			error = attach(dump);
		spent = now_ns() - begin;
	} while (!error && spent < PATIENCE_NS &&
		 (pending || (!is_settled(dump) && spent < SETTLING_NS)));
	sampler__stop(work->sampler);
	return error;
}

/*
 * A stack that fits no layout for certain: C alone proves none, but there may be proof by now;
 * without any, all layouts are tried, for files may lie.
 */
static int look_again(struct dump *dump)
{
	struct dump_work *work = dump->work;
	int error = 0;

	work->tries_all = 1;
	for (size_t i = 0; i < dump->thread_count && !error; i++) {
		struct dump_thread *thread = &dump->threads[i];

		if (thread->status == DUMP_THREAD_IDLE && thread->stack.error == LS_WALK_UNDECIDED)
			error = look_at_thread(dump, thread);
		if (error == -EAGAIN)
			error = 0; /* what was read before stands */
	}
	return error;
}

static int explain(const struct dump *dump, int error)
{
	if (error == -EACCES || error == -EPERM)
		log_error("cannot look into %s: permission denied (try sudo or CAP_SYS_PTRACE)",
			  dump->target);
	else if (error == -ESRCH)
		log_error("cannot dump %s: it has ended", dump->target);
	return error == -ESRCH ? -ENOENT : error;
}

int dump_threads__read(struct dump *dump)
{
	int error = list_threads(dump), pending;

	if (error)
		return explain(dump, error);
	pending = look_at_pending(dump);
	if (pending < 0)
		return explain(dump, pending);
	if (pending)
		error = sample_threads(dump);
	if (!error)
		error = look_again(dump);
	return explain(dump, error);
}
