/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/target_process.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "process/process.h"
#include "system/resource_limits.h"
#include "targets/target_category.h"

#define SETTLING_NS 2000000000ULL

/* Maximum time from a program's first mapping to the report of its execution. */
#define EXECUTING_NS 10000000ULL

int target_process__presume(struct target_process *target)
{
	target->is_filed = true;
	return target_category__file(target);
}

static int make(const struct target_setting *setting, pid_t pid, bool is_child, const char *name,
		struct target_process **made)
{
	struct target_process *target = calloc(1, sizeof(*target));
	struct detection_options options = {.pid = pid,
					    .inspector = setting->inspector,
					    .layout = setting->layout,
					    .waits = setting->waits,
					    .is_child = is_child,
					    .announced = setting->is_of_many ? setting->announced
									     : NULL};
	int error = -ENOMEM;

	*made = target;
	if (!target)
		return -ENOMEM;
	target->setting = setting;
	target->pid = pid;
	target->pid_fd = -1;
	target->is_child = is_child;
	process__container(pid, &target->container);
	target_category__set_name(target, name);
	target->threads = (struct threads){
		.pid = pid, .sampler = setting->sampler, .recording = setting->recording};
	target->detection = detection__new(&options);
	if (target->detection)
		error = target_category__read_group(target);
	if (!error)
		error = recording__add_process(setting->recording, pid,
					       PROFILE_WITHOUT_INTERPRETER);
	if (!error)
		error = target_category__file_by_name(target);
	if (!error)
		return 0;
	target_process__free(target);
	*made = NULL;
	return error;
}

int target_process__new(const struct target_setting *setting, pid_t pid,
			struct target_process **target)
{
	char name[16];
	int error = process__name(pid, name);

	*target = NULL;
	if (!error)
		return make(setting, pid, false, name, target);
	if (error == -ESRCH || error == -ENOENT) {
		log_error("no process has the id %d", pid);
		return -ENOENT;
	}
	log_error("cannot inspect process %d: %s", pid, resource_limits__reason(error));
	return error;
}

int target_process__new_child(const struct target_setting *setting, pid_t pid, const char *name,
			      struct target_process **target)
{
	return make(setting, pid, true, name, target);
}

void target_process__free(struct target_process *target)
{
	if (!target)
		return;
	detection__free(target->detection);
	if (target->pid_fd >= 0)
		close(target->pid_fd);
	subprofiles__release(target->subprofile);
	free(target->group);
	free(target);
}

static void note_unsupported(const struct target_process *target)
{
	const char *interpreter = detection__unsupported(target->detection);

	if (interpreter)
		unsupported__note(target->setting->unsupported, target->pid, target->title,
				  interpreter);
}

int target_process__inspect(struct target_process *target)
{
	bool is_later;
	int error;

	target_category__read_label(target);
	error = detection__run(target->detection, target->title);
	/* Look again soon, as if it had just mapped a file. */
	is_later = error == -EAGAIN;
	if (is_later) {
		target->has_mapped = true;
		error = 0;
	}
	if (!error)
		note_unsupported(target);
	/* A process that cannot be read yet, or any more, stays in its category. */
	if (!error && target->is_filed && !detection__found(target->detection) &&
	    (is_later || process__has_ended(target->pid)))
		return 0;
	return error ? error : target_category__file_by_name(target);
}

static struct layout_votes *votes_of(const struct target_process *target)
{
	return recording__votes(target->setting->recording, target->pid);
}

/* Whether anything has changed that its image depends on; remembers the new state. */
static bool is_outdated(struct target_process *target)
{
	uint32_t changes = detection__changes(target->detection);
	struct ls_candidates candidates[LS_FAMILY_COUNT];

	detection__candidates(votes_of(target), candidates);
	if (target->is_known && target->told.changes == changes &&
	    !memcmp(target->told.candidates, candidates, sizeof(candidates)) &&
	    target->told.is_refused == target->is_refused)
		return false;
	target->told.changes = changes;
	memcpy(target->told.candidates, candidates, sizeof(candidates));
	target->told.is_refused = target->is_refused;
	return true;
}

/* Tells BPF what is known of its interpreters, if that has changed. */
static int tell(struct target_process *target)
{
	struct ls_image known = {};

	if (!is_outdated(target))
		return 0;
	if (!target->is_refused)
		detection__target(target->detection, votes_of(target), &known);
	known.edition = target->known.edition;
	if (target->is_known && !memcmp(&known, &target->known, sizeof(known)))
		return 0;
	target->known = known;
	target->is_known = true;
	if (detection__found(target->detection))
		recording__prepare(target->setting->recording, target->pid);
	return sampler__set_target(target->setting->sampler, target->pid, &known);
}

