/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump/take_dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "dump/dump_coroutines.h"
#include "dump/dump_internal.h"
#include "dump/dump_threads.h"
#include "process/process.h"
#include "system/privileges.h"
#include "system/resource_limits.h"

static int on_function(void *context, const struct ls_function *function)
{
	return stack_reader__define(context, function);
}

static int start_inspector(struct dump *dump)
{
	int error;

	dump->internal = calloc(1, sizeof(*dump->internal));
	error = dump->internal ? inspector__start(&inspection_job, &dump->internal->inspector)
			       : -ENOMEM;
	if (!error)
		inspector__grant_more(dump->internal->inspector);
	if (!error && dump->options.leaves_source)
		inspector__leave(dump->internal->inspector, INSPECTOR_SCRIPTS);
	if (!error && dump->options.leaves_command_lines)
		inspector__leave(dump->internal->inspector, INSPECTOR_COMMANDS);
	return error;
}

static int open_process(struct dump *dump)
{
	pid_t process = process__of_thread(dump->options.pid);
	int error;

	if (process && process != dump->options.pid) {
		log_error("cannot dump %d: it is a thread of process %d, not a process",
			  dump->options.pid, process);
		return -ENOENT;
	}
	if (!dump->options.layout)
		inspector__await_interpreters(dump->internal->inspector, dump->options.pid,
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
	inspector__title(dump->internal->inspector, dump->options.pid, dump->name, dump->target);
	return 0;
}

static int open_walkers(struct dump *dump)
{
	struct dump_internal *internal = dump->internal;
	const struct walker_receiver receiver = {internal->reader, on_function};

	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++) {
		const struct walker_ops *ops = families__get(id)->walker;

		if (!ops)
			continue;
		internal->walkers[id] = ops->new (dump->options.pid, &receiver);
		if (!internal->walkers[id])
			return -ENOMEM;
	}
	return 0;
}

static int open_readers(struct dump *dump)
{
	const struct dump_options *options = &dump->options;
	struct dump_internal *internal = dump->internal;
	int error;

	internal->detection =
		detection__new(&(struct detection_options){.pid = options->pid,
							   .inspector = internal->inspector,
							   .layout = options->layout,
							   .is_for_dump = true});
	internal->reader = stack_reader__new(options->pid, internal->inspector, &dump->counts);
	if (!internal->detection || !internal->reader || open_walkers(dump))
		return -ENOMEM;
	error = detection__run(internal->detection, dump->target);
	if (error == -EAGAIN)
		log_error("cannot dump %s: its files cannot be read at the moment (try again)",
			  dump->target);
	if (error)
		return error;
	detection__begin(internal->detection, &internal->votes);
	dump->interpreter = detection__found(internal->detection);
	return 0;
}

/* Sets every frame's name, once all are known. */
static void name_stacks(struct dump *dump)
{
	struct stack_reader *reader = dump->internal->reader;

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
		error = start_inspector(dump);
	if (!error)
		error = open_process(dump);
	if (!error)
		error = open_readers(dump);
	if (!error)
		error = dump_threads__read(dump);
	/* From here on, the dump only reads. */
	if (!error && privileges__reduce())
		log_debug("privileges that are not needed any more cannot be given up");
	if (!error && options->all)
		error = dump_coroutines__read(dump);
	if (!error)
		error = detection__end(dump->internal->detection, &dump->internal->votes,
				       dump->target);
	if (error == -ENOMEM)
		log_error("out of memory");
	if (error)
		return error;
	name_stacks(dump);
	layout_votes__describe(&dump->internal->votes, dump->layout, sizeof(dump->layout));
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
	dump_internal__free(dump->internal);
	*dump = (struct dump){};
}
