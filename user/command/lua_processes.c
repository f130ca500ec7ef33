/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/lua_processes.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/process.h"

static void describe_user(pid_t pid, char to[LUA_PROCESS_USER_SIZE])
{
	const struct passwd *entry;
	uid_t user;

	to[0] = '\0';
	if (process__user(pid, &user))
		return;
	entry = getpwuid(user);
	if (entry)
		snprintf(to, LUA_PROCESS_USER_SIZE, "%s", entry->pw_name);
	else
		snprintf(to, LUA_PROCESS_USER_SIZE, "%u", user);
}

static void describe(struct inspector *inspector, struct lua_process *process)
{
	uint64_t birth_ns, now_ns = clock_ns(CLOCK_MONOTONIC);

	describe_user(process->pid, process->user);
	if (process__runtime_ns(process->pid, &process->cpu_ns))
		process->cpu_ns = 0;
	if (!process__birth_ns(process->pid, &birth_ns) && now_ns > birth_ns)
		process->age_ns = now_ns - birth_ns;
	inspector__command_line(inspector, process->pid, &process->command);
}

/* A process that has ended, or a kernel thread, is not one that could not be read. */
static void note_failure(struct lua_processes *processes, pid_t pid, int error)
{
	if (error == -ESRCH || error == -ENOENT || error == -ENOTSUP)
		return;
	if (!processes->unread++) {
		processes->unread_pid = pid;
		processes->unread_error = error;
	}
}

static void note_without(struct lua_processes *processes, pid_t pid, const char *name)
{
	if (processes->fitting++)
		return;
	processes->fitting_pid = pid;
	strcpy(processes->fitting_name, name);
}

/* 0 or -ENOMEM. Takes over what was found. */
static int add(struct lua_processes *processes, const struct lua_process *process)
{
	struct lua_process *items =
		reallocarray(processes->items, processes->count + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	processes->items = items;
	items[processes->count++] = *process;
	processes->supported += lua_process__is_supported(process);
	return 0;
}

/* Whether the filter accepts its name (comm) or its label, which has its program and script. */
static bool fits(const struct lua_process *process, const struct process_filter *filter)
{
	char label[COMMAND_LINE_LABEL_SIZE];

	return process->fits ||
	       process_filter__takes(filter, process->pid,
				     command_line__label(&process->command, process->name, label));
}

/* 0 or -ENOMEM. */
static int look_at(struct inspector *inspector, pid_t pid, const struct process_filter *filter,
		   struct lua_processes *processes)
{
	struct lua_process process = {.pid = pid};
	int error;

	if (process__name(pid, process.name))
		return 0;
	process.fits = !filter || process_filter__takes(filter, pid, process.name);
	error = inspector__interpreters(inspector, pid, &process.found);
	if (error) {
		note_failure(processes, pid, error);
		return error == -ENOMEM ? error : 0;
	}
	if (process.found.count) {
		describe(inspector, &process);
		process.fits = fits(&process, filter);
		error = add(processes, &process);
	} else if (process.fits) {
		note_without(processes, pid, process.name);
	}
	if (error || !process.found.count)
		interpreters__free(&process.found);
	return error;
}

static int compare_pids(const void *left, const void *right)
{
	const struct lua_process *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

int lua_processes__find(struct inspector *inspector, const struct process_filter *filter,
			struct lua_processes *processes)
{
	pid_t *pids;
	ssize_t count = process__all(&pids);
	int error = count < 0 ? (int)count : 0;

	*processes = (struct lua_processes){};
	for (ssize_t i = 0; i < count && !error; i++) {
		if (pids[i] == getpid())
			continue;
		processes->seen++;
		error = look_at(inspector, pids[i], filter, processes);
	}
	free(pids);
	if (processes->count)
		qsort(processes->items, processes->count, sizeof(*processes->items), compare_pids);
	return error;
}

void lua_processes__free(struct lua_processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		interpreters__free(&processes->items[i].found);
	free(processes->items);
	*processes = (struct lua_processes){};
}

bool lua_process__is_supported(const struct lua_process *process)
{
	return process->found.profiled != 0;
}

char *lua_process__interpreters(const struct lua_process *process,
				char to[LUA_PROCESS_INTERPRETERS_SIZE])
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < process->found.count && used < LUA_PROCESS_INTERPRETERS_SIZE; i++) {
		const struct interpreter *item = &process->found.items[i];
		bool is_supported = interpreter__is_profiled(item);
		int length = snprintf(to + used, LUA_PROCESS_INTERPRETERS_SIZE - used, "%s%s%s%s%s",
				      used ? ", " : "", item->file.family->name,
				      *item->file.release ? " " : "", item->file.release,
				      is_supported ? "" : " (not supported)");

		used += length > 0 ? (size_t)length : 0;
	}
	return to;
}
