/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/target_category.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "process/process.h"

/* How old the known group may be. */
#define GROUPED_NS 500000000ULL

void target_category__set_title(struct target_process *target)
{
	container__title(&target->container, *target->label ? target->label : target->name,
			 target->pid, target->title);
}

void target_category__set_name(struct target_process *target, const char *name)
{
	snprintf(target->name, sizeof(target->name), "%.15s", name);
	target_category__set_title(target);
}

/*
 * Reads what the process is called, once for each program, so that its category stays the same. If
 * it cannot be read yet, the name serves until then.
 */
void target_category__read_label(struct target_process *target)
{
	if (target->is_labelled)
		return;
	target->is_labelled = inspector__label(target->setting->inspector, target->pid,
					       target->name, target->label) != -EAGAIN;
	/* Names are followed as they change. */
	if (!strcmp(target->label, target->name))
		target->label[0] = '\0';
	target_category__set_title(target);
}

/* If the process is gone, its known group stays. 0 or -ENOMEM. */
int target_category__read_group(struct target_process *target)
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

/* If groups have profiles of their own, their categories are processes. */
const char *target_category__name(const struct target_process *target)
{
	if (!target->is_filed)
		return PROFILE_WITHOUT_INTERPRETER;
	if (!target->setting->grouping || target->setting->subprofiles)
		return target->title;
	return group_name(target);
}

/* Moves it to the subprofile of its group. 0 or -ENOMEM; none if there are too many. */
static int join_group(struct target_process *target)
{
	struct subprofile *subprofile;
	int error;

	if (target->subprofile && !strcmp(target->subprofile->name, group_name(target)))
		return 0;
	error = subprofiles__of_group(target->setting->subprofiles, group_name(target),
				      &subprofile);
	if (error)
		return error;
	subprofiles__release(target->subprofile);
	target->subprofile = subprofile;
	return 0;
}

/* The same for a part of its own, whatever it runs. */
static int have_own_subprofile(struct target_process *target)
{
	int error = target->subprofile ? 0
				       : subprofiles__add_process(target->setting->subprofiles,
								  target->pid, &target->subprofile);

	return error || !target->subprofile
		       ? error
		       : subprofile__rename(target->subprofile, target->name, target->title);
}

/* Processes without Lua belong to the rest. */
static int file_apart(struct target_process *target)
{
	int error = 0;

	if (target->is_filed && target->setting->grouping)
		error = join_group(target);
	else if (target->is_filed)
		error = have_own_subprofile(target);
	recording__assign(target->setting->recording, target->pid,
			  target->is_filed ? target->subprofile : NULL);
	return error;
}

int target_category__file(struct target_process *target)
{
	int error = recording__rename_process(target->setting->recording, target->pid,
					      target_category__name(target));

	return error || !target->setting->subprofiles ? error : file_apart(target);
}

/* If there may be many processes, those without Lua share one category. */
int target_category__file_by_name(struct target_process *target)
{
	bool is_filed = !target->setting->is_of_many ||
			detection__found(target->detection) != NULL || target->setting->layout;

	target->is_filed = is_filed;
	return target_category__file(target);
}

/* 0 or -ENOMEM. */
static int follow_label(struct target_process *target)
{
	if (target->is_labelled)
		return 0;
	target_category__read_label(target);
	return target->is_labelled ? target_category__file(target) : 0;
}

/* A process may change its name, user or cgroup any moment, as servers do after their start. */
static int follow_group(struct target_process *target)
{
	char name[16];
	int error;

	if (!target->setting->grouping ||
	    clock_ns(CLOCK_MONOTONIC) - target->grouped_ns < GROUPED_NS)
		return 0;
	if (!process__name(target->pid, name))
		target_category__set_name(target, name);
	error = target_category__read_group(target);
	return error ? error : target_category__file(target);
}

int target_category__follow(struct target_process *target)
{
	int error = follow_label(target);

	return error ? error : follow_group(target);
}
