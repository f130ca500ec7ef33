/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "command/command_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/terminal.h"
#include "command/exit_status.h"
#include "command/named_process.h"
#include "json/json_field.h"
#include "summary/printer.h"
#include "system/privileges.h"
#include "system/resource_limits.h"

#define USER_WIDTH_MOST 16
#define ROW_SIZE        2048

/* Widths of the columns that vary. */
struct columns {
	int user, interpreter;
};

static const char *script_of(const struct lua_process *process)
{
	if (*process->command.script)
		return process->command.script;
	return *process->command.text ? process->command.text : process->name;
}

static struct columns measure(const struct lua_processes *processes)
{
	struct columns columns = {.user = strlen("USER"), .interpreter = strlen("INTERPRETER")};
	char text[LUA_PROCESS_INTERPRETERS_SIZE];

	for (size_t i = 0; i < processes->count; i++) {
		int user = (int)terminal__width(processes->items[i].user);
		int interpreter =
			(int)terminal__width(lua_process__interpreters(&processes->items[i], text));

		if (user > columns.user)
			columns.user = user < USER_WIDTH_MOST ? user : USER_WIDTH_MOST;
		if (interpreter > columns.interpreter)
			columns.interpreter = interpreter;
	}
	return columns;
}

/* What does not fit on a terminal is cut off there, and nowhere else. */
static void print_line(const struct printer *printer, const char *line)
{
	if (isatty(fileno(printer->stream)))
		printer__line(printer, line);
	else
		fprintf(printer->stream, "%s\n", line);
}

static void print_row(const struct printer *printer, const struct columns *columns,
		      const struct lua_process *process)
{
	char interpreters[LUA_PROCESS_INTERPRETERS_SIZE], text[LUA_PROCESS_INTERPRETERS_SIZE];
	char script[4 * COMMAND_LINE_SIZE + 1], user[4 * LUA_PROCESS_USER_SIZE], cpu[24] = "-";
	char row[ROW_SIZE + sizeof(script)];

	lua_process__interpreters(process, interpreters);
	log__printable(interpreters, text, sizeof(text));
	log__printable(script_of(process), script, sizeof(script));
	log__printable(process->user, user, sizeof(user));
	if (process->age_ns)
		snprintf(cpu, sizeof(cpu), "%.1f",
			 100.0 * (double)process->cpu_ns / (double)process->age_ns);
	snprintf(row, sizeof(row), "%7d  %-*s  %5s  %-*s  %s", process->pid, columns->user, user,
		 cpu, columns->interpreter, text, script);
	print_line(printer, row);
}

static void print_table(const struct lua_processes *processes)
{
	struct printer printer = printer__on(stdout);
	struct columns columns = measure(processes);
	char row[ROW_SIZE];

	if (!processes->count)
		return;
	snprintf(row, sizeof(row), "%7s  %-*s  %5s  %-*s  %s", "PID", columns.user, "USER", "%CPU",
		 columns.interpreter, "INTERPRETER", "SCRIPT");
	print_line(&printer, row);
	for (size_t i = 0; i < processes->count; i++)
		print_row(&printer, &columns, &processes->items[i]);
}

static void put_text(struct json_writer *writer, const char *key, const char *text)
{
	if (!*text)
		return;
	json_field__text(writer, key, text);
}

static void put_interpreters(struct json_writer *writer, const struct interpreters *found)
{
	json_field__array(writer, "Interpreters");
	for (size_t i = 0; i < found->count; i++) {
		const struct interpreter *item = &found->items[i];

		json_writer__object(writer);
		put_text(writer, "Name", item->file.family->name);
		put_text(writer, "Release", item->file.release);
		put_text(writer, "File", item->path);
		json_field__uint(writer, "IsSupported", interpreter__is_profiled(item));
		json_writer__end_object(writer);
	}
	json_writer__end_array(writer);
}

static void put_process(struct json_writer *writer, const struct lua_process *process)
{
	json_writer__object(writer);
	json_field__uint(writer, "Pid", (uint64_t)process->pid);
	put_text(writer, "Name", process->name);
	put_text(writer, "User", process->user);
	json_field__uint(writer, "CpuTimeUs", process->cpu_ns / 1000);
	if (process->age_ns) {
		json_field__uint(writer, "AgeUs", process->age_ns / 1000);
		json_field__uint(
			writer, "CpuPercent",
			(uint64_t)(100.0 * (double)process->cpu_ns / (double)process->age_ns +
				   0.5));
	}
	put_interpreters(writer, &process->found);
	put_text(writer, "Script", process->command.script);
	put_text(writer, "CommandLine", process->command.text);
	json_writer__end_object(writer);
}

static int print_json(const struct lua_processes *processes)
{
	struct json_writer writer;

	json_writer__init(&writer, stdout);
	json_writer__object(&writer);
	json_field__array_lines(&writer, "Processes");
	for (size_t i = 0; i < processes->count; i++)
		put_process(&writer, &processes->items[i]);
	json_writer__end_array(&writer);
	json_field__uint(&writer, "Unread", processes->unread);
	json_writer__end_object(&writer);
	return json_writer__finish(&writer);
}

/* Processes that are missing for lack of privileges must not be taken for others. */
static void tell_unread(const struct lua_processes *processes)
{
	char missing[160];

	if (!processes->unread)
		return;
	privileges__missing(missing, sizeof(missing));
	log_warn("cannot inspect %zu of %zu processes, such as pid %d: %s%s%s%s", processes->unread,
		 processes->seen, processes->unread_pid,
		 resource_limits__reason(processes->unread_error), *missing ? " (missing: " : "",
		 missing, *missing ? "; try sudo)" : "");
}

static void tell_nothing(const struct lua_processes *processes)
{
	if (processes->supported)
		return;
	if (processes->count)
		log_error("none of %zu processes runs a supported interpreter; %zu run%s another",
			  processes->seen, processes->count, processes->count == 1 ? "s" : "");
	else
		log_error("none of %zu processes runs an interpreter", processes->seen);
}

int command_list__run(const struct list_options *options)
{
	struct lua_processes processes;
	int error = named_process__find_all(NULL, options->no_command_lines, &processes),
	    status = EXIT_FAILED;

	if (error)
		goto cleanup;
	if (options->json)
		error = print_json(&processes);
	else
		print_table(&processes);
	if (fflush(stdout) || ferror(stdout))
		error = -EIO;
	if (error) {
		log_error("cannot write to standard output: %s", resource_limits__reason(error));
		goto cleanup;
	}
	tell_unread(&processes);
	tell_nothing(&processes);
	status = processes.supported ? EXIT_OK : EXIT_NOTHING;
cleanup:
	lua_processes__free(&processes);
	return status;
}
