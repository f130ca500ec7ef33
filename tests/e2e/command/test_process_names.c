/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How processes are named: by their scripts, their command lines, or only their program names. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 60
#define BUSY     "local function work() for i = 1, 1e5 do end end while true do work() end\n"

/* All output of the commands about a process, with one more option. */
static const char *all_about(struct stage *stage, pid_t pid, const char *option)
{
	static const char script[] =
		"exec 2>&1; set -e; \"$0\" list $2; \"$0\" dump $2 -p $1; \"$0\" check $2 -p $1\n"
		"\"$0\" record $2 -p $1 -d 300ms --category process -o all.json; cat all.json\n"
		"\"$0\" record $2 --system --name '^lua5.4$' -d 300ms -o all.json; cat all.json\n"
		"! \"$0\" dump $2 --name '^lua5.4$'";
	struct child *shell;
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	shell = start(stage, "sh", "-c", script, luaspy_program(), number, option);
	if (child__wait(shell, PATIENCE))
		fail_msg("status %d:\n%s", shell->status, child__output(stage, shell));
	return child__output(stage, shell);
}

static unsigned count_of(const char *text, const char *part)
{
	unsigned count = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		count++;
	return count;
}

#define SECRET "token=\033[2J\u200fxyz"

static void command_lines_can_be_hidden(void **state)
{
	struct stage *stage = *state;
	struct child *target;
	const char *said;
	char called[64];

	need_to_record();
	need_lua();
	/* Two processes, so that the user has to choose one. */
	start_busy(stage);
	target = start(stage, "lua5.4", "-e", "while true do end", SECRET);
	child__let_work(target, 0.05);
	said = all_about(stage, target->pid, "");
	/*
	 * It is in the list's row, in each command's titles and messages, and in the list to choose
	 * from.
	 */
	assert_in_range(
		count_of(said, "lua5.4 -e while true do end token=\\x1b[2J\\xe2\\x80\\x8fx"), 6,
		12);
	assert_true(count_of(said, "lua5.4 -e while true do end token=\\u001b[2J") > 2);
	assert_null(strchr(said, '\033'));
	assert_null(strstr(said, "\u200f"));
	said = all_about(stage, target->pid, "--no-command-lines");
	assert_null(strstr(said, "token"));
	snprintf(called, sizeof(called), "lua5.4 (pid %d)", target->pid);
	assert_in_range(count_of(said, called), 6, 12);
}

/* The category's time in microseconds; 0 if it does not exist. */
static int64_t category_us(const struct scriptprofile *profile, const char *name)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	size_t i;

	json_array_foreach(categories, i, category)
	{
		if (!strcmp(json_string_value(json_object_get(category, "Name")), name))
			return profile->node_total_us[json_integer_value(
				json_object_get(category, "NodeId"))];
	}
	return 0;
}

static void an_executed_program_has_its_own_name(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy;
	char title[64];
	int pid;

	need_to_record();
	need_lua();
	write_text(
		stage, "one.lua",
		"local stop = cpu_us() + 4e5\n"
		"while cpu_us() < stop do for i = 1, 1000 do end end become('lua5.4', 'two.lua')\n");
	write_text(stage, "two.lua", LUA_SPIN "spin(0.7)\n");
	spy = start(stage, luaspy_program(), "record", "--category=process", "-o", "profile.json",
		    "--", built_program("host-5.4"), "one.lua");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_int_equal(sscanf(json_string_value(json_object_get(
					json_object_get(profile->document, "Recorder"), "Target")),
				"lua5.4 two.lua (pid %d)", &pid),
			 1);
	snprintf(title, sizeof(title), "host-5.4 one.lua (pid %d)", pid);
	assert_true(category_us(profile, title) > 350000);
	snprintf(title, sizeof(title), "lua5.4 two.lua (pid %d)", pid);
	assert_true(category_us(profile, title) > 250000);
}

/* A server may show its status there. */
static void a_command_line_may_be_rewritten(void **state)
{
	struct stage *stage = *state;
	struct child *server, *spy;
	char number[16];
	const char *said;

	need_to_record();
	need_program("redis-server", "redis-server");
	server =
		start(stage, "redis-server", "--port", "0", "--unixsocket", "socket", "--save", "");
	child__await_output(stage, server, "eady to accept");
	snprintf(number, sizeof(number), "%d", server->pid);
	spy = start(stage, luaspy_program(), "dump", "-p", number);
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	said = strstr(child__errors(stage, spy), "no script in the stacks of redis-server ");
	assert_non_null(said);
	assert_null(strstr(said, "redis-server (pid"));
	assert_null(strstr(said, "--port"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(command_lines_can_be_hidden),
		staged(an_executed_program_has_its_own_name),
		staged(a_command_line_may_be_rewritten),
	};

	return cmocka_run_group_tests_name("process names", tests, NULL, NULL);
}
