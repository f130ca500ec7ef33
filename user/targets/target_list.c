/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/target_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <utlist.h>

void targets__rouse(struct targets *targets, struct target_process *target)
{
	if (target->is_roused)
		return;
	target->is_roused = true;
	DL_APPEND(targets->roused, target);
}

void targets__lull(struct targets *targets, struct target_process *target)
{
	if (!target->is_roused)
		return;
	target->is_roused = false;
	DL_DELETE(targets->roused, target);
}

struct target_process *targets__find(const struct targets *targets, pid_t pid)
{
	struct target_process *target;

	HASH_FIND(hh, targets->items, &pid, sizeof(pid), target);
	return target;
}

int targets__add(struct targets *targets, struct target_process *target)
{
	target->threads.is_paused = targets->is_paused;
	HASH_ADD(hh, targets->items, pid, sizeof(target->pid), target);
	if (!HASH_HAS_ADDED(target)) {
		target_process__free(target);
		return -ENOMEM;
	}
	targets__rouse(targets, target);
	return 0;
}

void targets__add_findings(const struct targets *targets, const struct target_process *target,
			   struct findings *findings)
{
	findings__add(findings, target->detection,
		      recording__votes(targets->setting.recording, target->pid));
}

void targets__drop(struct targets *targets, struct target_process *target)
{
	struct findings findings;

	if (target->part) {
		findings__recall(target->part->findings, &findings);
		targets__add_findings(targets, target, &findings);
		part__keep_findings(target->part, &findings);
	}
	recording__end_process(targets->setting.recording, target->pid);
	if (targets->setting.sampler)
		sampler__forget_target(targets->setting.sampler, target->pid);
	targets__lull(targets, target);
	HASH_DEL(targets->items, target);
	target_process__free(target);
}

/* Targets are in the order in which they were asked for; children follow. */
void targets__set_title(struct targets *targets)
{
	const struct target_process *first = targets->items;

	if (targets->options.choice->system) {
		strcpy(targets->name, "system");
		strcpy(targets->title, "the system");
	}
	if (!first || first->is_child)
		return;
	targets->first = first->pid;
	memcpy(targets->name, first->name, sizeof(targets->name));
	if (targets->asked_for > 1)
		snprintf(targets->title, sizeof(targets->title), "%s and %zu more", first->title,
			 targets->asked_for - 1);
	else
		snprintf(targets->title, sizeof(targets->title), "%s%s", first->title,
			 targets->options.choice->children ? " and its children" : "");
}
