/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target_process.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "process.h"

#define SETTLING_NS 2000000000ULL

/* From a program's first mapping to the word that it runs. */
#define EXECUTING_NS 10000000ULL

/* How old what is known of its group may be. */
#define GROUPED_NS 500000000ULL

static void set_name(struct target_process *target, const char *name)
{
	snprintf(target->name, sizeof(target->name), "%.15s", name);
	container__title(&target->container, target->name, target->pid, target->title);
}

/* Of one that is gone what was known of it holds. 0 or -ENOMEM. */
static int set_group(struct target_process *target)
{
	char *group;
	int error;

	if (!target->setting->grouping)
		return 0;
	target->grouped_ns = clock_ns(CLOCK_MONOTONIC);
	error = grouping__of(target->setting->grouping, target->pid, target->name, &group);
	if (error)
		return error == -ENOMEM ? error : 0;
	free(target->group);
	target->group = group;
	return 0;
}

static const char *group_name(const struct target_process *target)
{
	return target->group ? target->group : grouping__unknown(target->setting->grouping);
}

/* Groups that have profiles of their own have categories of processes, too. */
const char *target_process__category(const struct target_process *target)
{
	if (!target->is_filed)
		return PROFILE_WITHOUT_LUA;
	if (!target->setting->grouping || target->setting->parts)
		return target->title;
	return group_name(target);
}

/* Its part is that of its group now. 0 or -ENOMEM; no part where there are too many. */
static int join_group(struct target_process *target)
{
	struct part *part;
	int error;

	if (target->part && !strcmp(target->part->name, group_name(target)))
		return 0;
	error = parts__of_group(target->setting->parts, group_name(target), &part);
	if (error)
		return error;
	parts__release(target->part);
	target->part = part;
	return 0;
}

/* The same for the one that it has for itself, whatever it runs. */
static int have_own_part(struct target_process *target)
{
	int error = target->part ? 0
				 : parts__add_process(target->setting->parts, target->pid,
						      &target->part);

	return error || !target->part ? error
				      : part__rename(target->part, target->name, target->title);
}

/* Those without Lua are of the rest. */
static int file_apart(struct target_process *target)
{
	int error = 0;

	if (target->is_filed && target->setting->grouping)
		error = join_group(target);
	else if (target->is_filed)
		error = have_own_part(target);
	recording__assign(target->setting->recording, target->pid,
			  target->is_filed ? target->part : NULL);
	return error;
}

static int file(struct target_process *target)
{
	int error = recording__rename_process(target->setting->recording, target->pid,
					      target_process__category(target));

	return error || !target->setting->parts ? error : file_apart(target);
}

/* Where there are many, those without Lua are one category. */
static int file_by_name(struct target_process *target)
{
	int is_filed = !target->setting->is_of_many ||
		       identification__found(target->identification) != NULL ||
		       target->setting->layout;

	target->is_filed = is_filed;
	return file(target);
}

int target_process__presume(struct target_process *target)
{
	target->is_filed = 1;
	return file(target);
}

static int make(const struct target_setting *setting, pid_t pid, int is_child, const char *name,
		struct target_process **made)
{
	struct target_process *target = calloc(1, sizeof(*target));
	struct identification_options options = {
		.pid = pid,
		.files = setting->files,
		.layout = setting->layout,
		.waits = setting->waits,
		.is_child = is_child,
		.announced = setting->is_of_many ? setting->announced : NULL};
	int error = -ENOMEM;

	*made = target;
	if (!target)
		return -ENOMEM;
	target->setting = setting;
	target->pid = pid;
	target->pid_fd = -1;
	target->is_child = is_child;
	process__container(pid, &target->container);
	set_name(target, name);
	target->threads = (struct threads){
		.pid = pid, .sampler = setting->sampler, .recording = setting->recording};
	target->identification = identification__new(&options);
	if (target->identification)
		error = set_group(target);
	if (!error)
		error = recording__add_process(setting->recording, pid, PROFILE_WITHOUT_LUA);
	if (!error)
		error = file_by_name(target);
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
		return make(setting, pid, 0, name, target);
	if (error == -ESRCH || error == -ENOENT) {
		log_error("no process has the id %d", pid);
		return -ENOENT;
	}
	log_error("cannot look into process %d: %s", pid, strerror(-error));
	return error;
}

