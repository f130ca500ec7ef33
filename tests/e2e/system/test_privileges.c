/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * luaspy with the privileges that the systemd unit grants: they suffice for processes of every user
 * and in every namespace; without any one of them something is missing, and luaspy reports it.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 60

/* Prints the CPU time that it took since it was told to begin. */
static const char worker[] = "print('ready') io.stdout:flush() io.read()\n"
			     "local function work() for i = 1, 10000 do end end\n"
			     "local start = os.clock()\n"
			     "while os.clock() < start + 0.5 do work() end\n"
			     "print(os.clock() - start)\n";

/* Where each target's interpreter is; each is a copy under a name of its own. */
enum place { ROOTS, OTHERS, JAILED, HIDDEN, REMOVED, PLACES };

/* All names begin with $own and end with these. */
static const char *const names[PLACES] = {"root", "other", "jail", "hide", "gone"};

static const char *const scripts[PLACES] = {
	[ROOTS] = "cp \"$lua\" ${own}root; exec ./${own}root worker.lua",
	/* Only the owner may enter the folder. */
	[OTHERS] = "mkdir other; cp \"$lua\" other/${own}other; chown -R 65534 other;\n"
		   "chmod 700 other; exec setpriv --reuid=65534 --regid=65534 --clear-groups "
		   "other/${own}other worker.lua",
	[JAILED] = "mkdir -p jail/private; cp \"$lua\" jail/private/${own}jail\n"
		   "for file in $(ldd \"$lua\" | grep -o '/[^ ]*'); do\n"
		   "	mkdir -p \"jail${file%/*}\"; cp -L \"$file\" \"jail$file\"\n"
		   "done\n"
		   "cp worker.lua jail; chown -R 65534 jail/private; chmod 700 jail/private\n"
		   "exec chroot --userspec=65534:65534 jail /private/${own}jail worker.lua",
	/* No other mount namespace has this file. */
	[HIDDEN] = "mkdir hidden; exec unshare --mount sh -c 'mount -t tmpfs none hidden;\n"
		   "cp \"$lua\" hidden/${own}hide; exec hidden/${own}hide worker.lua'",
	[REMOVED] = "cp \"$lua\" ${own}gone; exec ./${own}gone worker.lua",
};

#define need_to_lack_privileges()                                                                  \
	do {                                                                                       \
		need_lua();                                                                        \
		need_program("setpriv", "util-linux");                                             \
		need_program("unshare", "util-linux");                                             \
	} while (0)

/* The name of a program that no other process of the host runs. */
static const char *own_name(enum place place)
{
	static char name[24];

	snprintf(name, sizeof(name), "u%d%s", getpid(), names[place]);
	return name;
}

/* Starts worker.lua, which waits to be told to work. */
static struct child *start_target(struct stage *stage, enum place place)
{
	struct child *target;
	char *script;

	write_text(stage, "worker.lua", worker);
	assert_true(asprintf(&script,
			     "set -e; export own=u%d; lua=$(command -v lua5.4); "
			     "export lua=$(readlink -f \"$lua\")\n%s",
			     getpid(), scripts[place]) > 0);
	stage__own(stage, script, free);
	target = start(stage, "sh", "-c", script);
	child__await_output(stage, target, "ready");
	return target;
}

static void start_targets(struct stage *stage, struct child *targets[PLACES])
{
	for (enum place place = 0; place < PLACES; place++)
		targets[place] = start_target(stage, place);
	assert_return_code(unlink(in_folder(stage, own_name(REMOVED))), errno);
}

static struct child *start_unit(struct stage *stage, const char *without, const char *word)
{
	char sources[PATH_MAX], *script;

	assert_non_null(getcwd(sources, sizeof(sources)));
	assert_true(asprintf(&script,
			     "set -e; folder=$PWD; mkdir -p logs; install -m 755 '%s' luaspy\n"
			     "cd '%s'; export NARROWED='--name ^u%d'\n"
			     "exec tests/e2e/run_as_unit.sh \"$folder/luaspy\" \"$folder/logs\" "
			     "'%s' %s",
			     luaspy_program(), sources, getpid(), without, word) > 0);
	stage__own(stage, script, free);
	return start(stage, "sh", "-c", script);
}

static void let_work(struct child *const targets[PLACES])
{
	for (int place = 0; place < PLACES; place++)
		child__tell(targets[place], "go");
	for (int place = 0; place < PLACES; place++)
		assert_int_equal(child__wait(targets[place], PATIENCE), 0);
}

static struct scriptprofile *the_only_file(struct stage *stage)
{
	struct scriptprofile *profile;
	glob_t found;

