/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "recording/recording_internal.h"

struct recorded_process *recorded_process__find(const struct recording *recording, pid_t pid)
{
	struct recorded_process *process;

	HASH_FIND(hh, recording->processes, &pid, sizeof(pid), process);
	return process;
}

void recorded_process__charge(void *context, uint32_t node, uint64_t ns)
{
	struct recorded_process *process = context;

	call_tree__charge(process->recording->tree, node, ns);
}

/* The node of the category `name` in the process's subprofile. 0 when out of memory. */
uint32_t recorded_process__category(struct recorded_process *process, const char *name)
{
	return call_tree__category_of(process->recording->tree,
				      process->subprofile ? process->subprofile->id : 0, name);
}

void recorded_process__charge_unsampled(void *context, const char *comm, uint64_t ns)
{
	struct recorded_process *process = context;
	struct recording *recording = process->recording;
	const char *name = categories__of_thread(process->categories, comm);
	uint32_t category = recorded_process__category(process, name);
	uint32_t node = call_tree__child(recording->tree, category, recording->unsampled);

	recording->unsampled_ns += ns;
	if (process->subprofile)
		process->subprofile->counts.unsampled_ns += ns;
	if (node)
		call_tree__charge(recording->tree, node, ns);
	else
		recording->error = -ENOMEM;
}

void recorded_process__free(struct recorded_process *process)
{
	if (!process)
		return;
	symbolizer__free(process->symbolizer);
	cpu_time__free(process->time);
	categories__free(process->categories);
	free(process);
}
