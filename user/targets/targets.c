/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/targets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "interpreter/findings.h"
#include "process/process.h"
#include "system/kernel.h"
#include "targets/target_category.h"
#include "targets/target_list.h"
#include "targets/targets_discovery.h"
#include "targets/targets_state.h"

static int explain_no_pidfd(pid_t pid, const char *title, int error)
{
	if (error == -EINVAL || error == -ENOENT)
		log_error("cannot follow %d: it is a thread of process %d, not a process", pid,
			  process__of_thread(pid));
	else
		log_error("cannot follow %s: %s", title, strerror(-error));
	return error;
}

/* The pidfd reports its end. A pid that is listed twice is one process. */
static int add_asked_for(struct targets *targets, pid_t pid)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = pid};
	struct target_process *target;
	int error;

	if (targets__find(targets, pid))
		return 0;
	error = target_process__new(&targets->setting, pid, &target);
	if (!error)
		error = targets__add(targets, target);
	if (error)
		return error;
	target->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (target->pid_fd >= 0 &&
	    !epoll_ctl(targets->poll_fd, EPOLL_CTL_ADD, target->pid_fd, &event)) {
		targets->asked_for++;
		return 0;
	}
	error = explain_no_pidfd(pid, target->title, -errno);
	targets__drop(targets, target);
	return error;
}

/*
 * If several were asked for, takes those that exist. Reads each name after waiting for the
 * interpreters; all share one deadline.
 */
static int add_all_asked_for(struct targets *targets)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + INTERPRETERS_PATIENCE_NS;
	int error = 0, first_error = 0;

	for (size_t i = 0; i < targets->options.choice->pid_count && error != -ENOMEM; i++) {
		if (!targets->setting.waits && !targets->setting.layout)
			inspector__await_interpreters(targets->setting.inspector,
						      targets->options.choice->pids[i], until_ns);
		error = add_asked_for(targets, targets->options.choice->pids[i]);
		if (error && !first_error)
			first_error = error;
	}
	if (error == -ENOMEM)
		return error;
	return targets->items || targets->options.choice->system ? 0 : first_error;
}

static void explain_foreign_proc(const struct target_choice *choice)
{
	char which[24] = "is which";

	if (choice->pid_count)
		snprintf(which, sizeof(which), "%d is", choice->pids[0]);
	log_error("cannot tell which process %s: '/proc' shows another PID namespace (mount that "
		  "of this one: 'mount -t proc proc /proc')",
		  which);
}

int targets__open(const struct targets_options *options, struct recording *recording,
		  struct targets **opened)
{
	const struct target_choice *choice = options->choice;
	struct targets *targets = calloc(1, sizeof(*targets));
	int error = -ENOMEM;

	*opened = targets;
	if (!targets)
		return -ENOMEM;
	targets->options = *options;
	targets->is_paused = options->is_paused;
	targets->setting = (struct target_setting){
		.recording = recording,
		.inspector = options->inspector,
		.announced = &targets->announced,
		.subprofiles = options->subprofiles,
		.layout = choice->layout,
		.waits = choice->waits || choice->children || choice->system,
		.is_of_many = target_choice__is_of_many(choice),
		.is_system_wide = choice->system,
		.is_launched = options->is_launched,
	};
	targets->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	targets->missed_pids = generations__new(sizeof(uint64_t), sizeof(char), NULL);
	targets->charged = generations__new(sizeof(uint64_t), sizeof(uint64_t), NULL);
	if (choice->merge_by != GROUPING_NONE)
		targets->setting.grouping = grouping__new(choice->merge_by);
	targets->unsupported = targets->setting.unsupported = unsupported__new();
	if (!targets->missed_pids || !targets->charged || !targets->unsupported ||
	    (choice->merge_by != GROUPING_NONE && !targets->setting.grouping))
		goto cleanup;
	if (options->subprofiles)
		recording__keep_subprofiles(recording, options->subprofiles,
					    choice->merge_by != GROUPING_NONE);
	if (!kernel__proc_is_ours()) {
		explain_foreign_proc(choice);
		error = -EXDEV;
		goto cleanup;
	}
	error = process_filter__new(&choice->criteria, &targets->filter);
	if (!error)
		error = add_all_asked_for(targets);
	targets__set_title(targets);
	if (!error)
		return 0;
cleanup:
	targets__close(targets);
	*opened = NULL;
	return error;
}

void targets__close(struct targets *targets)
{
	struct target_process *target, *next;

	if (!targets)
		return;
	HASH_ITER (hh, targets->items, target, next) {
		HASH_DEL(targets->items, target);
		target_process__free(target);
	}
	mappings__close(targets->mappings);
	generations__free(targets->missed_pids);
	generations__free(targets->charged);
	unsupported__free(targets->unsupported);
	free(targets->unreached);
	process_filter__free(targets->filter);
	grouping__free(targets->setting.grouping);
	if (targets->poll_fd >= 0)
		close(targets->poll_fd);
	free(targets);
}