int target_process__begin(struct target_process *target)
{
	detection__begin(target->detection, votes_of(target));
	target->threads.sampler = target->setting->sampler;
	return tell(target);
}

int target_process__inherit(struct target_process *target, const struct target_process *parent)
{
	*votes_of(target) = *votes_of(parent);
	target->known = parent->known;
	target->is_known = parent->is_known;
	target->is_refused = parent->is_refused;
	target->executed_ns = parent->executed_ns;
	target->fork_rounds = 1;
	memcpy(target->label, parent->label, sizeof(target->label));
	target_category__set_title(target);
	if (!target->group && parent->group) {
		target->group = strdup(parent->group);
		if (!target->group)
			return -ENOMEM;
	}
	if (!parent->is_filed)
		return 0;
	recording__prepare(target->setting->recording, target->pid);
	target->is_filed = true;
	return target_category__file(target);
}

/*
 * The kernel reports the code that a new program maps just before it reports the execution. A
 * process that was found by such a mapping has already been inspected as the new program.
 */
static bool was_expected(const struct target_process *target, const struct ls_exec *exec,
			 const char *name)
{
	return target->setting->is_system_wide && target->is_filed && !target->fork_rounds &&
	       !strcmp(target->name, name) && exec->time_ns - target->executed_ns < EXECUTING_NS;
}

/* If they cannot be started, a warning says so, and the CPU time from here on is unsampled. */
static void restart_timers(struct target_process *target, const char *program)
{
	int error = timers__restart(sampler__timers(target->setting->sampler), target->pid);

	target->has_lost_timers = error && error != -ESRCH;
	if (target->has_lost_timers)
		log_warn("cannot sample %s since it executed '%s', which has other privileges: %s "
			 "(--max-overhead or --system keep luaspy's privileges)",
			 target->title, program, strerror(-error));
}

/* For example, a script's wrapper executes the interpreter. */
int target_process__executes(struct target_process *target, const struct ls_exec *exec)
{
	const struct target_setting *setting = target->setting;
	char name[LS_COMM_LEN + 1];
	bool is_expected;
	int error;

	snprintf(name, sizeof(name), "%.*s", LS_COMM_LEN, exec->comm);
	is_expected = was_expected(target, exec, name);
	/* Nothing more can be found out. */
	if (is_expected && process__has_ended(target->pid))
		return 0;
	if (exec->lost_timers)
		restart_timers(target, name);
	/* Its CPU time so far belongs to the previous program. */
	error = recording__exec_thread(setting->recording,
				       &(struct recorded_thread){target->pid, (uint32_t)target->pid,
								 target->name, exec->runtime_ns});
	if (error)
		return error;
	target->label[0] = '\0';
	target->is_labelled = false;
	target_category__set_name(target, name);
	target->has_executed = true;
	target->named_cpu_ns = 0;
	target->fork_rounds = 0;
	error = target_category__read_group(target);
	if (!error && target->setting->is_of_many && target->is_filed && !is_expected) {
		target->is_filed = false;
		error = target_category__file(target);
	}
	return error ? error : recording__exec(target->setting->recording, target->pid);
}

static int follow_exec(struct target_process *target)
{
	int error;

	target->has_executed = false;
	target->is_refused = false;
	target->known = (struct ls_image){.edition = target->known.edition + 1};
	target->is_known = false;
	if (!target->setting->is_launched && !target->is_child)
		log_warn("%s now runs another program", target->title);
	target->executed_ns = clock_ns(CLOCK_MONOTONIC);
	error = target_process__inspect(target);
	if (!error)
		return target_process__begin(target);
	target->is_given_up = error == -ENOENT;
	target->is_refused = target->setting->is_of_many && error != -ENOMEM;
	return target->is_refused || target->is_given_up ? 0 : error;
}

/*
 * Forgets functions that have not been seen for long, in two steps, each after a complete drain:
 * first BPF is told to define again whatever it sees; by the next, everything that it sent before
 * that has been taken in.
 */
static int renew(struct target_process *target)
{
	if (target->is_renewing) {
		target->is_renewing = false;
		recording__age(target->setting->recording, target->pid);
		return 0;
	}
	if (!recording__is_full(target->setting->recording, target->pid))
		return 0;
	target->is_renewing = true;
	target->known.edition++;
	return sampler__set_target(target->setting->sampler, target->pid, &target->known);
}

