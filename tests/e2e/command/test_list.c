/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The choice of processes: luaspy list, --name, and interpreters that are not supported. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30
#define BUSY     "local function work() for i = 1, 1e5 do end end while true do work() end\n"

/* Returns luaspy's output and checks its exit status. */
static const char *list(struct stage *stage, int status)
{
	struct child *spy = start(stage, luaspy_program(), "list");

	if (child__wait(spy, PATIENCE) != status)
		fail_msg("status %d:\n%s%s", spy->status, child__output(stage, spy),
			 child__errors(stage, spy));
	return child__output(stage, spy);
}

/* The line of this process; NULL if there is none. */
static const char *row_of(struct stage *stage, const char *output, pid_t pid)
{
	const char *line = output;
	int number;

	for (; *line; line += *line == '\n') {
		if (sscanf(line, "%d", &number) == 1 && number == pid)
			return stage__own(stage, strndup(line, strcspn(line, "\n")), free);
		line += strcspn(line, "\n");
	}
	return NULL;
}

static void shows_a_process_with_its_interpreter_and_its_script(void **state)
{
	struct stage *stage = *state;
	char user[16], interpreter[32], script[32];
	const char *output, *row;
	struct child *target;
	double percent;

	need_lua();
	write_text(stage, "busy app.lua", BUSY);
	target = start(stage, "lua5.4", "-W", "busy app.lua", "argument");
	child__let_work(target, 0.3);
	output = list(stage, 0);
	row = row_of(stage, output, target->pid);
	assert_non_null(row);
	assert_int_equal(
		sscanf(row, "%*d %15s %lf Lua %31s %31[^\n]", user, &percent, interpreter, script),
		4);
	assert_string_equal(user, "root");
	assert_true(percent > 10);
	assert_memory_equal(interpreter, "5.4", 3);
	assert_string_equal(script, "busy app.lua");
	assert_null(row_of(stage, output, start_other(stage)->pid));
}

static void shows_a_command_line_where_there_is_no_script(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const char *row;

	need_lua();
	target = start(stage, "lua5.4", "-e", "while true do end --\033[2J");
	child__let_work(target, 0.05);
	row = row_of(stage, list(stage, 0), target->pid);
	assert_non_null(row);
	assert_non_null(strstr(row, "  lua5.4 -e while true do end --\\x1b[2J"));
	assert_null(strchr(row, '\033'));
}

static void shows_what_is_not_supported(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const char *row;

	need_lua();
	/* The second process runs a supported interpreter. */
	start_busy(stage);
	target = start(stage, "oldjit");
	child__let_work(target, 0.05);
	row = row_of(stage, list(stage, 0), target->pid);
	assert_non_null(row);
	assert_non_null(strstr(row, "LuaJIT (not supported)  oldjit"));
}

/* The object of this process in the JSON; NULL if it is not there. */
static json_t *find(json_t *document, pid_t pid)
{
	json_t *processes = json_object_get(document, "Processes"), *process;
	size_t i;

	json_array_foreach(processes, i, process)
	{
		if (json_integer_value(json_object_get(process, "Pid")) == pid)
			return process;
	}
	return NULL;
}

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void prints_json_for_programs(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	json_t *document, *process, *interpreter;

	need_lua();
	write_text(stage, "app.lua", BUSY);
	target = start(stage, "lua5.4", "app.lua");
	child__let_work(target, 0.1);
	spy = start(stage, luaspy_program(), "list", "--json");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	document = json_loads(child__output(stage, spy), 0, NULL);
	assert_non_null(document);
	process = find(document, target->pid);
	interpreter = json_array_get(json_object_get(process, "Interpreters"), 0);
	assert_string_equal(text_of(process, "Name"), "lua5.4");
	assert_string_equal(text_of(process, "User"), "root");
	assert_string_equal(text_of(process, "Script"), "app.lua");
	assert_string_equal(text_of(process, "CommandLine"), "lua5.4 app.lua");
	assert_string_equal(text_of(interpreter, "Name"), "Lua");
	assert_memory_equal(text_of(interpreter, "Release"), "5.4", 3);
	assert_int_equal(json_integer_value(json_object_get(interpreter, "IsSupported")), 1);
	assert_true(json_integer_value(json_object_get(process, "CpuTimeUs")) >= 100000);
	json_decref(document);
}

/*
 * Runs `script` in a shell in a PID namespace of its own, in which there are no other processes.
 * Luaspy is "$0". Returns the shell.
 */
static struct child *run_alone(struct stage *stage, const char *script)
{
	struct child *shell = start(stage, "unshare", "--pid", "--fork", "--kill-child",
				    "--mount-proc", "sh", "-c", script, luaspy_program());

	child__wait(shell, PATIENCE);
	return shell;
}

