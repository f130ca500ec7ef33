/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "targets/target_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <utlist.h>

#include "base/clock.h"

void targets__mark_dirty(struct targets *targets, struct target_process *target)
{
	if (target->is_dirty)
		return;
	target->is_dirty = true;
	DL_APPEND(targets->dirty, target);
}

void targets__mark_clean(struct targets *targets, struct target_process *target)
{
	if (!target->is_dirty)
		return;
	target->is_dirty = false;
	DL_DELETE(targets->dirty, target);
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
	targets__mark_dirty(targets, target);
	return 0;
}

int targets__start_timers(struct targets *targets, struct target_process *target)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), spent_ns;
	int error =
		threads__attach(&target->threads, target->title, begin_ns + targets->starting_ns);

	spent_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	targets->starting_ns -= spent_ns < targets->starting_ns ? spent_ns : targets->starting_ns;
	return error;
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

	if (target->subprofile) {
		findings__recall(target->subprofile->findings, &findings);
		targets__add_findings(targets, target, &findings);
		subprofile__keep_findings(target->subprofile, &findings);
	}
	recording__end_process(targets->setting.recording, target->pid);
	if (targets->setting.sampler)
		sampler__forget_target(targets->setting.sampler, target->pid);
	targets__mark_clean(targets, target);
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
