/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a thread that stands still is read before and after its stack, names and lines
 * included: if it has not run in between, all data of its own is consistent. A thread that runs is
 * sampled; so is one that never stands still for long enough, unless it sleeps when its turn comes.
 */
#include "dump/dump_threads.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "dump/dump_internal.h"
#include "process/process.h"
#include "system/privileges.h"
#include "system/resource_limits.h"
#include "walk_error.h"

#define LOOKS_MAX   8            /* attempts in a row to read one thread's stack in one piece */
#define LOOKS_NS    100000000ULL /* limit for these attempts */
#define PERIOD_NS   2000000      /* of the timer: so few samples are cheap, even of deep stacks */
#define ROUND_MS    5
#define PATIENCE_NS 2000000000ULL /* for threads that neither run nor stand still for long */
#define SETTLING_NS 250000000ULL  /* for more samples of running threads, to decide the layout */
#define SAMPLES_MAX 16            /* of a thread whose stack cannot be read in full */
#define THREADS_MAX 32768

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

/* Walks the stack by the first family whose script is on it. */
static struct walked_stack walk(const struct dump_internal *internal,
				const struct walker_place *place, const struct ls_image *target)
{
	static const struct ls_sample nothing = {.class = LS_SAMPLE_HOST,
						 .error = LS_WALK_NO_SCRIPT};
	static const struct ls_sample unread = {.class = LS_SAMPLE_UNREADABLE,
						.error = LS_WALK_STANDING};
	const struct ls_sample *sample = &nothing;

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		struct walked_stack walked;

		if (!(target->families >> id & 1))
			continue;
		if (!internal->walkers[id]) {
			sample = &unread;
			continue;
		}
		walked = families__get(id)->walker->walk(internal->walkers[id], place, target);
		if (walked.sample->class != LS_SAMPLE_HOST)
			return walked;
	}
	return (struct walked_stack){.sample = sample};
}

/* Reads the stack once. 0: the thread stood still; -EAGAIN: it ran meanwhile; other -errno. */
static int read_standing(struct dump *dump, struct dump_thread *thread, struct ls_sample *sample)
{
	struct dump_internal *internal = dump->internal;
	struct standing_thread before, after;
	struct walked_stack walked;
	struct dump_stack stack = {};
	struct thread_stack native;
	struct ls_image target;
	int error;

	error = standing_thread__read(dump->options.pid, thread->tid, &before);
	if (!error)
		error = standing_thread__stack(dump->options.pid, thread->tid, before.sp, &native);
	if (error)
		return error == -ENOENT ? -EAGAIN : error;
	dump_internal__target(internal, &target);
	walked = walk(internal,
		      &(struct walker_place){.sp = before.sp,
					     .pc = before.pc,
					     .stack_low = native.low,
					     .stack_high = native.high,
					     .own_stack = native.is_own,
					     .in_system_call = before.system_call >= 0},
		      &target);
	*sample = *walked.sample;
	error = stack_reader__read(internal->reader, sample, walked.frames, &stack);
	if (error)
		return error;
	error = standing_thread__read(dump->options.pid, thread->tid, &after);
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

/*
 * Marks the leaf's line as rough if the VM keeps the pc in a register and no system call has made
 * it store the pc.
 */
static void mark_rough_line(struct dump_thread *thread)
{
	struct dump_frame *leaf = thread->stack.frames;
	const struct layout *layout = &thread->stack.layout;

	if (thread->place.system_call < 0 && thread->stack.count && leaf->is_script &&
	    layout->family->keeps_pc_in_register(layout->slot))
		leaf->is_rough = true;
}

/* 0: it was read or is gone; -EAGAIN: it runs; other -errno. */
static int look_at_thread(struct dump *dump, struct dump_thread *thread)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + LOOKS_NS;
	struct ls_sample sample;
	int error = -EAGAIN;

	for (int i = 0; i < LOOKS_MAX && error == -EAGAIN && clock_ns(CLOCK_MONOTONIC) < end; i++)
		error = read_standing(dump, thread, &sample);
	if (error == -ESRCH)
		thread->status = DUMP_THREAD_GONE;
	if (error)
		return error == -ESRCH ? 0 : error;
	mark_rough_line(thread);
	layout_votes__add(&dump->internal->votes, &sample);
	return 0;
}

static struct dump_thread *find_thread(struct dump *dump, pid_t tid)
{
	for (size_t i = 0; i < dump->thread_count; i++)
		if (dump->threads[i].tid == tid)
			return &dump->threads[i];
	return NULL;
}

/*
 * Keeps the best sample of each thread, by class, unless its stack was read while it stood still.
 */
static int on_sample(void *context, const struct ls_sample *sample, const struct ls_frame *frames)
{
	struct dump *dump = context;
	struct dump_thread *thread = find_thread(dump, (pid_t)sample->tid);
	struct dump_stack stack;
	int error;

	layout_votes__add(&dump->internal->votes, sample);
	if (!thread || thread->status == DUMP_THREAD_IDLE)
		return 0;
	thread->samples++;
	if (thread->status == DUMP_THREAD_ACTIVE && thread->stack.class >= sample->class)
		return 0;
	error = stack_reader__read(dump->internal->reader, sample, frames, &stack);
	if (error)
		return error;
	dump_stack__free(&thread->stack);
	thread->stack = stack;
	thread->status = DUMP_THREAD_ACTIVE;
	return 0;
}

