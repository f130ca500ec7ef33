/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Containers: luaspy and its target in the same or in different PID, mount and user namespaces. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 30

/* %s: a file that the script makes when it runs. */
static const char busy_script[] = "function work() local x = 0 for i = 1, 1e5 do x = x + i end "
				  "return x end\n"
				  "io.open('%s', 'w'):close()\n"
				  "while true do work() end\n";

/* For a shell: starts the script and waits until it runs. */
#define START_BUSY "lua5.4 busy.lua & until [ -e up ]; do sleep 0.01; done\n"

#define need_namespaces()                                                                          \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("lua5.4", "lua5.4");                                                  \
		need_program("unshare", "util-linux");                                             \
		need_program("pgrep", "procps");                                                   \
	} while (0)

/* The script of a shell in its own namespaces; $luaspy is the program. */
static struct child *start_shell(struct stage *stage, const char *const *options,
				 const char *script)
{
	const char *words[16] = {"unshare", "--fork", "--kill-child"};
	char *text, *busy;
	int count = 3;

	assert_true(asprintf(&busy, busy_script, in_folder(stage, "up")) > 0);
	stage__own(stage, busy, free);
	write_file(in_folder(stage, "busy.lua"), busy, strlen(busy));
	while (*options && count < 12)
		words[count++] = *options++;
	assert_true(asprintf(&text, "luaspy='%s'\n%s", luaspy_program(), script) > 0);
	stage__own(stage, text, free);
	words[count++] = "sh";
	words[count++] = "-c";
	words[count] = text;
	return stage__start(stage, words);
}

static void finish(struct stage *stage, struct child *shell)
{
	if (child__wait(shell, PATIENCE) != 0)
		fail_msg("exit status %d: %s", shell->status, child__errors(stage, shell));
}

static const char *const pid_and_mount[] = {"--pid", "--mount-proc", NULL};
static const char *const pid_alone[] = {"--pid", NULL};
static const char *const user_too[] = {"--pid", "--mount-proc", "--map-root-user", NULL};

static struct scriptprofile *check_profile(struct stage *stage, const char *name,
					   const char *target)
{
	struct scriptprofile *profile = spying__read(stage, in_folder(stage, name));
	const json_t *recorder = json_object_get(profile->document, "Recorder");

	assert_string_equal(json_string_value(json_object_get(recorder, "Target")), target);
	assert_true(scriptprofile__samples(profile, "complete") > 100);
	assert_true((double)scriptprofile__self_us(profile, "busy.lua", "work", 1) >=
		    0.95 * (double)profile->all_us);
	return profile;
}

/* The file whose name luaspy chose itself. */
static int count_of_files(const struct stage *stage, const char *start)
{
	DIR *folder = opendir(stage->folder);
	int found = 0;

	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		found += !strncmp(entry->d_name, start, strlen(start));
	closedir(folder);
	return found;
}

static void profiles_where_it_is_itself_in_a_namespace(void **state)
{
	struct child *shell;
	const char *said;

	need_namespaces();
	shell = start_shell(*state, pid_and_mount,
			    START_BUSY "$luaspy record -p $! -d 700ms -F 10khz -o inside.json &&\n"
				       "$luaspy record -p $! -d 300ms && $luaspy check -p $!");
	finish(*state, shell);
	check_profile(*state, "inside.json", "lua5.4 busy.lua (pid 2)");
	assert_int_equal(count_of_files(*state, "lua5.4-2-"), 1);
	said = child__output(*state, shell);
	assert_null(strstr(said, "FAIL"));
	assert_non_null(strstr(said, "lua5.4 busy.lua (pid 2)"));
	assert_non_null(strstr(said, "agreed on by 8 of"));
}

static void profiles_a_command_inside_a_namespace(void **state)
{
	struct child *shell;

	need_namespaces();
	shell = start_shell(
		*state, pid_and_mount,
		"$luaspy record -o own.json -- sh -c 'exec lua5.4 busy.lua' &\n"
		"until [ -e up ]; do sleep 0.01; done; pid=$(pgrep -x lua5.4)\n"
		"until [ $(cut -d ' ' -f 14 /proc/$pid/stat) -gt 50 ]; do sleep 0.1; done\n"
		"kill $pid; wait $!; test $? = 143");
	finish(*state, shell);
	assert_true(scriptprofile__samples(spying__read(*state, in_folder(*state, "own.json")),
					   "complete") > 100);
}

/* The only child of `parent` named "private", by its pid in our namespace. */
static pid_t child_of(struct stage *stage, const struct child *parent)
{
	struct child *pgrep;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", parent->pid);
	pgrep = start(stage, "pgrep", "-P", pid, "-x", "private");
	assert_int_equal(child__wait(pgrep, PATIENCE), 0);
	return (pid_t)atoi(child__output(stage, pgrep));
}

