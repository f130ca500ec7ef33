/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes that nobody named: children of those that were, or all of the host that hold Lua. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "interpreters_puc.h"
#include "log.h"
#include "privileges.h"
#include "lua_files.h"
#include "process.h"
#include "targets_work.h"

/* Children may be born by processes that have no timer yet: until there is none without. */
#define ROUNDS_MAX 100

/* One that is there already was told by BPF, or is descended from two that were asked for. */
static int add_child(struct targets *targets, pid_t pid)
{
	struct target_process *target;
	char name[16];
	int error;

	if (targets__find(targets, pid))
		return 0;
	if (process__name(pid, name))
		return 0;
	error = target_process__new_child(&targets->setting, pid, name, &target);
	if (!error)
		error = targets__add(targets, target);
	if (error)
		return error;
	error = target_process__look(target);
	if (!error)
		error = target_process__begin(target);
	if (!error)
		error = threads__attach(&target->threads, target->title);
	return error ? error : 1;
}

/* How many were not known, or -errno. */
static int add_children_of(struct targets *targets, pid_t pid)
{
	pid_t *pids;
	ssize_t count = process__descendants(pid, &pids);
	int added = 0, result = 0;

	for (ssize_t i = 0; i < count && result >= 0; i++) {
		/* The one that looks may be a child of what it looks at. */
		if (pids[i] == getpid())
			continue;
		result = add_child(targets, pids[i]);
		added += result > 0;
	}
	free(pids);
	if (result < 0)
		return result;
	return count < 0 ? (int)count : added;
}

int targets__add_children(struct targets *targets)
{
	int added, rounds = 0;

	do {
		added = 0;
		for (size_t i = 0; i < targets->options.count && added >= 0; i++) {
			int result = add_children_of(targets, targets->options.pids[i]);

			added = result < 0 ? result : added + result;
		}
	} while (added > 0 && ++rounds < ROUNDS_MAX);
	return added < 0 ? added : 0;
}

/* What a process may have been charged before it executes its program and is noticed. */
#define BEGINNING_NS 10000000

/*
 * One with Lua came and went before it was looked at: it is counted, and its time is in the profile
 * without a sample. 0, also where nothing is known of its end; or -ENOMEM.
 */
static int add_missed(struct targets *targets, pid_t pid)
{
	struct ls_thread_exit exit = {.tgid = (uint32_t)pid, .tid = (uint32_t)pid, .is_last = 1};
	struct target_process *target;
	struct ls_execution execution;
	uint64_t before_ns = 0;
	int error;

	if (sampler__execution(targets->setting.sampler, pid, &execution) || !execution.ended_ns)
		return 0;
	memcpy(exit.comm, execution.comm, sizeof(exit.comm));
	exit.comm[sizeof(exit.comm) - 1] = '\0';
	if (!process_filter__takes(targets->filter, pid, exit.comm))
		return 0;
	sampler__forget_execution(targets->setting.sampler, pid);
	error = target_process__new_child(&targets->setting, pid, exit.comm, &target);
	if (!error)
		error = targets__add(targets, target);
	if (!error)
		error = target_process__presume(target);
	if (error)
		return error;
	exit.time_ns = clock_ns(CLOCK_MONOTONIC);
	if (execution.counted_ns || execution.runtime_ns > BEGINNING_NS)
		before_ns = execution.counted_ns > execution.runtime_ns ? execution.counted_ns
									: execution.runtime_ns;
	/* What BPF reads is behind by up to a tick of the scheduler's. */
	exit.runtime_ns = execution.ended_ns > before_ns ? execution.ended_ns - before_ns : 0;
	error = recording__thread_exit(targets->setting.recording, &exit);
	targets->missed++;
	targets__drop(targets, target);
	return error;
}

/*
 * BPF tells of the ends of those that it knows by then. What it noted may be of an earlier process
 * with this number; one that is about to end has no stack any more.
 */
static bool has_ended_before(const struct targets *targets, pid_t pid)
{
	struct ls_execution execution;
	char state = process__state(pid);
	uint64_t stack_start;

	if (!state || state == 'Z' || state == 'X')
		return true;
	return !sampler__execution(targets->setting.sampler, pid, &execution) &&
	       execution.ended_ns &&
	       (process__stack_start(pid, &stack_start) || !stack_start ||
		stack_start == execution.stack_start);
}

/* Has it looked at and sampled. 1, or 0: it has no Lua; -ENOMEM. */
static int take_in(struct targets *targets, struct target_process *target)
{
	int error = target_process__look(target);
	pid_t pid = target->pid;

	/* It is gone, or runs something else by now. */
	if (!error && !identification__found(target->identification)) {
		targets__drop(targets, target);
		return add_missed(targets, pid);
	}
	if (!error)
		error = target_process__begin(target);
	if (!error && has_ended_before(targets, pid)) {
		targets__drop(targets, target);
		return add_missed(targets, pid);
	}
	if (!error)
		error = threads__attach(&target->threads, target->title);
	if (!error || error == -ENOMEM)
		return error ? error : 1;
	targets->missed++;
	targets__drop(targets, target);
	return 0;
}