	assert_int_equal(glob(in_folder(stage, "logs/lua-*.json"), 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	profile = spying__read(stage, found.gl_pathv[0]);
	globfree(&found);
	return profile;
}

/* Records all targets while they work; returns the profile. */
static struct scriptprofile *profile_without(struct stage *stage, const char *without,
					     struct child *targets[PLACES], struct child **spy)
{
	start_targets(stage, targets);
	*spy = start_unit(stage, without, "");
	child__await_errors(stage, *spy, "processes run an interpreter");
	let_work(targets);
	kill((*spy)->pid, SIGTERM);
	assert_int_equal(child__wait(*spy, PATIENCE), 0);
	print_message("%s", child__errors(stage, *spy));
	return the_only_file(stage);
}

/* 0 if it has no category. */
static double process_us(const struct scriptprofile *profile, enum place place, pid_t pid)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	char title[64];
	size_t i;

	snprintf(title, sizeof(title), "%s worker.lua (pid %d)", own_name(place), pid);
	json_array_foreach(categories, i, category)
	{
		if (!strcmp(title, json_string_value(json_object_get(category, "Name"))))
			return (double)profile->node_total_us[json_integer_value(
				json_object_get(category, "NodeId"))];
	}
	return 0;
}

static double own_us(struct stage *stage, const struct child *target)
{
	return 1e6 * strtod(strchr(child__output(stage, target), '\n'), NULL);
}

static void assert_profiled(struct stage *stage, const struct scriptprofile *profile,
			    struct child *const targets[PLACES], int absent)
{
	for (int place = 0; place < PLACES; place++) {
		double found = process_us(profile, place, targets[place]->pid);
		double truth = place == absent ? 0 : own_us(stage, targets[place]);

		print_message("%s: %.1f of %.1f ms\n", names[place], found / 1e3, truth / 1e3);
		assert_true(found >= 0.99 * truth && found <= 1.02 * truth);
	}
}

static void the_unit_can_profile_processes_of_every_user(void **state)
{
	struct child *targets[PLACES], *spy;
	struct scriptprofile *profile;
	double work;

	need_to_lack_privileges();
	profile = profile_without(*state, "none", targets, &spy);
	assert_profiled(*state, profile, targets, -1);
	work = (double)scriptprofile__total_us(profile, NULL, "work", 2);
	print_message("in work: %.1f of %.1f ms\n", work / 1e3, (double)profile->all_us / 1e3);
	assert_true(work > 0.8 * (double)profile->all_us);
	assert_int_equal(scriptprofile__recorded(profile, "MissedProcesses"), 0);
	assert_null(strstr(child__errors(*state, spy), "cannot inspect"));
	assert_null(strstr(child__errors(*state, spy), "missing:"));
}

/* The message names one of the processes that are missing. */
static void assert_named(struct stage *stage, const struct child *spy, const char *capability,
			 const struct scriptprofile *profile, struct child *const targets[PLACES])
{
	const char *said = child__errors(stage, spy);
	char text[128];

	for (int place = 0; place < PLACES; place++) {
		snprintf(text, sizeof(text), "such as pid %d: permission denied (missing: %s;",
			 targets[place]->pid, capability);
		if (process_us(profile, place, targets[place]->pid) == 0 && strstr(said, text))
			return;
	}
	fail_msg("nobody is named: %s", said);
}

static void assert_said_to_be_missing(struct stage *stage, const struct child *spy,
				      const char *capability)
{
	char text[64];

	snprintf(text, sizeof(text), "missing: %s;", capability);
	if (!strstr(child__errors(stage, spy), text))
		fail_msg("no '%s' in: %s", text, child__errors(stage, spy));
}

static void assert_absent_without(struct stage *stage, const char *capability, enum place absent)
{
	struct child *targets[PLACES], *spy;
	struct scriptprofile *profile = profile_without(stage, capability, targets, &spy);

	assert_int_equal(process_us(profile, absent, targets[absent]->pid), 0);
	assert_in_range(scriptprofile__recorded(profile, "MissedProcesses"), 1, PLACES);
	assert_said_to_be_missing(stage, spy, capability);
	assert_named(stage, spy, capability, profile, targets);
	/* luaspy can inspect this one but not name its program's file. */
	if (absent == REMOVED)
		assert_non_null(strstr(child__errors(stage, spy), " lacks 1 process that could "));
}

/* Only their owner may enter their folders. */
static void without_dac_read_search_files_in_closed_folders_are_missing(void **state)
{
	need_to_lack_privileges();
	assert_absent_without(*state, "CAP_DAC_READ_SEARCH", OTHERS);
}

/* Their /proc/PID/root is closed to luaspy; on older kernels everything about them is. */
static void without_sys_ptrace_other_namespaces_are_missing(void **state)
{
	need_to_lack_privileges();
	assert_absent_without(*state, "CAP_SYS_PTRACE", HIDDEN);
}

static void without_checkpoint_restore_removed_files_are_missing(void **state)
{
	need_to_lack_privileges();
	assert_absent_without(*state, "CAP_CHECKPOINT_RESTORE", REMOVED);
}

static void without_bpf_or_perfmon_nothing_is_recorded(void **state)
{
	static const char *const needed[] = {"CAP_BPF", "CAP_PERFMON"};

	need_to_lack_privileges();
	for (size_t i = 0; i < 2; i++) {
		struct child *spy = start_unit(*state, needed[i], "");

		assert_int_equal(child__wait(spy, PATIENCE), 1);
		assert_said_to_be_missing(*state, spy, needed[i]);
	}
}

/* No capability would help, so the message must not ask for one. */
static void a_refusal_that_no_capability_lifts_is_reported(void **state)
{
	struct stage *stage = *state;
	struct child *target, *spy;
	char preloaded[PATH_MAX], denied[32], names[32], expected[128];

	need_to_lack_privileges();
	target = start_target(stage, ROOTS);
	snprintf(preloaded, sizeof(preloaded), "LD_PRELOAD=%s", built_program("denied.so"));
	snprintf(denied, sizeof(denied), "DENIED_PID=%d", target->pid);
	snprintf(names, sizeof(names), "^u%d", getpid());
	spy = start(stage, "env", preloaded, denied, luaspy_program(), "record", "--system",
		    "--name", names, "-o", "x.json");
	child__await_errors(stage, spy, "cannot inspect 1 of ");
	snprintf(expected, sizeof(expected),
		 " processes, such as pid %d: permission denied (luaspy has all capabilities; "
		 "these processes are left out)\n",
		 target->pid);
	if (!strstr(child__errors(stage, spy), expected))
		fail_msg("no '%s' in: %s", expected, child__errors(stage, spy));
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 3);
}

