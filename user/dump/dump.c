/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "dump_work.h"
#include "interpreters_puc.h"
#include "layout_puc.h"
#include "log.h"
#include "privileges.h"
#include "process.h"

static int on_function(void *context, const struct ls_function *function)
{
	return stack_reader__define(context, function);
}

static int begin_work(struct dump *dump)
{
	dump->work = calloc(1, sizeof(*dump->work));
	if (dump->work)
		dump->work->files = lua_files__new();
	return dump->work && dump->work->files ? 0 : -ENOMEM;
}

static int open_process(struct dump *dump)
{
	struct container container;
	int error;

	if (!dump->options.layout)
		interpreters_puc__await(dump->work->files, dump->options.pid,
					clock_ns(CLOCK_MONOTONIC) + INTERPRETERS_PATIENCE_NS);
	error = process__name(dump->options.pid, dump->name);
	if (error == -ESRCH || error == -ENOENT) {
		log_error("no process has the id %d", dump->options.pid);
		return -ENOENT;
	}
	if (error) {
		log_error("cannot look into process %d: %s", dump->options.pid, strerror(-error));
		return error;
	}
	process__container(dump->options.pid, &container);
	container__title(&container, dump->name, dump->options.pid, dump->target);
	return 0;
}

static int open_work(struct dump *dump)
{
	const struct dump_options *options = &dump->options;
	struct dump_work *work = dump->work;
	struct walker_puc_receiver receiver = {.function = on_function};
	int error;

	work->identification =
		identification__new(&(struct identification_options){.pid = options->pid,
								     .files = work->files,
								     .layout = options->layout,
								     .is_for_dump = 1});
	work->reader = stack_reader__new(options->pid, &dump->counts);
	receiver.context = work->reader;
	work->walker = walker_puc__new(options->pid, &receiver);
	if (!work->identification || !work->reader || !work->walker)
		return -ENOMEM;
	error = identification__look(work->identification, dump->target);
	if (error)
		return error;
	identification__begin(work->identification, &work->verdicts);
	dump->interpreter = identification__found(work->identification);
	return 0;
}

static uint16_t layouts_with_proof(const struct verdict *verdict)
{
	uint16_t layouts = 0;

	for (uint32_t i = 0; i < LS_LAYOUT_MAX; i++)
		layouts |= (uint16_t)((verdict->fits[i] != 0) << i);
	return layouts;
}

void dump_work__target(const struct dump_work *work, struct ls_target *target)
{
	identification__target(work->identification, &work->verdicts, target);
	for (size_t i = 0; i < work->verdicts.count; i++) {
		const struct verdict *verdict = &work->verdicts.items[i];
		uint16_t proven = layouts_with_proof(verdict);
		uint32_t interpreters = verdict->interpreters ? verdict->interpreters : 1;

		if (verdict->is_forced)
			continue;
		target->decided |= proven;
		target->layouts |= proven;
		if ((uint32_t)__builtin_popcount(proven) >= interpreters)
			target->layouts &= (uint16_t) ~(verdict->candidates & ~target->decided);
		else if (work->tries_all && !proven)
			target->layouts |= interpreters_puc__all_layouts();
	}
}

/* Every frame's name, once all are known. */
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
	error = begin_work(dump);
	if (!error)
		error = open_process(dump);
	if (!error)
		error = open_work(dump);
	if (!error)
		error = dump_threads__read(dump);
	/* What follows reads, that is all. */
	if (!error && privileges__reduce())
		log_debug("privileges that are not needed any more cannot be given up");
	if (!error && options->all)
		error = dump_coroutines__read(dump);
	if (!error)
		error = identification__end(dump->work->identification, &dump->work->verdicts,
					    dump->target);
	if (error == -ENOMEM)
		log_error("out of memory");
	if (error)
		return error;
	name_stacks(dump);
	verdicts__describe(&dump->work->verdicts, dump->layout, sizeof(dump->layout));
	return 0;
}

void dump__free(struct dump *dump)
{
	struct dump_work *work = dump->work;

	for (size_t i = 0; i < dump->thread_count; i++)
		dump_stack__free(&dump->threads[i].stack);
	for (size_t i = 0; i < dump->coroutine_count; i++)
		dump_stack__free(&dump->coroutines[i].stack);
	free(dump->threads);
	free(dump->coroutines);
	if (work) {
		sampler__close(work->sampler);
		walker_puc__free(work->walker);
		stack_reader__free(work->reader);
		identification__free(work->identification);
		lua_files__free(work->files);
	}
	free(work);
	*dump = (struct dump){};
}

size_t dump__script_threads(const struct dump *dump)
{
	size_t count = 0;

	for (size_t i = 0; i < dump->thread_count; i++)
		count += dump->threads[i].stack.count != 0;
	return count;
}
