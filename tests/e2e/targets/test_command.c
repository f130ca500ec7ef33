/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command that luaspy starts: it runs as without luaspy but for the timer, and is profiled as a
 * whole.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 20
#define NOBODY   "65534"

/* Startup before a script's first function takes a few milliseconds on any machine. */
#define WORK                                                                                       \
	"local function hot() local x = 0 for i = 1, 1e5 do x = x + i % 7 end return x end\n"      \
	"while os.clock() < 0.6 do hot() end\n"

static const char brief_script[] = WORK "print('said', (...))\n"
					"os.exit(tonumber((...)))\n";

/* Runs "luaspy record -o profile.json -- " with these words. */
#define run(stage, ...)                                                                            \
	start(stage, luaspy_program(), "record", "-o", "profile.json", "--", __VA_ARGS__)

static void write_script(struct stage *stage, const char *text)
{
	write_file(in_folder(stage, "script.lua"), text, strlen(text));
}

/* The part of the CPU time that is below script. */
static double script_share(const struct scriptprofile *profile, const char *name)
{
	return (double)scriptprofile__self_us(profile, NULL, name, -1) / (double)profile->all_us;
}

static void has_its_output_and_its_status(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_lua();
	write_script(stage, brief_script);
	spy = run(stage, "lua5.4", "script.lua", "7");
	assert_int_equal(child__wait(spy, PATIENCE), 7);
	assert_string_equal(child__output(stage, spy), "said\t7\n");
}

/* Field 19 of /proc/PID/stat is the nice value, field 4 the parent. */
static void keeps_the_priority_that_luaspy_changes_for_itself(void **state)
{
	static const char script[] =
		"local function field(pid, n)\n"
		"    local text = io.open('/proc/' .. pid .. '/stat'):read('a')\n"
		"    local fields = {}\n"
		"    for word in text:match('%)(.*)'):gmatch('%S+') do\n"
		"        fields[#fields + 1] = word\n"
		"    end\n"
		"    return fields[n - 2]\n"
		"end\n"
		"print(field('self', 19), field(field('self', 4), 19))\n" WORK;
	int nice_before = getpriority(PRIO_PROCESS, 0);
	struct stage *stage = *state;
	struct child *spy;

	need_lua();
	write_script(stage, script);
	/* luaspy keeps its own priority if someone set it. */
	assert_int_equal(setpriority(PRIO_PROCESS, 0, 0), 0);
	spy = run(stage, "lua5.4", "script.lua");
	setpriority(PRIO_PROCESS, 0, nice_before);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_string_equal(child__output(stage, spy), "0\t-10\n");
	setpriority(PRIO_PROCESS, 0, 5);
	spy = run(stage, "lua5.4", "script.lua");
	setpriority(PRIO_PROCESS, 0, nice_before);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_string_equal(child__output(stage, spy), "5\t5\n");
}