static int settle(struct target_process *target)
{
	int error;

	if (target->is_refused)
		return 0;
	if ((!target->setting->is_system_wide || target->has_mapped) &&
	    detection__notice(target->detection, votes_of(target), target->title)) {
		target->has_mapped = false;
		note_unsupported(target);
	}
	error = detection__settle(target->detection, votes_of(target), target->title);
	if (error == -ENOENT && target->setting->is_of_many) {
		target->is_refused = true;
		error = 0;
	}
	if (!error && !target->is_filed && detection__found(target->detection))
		error = target_category__file_by_name(target);
	return error;
}

/* Returns whether the name has changed. */
static bool read_name(struct target_process *target)
{
	char name[16];

	if (process__name(target->pid, name) || !strcmp(name, target->name))
		return false;
	target_category__set_name(target, name);
	return true;
}

/*
 * The first call gives it a copy of its parent's image, because the parent's may change any moment.
 * Most children execute another program soon; the next call inspects one that has not.
 */
static int follow_fork(struct target_process *target)
{
	bool is_renamed;
	int error;

	if (target->fork_rounds++ == 1)
		return sampler__set_target(target->setting->sampler, target->pid, &target->known);
	target->fork_rounds = 0;
	is_renamed = read_name(target);
	error = target_process__inspect(target);
	/* It may have executed another program by then: BPF's note of that comes later. */
	is_renamed |= read_name(target);
	if (error || !is_renamed)
		return error;
	error = target_category__read_group(target);
	return error ? error : target_category__file(target);
}

/* Mappings are only reported system-wide; otherwise the target has to be checked for them. */
bool target_process__has_news(const struct target_process *target)
{
	return !target->setting->is_system_wide || target->has_news || target->has_mapped ||
	       target->has_executed || target->fork_rounds || target->is_renewing ||
	       !target->is_labelled;
}

int target_process__follow(struct target_process *target)
{
	int error;

	target->has_news = false;
	if (target->has_executed) {
		error = follow_exec(target);
		if (error || target->is_given_up)
			return error;
	}
	if (target->fork_rounds) {
		error = follow_fork(target);
		if (error || target->fork_rounds)
			return error;
	}
	error = renew(target);
	if (!error)
		error = target_category__follow(target);
	if (!error)
		error = settle(target);
	return error ? error : tell(target);
}

/* The kernel frees a thread that was waited for within 20 ms, or within 10 s if RCU is lazy. */
#define RESTS_NS UINT64_C(2000000000)

/*
 * Most processes are waited for immediately, so a check whether one is a zombie can wait this long.
 */
#define ZOMBIE_NS UINT64_C(100000000)

/* A zombie's first thread will not run again, and its schedstat can still be read. */
static int take_rest_of_zombie(struct target_process *target)
{
	struct ls_thread_exit rest = target->end;
	uint64_t runtime_ns;

	if (target->awaited_rests != 1 || !rest.tid || process__state(target->pid) != 'Z' ||
	    process__thread_runtime_ns(target->pid, target->pid, &runtime_ns))
		return 0;
	rest.runtime_ns = runtime_ns > rest.runtime_ns ? runtime_ns - rest.runtime_ns : 0;
	recording__thread_rest(target->setting->recording, &rest);
	target->awaited_rests = 0;
	return 1;
}

int target_process__awaits_rest(struct target_process *target)
{
	uint64_t now_ns;

	if (!target->awaited_rests)
		return 0;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (now_ns - target->ended_ns >= RESTS_NS)
		return 0;
	if (now_ns - target->looked_ns < ZOMBIE_NS)
		return 1;
	target->looked_ns = now_ns;
	return !take_rest_of_zombie(target);
}

bool target_process__is_without_lua(const struct target_process *target)
{
	return !target->has_executed && !target->fork_rounds && !target->has_mapped &&
	       !detection__found(target->detection);
}

/* Whether any of its layouts to try is undecided. */
static bool is_undecided(const struct ls_image *image)
{
	for (uint32_t id = 0; id < LS_FAMILY_COUNT; id++)
		if (image->candidates[id].layouts != image->candidates[id].decided)
			return true;
	return false;
}

bool target_process__is_settling(const struct target_process *target, uint64_t start_ns,
				 uint64_t now_ns)
{
	uint64_t since = target->executed_ns ? target->executed_ns : start_ns;

	if (target->has_ended || now_ns - since >= SETTLING_NS)
		return false;
	return is_undecided(&target->known) ||
	       (target->executed_ns && !detection__found(target->detection));
}