/* The interpreter exists only in the target's mounts; at its path we have another or none. */
static void profiles_from_outside(struct stage *stage, const char *const *options)
{
	struct child *shell, *spy;
	char target[64], number[16];
	pid_t pid;

	shell = start_shell(stage, options,
			    "lua=$(readlink -f \"$(command -v lua5.4)\"); folder=$PWD\n"
			    "mount -t tmpfs none /mnt && mkdir /mnt/bin && cp \"$lua\" "
			    "/mnt/bin/private &&\n"
			    "cp \"$folder/busy.lua\" /mnt && cd /mnt && exec bin/private busy.lua");
	stage__await_file(stage, shell, "up");
	pid = child_of(stage, shell);
	assert_int_not_equal(access("/mnt/bin/private", F_OK), 0);
	snprintf(target, sizeof(target), "private busy.lua (pid %d, 1 inside)", pid);
	record(stage, pid, "-d", "700ms", "-F", "10khz");
	check_profile(stage, "profile.json", target);
	snprintf(number, sizeof(number), "%d", pid);
	spy = start(stage, luaspy_program(), "check", "-p", number);
	finish(stage, spy);
	assert_non_null(strstr(child__output(stage, spy), "in /mnt/bin/private"));
	assert_null(strstr(child__output(stage, spy), "FAIL"));
}

static void profiles_a_process_of_another_namespace(void **state)
{
	need_namespaces();
	profiles_from_outside(*state, pid_and_mount);
}

static void profiles_a_process_of_another_user_namespace(void **state)
{
	need_namespaces();
	profiles_from_outside(*state, user_too);
}

/* Three levels: the host, luaspy's, its target's. */
static void profiles_from_one_namespace_into_another(void **state)
{
	struct child *shell;
	char target[64];
	const char *told;

	need_namespaces();
	shell = start_shell(
		*state, pid_and_mount,
		"true; true\n"
		"unshare --fork --kill-child --pid --mount-proc lua5.4 busy.lua &\n"
		"until [ -e up ]; do sleep 0.01; done; pid=$(pgrep -x lua5.4)\n"
		"$luaspy record -p $pid -d 700ms -F 10khz -o nested.json && echo \"pid $pid\"");
	finish(*state, shell);
	told = strstr(child__output(*state, shell), "pid ");
	assert_non_null(told);
	snprintf(target, sizeof(target), "lua5.4 busy.lua (pid %ld, 1 inside)",
		 strtol(told + 4, NULL, 10));
	check_profile(*state, "nested.json", target);
}

/*
 * Namespaces next to luaspy's, at the same level, come and go; in them, processes with the target's
 * pid are born, execute and exit.
 */
static void is_not_misled_by_the_same_pids_elsewhere(void **state)
{
	struct child *shell, *beside;
	const char *said;

	need_namespaces();
	beside = start(*state, "sh", "-c",
		       "while :; do unshare --fork --pid sh -c 'sleep 0.01; sleep 0.01; :'; done");
	shell = start_shell(*state, pid_and_mount,
			    START_BUSY "$luaspy record -p $! -d 1500ms -F 10khz -o inside.json");
	finish(*state, shell);
	child__kill(beside);
	check_profile(*state, "inside.json", "lua5.4 busy.lua (pid 2)");
	said = child__errors(*state, shell);
	assert_null(strstr(said, "runs another program"));
}

static void refuses_the_processes_of_another_namespace(void **state)
{
	struct child *shell;
	const char *said;

	need_namespaces();
	shell = start_shell(*state, pid_alone,
			    START_BUSY
			    "$luaspy record -p $! -d 300ms; test $? = 1 && \n"
			    "$luaspy record -- lua5.4 -e ''; test $? = 1 && ! $luaspy check");
	finish(*state, shell);
	said = child__errors(*state, shell);
	assert_non_null(strstr(said, "which process 2 is: '/proc' shows another PID namespace"));
	assert_non_null(strstr(child__output(*state, shell), "FAIL  /proc"));
	assert_int_equal(count_of_files(*state, "lua5.4-"), 0);
}

static void reports_that_it_is_in_a_user_namespace(void **state)
{
	struct child *shell;

	need_namespaces();
	shell = start_shell(*state, user_too,
			    START_BUSY
			    "$luaspy record -p $! -d 300ms; test $? = 1 && ! $luaspy check");
	finish(*state, shell);
	assert_non_null(
		strstr(child__errors(*state, shell),
		       "permission denied (in a user namespace: run luaspy outside of it)"));
	assert_non_null(strstr(child__output(*state, shell), "note  user namespace"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(profiles_where_it_is_itself_in_a_namespace),
		staged(profiles_a_command_inside_a_namespace),
		staged(profiles_a_process_of_another_namespace),
		staged(profiles_a_process_of_another_user_namespace),
		staged(profiles_from_one_namespace_into_another),
		staged(is_not_misled_by_the_same_pids_elsewhere),
		staged(refuses_the_processes_of_another_namespace),
		staged(reports_that_it_is_in_a_user_namespace),
	};

	return cmocka_run_group_tests_name("namespaces", tests, NULL, NULL);
}