static int on_function(void *context, const struct ls_function *function)
{
	return stack_reader__define(((struct dump *)context)->internal->reader, function);
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
	((struct dump *)context)->internal->has_executed = true;
	return 0;
}

static bool is_pending(const struct dump_thread *thread)
{
	if (thread->status == DUMP_THREAD_MISSED)
		return true;
	/* The sample may have come at a bad moment; the next one may be better. */
	return thread->status == DUMP_THREAD_ACTIVE && thread->samples < SAMPLES_MAX &&
	       (thread->stack.class == LS_SAMPLE_UNREADABLE ||
		thread->stack.class == LS_SAMPLE_TORN);
}

static int tell_target(struct dump *dump)
{
	struct ls_image target;

	dump_internal__target(dump->internal, &target);
	return sampler__set_target(dump->internal->sampler, dump->options.pid, &target);
}

/* Attaches timers to the threads that are still pending. */
static int attach(struct dump *dump)
{
	struct sampler *sampler = dump->internal->sampler;

	for (size_t i = 0; i < dump->thread_count; i++) {
		struct dump_thread *thread = &dump->threads[i];
		int error;

		if (!is_pending(thread) || sampler__has_thread(sampler, thread->tid))
			continue;
		error = sampler__attach_thread(sampler, dump->options.pid, thread->tid);
		if (error == -ESRCH) {
			thread->status = DUMP_THREAD_GONE;
		} else if (error) {
			log_error("cannot start timers on %s: %s", dump->target,
				  resource_limits__reason(error));
			return error;
		}
	}
	return 0;
}

static int open_sampler(struct dump *dump)
{
	struct sampler_options options = {
		.sampling = {.period_ns = PERIOD_NS, .max_depth = LS_DEPTH_MAX}};
	struct sampler_receiver receiver = {
		.context = dump,
		.sample = on_sample,
		.function = on_function,
		.thread_exit = on_thread_exit,
		.exec = on_exec,
	};
	struct dump_internal *internal = dump->internal;

	return sampler__open(&options, &receiver, &internal->sampler);
}

/* Waits for one round and takes its samples. -ENOENT: an unknown Lua, which was reported. */
static int take_samples(struct dump *dump)
{
	struct dump_internal *internal = dump->internal;
	int error;

	poll(NULL, 0, ROUND_MS);
	error = sampler__drain(internal->sampler);
	if (!error && internal->has_executed) {
		log_error("cannot dump %s: it runs another program now (try again)", dump->target);
		return -ECANCELED;
	}
	if (!error)
		error = detection__settle(internal->detection, &internal->votes, dump->target);
	return error ? error : tell_target(dump);
}

/* Looks again at every pending thread. Returns how many still are, or -errno. */
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

/* Whether the layout is decided or forced, so that samples can tell no more about it. */
static bool is_settled(const struct dump *dump)
{
	return layout_votes__are_decided(&dump->internal->votes) || dump->options.layout;
}

static int sample_threads(struct dump *dump)
{
	struct dump_internal *internal = dump->internal;
	uint64_t begin, spent;
	int error, pending = 1;

	error = open_sampler(dump);
	if (error) {
		/* The reason was reported. Threads that stand still were read without it. */
		sampler__close(internal->sampler);
		internal->sampler = NULL;
		internal->sampler_failed = true;
		return 0;
	}
	error = tell_target(dump);
	if (!error)
		error = attach(dump);
	begin = clock_ns(CLOCK_MONOTONIC);
	do {
		if (!error)
			error = take_samples(dump);
		if (!error)
			pending = look_at_pending(dump);
		if (!error && pending < 0)
			error = pending;
		if (!error)
			error = attach(dump);
		spent = clock_ns(CLOCK_MONOTONIC) - begin;
	} while (!error && spent < PATIENCE_NS &&
		 (pending || (!is_settled(dump) && spent < SETTLING_NS)));
	sampler__stop(internal->sampler);
	return error;
}

/*
 * Reads again the stacks that fit no layout for certain: C functions alone prove none, but other
 * stacks may have proven one since. Without any proof all layouts are tried, for files may lie, and
 * one that is derived from the process.
 */
static int look_again(struct dump *dump)
{
	struct dump_internal *internal = dump->internal;
	int error = 0;

	detection__calibrate(internal->detection, &internal->votes, dump->target);
	internal->tries_all = true;
	for (size_t i = 0; i < dump->thread_count && !error; i++) {
		struct dump_thread *thread = &dump->threads[i];

		if (thread->status == DUMP_THREAD_IDLE && thread->stack.error == LS_WALK_UNDECIDED)
			error = look_at_thread(dump, thread);
		if (error == -EAGAIN)
			error = 0; /* keep what was read before */
	}
	return error;
}

static int explain(const struct dump *dump, int error)
{
	char remedy[PRIVILEGES_REMEDY_SIZE];

	if (error == -EACCES || error == -EPERM)
		log_error("cannot inspect %s: permission denied (%s)", dump->target,
			  privileges__remedy("CAP_SYS_PTRACE", remedy));
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
