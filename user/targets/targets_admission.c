/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System-wide: makes targets of processes that hold Lua. Some have ended by then, executed another
 * program, or forked children that map nothing: BPF noted the CPU time of all of these.
 */
#include "targets/targets_admission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/process.h"
#include "targets/target_list.h"

/* CPU time that a process may use before it executes its program and is noticed. */
#define BEGINNING_NS 10000000

/* A program maps its linked libraries within this time, however busy the host is. */
#define LINKING_NS 1000000000

/* Deeper process trees are left to a search of all processes. */
#define GENERATIONS_MAX 32

/* Children of one process that are taken in together. */
#define CHILDREN_MAX 4096

static int add_births(struct targets *targets, pid_t parent, const struct ls_program *program,
		      int generations);

#define CHARGED_MOST 1024 /* processes that are remembered as charged */

/* BPF may still report the end of one that became a target just before. */
static int note_charged(struct targets *targets, pid_t pid, uint64_t time_ns)
{
	uint64_t key = (uint64_t)pid, *charged_ns = generations__find(targets->charged, &key);

	if (!charged_ns && generations__young(targets->charged) >= CHARGED_MOST)
		generations__age(targets->charged);
	if (!charged_ns)
		charged_ns = generations__add(targets->charged, &key);
	if (!charged_ns)
		return -ENOMEM;
	*charged_ns = time_ns;
	return 0;
}

/* Adds the CPU time of a program that nobody looked at, without a sample. 0 or -ENOMEM. */
static int charge_missed(struct targets *targets, pid_t pid, const struct ls_program *program,
			 uint64_t runtime_ns)
{
	struct ls_thread_exit exit = {.tgid = (uint32_t)pid,
				      .tid = (uint32_t)pid,
				      .is_last = true,
				      .runtime_ns = runtime_ns};
	struct target_process *target;
	int error;

	memcpy(exit.comm, program->comm, sizeof(exit.comm));
	exit.comm[sizeof(exit.comm) - 1] = '\0';
	if (!process_filter__takes(targets->filter, pid, exit.comm))
		return 0;
	targets->missed++;
	error = target_process__new_child(&targets->setting, pid, exit.comm, &target);
	if (!error)
		error = targets__add(targets, target);
	if (!error)
		error = target_process__presume(target);
	if (error)
		return error;
	exit.time_ns = clock_ns(CLOCK_MONOTONIC);
	error = recording__thread_exit(targets->setting.recording, &exit);
	targets__drop(targets, target);
	return error ? error : note_charged(targets, pid, exit.time_ns);
}

/* CPU time of the process from when on the program counts. */
static uint64_t begin_ns(const struct ls_execution *execution, const struct ls_program *program)
{
	if (!execution->counted_ns && program->runtime_ns < BEGINNING_NS)
		return 0;
	return execution->counted_ns > program->runtime_ns ? execution->counted_ns
							   : program->runtime_ns;
}

static int add_missed(struct targets *targets, pid_t pid, int generations)
{
	struct ls_execution execution;
	uint64_t before_ns;
	int error;

	if (sampler__execution(targets->setting.sampler, pid, &execution) || !execution.ended_ns)
		return 0;
	before_ns = begin_ns(&execution, &execution.program);
	sampler__forget_execution(targets->setting.sampler, pid);
	/* What BPF reads may be up to one scheduler tick behind. */
	error = charge_missed(targets, pid, &execution.program,
			      execution.ended_ns > before_ns ? execution.ended_ns - before_ns : 0);
	return error ? error : add_births(targets, pid, &execution.program, generations);
}

int targets__add_missed(struct targets *targets, pid_t pid)
{
	return add_missed(targets, pid, GENERATIONS_MAX);
}

static int add_missed_program(struct targets *targets, pid_t pid,
			      const struct ls_execution *execution, int generations)
{
	const struct ls_program *previous = &execution->previous;
	uint64_t before_ns = begin_ns(execution, previous);
	int error;

	/* It counted as part of what followed; see targets__beginning_of(). */
	if (targets__find(targets, pid) || before_ns >= execution->program.runtime_ns)
		return 0;
	sampler__note_counted(targets->setting.sampler, pid, execution->program.runtime_ns);
	error = charge_missed(targets, pid, previous, execution->program.runtime_ns - before_ns);
	return error ? error : add_births(targets, pid, previous, generations);
}

