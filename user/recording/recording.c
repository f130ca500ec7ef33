/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/recording.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/pruning.h"
#include "recording/recording_internal.h"

struct recording *recording__new(enum category_kind kind, bool has_many,
				 struct inspector *inspector)
{
	struct recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return NULL;
	recording->kind = kind;
	recording->has_many = has_many;
	recording->inspector = inspector;
	recording->tree = call_tree__new();
	recording->functions = functions__new();
	if (!recording->tree || !recording->functions)
		goto cleanup;
	recording->host = functions__pseudo(recording->functions, PROFILE_HOST);
	recording->unreadable = functions__pseudo(recording->functions, PROFILE_UNREADABLE);
	recording->unsampled = functions__pseudo(recording->functions, PROFILE_UNSAMPLED);
	recording->other = functions__pseudo(recording->functions, CALL_TREE_OTHER);
	recording->gc = functions__gc(recording->functions);
	recording->functions_most = RECORDING_FUNCTIONS_MAX;
	if (recording->host && recording->unreadable && recording->unsampled && recording->other &&
	    recording->gc)
		return recording;
cleanup:
	recording__free(recording);
	return NULL;
}

void recording__free(struct recording *recording)
{
	struct recorded_process *process, *next;

	if (!recording)
		return;
	HASH_ITER (hh, recording->processes, process, next) {
		HASH_DEL(recording->processes, process);
		recorded_process__free(process);
	}
	last_stacks__forget_all(&recording->stacks);
	timeline__free(recording->timeline);
	functions__free(recording->functions);
	call_tree__free(recording->tree);
	free(recording);
}

int recording__add_process(struct recording *recording, pid_t pid, const char *name)
{
	struct recorded_process *process = calloc(1, sizeof(*process));
	struct cpu_time_receiver receiver = {process, recorded_process__charge,
					     recorded_process__charge_unsampled};

	if (!process)
		return -ENOMEM;
	process->pid = pid;
	process->recording = recording;
	process->categories = categories__new(recording->kind, name, recording->has_many);
	process->time = cpu_time__new((uint32_t)pid, &receiver);
	process->symbolizer = symbolizer__new(pid, recording->functions, recording->inspector);
	if (!process->categories || !process->time || !process->symbolizer)
		goto cleanup;
	HASH_ADD(hh, recording->processes, pid, sizeof(pid), process);
	if (HASH_HAS_ADDED(process))
		return 0;
cleanup:
	recorded_process__free(process);
	return -ENOMEM;
}

void recording__prepare(struct recording *recording, pid_t pid)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	if (process)
		symbolizer__prepare(process->symbolizer);
}

uint64_t recording__cpu_ns(const struct recording *recording, pid_t pid)
{
	const struct recorded_process *process = recorded_process__find(recording, pid);

	return process ? cpu_time__total_ns(process->time) + process->unaccounted_ns : 0;
}

/* The process's program has ended: completes what it leaves in the recording. */
static void forget_program(struct recording *recording, const struct recorded_process *process)
{
	symbolizer__suggest_names(process->symbolizer);
	recording->unnamed_calls += symbolizer__unnamed_calls(process->symbolizer);
	if (process->subprofile)
		process->subprofile->counts.unnamed_calls +=
			symbolizer__unnamed_calls(process->symbolizer);
}

void recording__end_process(struct recording *recording, pid_t pid)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	if (!process)
		return;
	cpu_time__end_all(process->time);
	recording->ended_ns += recording__cpu_ns(recording, pid);
	forget_program(recording, process);
	HASH_DEL(recording->processes, process);
	recorded_process__free(process);
}

uint64_t recording__ended_ns(const struct recording *recording)
{
	return recording->ended_ns;
}

int recording__keep_timeline(struct recording *recording)
{
	recording->timeline = timeline__new(TIMELINE_MOST);
	return recording->timeline ? 0 : -ENOMEM;
}

int recording__keep_coroutines(struct recording *recording)
{
	recording->coroutine = functions__pseudo(recording->functions, PROFILE_COROUTINE);
	return recording->coroutine ? 0 : -ENOMEM;
}

void recording__keep_subprofiles(struct recording *recording, struct subprofiles *subprofiles,
				 bool are_groups)
{
	recording->subprofiles = subprofiles;
	recording->has_many = are_groups;
}

void recording__assign(struct recording *recording, pid_t pid, struct subprofile *subprofile)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	if (process)
		process->subprofile = subprofile;
}

int recording__begin_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct recorded_process *process = recorded_process__find(recording, thread->pid);

	return process ? cpu_time__begin(process->time, thread->tid, thread->comm,
					 thread->runtime_ns)
		       : 0;
}

void recording__set_partial(struct recording *recording, pid_t pid, bool is_partial)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	if (process)
		process->is_partial = is_partial;
}

int recording__function(struct recording *recording, const struct ls_function *function)
{
	struct recorded_process *process = recorded_process__find(recording, (pid_t)function->tgid);
	int error = recording__keep_bounds(recording, 1);

	if (error || !process)
		return error;
	return symbolizer__define(process->symbolizer, function);
}

bool recording__is_full(const struct recording *recording, pid_t pid)
{
	const struct recorded_process *process = recorded_process__find(recording, pid);

	return process && symbolizer__is_full(process->symbolizer);
}

void recording__age(struct recording *recording, pid_t pid)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	if (process)
		symbolizer__age(process->symbolizer);
}