int target_process__new_child(const struct target_setting *setting, pid_t pid, const char *name,
			      struct target_process **target)
{
	return make(setting, pid, 1, name, target);
}

void target_process__free(struct target_process *target)
{
	if (!target)
		return;
	identification__free(target->identification);
	if (target->pid_fd >= 0)
		close(target->pid_fd);
	parts__release(target->part);
	free(target->group);
	free(target);
}

int target_process__look(struct target_process *target)
{
	int error = identification__look(target->identification, target->title);

	return error ? error : file_by_name(target);
}

static struct verdicts *verdicts_of(const struct target_process *target)
{
	return recording__verdicts(target->setting->recording, target->pid);
}

/* Tells BPF what is known of its interpreters, where that has changed. */
static int tell(struct target_process *target)
{
	struct ls_target known = {.family = LS_FAMILY_PUC};
	const struct verdicts *verdicts = verdicts_of(target);
	uint32_t changes = identification__changes(target->identification);
	uint16_t to_try = verdicts__to_try(verdicts), decided = verdicts__decided(verdicts);

	if (target->is_known && target->told.changes == changes && target->told.to_try == to_try &&
	    target->told.decided == decided && target->told.is_refused == target->is_refused)
		return 0;
	target->told.changes = changes;
	target->told.to_try = to_try;
	target->told.decided = decided;
	target->told.is_refused = target->is_refused;
	if (!target->is_refused)
		identification__target(target->identification, verdicts, &known);
	known.edition = target->known.edition;
	if (target->is_known && !memcmp(&known, &target->known, sizeof(known)))
		return 0;
	target->known = known;
	target->is_known = 1;
	if (identification__found(target->identification))
		recording__prepare(target->setting->recording, target->pid);
	return sampler__set_target(target->setting->sampler, target->pid, &known);
}

int target_process__begin(struct target_process *target)
{
	identification__begin(target->identification, verdicts_of(target));
	target->threads.sampler = target->setting->sampler;
	return tell(target);
}

int target_process__inherit(struct target_process *target, const struct target_process *parent)
{
	*verdicts_of(target) = *verdicts_of(parent);
	target->known = parent->known;
	target->is_known = parent->is_known;
	target->is_refused = parent->is_refused;
	target->executed_ns = parent->executed_ns;
	target->is_forked = 1;
	if (!target->group && parent->group) {
		target->group = strdup(parent->group);
		if (!target->group)
			return -ENOMEM;
	}
	if (!parent->is_filed)
		return 0;
	recording__prepare(target->setting->recording, target->pid);
	target->is_filed = 1;
	return file(target);
}

/*
 * The kernel tells of the code that a new program maps just before it tells of the program: a
 * process that was noticed by that has been looked at as what it becomes here.
 */
static int was_expected(const struct target_process *target, const struct ls_exec *exec,
			const char *name)
{
	return target->setting->is_system_wide && target->is_filed && !target->is_forked &&
	       !strcmp(target->name, name) && exec->time_ns - target->executed_ns < EXECUTING_NS;
}

static int is_gone(pid_t pid)
{
	char state = process__state(pid);

	return !state || state == 'Z';
}

/* A script's wrapper does that. */
int target_process__executes(struct target_process *target, const struct ls_exec *exec)
{
	const struct target_setting *setting = target->setting;
	char name[LS_COMM_LEN + 1];
	int error, is_expected;

	snprintf(name, sizeof(name), "%.*s", LS_COMM_LEN, exec->comm);
	is_expected = was_expected(target, exec, name);
	/* There is nothing more to be found out. */
	if (is_expected && is_gone(target->pid))
		return 0;
	/* What it was charged so far is its last program's. */
	error = recording__settle_thread(
		setting->recording, &(struct recorded_thread){target->pid, (uint32_t)target->pid,
							      target->name, exec->runtime_ns});
	if (error)
		return error;
	set_name(target, name);
	target->has_executed = 1;
	target->named_cpu_ns = 0;
	target->is_forked = 0;
	error = set_group(target);
	if (!error && target->setting->is_of_many && target->is_filed && !is_expected) {
		target->is_filed = 0;
		error = file(target);
	}
	return error ? error : recording__exec(target->setting->recording, target->pid);
}

