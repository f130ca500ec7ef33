/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/take_dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/privileges.h"
#include "base/resource_limits.h"
#include "dump/dump_coroutines.h"
#include "dump/dump_threads.h"
#include "dump/dump_work.h"
#include "process/process.h"

static int on_function(void *context, const struct ls_function *function)
{
	return stack_reader__define(context, function);
}

static int begin_work(struct dump *dump)
{
	int error;

	dump->work = calloc(1, sizeof(*dump->work));
	error = dump->work ? inspector__start(&inspection_job, &dump->work->inspector) : -ENOMEM;
	if (!error)
		inspector__grant_more(dump->work->inspector);
	if (!error && dump->options.leaves_source)
		inspector__leave(dump->work->inspector, INSPECTOR_SCRIPTS);
	if (!error && dump->options.leaves_command_lines)
		inspector__leave(dump->work->inspector, INSPECTOR_COMMANDS);
	return error;
}

static int open_process(struct dump *dump)
{
	int error;

	if (!dump->options.layout)
		inspector__await_interpreters(dump->work->inspector, dump->options.pid,
					      clock_ns(CLOCK_MONOTONIC) + INTERPRETERS_PATIENCE_NS);
	error = process__name(dump->options.pid, dump->name);
	if (error == -ESRCH || error == -ENOENT) {
		log_error("no process has the id %d", dump->options.pid);
		return -ENOENT;
	}
	if (error) {
		log_error("cannot inspect process %d: %s", dump->options.pid,
			  resource_limits__reason(error));
		return error;
	}
	inspector__title(dump->work->inspector, dump->options.pid, dump->name, dump->target);
	return 0;
}

static int open_walkers(struct dump *dump)
{
	struct dump_work *work = dump->work;
	const struct walker_receiver receiver = {work->reader, on_function};

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		const struct walker_ops *ops = families__get(id)->walker;

		if (!ops)
			continue;
		work->walkers[id] = ops->new (dump->options.pid, &receiver);
		if (!work->walkers[id])
			return -ENOMEM;
	}
	return 0;
}

static int open_work(struct dump *dump)
{
	const struct dump_options *options = &dump->options;
	struct dump_work *work = dump->work;
	int error;

	work->detection = detection__new(&(struct detection_options){.pid = options->pid,
								     .inspector = work->inspector,
								     .layout = options->layout,
								     .is_for_dump = 1});
	work->reader = stack_reader__new(options->pid, work->inspector, &dump->counts);
	if (!work->detection || !work->reader || open_walkers(dump))
		return -ENOMEM;
	error = detection__run(work->detection, dump->target);
	if (error == -EAGAIN)
		log_error("cannot dump %s: its files cannot be read at the moment (try again)",
			  dump->target);
	if (error)
		return error;
	detection__begin(work->detection, &work->votes);
	dump->interpreter = detection__found(work->detection);
	return 0;
}

/* Sets every frame's name, once all are known. */
static void name_stacks(struct dump *dump)
{
	struct stack_reader *reader = dump->work->reader;

	stack_reader__finish(reader);
	for (size_t i = 0; i < dump->thread_count; i++)
		stack_reader__name(reader, &dump->threads[i].stack);
	for (size_t i = 0; i < dump->coroutine_count; i++)
		stack_reader__name(reader, &dump->coroutines[i].stack);
}

int dump__take(const struct dump_options *options, struct dump *dump)
{
	struct timespec now;
	int error;

	*dump = (struct dump){.options = *options};
	clock_gettime(CLOCK_REALTIME, &now);
	dump->time_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	error = resource_limits__raise_files();
	if (error)
		log_error("cannot start: %s", resource_limits__reason(error));
	else
		error = begin_work(dump);
	if (!error)
		error = open_process(dump);
	if (!error)
		error = open_work(dump);
	if (!error)
		error = dump_threads__read(dump);
	/* From here on, the dump only reads. */
	if (!error && privileges__reduce())
		log_debug("privileges that are not needed any more cannot be given up");
	if (!error && options->all)
		error = dump_coroutines__read(dump);
	if (!error)
		error = detection__end(dump->work->detection, &dump->work->votes, dump->target);
	if (error == -ENOMEM)
		log_error("out of memory");
	if (error)
		return error;
	name_stacks(dump);
	layout_votes__describe(&dump->work->votes, dump->layout, sizeof(dump->layout));
	return 0;
}

void dump__free(struct dump *dump)
{
	for (size_t i = 0; i < dump->thread_count; i++)
		dump_stack__free(&dump->threads[i].stack);
	for (size_t i = 0; i < dump->coroutine_count; i++)
		dump_stack__free(&dump->coroutines[i].stack);
	free(dump->threads);
	free(dump->coroutines);
	dump_work__free(dump->work);
	*dump = (struct dump){};
}