int recording__thread_exit(struct recording *recording, const struct ls_thread_exit *exit)
{
	struct recorded_process *process = recorded_process__find(recording, (pid_t)exit->tgid);
	int error = 0;

	last_stacks__forget(&recording->stacks, exit->tid);
	if (!process) {
		recording->strangers++;
		return 0;
	}
	if (!recording->is_paused && !process->is_partial && exit->time_ns >= recording->resumed_ns)
		error = cpu_time__end(process->time, exit->tid, exit->comm, exit->runtime_ns);
	else
		cpu_time__end_known(process->time, exit->tid, exit->runtime_ns);
	if (!exit->rest_follows)
		cpu_time__gone(process->time, exit->tid);
	return error;
}

/* The process's CPU clock includes this time immediately, so part of it may already be charged. */
int recording__thread_rest(struct recording *recording, const struct ls_thread_exit *rest)
{
	struct recorded_process *process = recorded_process__find(recording, (pid_t)rest->tgid);
	uint64_t known_ns;

	if (!process)
		return 0;
	cpu_time__gone(process->time, rest->tid);
	if (recording->is_paused || rest->time_ns < recording->resumed_ns)
		return 0;
	known_ns = rest->runtime_ns < process->ahead_ns ? rest->runtime_ns : process->ahead_ns;
	process->ahead_ns -= known_ns;
	process->unaccounted_ns += rest->runtime_ns - known_ns;
	recorded_process__charge_unsampled(process, rest->comm, rest->runtime_ns - known_ns);
	return 0;
}

int recording__exec(struct recording *recording, pid_t pid)
{
	struct recorded_process *process = recorded_process__find(recording, pid);
	struct symbolizer *fresh;

	if (!process)
		return 0;
	fresh = symbolizer__new(pid, recording->functions, recording->inspector);
	if (!fresh)
		return -ENOMEM;
	forget_program(recording, process);
	symbolizer__free(process->symbolizer);
	categories__forget_vms(process->categories);
	process->symbolizer = fresh;
	memset(process->last_states, 0, sizeof(process->last_states));
	memset(&process->votes, 0, sizeof(process->votes));
	last_stacks__forget_all(&recording->stacks);
	return 0;
}

int recording__rename_process(struct recording *recording, pid_t pid, const char *name)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	return process ? categories__rename(process->categories, name) : 0;
}

static int settle(struct recorded_process *process, const struct recorded_thread *thread,
		  bool only_if_known)
{
	if (!only_if_known)
		return cpu_time__settle(process->time, thread->tid, thread->comm,
					thread->runtime_ns);
	cpu_time__settle_known(process->time, thread->tid, thread->runtime_ns);
	return 0;
}

int recording__end_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct recorded_process *process = recorded_process__find(recording, thread->pid);

	return process ? settle(process, thread, process->is_partial) : 0;
}

int recording__pause_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct recorded_process *process = recorded_process__find(recording, thread->pid);

	return process ? cpu_time__pause(process->time, thread->tid, thread->comm,
					 thread->runtime_ns)
		       : 0;
}

int recording__resume_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct recorded_process *process = recorded_process__find(recording, thread->pid);

	return process ? cpu_time__resume(process->time, thread->tid, thread->comm,
					  thread->runtime_ns)
		       : 0;
}

void recording__pause(struct recording *recording)
{
	recording->is_paused = true;
}

void recording__resume(struct recording *recording, uint64_t time_ns)
{
	recording->is_paused = false;
	recording->resumed_ns = time_ns;
}

bool recording__has_settled(struct recording *recording, const struct recorded_thread *thread)
{
	struct recorded_process *process = recorded_process__find(recording, thread->pid);

	return process && cpu_time__has_settled(process->time, thread->tid, thread->runtime_ns);
}

int recording__settle_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct recorded_process *process = recorded_process__find(recording, thread->pid);

	return process ? settle(process, thread, recording->is_paused || process->is_partial) : 0;
}

int recording__exec_thread(struct recording *recording, const struct recorded_thread *thread)
{
	struct recorded_process *process = recorded_process__find(recording, thread->pid);

	if (process)
		cpu_time__exec(process->time);
	return recording__settle_thread(recording, thread);
}

void recording__complete(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns)
{
	struct recorded_process *process = recorded_process__find(recording, pid);
	struct layout layout;
	uint64_t known_ns;

	if (!process)
		return;
	known_ns = cpu_time__total_ns(process->time) + process->unaccounted_ns;
	if (cpu_ns > known_ns) {
		process->unaccounted_ns += cpu_ns - known_ns;
		process->ahead_ns += cpu_ns - known_ns;
		recorded_process__charge_unsampled(process, comm, cpu_ns - known_ns);
	}
	symbolizer__suggest_names(process->symbolizer);
	for (uint32_t family = 0; family < LS_FAMILY_COUNT; family++)
		for (uint32_t slot = 0; layout__get(family, slot, &layout); slot++)
			symbolizer__finish(process->symbolizer, &layout,
					   process->last_states[family][slot]);
}

void recording__finish(struct recording *recording, pid_t pid, const char *comm, uint64_t cpu_ns)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	if (!process)
		return;
	cpu_time__end_all(process->time);
	recording__complete(recording, pid, comm, cpu_ns);
}

struct layout_votes *recording__votes(struct recording *recording, pid_t pid)
{
	struct recorded_process *process = recorded_process__find(recording, pid);

	return process ? &process->votes : NULL;
}

const uint64_t *recording__classes(const struct recording *recording)
{
	return recording->classes;
}

uint64_t recording__script_samples(const struct recording *recording)
{
	const uint64_t *classes = recording->classes;

	return classes[LS_SAMPLE_COMPLETE] + classes[LS_SAMPLE_TORN] + classes[LS_SAMPLE_TRUNCATED];
}