static int follow_exec(struct target_process *target)
{
	int error;

	target->has_executed = 0;
	target->is_refused = 0;
	target->known = (struct ls_target){.edition = target->known.edition + 1};
	target->is_known = 0;
	if (!target->setting->is_launched && !target->is_child)
		log_warn("%s now runs another program",
			 target->setting->is_of_many ? target->title : "the target");
	target->executed_ns = clock_ns(CLOCK_MONOTONIC);
	error = target_process__look(target);
	if (!error)
		return target_process__begin(target);
	target->is_given_up = error == -ENOENT;
	target->is_refused = target->setting->is_of_many && error != -ENOMEM;
	return target->is_refused || target->is_given_up ? 0 : error;
}

/*
 * Functions that have not been seen for long are forgotten in two steps, each after all that was
 * sent has been taken in: BPF is told to define what it sees anew; then all that it still sent
 * without that has been.
 */
static int renew(struct target_process *target)
{
	if (target->is_renewing) {
		target->is_renewing = 0;
		recording__age(target->setting->recording, target->pid);
		return 0;
	}
	if (!recording__is_full(target->setting->recording, target->pid))
		return 0;
	target->is_renewing = 1;
	target->known.edition++;
	return sampler__set_target(target->setting->sampler, target->pid, &target->known);
}

static int settle(struct target_process *target)
{
	int error;

	if (target->is_refused)
		return 0;
	if ((!target->setting->is_system_wide || target->has_mapped) &&
	    identification__notice(target->identification, verdicts_of(target), target->title))
		target->has_mapped = 0;
	error = identification__settle(target->identification, verdicts_of(target), target->title);
	if (error == -ENOENT && target->setting->is_of_many) {
		target->is_refused = 1;
		error = 0;
	}
	if (!error && !target->is_filed && identification__found(target->identification))
		error = file_by_name(target);
	return error;
}

/*
 * First it gets what BPF has of its parent, which may be told otherwise any moment, for its own.
 * Most become another program soon; else its files are looked at then.
 */
static int follow_fork(struct target_process *target)
{
	char name[16];

	if (target->is_forked++ == 1)
		return sampler__set_target(target->setting->sampler, target->pid, &target->known);
	target->is_forked = 0;
	if (!process__name(target->pid, name))
		set_name(target, name);
	return target_process__look(target);
}

/* Only system-wide it is told when it maps something: else that has to be looked for. */
int target_process__has_news(const struct target_process *target)
{
	return !target->setting->is_system_wide || target->has_news || target->has_mapped ||
	       target->has_executed || target->is_forked || target->is_renewing;
}

/* It may take another name, user or cgroup any moment, as servers do when they have begun. */
static int follow_group(struct target_process *target)
{
	char name[16];
	int error;

	if (!target->setting->grouping ||
	    clock_ns(CLOCK_MONOTONIC) - target->grouped_ns < GROUPED_NS)
		return 0;
	if (!process__name(target->pid, name))
		set_name(target, name);
	error = set_group(target);
	return error ? error : file(target);
}

int target_process__follow(struct target_process *target)
{
	int error;

	target->has_news = 0;
	if (target->has_executed) {
		error = follow_exec(target);
		if (error || target->is_given_up)
			return error;
	}
	if (target->is_forked) {
		error = follow_fork(target);
		if (error || target->is_forked)
			return error;
	}
	error = renew(target);
	if (!error)
		error = follow_group(target);
	if (!error)
		error = settle(target);
	return error ? error : tell(target);
}

int target_process__is_without_lua(const struct target_process *target)
{
	return !target->has_executed && !target->is_forked && !target->has_mapped &&
	       !identification__found(target->identification);
}

int target_process__is_settling(const struct target_process *target, uint64_t start_ns,
				uint64_t now_ns)
{
	uint64_t since = target->executed_ns ? target->executed_ns : start_ns;

	if (target->has_ended || now_ns - since >= SETTLING_NS)
		return 0;
	return target->known.layouts != target->known.decided ||
	       (target->executed_ns && !identification__found(target->identification));
}
