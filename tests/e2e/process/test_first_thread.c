/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes whose first thread ends before the others. It stays a zombie as long as they run, and
 * what /proc shows of the process is the first thread's.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 20

static struct child *start_leaderless(struct stage *stage)
{
	struct child *target;

	write_text(stage, "busy.lua",
		   "local function hot() local x = 0 for i = 1, 1e5 do x = x + i end return x end\n"
		   "print('ready') io.stdout:flush()\n"
		   "while true do hot() end\n");
	target = start(stage, built_program("leaderless-5.4"), "busy.lua");
	child__await_output(stage, target, "ready");
	return target;
}

static void await_zombie(int pid)
{
	char command[160];

	snprintf(command, sizeof(command),
		 "for i in $(seq 2000); do\n"
		 "	grep -q ') Z' /proc/%d/stat 2>/dev/null && exit\n"
		 "	sleep 0.01\n"
		 "done\n"
		 "exit 1",
		 pid);
	assert_int_equal(system(command), 0);
}

static void end_first_thread(struct child *target)
{
	child__tell(target, "end");
	await_zombie(target->pid);
}

/* Until the layout is decided, some samples have no functions: 15 ms on a busy machine. */
static void end_recording(struct stage *stage, struct child *target, struct child *spy)
{
	child__let_work(target, 1);
	kill(spy->pid, SIGINT);
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("exit status %d: %s", spy->status, child__errors(stage, spy));
}

static void assert_hot(struct stage *stage)
{
	struct scriptprofile *profile = spying__read(stage, in_folder(stage, "profile.json"));
	int64_t hot_us = scriptprofile__self_us(profile, "busy.lua", "hot", -1);

	print_message("%.1f%% of %.3f s\n", 100.0 * (double)hot_us / (double)profile->all_us,
		      (double)profile->all_us / 1e6);
	assert_true((double)hot_us > 0.95 * (double)profile->all_us);
	assert_true(profile->all_us > 500000);
}

static void is_missing_from_the_start(void **state)
{
	struct child *target, *spy;

	need_to_record();
	target = start_leaderless(*state);
	end_first_thread(target);
	spy = start_record(*state, target->pid, "-o", "profile.json");
	spying__await_timers(*state, spy);
	end_recording(*state, target, spy);
	assert_non_null(strstr(child__errors(*state, spy), "leaderless-5.4 busy.lua (pid "));
	assert_hot(*state);
}

static void ends_while_it_is_recorded(void **state)
{
	struct child *target, *spy;

	need_to_record();
	target = start_leaderless(*state);
	spy = start_record(*state, target->pid, "-o", "profile.json", "-q");
	spying__await_timers(*state, spy);
	end_first_thread(target);
	end_recording(*state, target, spy);
	assert_hot(*state);
}

static void is_missing_in_a_dump(void **state)
{
	struct child *target, *dump;
	char pid[16];

	need_to_record();
	target = start_leaderless(*state);
	end_first_thread(target);
	snprintf(pid, sizeof(pid), "%d", target->pid);
	dump = start(*state, luaspy_program(), "dump", "-p", pid);
	if (child__wait(dump, PATIENCE) != 0)
		fail_msg("exit status %d: %s", dump->status, child__errors(*state, dump));
	assert_non_null(strstr(child__output(*state, dump), "main chunk (busy.lua:"));
}

/* All threads have ended, but the parent has not waited for the process. */
static void was_the_last(void **state)
{
	struct child *parent, *spy;
	int zombie;

	need_to_record();
	parent = start(*state, "sh", "-c",
		       "sh -c 'sleep 1 & echo $!; exec sleep 100' & read line; kill $!");
	child__await_output(*state, parent, "\n");
	assert_int_equal(sscanf(child__output(*state, parent), "%d", &zombie), 1);
	await_zombie(zombie);
	spy = start_record(*state, zombie, "-d", "1");
	assert_int_not_equal(child__wait(spy, PATIENCE), 0);
	assert_non_null(strstr(child__errors(*state, spy), "it has ended"));
	child__tell(parent, "end");
}

/* Programs like htop show the ids of threads, too. */
static void is_asked_for_by_the_id_of_another(void **state)
{
	struct child *target, *spy, *dump;
	char command[64], other[16], expected[64];
	FILE *threads;

	need_to_record();
	target = start_leaderless(*state);
	snprintf(command, sizeof(command), "ls /proc/%d/task | grep -vw %d", target->pid,
		 target->pid);
	threads = popen(command, "r");
	assert_non_null(threads);
	assert_int_equal(fscanf(threads, "%15s", other), 1);
	pclose(threads);
	snprintf(expected, sizeof(expected), "%s: it is a thread of process %d", other,
		 target->pid);
	spy = start(*state, luaspy_program(), "record", "-p", other, "-d", "1");
	dump = start(*state, luaspy_program(), "dump", "-p", other);
	assert_int_not_equal(child__wait(spy, PATIENCE), 0);
	assert_int_not_equal(child__wait(dump, PATIENCE), 0);
	assert_non_null(strstr(child__errors(*state, spy), expected));
	assert_non_null(strstr(child__errors(*state, dump), expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(is_missing_from_the_start),
		staged(ends_while_it_is_recorded),
		staged(is_missing_in_a_dump),
		staged(was_the_last),
		staged(is_asked_for_by_the_id_of_another),
	};

	return cmocka_run_group_tests_name("first_thread", tests, NULL, NULL);
}
