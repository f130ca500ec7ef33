/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds processes that nobody named: children of those that were named, or all processes of the
 * host that hold Lua.
 */
#include "targets/targets_discovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/process.h"
#include "system/privileges.h"
#include "targets/target_list.h"
#include "targets/targets_admission.h"

/* Processes without timers may fork others, so this repeats until there are none. */
#define ROUNDS_MAX 100

/*
 * A target that exists already was reported by BPF, or descends from two that were asked for. 1:
 * added; 0: not; or -errno.
 */
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
	error = target_process__inspect(target);
	if (!error)
		error = target_process__begin(target);
	if (!error)
		error = targets__start_timers(targets, target);
	return error ? error : 1;
}

/* Returns how many were new, or -errno. */
static int add_children_of(struct targets *targets, pid_t pid)
{
	pid_t *pids;
	ssize_t count = process__descendants(pid, &pids);
	int added = 0, result = 0;

	for (ssize_t i = 0; i < count && result >= 0; i++) {
		/* Luaspy itself may be a child of its target. */
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
		for (size_t i = 0; i < targets->options.choice->pid_count && added >= 0; i++) {
			int result = add_children_of(targets, targets->options.choice->pids[i]);

			added = result < 0 ? result : added + result;
		}
	} while (added > 0 && ++rounds < ROUNDS_MAX);
	return added < 0 ? added : 0;
}

/* Whether luaspy lacks the privilege to find out. */
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

#define MISSED_MOST 4096 /* processes that are remembered as counted */

/* Counts a process once: each of its many mappings is reported. */
static void miss(struct targets *targets, pid_t pid)
{
	uint64_t key = (uint64_t)pid;

	if (generations__find(targets->missed_pids, &key) || !is_wanted(targets, pid))
		return;
	if (generations__young(targets->missed_pids) >= MISSED_MOST)
		generations__age(targets->missed_pids);
	generations__add(targets->missed_pids, &key);
	targets->missed++;
}

static void note_unsupported(struct targets *targets, pid_t pid, const char *interpreter)
{
	const struct target_process *target = targets__find(targets, pid);
	char name[16], title[CONTAINER_TITLE_SIZE];

	/* One that is sampled holds Lua as well. */
	if ((target && !target->has_ended) || pid == getpid() || process__name(pid, name) ||
	    !process_filter__takes(targets->filter, pid, name))
		return;
	inspector__title(targets->setting.inspector, pid, name, title);
	unsupported__note(targets->unsupported, pid, title, interpreter);
}

/*
 * Sets *holds_lua if the mapped file holds a VM that is profiled. A file that does not is passed
 * over for a while. 0 or -ENOMEM.
 */
static int look_at(struct targets *targets, const struct mapped_code *code, bool *holds_lua)
{
	const struct mapped_file_place place = {
		.start = code->address,
		.end = code->address + code->length,
		.device = makedev(code->file.device_major, code->file.device_minor),
		.inode = code->file.inode};
	const struct family *unsupported;
	int error = inspector__holds_lua(targets->setting.inspector, code->pid, &place, holds_lua,
					 &unsupported);

	/* The next process that maps it is to be counted, too. */
	if (unsupported && !error) {
		note_unsupported(targets, code->pid, unsupported->name);
		return 0;
	}

	if (error == -EAGAIN || error == -EBUSY)
		targets->has_to_search = true;
	if (is_denied(error) || error == -EDQUOT || error == -EOWNERDEAD || error == -EFBIG)
		miss(targets, code->pid);
	if (*holds_lua)
		error = mappings__note_lua(targets->mappings, &code->file);
	if (error == -ENOTSUP || error == -EFBIG || (!error && !*holds_lua))
		error = mappings__pass_over(targets->mappings, &code->file);
	return error == -ENOMEM ? error : 0;
}

/*
 * Whether it was mapped before the process executed its present program. The kernel maps a program
 * before it notes when that began.
 */
static bool is_of_earlier(const struct ls_execution *execution, const struct mapped_code *code)
{
	return code->time_ns < execution->program.time_ns &&
	       execution->program.code_start - code->address >= code->length;
}