static void assert_said(struct stage *stage, const struct child *shell, int status,
			const char *text)
{
	if (shell->status != status || !strstr(child__errors(stage, shell), text))
		fail_msg("status %d, no '%s' in:\n%s%s", shell->status, text,
			 child__output(stage, shell), child__errors(stage, shell));
}

/* luaspy contains the strings that it looks for in others. */
static void does_not_take_luaspy_for_lua(void **state)
{
	struct stage *stage = *state;
	struct child *shell;

	need_to_record();
	need_program("unshare", "util-linux");
	shell = run_alone(stage, "sleep 9 & exec \"$0\" list");
	assert_int_equal(shell->status, 3);
	assert_string_equal(child__output(stage, shell), "");
	assert_non_null(strstr(child__errors(stage, shell), " processes runs an interpreter\n"));
}

static void finds_nothing_where_nothing_is_supported(void **state)
{
	struct stage *stage = *state;
	struct child *shell;

	need_lua();
	need_program("unshare", "util-linux");
	shell = run_alone(stage, "oldjit & sleep 0.3; \"$0\" list");
	assert_said(stage, shell, 3, "1 runs another\n");
	assert_non_null(strstr(child__output(stage, shell), "LuaJIT (not supported)"));
}

static void counts_processes_it_cannot_inspect(void **state)
{
	struct stage *stage = *state;
	struct child *shell;

	need_lua();
	need_program("unshare", "util-linux");
	need_program("setpriv", "util-linux");
	shell = run_alone(stage, "lua5.4 -e 'while true do end' & sleep 0.3\n"
				 "setpriv --reuid=65534 --regid=65534 --clear-groups "
				 "--inh-caps=-all --bounding-set=-all \"$0\" list");
	assert_said(stage, shell, 3, " processes, such as pid ");
	assert_non_null(strstr(child__errors(stage, shell), "missing: CAP_"));
}

#define LUA      "lua5.4 -e '" LUA_WORK "' & sleep 0.3; "
#define LUA_WORK "local function work() for i = 1, 1e5 do end end while true do work() end"

/* All commands that inspect processes accept --name. */
static void a_name_finds_the_only_process_that_has_it(void **state)
{
	static const char *const commands[] = {
		LUA "\"$0\" record --name '^lua5' -d 300ms -o profile.json",
		LUA "\"$0\" dump --name '^lua5'",
		LUA "\"$0\" check --name '^lua5'",
		/* The name also fits the shell, which has no Lua. */
		LUA "\"$0\" dump --name '.' --layout=5.4.6",
		"echo 'while true do end' > job.lua; lua5.4 ./job.lua & sleep 0.3; "
		"\"$0\" dump --name '^lua5.4 job.lua$'",
		LUA "\"$0\" record --name '^lua' --user root -d 300ms -o profile.json",
	};
	struct stage *stage = *state;
	struct scriptprofile *profile;

	need_lua();
	need_program("unshare", "util-linux");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		assert_said(stage, run_alone(stage, commands[i]), 0, "");
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_true((double)scriptprofile__self_us(profile, NULL, "work", -1) >
		    0.9 * (double)profile->all_us);
}

static void lists_the_processes_that_have_the_name(void **state)
{
	struct stage *stage = *state;
	struct child *shell;
	const char *errors;

	need_lua();
	need_program("unshare", "util-linux");
	shell = run_alone(stage, LUA LUA "\"$0\" record --name lua -o profile.json");
	assert_said(stage, shell, 2,
		    "2 processes with an interpreter fit '--name lua' (choose one by");
	errors = strstr(child__errors(stage, shell), "  -p ");
	assert_non_null(errors);
	assert_non_null(strstr(errors, "lua5.4"));
	assert_non_null(strstr(errors, "Lua 5.4."));
	assert_non_null(strstr(errors, "of user root"));
	assert_non_null(strstr(errors + 1, "  -p "));
	assert_int_not_equal(access(in_folder(stage, "profile.json"), F_OK), 0);
}

static void lists_candidates_where_no_name_fits(void **state)
{
	struct stage *stage = *state;

	need_lua();
	need_program("unshare", "util-linux");
	assert_said(stage, run_alone(stage, LUA "\"$0\" record --name nosuch"), 3,
		    "no process fits '--name nosuch'");
	assert_said(stage, run_alone(stage, LUA "\"$0\" record --name nosuch"), 3,
		    "with an interpreter there is: lua5.4 (pid ");
	assert_said(
		stage, run_alone(stage, LUA "sleep 9 & \"$0\" dump --name '^sleep$'"), 3,
		"no process with an interpreter fits '--name ^sleep$': 1 without does, such as sleep");
	assert_said(
		stage, run_alone(stage, LUA "\"$0\" record --system --name nosuch -d 300ms"), 3,
		"none of the processes that run an interpreter fits '--name nosuch': lua5.4 (pid ");
	assert_said(stage, run_alone(stage, LUA "\"$0\" record --system --name nosuch -d 300ms"), 3,
		    "no process that was asked for ran an interpreter; these did: lua5.4 (pid ");
	assert_said(stage,
		    run_alone(stage, "oldjit & sleep 0.3; "
				     "\"$0\" check --name oldjit"),
		    3, "1 with another does, such as oldjit (pid ");
}