/* If the only process cannot be profiled, the session ends; one of several is left out. */
static int give_up_on(struct targets *targets, struct target_process *target, int error)
{
	if (error != -ENOENT || targets->asked_for <= 1)
		return error;
	targets->asked_for--;
	targets__drop(targets, target);
	return 0;
}

int targets__inspect(struct targets *targets)
{
	struct target_process *target, *next;
	int error = 0;

	HASH_ITER (hh, targets->items, target, next) {
		error = target_process__inspect(target);
		if (error)
			error = give_up_on(targets, target, error);
		if (error)
			return error;
	}
	targets__set_title(targets);
	return 0;
}

int targets__begin(struct targets *targets, struct sampler *sampler)
{
	struct target_process *target;
	int error = 0;

	targets->setting.sampler = sampler;
	targets->start_ns = clock_ns(CLOCK_MONOTONIC);
	for (target = targets->items; target && !error; target = target->hh.next)
		error = target_process__begin(target);
	return error;
}

/* For starting timers while the session begins; later, only a system-wide one can start more. */
#define STARTING_NS  UINT64_C(1000000000)
#define UNLIMITED_NS (UINT64_MAX / 2)

int targets__attach(struct targets *targets)
{
	struct target_process *target;
	int error = 0;

	if (targets->is_paused)
		recording__pause(targets->setting.recording);
	targets->start_ns = clock_ns(CLOCK_MONOTONIC);
	targets__switch(targets, !targets->is_paused);
	for (target = targets->items; target && !error; target = target->hh.next)
		error = threads__attach(&target->threads, target->title, UNLIMITED_NS);
	targets->starting_ns = targets->options.choice->system ? STARTING_NS : UNLIMITED_NS;
	if (!error && targets->options.choice->children && targets->options.has_run)
		error = targets__add_children(targets);
	if (!error && targets->options.choice->system)
		error = targets__watch_system(targets);
	return error;
}

bool targets__are_given_up(const struct targets *targets)
{
	return !targets->setting.is_of_many && targets->items && targets->items->is_given_up;
}

int targets__poll_fd(const struct targets *targets)
{
	return targets->poll_fd;
}

bool targets__have_ended(struct targets *targets)
{
	struct epoll_event events[16];
	int count = epoll_wait(targets->poll_fd, events, 16, 0);

	for (int i = 0; i < count; i++) {
		struct target_process *target = targets__find(targets, events[i].data.fd);

		if (!target || target->pid_fd < 0)
			continue;
		/* Closing the pidfd removes it from the epoll set. */
		close(target->pid_fd);
		target->pid_fd = -1;
		target->has_ended = true;
		targets__mark_dirty(targets, target);
		targets->asked_for--;
	}
	return !targets->asked_for && !targets->options.choice->system;
}

bool targets__are_decided(const struct targets *targets)
{
	const struct target_process *target;
	bool any = false;

	for (target = targets->items; target; target = target->hh.next) {
		const struct layout_votes *votes =
			recording__votes(targets->setting.recording, target->pid);

		if (votes->count && !layout_votes__are_decided(votes))
			return false;
		any |= votes->count != 0;
	}
	return any;
}

int targets__pause(struct targets *targets)
{
	struct target_process *target;
	int error = 0;

	for (target = targets->items; target && !error; target = target->hh.next) {
		/* Only threads that have begun can be paused. */
		if (target->threads.is_incomplete)
			targets->missed +=
				threads__attach(&target->threads, target->title, UNLIMITED_NS) != 0;
		error = threads__pause(&target->threads);
	}
	targets->is_paused = true;
	recording__pause(targets->setting.recording);
	return error;
}

int targets__resume(struct targets *targets)
{
	struct target_process *target;
	int error = 0;

	targets->is_paused = false;
	for (target = targets->items; target && !error; target = target->hh.next)
		error = threads__resume(&target->threads);
	recording__resume(targets->setting.recording, clock_ns(CLOCK_MONOTONIC));
	targets__switch(targets, 1);
	return error;
}

bool targets__are_paused(const struct targets *targets)
{
	return targets->is_paused;
}

void targets__switch(struct targets *targets, int on)
{
	sampler__switch(targets->setting.sampler, on);
}

/* A running process is read again when its CPU time has doubled, or after this time. */
#define NAMES_NS (16 * UINT64_C(1000000000))

static bool is_to_be_named(const struct target_process *target, uint64_t now_ns)
{
	uint64_t cpu_ns = target->threads.cpu_so_far_ns;

	return cpu_ns > target->named_cpu_ns &&
	       (cpu_ns >= 2 * target->named_cpu_ns || now_ns - target->named_ns >= NAMES_NS);
}

/* Limit per call; reading the tables of one process takes up to 0.1 s. */
#define NAMING_NS UINT64_C(50000000)