/* From where on a process's CPU time is that of a target. */
struct beginning {
	bool is_birth;
	uint64_t runtime_ns; /* else; 0: it is too late to know, it is that of now */
};

/* A program maps what it is linked to so soon, however busy the host is. */
#define LINKING_NS 1000000000

/* All its time is its own: not that of a shell, say, that ran for long before it became this. */
static bool has_just_begun(const struct targets *targets, pid_t pid)
{
	uint64_t birth_ns, runtime_ns;

	return !process__birth_ns(pid, &birth_ns) && birth_ns > targets->start_ns &&
	       !process__runtime_ns(pid, &runtime_ns) && runtime_ns < BEGINNING_NS;
}

/* It holds Lua, and that was mapped at `mapped_ns`; 0: nobody knows when. */
static struct beginning beginning_of(const struct targets *targets, pid_t pid, uint64_t mapped_ns)
{
	struct ls_execution execution;
	uint64_t stack_start;

	if (sampler__execution(targets->setting.sampler, pid, &execution) || execution.ended_ns)
		return (struct beginning){has_just_begun(targets, pid), 0};
	if (!execution.counted_ns && has_just_begun(targets, pid))
		return (struct beginning){true, 0};
	/* By what its program loads later, it is another kind of process from then on. */
	if (!mapped_ns || mapped_ns > execution.time_ns + LINKING_NS ||
	    process__stack_start(pid, &stack_start) || stack_start != execution.stack_start)
		return (struct beginning){};
	if (execution.counted_ns > execution.runtime_ns)
		return (struct beginning){false, execution.counted_ns};
	return (struct beginning){!execution.counted_ns && execution.runtime_ns < BEGINNING_NS,
				  execution.runtime_ns};
}

/* 1, or 0 where it is none to be sampled; -ENOMEM. */
static int add_found(struct targets *targets, pid_t pid, struct beginning beginning)
{
	struct target_process *target = targets__find(targets, pid);
	char name[16];
	int error;

	if (pid == getpid() || process__name(pid, name) ||
	    !process_filter__takes(targets->filter, pid, name))
		return 0;
	/* Another has its number now. */
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
	return take_in(targets, target);
}

/* Deeper families are found among all processes. */
#define GENERATIONS_MAX 32

/*
 * With the children that it had before BPF knew of it, which map nothing and so would never be
 * noticed, and theirs. How many they are in all, or -ENOMEM.
 */
static int add_family(struct targets *targets, pid_t pid, struct beginning beginning,
		      int generations)
{
	pid_t *children;
	ssize_t count;
	struct beginning of_children = {.is_birth = beginning.is_birth};
	int added = add_found(targets, pid, beginning);

	if (added <= 0)
		return added;
	if (!generations) {
		targets->has_to_search = 1;
		return added;
	}
	count = process__children(pid, &children);
	for (ssize_t i = 0; i < count && added >= 0; i++) {
		int result =
			targets__find(targets, children[i])
				? 0
				: add_family(targets, children[i], of_children, generations - 1);

		added = result < 0 ? result : added + result;
	}
	free(children);
	return count == -ENOMEM ? -ENOMEM : added;
}

/* Whether only a privilege that luaspy lacks would tell. */
static bool is_denied(int error)
{
	return error == -EACCES || error == -EPERM;
}

static bool is_wanted(const struct targets *targets, pid_t pid)
{
	char name[16];

	return pid != getpid() && !process__name(pid, name) &&
	       process_filter__takes(targets->filter, pid, name);
}

/* It maps many files, of which each is told of. */
static void miss(struct targets *targets, pid_t pid)
{
	if (pid == targets->last_denied || !is_wanted(targets, pid))
		return;
	targets->last_denied = pid;
	targets->missed++;
}

/* Whether the process holds a Lua there. A file that is none is passed over from then on. */
static int look_at(struct targets *targets, const struct mapped_code *code, bool *holds_lua)
{
	struct process_mappings mappings = {};
	struct lua_file file = {};
	int found, error = process__mappings(code->pid, &mappings);

	*holds_lua = false;
	for (size_t i = 0; i < mappings.count && !error; i++) {
		const struct process_mapping *mapping = &mappings.items[i];

		if (mapping->start != code->address)
			continue;
		found = process__open_mapped_file(code->pid, mapping);
		error = found < 0 ? found : lua_files__look(targets->setting.files, found, &file);
		if (found >= 0)
			close(found);
		*holds_lua = !error && file.minor;
		if (is_denied(error))
			miss(targets, code->pid);
		if (*holds_lua)
			error = mappings__note_lua(targets->mappings, &code->file);
		if (error == -ENOTSUP || (!error && !*holds_lua))
			error = mappings__pass_over(targets->mappings, &code->file);
		break;
	}
	process__mappings_free(&mappings);
	return error == -ENOMEM ? error : 0;
}