/*
 * A process has mapped a file that holds Lua, as an earlier one did, so nothing has to be read to
 * know that it runs Lua: even its end may have come, or its user's budget be used up.
 */
static int on_lua(struct targets *targets, const struct mapped_code *code)
{
	struct target_process *target = targets__find(targets, code->pid);
	struct ls_execution execution;
	int result;

	if (!sampler__execution(targets->setting.sampler, code->pid, &execution) &&
	    is_of_earlier(&execution, code)) {
		if (execution.previous.time_ns && code->time_ns > execution.previous.time_ns)
			return targets__add_missed_program(targets, code->pid, &execution);
		/* An earlier process with this id; of its end nothing is known any more. */
		targets->missed += !target || target->has_ended;
		return 0;
	}
	if (target && !target->has_ended) {
		target->has_mapped = true;
		targets__mark_dirty(targets, target);
		return 0;
	}
	result = targets__admit_family(targets, code->pid, code->time_ns);
	return result ? result : targets__add_missed(targets, code->pid);
}

static int on_mapping(void *context, const struct mapped_code *code)
{
	struct targets *targets = context;
	bool holds_lua = mappings__is_lua(targets->mappings, &code->file);
	int result = holds_lua ? 0 : look_at(targets, code, &holds_lua);

	if (!result && holds_lua)
		result = on_lua(targets, code);
	return result < 0 ? result : 0;
}

static int on_lost_mappings(void *context)
{
	struct targets *targets = context;

	targets->has_to_search = true;
	targets->search_from = 0;
	return 0;
}

/* Whether the process holds a VM that is profiled: 1, 0 or -errno. Notes one that is not. */
static int holds_lua(struct targets *targets, pid_t pid)
{
	struct interpreters found;
	int error = inspector__interpreters(targets->setting.inspector, pid, &found);
	int result = error ? error : found.profiled != 0;

	if (!result && found.count)
		note_unsupported(targets, pid, found.items[0].file.family->name);
	interpreters__free(&found);
	return result;
}

