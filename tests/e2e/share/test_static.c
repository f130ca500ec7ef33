/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The static luaspy in a root that has none of its libraries and no locales, terminfo or users. */
#include <limits.h>
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

#include "pane.h"
#include "scratch.h"
#include "watching.h"

#define PATIENCE 60

/* Letters of two bytes, and a character of three bytes and two columns. */
#define SCRIPT_NAME "gr\303\274\303\237e\344\270\226.lua"

#define need_pane()                                                                                \
	do {                                                                                       \
		need_scratch();                                                                    \
		need_program("tmux", "tmux");                                                      \
	} while (0)

static void write_users(struct stage *stage)
{
	write_text(stage, "root/etc/passwd",
		   "root:x:0:0::/:/bin/sh\nkeeper:x:4242:4243::/home/keeper:/bin/sh\n");
	write_text(stage, "root/etc/group",
		   "keeper:x:4243:\nbees:x:77:other,keeper\nwasps:x:78:other\nhive:x:79:keeper\n");
}

static int run_check(struct stage *stage, const char *program, struct child **check)
{
	char sources[PATH_MAX + 32];

	assert_non_null(getcwd(sources, PATH_MAX));
	strcat(sources, "/user/static/check.sh");
	*check = start(stage, sources, program);
	return child__wait(*check, PATIENCE);
}

static void needs_no_shared_library(void **state)
{
	struct child *check;

	need_scratch();
	assert_int_equal(run_check(*state, SCRATCH_LUASPY, &check), 0);
	assert_int_equal(run_check(*state, luaspy_program(), &check), 1);
	assert_non_null(strstr(child__errors(*state, check), "(NEEDED)"));
}

static void check_finds_nothing_missing(void **state)
{
	need_scratch();
	scratch__make(*state);
	assert_non_null(strstr(scratch__told(*state, 0, "luaspy check"), "ok    CAP_BPF"));
}

static void records_a_process(void **state)
{
	struct child *target, *spy;
	char pid[16];

	need_scratch();
	scratch__make(*state);
	target = scratch__start_target(*state);
	snprintf(pid, sizeof(pid), "%d", target->pid);
	spy = start_in_scratch(*state, "/bin/luaspy", "record", "-p", pid, "--until-samples", "200",
			       "-o", "/tmp/p.json");
	spying__finish(*state, spy);
	assert_non_null(strstr(child__errors(*state, spy), "Lua 5.4.8 in /bin/lua"));
	scratch__assert_profile(*state, in_folder(*state, "root/tmp/p.json"));
}

static void records_a_command(void **state)
{
	need_scratch();
	scratch__make(*state);
	scratch__told(*state, 0, "luaspy record -o /tmp/p.json -- lua /work.lua 0.3");
	scratch__assert_profile(*state, in_folder(*state, "root/tmp/p.json"));
}

static void dumps_a_process(void **state)
{
	char script[32];

	need_scratch();
	scratch__make(*state);
	snprintf(script, sizeof(script), "luaspy dump -p %d", scratch__start_target(*state)->pid);
	assert_non_null(strstr(scratch__told(*state, 0, script), "/work.lua:1"));
}

/* "keeper" selects processes and is their name in the profile. */
static void knows_the_users_of_the_root(void **state)
{
	struct child *spy, *target;
	struct scriptprofile *profile;
	json_t *category;

	need_scratch();
	scratch__make(*state);
	write_users(*state);
	target =
		start_in_scratch(*state, "/bin/sh", "-c",
				 "SUDO_UID=4242 SUDO_GID=4243 exec luaspy record -q -o /tmp/q.json "
				 "-- lua /work.lua 5");
	spy = start_in_scratch(*state, "/bin/luaspy", "record", "--system", "--user", "keeper",
			       "--merge-by", "user", "--until-samples", "100", "-o", "/tmp/p.json");
	if (child__wait(spy, PATIENCE))
		fail_msg("%s%s", child__errors(*state, spy), child__errors(*state, target));
	profile = spying__read(*state, in_folder(*state, "root/tmp/p.json"));
	category = json_array_get(json_object_get(profile->document, "Categories"), 0);
	assert_string_equal(json_string_value(json_object_get(category, "Name")), "keeper");
	assert_int_equal(child__wait(target, PATIENCE), 0);
}

static void refuses_a_user_unknown_in_the_root(void **state)
{
	struct child *spy;

	need_scratch();
	scratch__make(*state);
	spy = start_in_scratch(*state, "/bin/luaspy", "record", "--system", "--user", "nobody");
	assert_int_equal(child__wait(spy, PATIENCE), 2);
	assert_non_null(strstr(child__errors(*state, spy), "'nobody'"));
}