static int on_mapping(void *context, const struct mapped_code *code)
{
	struct targets *targets = context;
	struct target_process *target = targets__find(targets, code->pid);
	bool holds_lua;
	int result = look_at(targets, code, &holds_lua);

	if (!result && !holds_lua && !target && mappings__is_lua(targets->mappings, &code->file))
		return add_missed(targets, code->pid);
	if (result || !holds_lua)
		return result;
	if (target && !target->has_ended) {
		target->has_mapped = 1;
		targets__rouse(targets, target);
		return 0;
	}
	result = add_family(targets, code->pid, beginning_of(targets, code->pid, code->time_ns),
			    GENERATIONS_MAX);
	return result < 0 ? result : 0;
}

static int on_lost_mappings(void *context)
{
	((struct targets *)context)->has_to_search = 1;
	return 0;
}

/* 1, 0 or -errno. */
static int holds_lua(const struct targets *targets, pid_t pid)
{
	struct interpreters_puc found;
	int error = interpreters_puc__find(targets->setting.files, pid, &found);
	int result = error ? error : found.count != 0;

	interpreters_puc__free(&found);
	return result;
}

/* How many were found among how many, or -errno. */
static int search(struct targets *targets, size_t *among)
{
	pid_t *pids;
	ssize_t count = process__all(&pids);
	size_t denied = 0;
	int found = 0;

	targets->has_to_search = 0;
	for (ssize_t i = 0; i < count && found >= 0; i++) {
		const struct target_process *target = targets__find(targets, pids[i]);
		int result = 0;

		if (!target || target->has_ended)
			result = holds_lua(targets, pids[i]);
		if (is_denied(result) && is_wanted(targets, pids[i]) && !denied++)
			targets->denied_pid = pids[i];
		result = result > 0 ? add_found(targets, pids[i], beginning_of(targets, pids[i], 0))
				    : 0;
		found = result < 0 ? result : found + result;
	}
	free(pids);
	if (count < 0)
		log_error("cannot list the processes in '/proc': %s", strerror((int)-count));
	if (denied > targets->denied)
		targets->missed += denied - targets->denied;
	targets->denied = denied;
	*among = count < 0 ? 0 : (size_t)count;
	return count < 0 ? (int)count : found;
}

/* What is not there for want of privileges is not taken for idle. */
static void tell_what_is_denied(const struct targets *targets, size_t among)
{
	char missing[160];

	privileges__missing(missing, sizeof(missing));
	if (targets->denied)
		log_warn("cannot look into %zu of %zu processes, such as pid %d: permission denied "
			 "(%s%s%s)",
			 targets->denied, among, targets->denied_pid,
			 *missing ? "missing: " : "no capability of luaspy's is missing; left out",
			 missing, *missing ? "; try sudo" : "");
	else if (*missing)
		log_warn("processes may be left out or have no names (missing: %s; try sudo)",
			 missing);
}

int targets__watch_host(struct targets *targets)
{
	struct mappings_receiver receiver = {targets, on_mapping, on_lost_mappings};
	struct epoll_event event = {.events = EPOLLIN, .data.fd = -1};
	size_t among;
	int error = mappings__open(&receiver, &targets->mappings), found;

	if (!error && epoll_ctl(targets->poll_fd, EPOLL_CTL_ADD,
				mappings__poll_fd(targets->mappings), &event))
		error = -errno;
	if (error) {
		log_error("cannot follow what processes load: %s", strerror(-error));
		return error;
	}
	found = search(targets, &among);
	if (found < 0)
		return found;
	log_info("%d of %zu processes run Lua; others are taken in when they do", found, among);
	tell_what_is_denied(targets, among);
	return 0;
}

int targets__add_new(struct targets *targets)
{
	int result = mappings__drain(targets->mappings);
	size_t among;

	if (!result && targets->has_to_search)
		result = search(targets, &among);
	return result < 0 ? result : 0;
}

int targets__fork(struct targets *targets, const struct ls_fork *fork)
{
	struct target_process *parent = targets__find(targets, (pid_t)fork->parent_tgid);
	struct target_process *target = targets__find(targets, (pid_t)fork->tgid);
	char name[LS_COMM_LEN + 1];
	int error;

	/* Another process has its number now. */
	if (target && target->has_ended)
		targets__drop(targets, target);
	else if (target)
		return 0;
	snprintf(name, sizeof(name), "%.*s", LS_COMM_LEN, fork->comm);
	error = target_process__new_child(&targets->setting, (pid_t)fork->tgid, name, &target);
	if (!error)
		error = targets__add(targets, target);
	if (!error && parent)
		error = target_process__inherit(target, parent);
	if (error || !targets->options.is_system_wide)
		return error;
	target->threads.is_newborn = 1;
	if (threads__attach(&target->threads, target->title))
		targets->missed++;
	return 0;
}