#define OLDJIT  "oldjit & pid=$!; sleep 0.3; "
#define ENDING  "oldjit 1"
#define TO_FILE " -o profile.json "

/* All commands report the same: the interpreter's name and that it is not supported; no file. */
static void all_commands_report_an_unsupported_interpreter_alike(void **state)
{
	static const char *const commands[] = {
		OLDJIT "\"$0\" record -d 300ms" TO_FILE "$pid",
		OLDJIT "\"$0\" record --wait -d 300ms" TO_FILE "$pid",
		OLDJIT "\"$0\" record --children -d 300ms" TO_FILE "$pid",
		OLDJIT "\"$0\" record --system -d 300ms" TO_FILE,
		OLDJIT "\"$0\" record --system -d 300ms --output-dir profile.json",
		"(sleep 1; " ENDING ") & \"$0\" record --system -d 2" TO_FILE,
		"\"$0\" record" TO_FILE "-- " ENDING,
		"\"$0\" record --children" TO_FILE "-- sh -c \"" ENDING "; true\"",
		OLDJIT "\"$0\" dump $pid",
		OLDJIT "\"$0\" check $pid",
	};
	struct stage *stage = *state;

	need_lua();
	need_program("unshare", "util-linux");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct child *shell = run_alone(stage, commands[i]);

		print_message("%s\n", commands[i]);
		assert_said(stage, shell, 3, " LuaJIT, which is not supported");
		assert_int_not_equal(access(in_folder(stage, "profile.json"), F_OK), 0);
	}
}

static void counts_unsupported_interpreters_beside_lua(void **state)
{
	struct stage *stage = *state;
	struct child *shell;

	need_lua();
	need_program("unshare", "util-linux");
	shell = run_alone(stage, LUA OLDJIT OLDJIT "\"$0\" record --system -d 3" TO_FILE);
	assert_said(stage, shell, 0,
		    "2 processes ran LuaJIT, which is not supported, such as oldjit (pid ");
	assert_int_equal(access(in_folder(stage, "profile.json"), F_OK), 0);
	remove(in_folder(stage, "profile.json"));
}

static void lists_the_coroutines_there_were(void **state)
{
	static const char script[] =
		"local function work() for i = 1, 1e5 do end end\n"
		"local function worker() while true do work() coroutine.yield() end end\n"
		"local co = coroutine.create(worker) while true do coroutine.resume(co) end\n";
	struct stage *stage = *state;
	struct child *target, *spy;

	need_lua();
	write_text(stage, "app.lua", script);
	target = start(stage, "lua5.4", "app.lua");
	child__let_work(target, 0.1);
	spy = start_record(stage, target->pid, "-d", "700ms", "--coroutine", "nosuch", "-o", "a");
	child__wait(spy, PATIENCE);
	assert_non_null(
		strstr(child__errors(stage, spy), "no coroutine fits '--coroutine nosuch'"));
	assert_non_null(strstr(child__errors(stage, spy), "worker"));
	spy = start_record(stage, target->pid, "-d", "700ms", "--coroutine", "app.lua:2", "-o",
			   "b");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_null(strstr(child__errors(stage, spy), "no coroutine fits"));
}

int main(void)
{
	char path[4096];
	const struct CMUnitTest tests[] = {
		staged(shows_a_process_with_its_interpreter_and_its_script),
		staged(shows_a_command_line_where_there_is_no_script),
		staged(shows_what_is_not_supported),
		staged(prints_json_for_programs),
		staged(does_not_take_luaspy_for_lua),
		staged(finds_nothing_where_nothing_is_supported),
		staged(counts_processes_it_cannot_inspect),
		staged(a_name_finds_the_only_process_that_has_it),
		staged(lists_the_processes_that_have_the_name),
		staged(lists_candidates_where_no_name_fits),
		staged(all_commands_report_an_unsupported_interpreter_alike),
		staged(counts_unsupported_interpreters_beside_lua),
		staged(lists_the_coroutines_there_were),
	};

	/* The program `oldjit` is installed. */
	snprintf(path, sizeof(path), "%s:%s", built_program(""), getenv("PATH"));
	setenv("PATH", path, 1);
	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