int targets__add_missed_program(struct targets *targets, pid_t pid,
				const struct ls_execution *execution)
{
	return add_missed_program(targets, pid, execution, GENERATIONS_MAX);
}

/*
 * BPF only reports the ends of processes that it knows by then. Its note may be about an earlier
 * process with this pid; a process that is about to end has no stack any more.
 */
static bool has_ended_before(const struct targets *targets, pid_t pid)
{
	struct ls_execution execution;
	uint64_t stack_start;

	if (process__has_ended(pid))
		return true;
	return !sampler__execution(targets->setting.sampler, pid, &execution) &&
	       execution.ended_ns &&
	       (process__stack_start(pid, &stack_start) || !stack_start ||
		stack_start == execution.program.stack_start);
}

/* A process's birth is known to 10 ms, and two clocks are read for it. */
#define BIRTH_TOLERANCE_NS 1000000

/* Whether the process seen at `seen_ns` has ended, and another has its id now or none has. */
static bool is_next(pid_t pid, uint64_t seen_ns)
{
	uint64_t birth_ns;

	return process__birth_ns(pid, &birth_ns) || birth_ns > seen_ns + BIRTH_TOLERANCE_NS;
}

/*
 * In this order: once the first check finds a live process, the second tells whether it is still
 * the one that was seen.
 */
static bool is_gone(const struct targets *targets, pid_t pid, uint64_t seen_ns)
{
	return has_ended_before(targets, pid) || is_next(pid, seen_ns);
}

/* Counts a process that ended while luaspy inspected it. 0 or -ENOMEM. */
static int miss_gone(struct targets *targets, pid_t pid)
{
	struct ls_execution execution;

	if (!sampler__execution(targets->setting.sampler, pid, &execution) && execution.ended_ns)
		return targets__add_missed(targets, pid);
	/* BPF's note about its end has been replaced by one about the next process with its id. */
	targets->missed++;
	return 0;
}

/* Inspects a process and begins to sample it. 1; 0: it is not sampled; -ENOMEM. */
static int take_in(struct targets *targets, struct target_process *target, uint64_t seen_ns)
{
	int error = target_process__inspect(target);
	pid_t pid = target->pid;

	/* It is gone, or runs another program now. */
	if (!error && !detection__found(target->detection) && !target->has_mapped) {
		targets__drop(targets, target);
		return is_gone(targets, pid, seen_ns) ? miss_gone(targets, pid) : 0;
	}
	/* It could not be read yet. It counts as a process with Lua until it can be. */
	if (!error && !detection__found(target->detection))
		error = target_process__presume(target);
	if (!error)
		error = target_process__begin(target);
	if (!error && is_gone(targets, pid, seen_ns)) {
		targets__drop(targets, target);
		return miss_gone(targets, pid);
	}
	if (!error)
		error = targets__start_timers(targets, target);
	if (!error || error == -ENOMEM)
		return error ? error : 1;
	targets->missed++;
	targets__drop(targets, target);
	return 0;
}

/*
 * Whether all its CPU time is its program's, not that of, say, a shell that ran for long before it
 * executed the program.
 */
static bool has_just_begun(const struct targets *targets, pid_t pid)
{
	uint64_t birth_ns, runtime_ns;

	return !process__birth_ns(pid, &birth_ns) && birth_ns > targets->start_ns &&
	       !process__runtime_ns(pid, &runtime_ns) && runtime_ns < BEGINNING_NS;
}

struct beginning targets__beginning_of(const struct targets *targets, pid_t pid, uint64_t mapped_ns)
{
	const struct ls_program *program;
	struct ls_execution execution;
	uint64_t stack_start, begun_ns;

	if (sampler__execution(targets->setting.sampler, pid, &execution) || execution.ended_ns)
		return (struct beginning){has_just_begun(targets, pid), 0, mapped_ns};
	program = &execution.program;
	if (!execution.counted_ns && has_just_begun(targets, pid))
		return (struct beginning){true, 0, mapped_ns};
	/* If its program loads Lua later, its CPU time counts only from then on. */
	if (!mapped_ns || mapped_ns > program->time_ns + LINKING_NS ||
	    process__stack_start(pid, &stack_start) || stack_start != program->stack_start)
		return (struct beginning){.mapped_ns = mapped_ns};
	begun_ns = begin_ns(&execution, program);
	return (struct beginning){!begun_ns, begun_ns, mapped_ns};
}