static int compare_unreached(const void *left, const void *right)
{
	const struct unreached *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* The CPU time of a process that the first search did not reach, as of then; 0: it did reach it. */
static uint64_t unreached_runtime_ns(const struct targets *targets, pid_t pid)
{
	const struct unreached key = {.pid = pid}, *found;

	found = targets->unreached_count
			? bsearch(&key, targets->unreached, targets->unreached_count, sizeof(key),
				  compare_unreached)
			: NULL;
	return found ? found->runtime_ns : 0;
}

/* Notes the CPU time of the processes that the search did not reach: it counts from now on. */
static void note_unreached(struct targets *targets)
{
	pid_t *pids;
	ssize_t count = process__all(&pids);

	if (count > 0)
		targets->unreached = calloc((size_t)count, sizeof(*targets->unreached));
	for (ssize_t i = 0; i < count && targets->unreached; i++) {
		struct unreached *unreached = &targets->unreached[targets->unreached_count];

		unreached->pid = pids[i];
		if (pids[i] >= targets->search_from &&
		    !process__runtime_ns(pids[i], &unreached->runtime_ns))
			targets->unreached_count++;
	}
	free(pids);
	if (targets->unreached_count)
		qsort(targets->unreached, targets->unreached_count, sizeof(*targets->unreached),
		      compare_unreached);
}

static struct beginning beginning_of_found(const struct targets *targets, pid_t pid)
{
	struct beginning beginning = targets__beginning_of(targets, pid, 0);

	if (!beginning.is_birth && !beginning.runtime_ns)
		beginning.runtime_ns = unreached_runtime_ns(targets, pid);
	return beginning;
}

/* The shortest time between two searches of all processes. */
#define SEARCH_NS UINT64_C(500000000)

/* Searches all processes, *among of them. Returns how many with Lua were added, or -errno. */
static int search(struct targets *targets, size_t *among)
{
	pid_t *pids;
	ssize_t count = process__all(&pids);
	pid_t from = targets->search_from;
	size_t denied = 0;
	int found = 0;

	targets->has_to_search = false;
	targets->search_from = 0;
	targets->searched_ns = clock_ns(CLOCK_MONOTONIC);
	for (ssize_t i = 0; i < count && found >= 0; i++) {
		const struct target_process *target = targets__find(targets, pids[i]);
		int result = 0;

		if (pids[i] < from)
			continue;
		if (!target || target->has_ended)
			result = holds_lua(targets, pids[i]);
		if (result == -EAGAIN) {
			targets->has_to_search = true;
			targets->searched_ns = 0;
			targets->search_from = pids[i];
			break;
		}
		if (is_denied(result) && is_wanted(targets, pids[i]) && !denied++)
			targets->denied_pid = pids[i];
		if (is_denied(result) || result == -EDQUOT || result == -EOWNERDEAD)
			miss(targets, pids[i]);
		result = result > 0 ? targets__admit(targets, pids[i],
						     beginning_of_found(targets, pids[i]))
				    : 0;
		found = result < 0 ? result : found + result;
	}
	free(pids);
	if (count < 0)
		log_error("cannot list the processes in '/proc': %s", strerror((int)-count));
	targets->denied = denied;
	*among = count < 0 ? 0 : (size_t)count;
	return count < 0 ? (int)count : found;
}

/* Processes that are missing for lack of privileges must not be taken for idle. */
static void tell_what_is_denied(const struct targets *targets, size_t among)
{
	char missing[160];

	privileges__missing(missing, sizeof(missing));
	if (targets->denied)
		log_warn("cannot inspect %zu of %zu processes, such as pid %d: permission denied "
			 "(%s%s%s)",
			 targets->denied, among, targets->denied_pid,
			 *missing ? "missing: "
				  : "luaspy has all capabilities; these processes are left out",
			 missing, *missing ? "; try sudo" : "");
	else if (*missing)
		log_warn("processes may be left out or have no names (missing: %s; try sudo)",
			 missing);
}

const char *targets__rejected(struct targets *targets)
{
	targets->shown_rejected = targets->rejected;
	return text_list__end(&targets->shown_rejected);
}

static void tell_rejected(struct targets *targets)
{
	const char *rejected = targets__rejected(targets);
	char criteria[256];

	if (rejected)
		log_warn("none of the processes that run an interpreter fits %s: %s",
			 process_criteria__describe(&targets->options.choice->criteria, criteria,
						    sizeof(criteria)),
			 rejected);
}

int targets__watch_system(struct targets *targets)
{
	struct mappings_receiver receiver = {targets, on_mapping, on_lost_mappings};
	struct epoll_event event = {.events = EPOLLIN, .data.fd = -1};
	size_t among;
	int error = mappings__open(&receiver, &targets->mappings), found;

	if (!error && epoll_ctl(targets->poll_fd, EPOLL_CTL_ADD,
				mappings__poll_fd(targets->mappings), &event))
		error = -errno;
	if (error) {
		log_error("cannot watch what processes load: %s", strerror(-error));
		return error;
	}
	found = search(targets, &among);
	if (found < 0)
		return found;
	if (targets->search_from)
		note_unreached(targets);
	if (targets->has_to_search)
		log_info("%d processes run an interpreter so far; others are added when they do",
			 found);
	else
		log_info("%d of %zu processes run an interpreter; others are added when they do",
			 found, among);
	if (!found)
		tell_rejected(targets);
	tell_what_is_denied(targets, among);
	return 0;
}

int targets__add_new(struct targets *targets)
{
	int result = mappings__drain(targets->mappings);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	size_t among;

	if (!result && targets->has_to_search && now_ns - targets->searched_ns >= SEARCH_NS)
		result = search(targets, &among);
	return result < 0 ? result : 0;
}

int targets__fork(struct targets *targets, const struct ls_fork *fork)
{
	struct target_process *parent = targets__find(targets, (pid_t)fork->parent_tgid);
	struct target_process *target = targets__find(targets, (pid_t)fork->tgid);
	char name[LS_COMM_LEN + 1];
	int error;

	/* The pid has been reused. */
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
	if (error || !targets->options.choice->system)
		return error;
	target->threads.is_newborn = true;
	if (targets__start_timers(targets, target))
		targets->missed++;
	return 0;
}