/* The command runs as the user who called sudo, with the groups from /etc/group. */
static void a_command_has_the_groups_of_its_user(void **state)
{
	struct child *spy;

	need_scratch();
	scratch__make(*state);
	write_users(*state);
	spy = start_in_scratch(*state, "/bin/sh", "-c",
			       "export SUDO_UID=4242 SUDO_GID=4243\n"
			       "exec luaspy record -o /tmp/p.json -- id");
	child__wait(spy, PATIENCE);
	if (!strstr(child__output(*state, spy), "uid=4242(keeper) gid=4243(keeper) "
						"groups=77(bees),79(hive),4243(keeper)"))
		fail_msg("%s%s", child__output(*state, spy), child__errors(*state, spy));
}

/* Starts luaspy top in a pane, with `term` as TERM. */
static void start_top(struct stage *stage, const char *term, const char *locale)
{
	struct child *target;
	char command[512];

	write_text(stage, "root/" SCRIPT_NAME,
		   "local function turn() for i = 1, 1e4 do end end while true do turn() end");
	target = start_in_scratch(stage, "/bin/lua", "/" SCRIPT_NAME);
	snprintf(command, sizeof(command), "TERM=%s %s root /bin/luaspy top -p %d; echo status $?",
		 term, built_program("contain"), target->pid);
	pane__open(stage, locale, 100, 24);
	pane__type(stage, command);
	pane__press(stage, "Enter");
}

static void assert_shown(struct stage *stage, const char *term, const char *locale,
			 const char *name)
{
	start_top(stage, term, locale);
	watching__await_seconds(stage, 1, WATCHING_PATIENCE);
	pane__await(stage, name);
	/*
	 * The title is on the first line and the rows are below: built-in terminal control works.
	 */
	assert_ptr_equal(strstr(pane__line(stage, 0), "luaspy top:"), pane__line(stage, 0));
	pane__press(stage, "q");
	watching__await_end(stage, 0);
}

static void runs_top_without_terminfo(void **state)
{
	need_pane();
	scratch__make(*state);
	assert_shown(*state, "xterm-256color", "C.UTF-8", SCRIPT_NAME ":1");
}

static void runs_top_on_an_old_terminal_in_ascii(void **state)
{
	need_pane();
	scratch__make(*state);
	assert_shown(*state, "vt100", "C", "gr\\xc3\\xbc\\xc3\\x9fe\\xe4\\xb8\\x96.lua:1");
}

static void reports_an_unknown_terminal(void **state)
{
	need_pane();
	scratch__make(*state);
	start_top(*state, "teletype", "C");
	pane__await(*state, "cannot use this terminal: 'teletype' is not known (try TERM=xterm)");
	pane__await(*state, "status 1");
}

/* The static luaspy classifies each character as the C library does with a locale's files. */
static void classifies_characters_as_the_c_library_does(void **state)
{
	static const char *const cases[][2] = {
		{"C.UTF-8", "110000"}, {"en_US.utf8@x", "110000"}, {"C", "3000"}, {"", "3000"}};
	struct child *child;
	char script[1024];

	need_scratch();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* The C library needs a locale that is installed. */
		snprintf(script, sizeof(script),
			 "unset LANG LC_CTYPE; LC_ALL='%s' '%s' %s >glibc\n"
			 "LC_ALL='%s' '%s' %s | cmp - glibc",
			 strstr(cases[i][0], "utf8") ? "C.UTF-8" : cases[i][0],
			 built_program("characters"), cases[i][1], cases[i][0],
			 built_program("characters-static"), cases[i][1]);
		child = start(*state, "sh", "-c", script);
		if (child__wait(child, PATIENCE))
			fail_msg("LC_ALL='%s': %s", cases[i][0], child__output(*state, child));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(needs_no_shared_library),
		staged(check_finds_nothing_missing),
		staged(records_a_process),
		staged(records_a_command),
		staged(dumps_a_process),
		staged(knows_the_users_of_the_root),
		staged(refuses_a_user_unknown_in_the_root),
		staged(a_command_has_the_groups_of_its_user),
		staged(runs_top_without_terminfo),
		staged(runs_top_on_an_old_terminal_in_ascii),
		staged(reports_an_unknown_terminal),
		staged(classifies_characters_as_the_c_library_does),
	};

	return cmocka_run_group_tests_name("static", tests, NULL, NULL);
}