/* The dynamic linker's work is not script; all other time is recorded. */
static void is_profiled_from_its_beginning(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	double share;

	need_lua();
	write_script(stage, brief_script);
	assert_int_equal(child__wait(run(stage, "lua5.4", "script.lua", "0"), PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	share = script_share(profile, "hot");
	print_message("%.1f%% of the CPU time is in the script's function\n", 100 * share);
	assert_true(share > 0.8);
}

static void is_profiled_with_its_lua_in_a_library(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	double share;

	need_to_record();
	write_script(stage, WORK);
	assert_int_equal(child__wait(run(stage, built_program("host-5.4"), "script.lua"), PATIENCE),
			 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	share = script_share(profile, "hot");
	print_message("%.1f%% of the CPU time is in the script's function, %.1f ms are not: "
		      "until the library was noticed\n",
		      100 * share, (1 - share) * profile->all_us / 1e3);
	assert_true(share > 0.8);
}

static void is_followed_through_a_shell(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;

	need_lua();
	write_script(stage, brief_script);
	assert_int_equal(child__wait(run(stage, "sh", "-c", "exec lua5.4 script.lua 3"), PATIENCE),
			 3);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_true(script_share(profile, "hot") > 0.7);
}

static void reports_that_there_is_no_such_command(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_to_record();
	spy = run(stage, "no-such-command");
	assert_int_equal(child__wait(spy, PATIENCE), 127);
	assert_string_equal(child__errors(stage, spy),
			    "luaspy: cannot run 'no-such-command': no such command\n");
	assert_int_not_equal(access(in_folder(stage, "profile.json"), F_OK), 0);
}

static void reports_that_it_ran_no_lua(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_to_record();
	spy = run(stage, "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(strstr(child__errors(stage, spy), "no script in the profile of"));
	assert_int_not_equal(access(in_folder(stage, "profile.json"), F_OK), 0);
}

/* Whatever it executes: there is nothing to show. */
static void says_in_a_line_that_nothing_held_an_interpreter(void **state)
{
	struct stage *stage = *state;
	struct child *spy;
	const char *errors, *so_far;

	need_to_record();
	spy = start(stage, luaspy_program(), "record", "-o", "profile.json", "--", "sh", "-c",
		    "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
		    "exec bash -c 'exec head -c 1000000000 /dev/zero >/dev/null'");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_string_equal(child__output(stage, spy), "");
	errors = child__errors(stage, spy);
	assert_null(strstr(errors, "wrote"));
	assert_null(strstr(errors, "CPU time"));
	assert_non_null(strstr(errors, "none of its files held an interpreter"));
	so_far = strstr(errors, "so far\n");
	assert_true(!so_far || !strstr(so_far + 1, "so far\n"));
	assert_int_not_equal(access(in_folder(stage, "profile.json"), F_OK), 0);
}

/* The interpreter is recognised but not supported: luaspy reports this and writes no file. */
static void reports_an_unsupported_interpreter(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_to_record();
	spy = run(stage, built_program("oldjit"), "1");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(strstr(child__errors(stage, spy), "ran LuaJIT, which is not supported"));
	assert_int_not_equal(access(in_folder(stage, "profile.json"), F_OK), 0);
	/* The command's own exit status takes precedence. */
	spy = run(stage, built_program("oldjit"), "0", "9");
	assert_int_equal(child__wait(spy, PATIENCE), 9);
}

static void gets_the_signals_that_luaspy_gets(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_lua();
	write_script(stage, "print 'ready' io.stdout:flush() while true do end\n");
	spy = run(stage, "lua5.4", "script.lua");
	child__await_output(stage, spy, "ready");
	sleep_seconds(0.3);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 128 + SIGTERM);
	assert_true(spying__read(stage, in_folder(stage, "profile.json"))->all_us > 10000);
}

static void reads_from_the_terminal(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_lua();
	write_script(stage, "print('read', io.read()) for i = 1, 1e7 do end\n");
	spy = run(stage, "lua5.4", "script.lua");
	child__tell(spy, "a line");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_string_equal(child__output(stage, spy), "read\ta line\n");
}

static void continues_when_the_recording_ends(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_lua();
	write_script(stage, "local t = os.clock() while os.clock() - t < 2 do end print 'end'\n");
	spy = start(stage, luaspy_program(), "record", "-d", "600ms", "-o", "profile.json", "--",
		    "lua5.4", "script.lua");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	assert_string_equal(child__output(stage, spy), "end\n");
	assert_true(spying__read(stage, in_folder(stage, "profile.json"))->all_us < 1200000);
}

/*
 * As under sudo: a user's shell started a process of root's with the user's environment, which
 * started luaspy with little of it. The first shell becomes the user's once the second runs.
 */
static void runs_as_the_user_who_called_sudo(void **state)
{
	struct stage *stage = *state;
	struct child *spy;
	char line[1024];
	const char *output;

	need_lua();
	need_program("setpriv", "util-linux");
	assert_int_equal(chmod(stage->folder, 0777), 0);
	write_script(stage, "for i = 1, 1e7 do end print(os.getenv('MARK'), os.getenv('SUDO_UID')) "
			    "os.execute('id -u; id -g; id -G')\n");
	snprintf(line, sizeof(line),
		 "MARK=theirs sh -c 'sleep 0.3; unset MARK; SUDO_UID=" NOBODY " SUDO_GID=" NOBODY
		 " %s record -q -o profile.json -- lua5.4 script.lua; true' &"
		 "exec setpriv --reuid=" NOBODY " --clear-groups sleep 60",
		 luaspy_program());
	spy = start(stage, "sh", "-c", line);
	child__await_output(stage, spy, NOBODY "\n" NOBODY "\n" NOBODY "\n");
	output = child__output(stage, spy);
	assert_string_equal(output, "theirs\tnil\n" NOBODY "\n" NOBODY "\n" NOBODY "\n");
	child__kill(spy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(has_its_output_and_its_status),
		staged(is_profiled_from_its_beginning),
		staged(is_profiled_with_its_lua_in_a_library),
		staged(is_followed_through_a_shell),
		staged(reports_that_there_is_no_such_command),
		staged(reports_that_it_ran_no_lua),
		staged(says_in_a_line_that_nothing_held_an_interpreter),
		staged(reports_an_unsupported_interpreter),
		staged(keeps_the_priority_that_luaspy_changes_for_itself),
		staged(gets_the_signals_that_luaspy_gets),
		staged(reads_from_the_terminal),
		staged(continues_when_the_recording_ends),
		staged(runs_as_the_user_who_called_sudo),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