/* Continues where the previous call stopped. */
static void read_names(struct targets *targets)
{
	struct target_process *target = targets__find(targets, targets->named);
	unsigned count = HASH_COUNT(targets->items);
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), now_ns = begin_ns;

	while (count-- && now_ns - begin_ns < NAMING_NS) {
		target = target && target->hh.next ? target->hh.next : targets->items;
		if (!is_to_be_named(target, now_ns))
			continue;
		/* 0: there is no total to account for. */
		recording__complete(targets->setting.recording, target->pid, target->name, 0);
		target->named_cpu_ns = target->threads.cpu_so_far_ns;
		target->named_ns = now_ns = clock_ns(CLOCK_MONOTONIC);
		targets->named = target->pid;
	}
}

void targets__tell_so_far(struct targets *targets)
{
	struct target_process *target;

	for (target = targets->items; target; target = target->hh.next)
		threads__refresh(&target->threads);
	read_names(targets);
}

/* For the threads of all processes together: the next interval must not begin late. */
#define SETTLING_NS UINT64_C(50000000)

void targets__settle(struct targets *targets)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + SETTLING_NS;
	struct target_process *target;

	for (target = targets->items; target; target = target->hh.next)
		threads__settle(&target->threads, until_ns);
}

void targets__complete(struct targets *targets)
{
	struct target_process *target;

	for (target = targets->items; target; target = target->hh.next)
		threads__complete(&target->threads, target->name);
}

/* Likewise when the session ends, which somebody may be waiting for. */
#define ENDING_NS UINT64_C(90000000)

int targets__end(struct targets *targets)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + ENDING_NS;
	struct target_process *target;
	int result = 0;

	for (target = targets->items; target; target = target->hh.next) {
		const struct layout_votes *votes =
			recording__votes(targets->setting.recording, target->pid);
		/*
		 * A child may have been too short-lived for more than a sample during its start or
		 * end.
		 */
		int error = target->is_refused || target->is_child
				    ? 0
				    : detection__end(target->detection, votes, target->title);

		threads__end(&target->threads, target->name, until_ns);
		if (!targets->setting.is_of_many)
			result = error;
	}
	/* Where they are all there was, that is why the profile is empty. */
	if (unsupported__count(targets->unsupported) > 1 && targets__have_lua(targets))
		log_warn("%s: they are not in the profile",
			 unsupported__text(targets->unsupported));
	return result;
}

const char *targets__name(const struct targets *targets)
{
	return targets->name;
}

const char *targets__title(const struct targets *targets)
{
	return targets->title;
}

pid_t targets__pid(const struct targets *targets)
{
	return targets->first;
}

bool targets__have_lua(const struct targets *targets)
{
	const struct target_process *target;

	for (target = targets->items; target; target = target->hh.next)
		if (detection__found(target->detection))
			return true;
	return targets->findings.counts.with_lua != 0;
}

const char *targets__unsupported(const struct targets *targets)
{
	return unsupported__count(targets->unsupported) ? unsupported__text(targets->unsupported)
							: NULL;
}

int targets__visit_living(const struct targets *targets,
			  int (*visit)(void *context, const char *category, uint64_t late_ns),
			  void *context)
{
	const struct target_process *target;
	int result = 0;

	for (target = targets->items; target && !result; target = target->hh.next) {
		uint64_t so_far_ns = target->threads.cpu_so_far_ns;
		uint64_t known_ns = recording__cpu_ns(targets->setting.recording, target->pid);
		uint64_t late_ns = so_far_ns > known_ns ? so_far_ns - known_ns : 0;

		if (!target->has_ended && (target->is_filed || late_ns))
			result = visit(context, target_category__name(target), late_ns);
	}
	return result;
}

/*
 * The kernel forgets a process as soon as its parent has waited for it, often before we read its
 * clock; what its threads reported as they exited is then all there is. Threads that go on report
 * a moment after the process clock was read, so the sum of the profile may also be the larger one.
 */
static uint64_t cpu_ns(const struct targets *targets, const struct target_process *target)
{
	uint64_t so_far_ns = target->threads.cpu_so_far_ns;
	uint64_t known_ns = recording__cpu_ns(targets->setting.recording, target->pid);

	return so_far_ns > known_ns ? so_far_ns : known_ns;
}

void targets__export(struct targets *targets, struct ls_profile_recorder *recorder)
{
	const struct target_process *target;

	targets->shown = targets->findings;
	recorder->cpu_ns = recording__ended_ns(targets->setting.recording);
	for (target = targets->items; target; target = target->hh.next) {
		targets__add_findings(targets, target, &targets->shown);
		recorder->cpu_ns += cpu_ns(targets, target);
	}
	findings__export(&targets->shown, recorder);
	recorder->target = targets->title;
	recorder->missed_processes = targets->missed;
}

void targets__export_subprofile(struct targets *targets, const struct subprofile *subprofile,
				struct ls_profile_recorder *recorder)
{
	const struct target_process *target;

	findings__recall(subprofile->findings, &targets->shown);
	for (target = targets->items; target; target = target->hh.next)
		if (target->subprofile == subprofile)
			targets__add_findings(targets, target, &targets->shown);
	findings__export(&targets->shown, recorder);
	recorder->target = subprofile->title;
	recorder->missed_processes = 0;
}
