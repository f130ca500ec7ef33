/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/named_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text_list.h"
#include "system/resource_limits.h"

#define LISTED_MOST 20 /* of the processes among which the user has to choose */

int named_process__find_all(const struct process_criteria *criteria, bool leaves_command_lines,
			    struct lua_processes *processes)
{
	struct process_filter *filter = NULL;
	struct inspector *inspector = NULL;
	int error = inspector__start(&inspection_job, &inspector);

	*processes = (struct lua_processes){};
	if (!error && leaves_command_lines)
		inspector__leave(inspector, INSPECTOR_COMMANDS);
	if (!error && criteria)
		error = process_filter__new(criteria, &filter);
	if (!error) {
		inspector__grant_more(inspector);
		error = lua_processes__find(inspector, filter, processes);
	}
	if (error)
		log_error("cannot inspect processes: %s", resource_limits__reason(error));
	process_filter__free(filter);
	inspector__free(inspector);
	return error;
}

static void list_fitting(const struct lua_processes *processes, const char *words, size_t fitting)
{
	char interpreters[LUA_PROCESS_INTERPRETERS_SIZE], label[COMMAND_LINE_LABEL_SIZE];
	size_t listed = 0;

	log_error(
		"%zu processes with an interpreter fit %s (choose one by '-p PID', or take all by "
		"'--system'):",
		fitting, words);
	for (size_t i = 0; i < processes->count && listed < LISTED_MOST; i++) {
		const struct lua_process *process = &processes->items[i];

		if (!process->fits || !lua_process__is_supported(process))
			continue;
		listed++;
		log_error("  -p %-8d %-15s  %s, of user %s", process->pid,
			  command_line__label(&process->command, process->name, label),
			  lua_process__interpreters(process, interpreters), process->user);
	}
	if (fitting > listed)
		log_error("  and %zu more ('luaspy list' shows all)", fitting - listed);
}

/* Whether one fits whose interpreter is not supported: that is then the reason. */
static bool tell_unsupported(const struct lua_processes *processes, const char *words)
{
	char interpreters[LUA_PROCESS_INTERPRETERS_SIZE];
	const struct lua_process *first = NULL;
	size_t count = 0;

	for (size_t i = 0; i < processes->count; i++)
		if (processes->items[i].fits && !count++)
			first = &processes->items[i];
	if (count)
		log_error("no process with a supported interpreter fits %s: %zu with another "
			  "do%s, such as %s (pid %d): %s",
			  words, count, count == 1 ? "es" : "", first->name, first->pid,
			  lua_process__interpreters(first, interpreters));
	return count != 0;
}

/* The processes with Lua, for a message. */
static void tell_others(const struct lua_processes *processes, struct text_list *others)
{
	char label[COMMAND_LINE_LABEL_SIZE], text[sizeof(label) + 32];

	for (size_t i = 0; i < processes->count; i++) {
		const struct lua_process *process = &processes->items[i];

		if (!lua_process__is_supported(process))
			continue;
		/* A command line without a script may be long. */
		if (*process->command.script)
			command_line__label(&process->command, process->name, label);
		else
			strcpy(label, process->name);
		snprintf(text, sizeof(text), "%s (pid %d)", label, process->pid);
		text_list__add(others, text);
	}
}

/* The filter has rejected all that hold Lua. */
static void tell_what_there_is(const struct lua_processes *processes, const char *words)
{
	struct text_list others = {};
	const char *there;

	tell_others(processes, &others);
	there = text_list__end(&others);
	if (processes->fitting)
		log_error(
			"no process with an interpreter fits %s: %zu without do%s, such as %s (pid %d); "
			"with an interpreter there %s: %s",
			words, processes->fitting, processes->fitting == 1 ? "es" : "",
			processes->fitting_name, processes->fitting_pid,
			processes->supported == 1 ? "is" : "are", there ? there : "none");
	else
		log_error("no process fits %s (REGEX is found anywhere in a name of up to "
			  "15 bytes, or in program and script); with an interpreter there %s: %s",
			  words, processes->supported == 1 ? "is" : "are", there ? there : "none");
	if (processes->unread)
		log_error("cannot inspect %zu of %zu processes, such as pid %d: %s",
			  processes->unread, processes->seen, processes->unread_pid,
			  resource_limits__reason(processes->unread_error));
}

enum exit_status named_process__find(const struct process_criteria *criteria,
				     bool leaves_command_lines, pid_t *pid)
{
	struct lua_processes processes;
	enum exit_status status = EXIT_FAILED;
	size_t fitting = 0;
	char text[256];

	if (named_process__find_all(criteria, leaves_command_lines, &processes))
		goto cleanup;
	for (size_t i = 0; i < processes.count; i++) {
		const struct lua_process *process = &processes.items[i];

		if (!process->fits || !lua_process__is_supported(process))
			continue;
		*pid = process->pid;
		fitting++;
	}
	status = fitting == 1 ? EXIT_OK : fitting ? EXIT_USAGE : EXIT_NOTHING;
	process_criteria__describe(criteria, text, sizeof(text));
	if (fitting > 1)
		list_fitting(&processes, text, fitting);
	else if (!fitting && !tell_unsupported(&processes, text))
		tell_what_there_is(&processes, text);
cleanup:
	lua_processes__free(&processes);
	return status;
}