/* What there is besides, if nothing fits. */
static void note_rejected(struct targets *targets, pid_t pid, const char *name)
{
	char title[48];

	snprintf(title, sizeof(title), "%s (pid %d)", name, pid);
	text_list__add(&targets->rejected, title);
}

int targets__admit(struct targets *targets, pid_t pid, struct beginning beginning)
{
	struct target_process *target = targets__find(targets, pid);
	char name[16];
	int error;

	if (pid == getpid() || process__name(pid, name))
		return 0;
	if (!process_filter__takes(targets->filter, pid, name)) {
		note_rejected(targets, pid, name);
		return 0;
	}
	/* The pid has been reused. */
	if (target)
		targets__drop(targets, target);
	error = target_process__new_child(&targets->setting, pid, name, &target);
	if (!error)
		error = targets__add(targets, target);
	if (error)
		return error;
	target->executed_ns = clock_ns(CLOCK_MONOTONIC);
	target->threads.is_newborn = beginning.is_birth;
	target->threads.begin_ns = beginning.runtime_ns;
	return take_in(targets, target,
		       beginning.mapped_ns ? beginning.mapped_ns : target->executed_ns);
}

/* Adds a process with the children that it has, and theirs. Their number, or -ENOMEM. */
static int admit_family(struct targets *targets, pid_t pid, struct beginning beginning,
			int generations)
{
	struct beginning of_children = {.is_birth = beginning.is_birth};
	struct ls_execution execution;
	pid_t *children;
	ssize_t count;
	int added = targets__admit(targets, pid, beginning), error = 0;

	if (added <= 0)
		return added;
	if (!generations) {
		targets->has_to_search = true;
		return added;
	}
	if (!sampler__execution(targets->setting.sampler, pid, &execution))
		error = add_births(targets, pid, &execution.program, generations);
	if (error)
		return error;
	count = process__children(pid, &children);
	for (ssize_t i = 0; i < count && added >= 0; i++) {
		int result =
			targets__find(targets, children[i])
				? 0
				: admit_family(targets, children[i], of_children, generations - 1);

		added = result < 0 ? result : added + result;
	}
	free(children);
	return count == -ENOMEM ? -ENOMEM : added;
}

int targets__admit_family(struct targets *targets, pid_t pid, uint64_t mapped_ns)
{
	return admit_family(targets, pid, targets__beginning_of(targets, pid, mapped_ns),
			    GENERATIONS_MAX);
}

/* Adds a child that ran a copy of its parent's program, and may have ended or executed another. */
static int add_birth(struct targets *targets, pid_t pid, const struct ls_execution *execution,
		     const struct ls_program *parents, int generations)
{
	const struct beginning birth = {.is_birth = true};
	int result = 0;

	if (execution->program.stack_start != parents->stack_start) {
		if (execution->previous.time_ns &&
		    execution->previous.stack_start == parents->stack_start)
			result = add_missed_program(targets, pid, execution, generations);
	} else if (execution->ended_ns) {
		result = add_missed(targets, pid, generations);
	} else if (!targets__find(targets, pid)) {
		result = admit_family(targets, pid, birth, generations);
	}
	return result < 0 ? result : 0;
}

/* Adds the processes that `program` of process `parent` forked before it was a target. 0 or
 * -ENOMEM. */
static int add_births(struct targets *targets, pid_t parent, const struct ls_program *program,
		      int generations)
{
	pid_t pid = (pid_t)program->youngest_child;
	struct ls_execution execution;
	int error = 0;

	if (!generations)
		return 0;
	for (int i = 0; i < CHILDREN_MAX && pid && !error; i++) {
		if (sampler__execution(targets->setting.sampler, pid, &execution) ||
		    execution.parent_tgid != (uint32_t)parent)
			break;
		error = add_birth(targets, pid, &execution, program, generations - 1);
		pid = (pid_t)execution.older_sibling;
	}
	return error;
}