/* `luaspy check` lists each capability of the unit and what it is for. */
static void check_lists_each_capability_of_the_unit(void **state)
{
	static const char *const all[][2] = {{"FAIL", "CAP_BPF"},
					     {"FAIL", "CAP_PERFMON"},
					     {"note", "CAP_SYS_PTRACE"},
					     {"note", "CAP_DAC_READ_SEARCH"},
					     {"note", "CAP_CHECKPOINT_RESTORE"}};
	struct child *spy;
	char line[64];

	need_to_lack_privileges();
	spy = start_unit(*state, "none", "check");
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	for (size_t i = 0; i < 5; i++) {
		snprintf(line, sizeof(line), "ok    %s ", all[i][1]);
		assert_non_null(strstr(child__output(*state, spy), line));
	}
	for (size_t i = 0; i < 5; i++) {
		spy = start_unit(*state, all[i][1], "check");
		assert_int_equal(child__wait(spy, PATIENCE), i < 2);
		snprintf(line, sizeof(line), "%s  %s ", all[i][0], all[i][1]);
		if (!strstr(child__output(*state, spy), line))
			fail_msg("no '%s' in:\n%s", line, child__output(*state, spy));
	}
}

/* nobody runs it and it becomes root's: the kernel removes the timers when it begins. */
static const char escalate[] = "cp \"$(command -v lua5.4)\" ./ownsetuid; chmod 4755 ownsetuid\n"
			       "exec setpriv --reuid=65534 --regid=65534 --clear-groups "
			       "sh -c 'echo ready; read line; exec ./ownsetuid work.lua'\n";

static struct child *record_escalation(struct stage *stage, const char *overhead)
{
	struct child *target, *spy;

	write_text(stage, "work.lua",
		   "local function work() for i = 1, 10000 do end return 1 end\n"
		   "local stop = os.clock() + 0.5\n"
		   "while os.clock() < stop do work() end\n");
	write_text(stage, "escalate.sh", escalate);
	assert_int_equal(chmod(in_folder(stage, "."), 0755), 0);
	target = start(stage, "sh", "escalate.sh");
	child__await_output(stage, target, "ready");
	spy = start_record(stage, target->pid, "--wait", "--max-overhead", overhead, "-o",
			   "profile.json");
	spying__await_timers(stage, spy);
	child__tell(target, "go");
	return spy;
}

static void suffice_for_set_user_id_programs(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	int64_t work_us;

	need_lua();
	need_program("setpriv", "util-linux");
	assert_int_equal(child__wait(record_escalation(stage, "50%"), PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	work_us = scriptprofile__total_us(profile, "work.lua", "work", -1);
	print_message("%.3f s of 0.5\n", (double)work_us / 1e6);
	assert_in_range(work_us, 400000, 520000);
}

static void dropped_privileges_miss_set_user_id_programs(void **state)
{
	struct stage *stage = *state;
	struct child *spy;

	need_lua();
	need_program("setpriv", "util-linux");
	spy = record_escalation(stage, "none");
	assert_int_equal(child__wait(spy, PATIENCE), 3);
	assert_non_null(strstr(child__errors(stage, spy), "cannot sample "));
	assert_non_null(strstr(child__errors(stage, spy), "it executed a program with other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(the_unit_can_profile_processes_of_every_user),
		staged(without_dac_read_search_files_in_closed_folders_are_missing),
		staged(without_sys_ptrace_other_namespaces_are_missing),
		staged(without_checkpoint_restore_removed_files_are_missing),
		staged(without_bpf_or_perfmon_nothing_is_recorded),
		staged(a_refusal_that_no_capability_lifts_is_reported),
		staged(check_lists_each_capability_of_the_unit),
		staged(suffice_for_set_user_id_programs),
		staged(dropped_privileges_miss_set_user_id_programs),
	};

	return cmocka_run_group_tests_name("privileges", tests, NULL, NULL);
}
