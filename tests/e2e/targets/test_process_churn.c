/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A host on which processes come and go by the thousand: luaspy loses none of their time and keeps
 * nothing open for them.
 */
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

#include "accounts.h"

#define PATIENCE     600
#define MEAN_MS      "20"
#define KIB_MORE     2048 /* by which luaspy may grow after the first fifth of the processes */
#define WALKER_FILES 20   /* its programs, its maps, and its references to the core's */
#define TARGETS_MIN  50

/*
 * churn.c starts it; each process that ends by itself prints the CPU time charged just before its
 * end.
 */
static const char targets[] = "local action, ms = ...\n"
			      "local function busy(share)\n"
			      "	local stop = cpu_us() + ms * 1000 * share\n"
			      "	while cpu_us() < stop do for i = 1, 1000 do end end\n"
			      "	return 1\n"
			      "end\n"
			      "local function finish()\n"
			      "	local file = io.open('ends', 'a')\n"
			      "	file:setvbuf('full')\n"
			      "	file:write(string.format('%.0f\\n', cpu_us()))\n"
			      "	file:close()\n"
			      "	os.exit(true)\n"
			      "end\n"
			      "if action == 'exec' then\n"
			      "	busy(0.5)\n"
			      "	become(os.getenv('PROGRAM'), 'then.lua')\n"
			      "elseif action == 'fork' then\n"
			      "	local child = fork()\n"
			      "	busy(0.5)\n"
			      "	if child ~= 0 and ms * 10 % 2 > 1 then join() end\n"
			      "else\n"
			      "	busy(action == 'die' and 10 or 1)\n"
			      "end\n"
			      "finish()\n";

static const char second_program[] =
	"local stop = cpu_us() + 10000\n"
	"local function busy() while cpu_us() < stop do for i = 1, 1000 do end end return 1 end\n"
	"busy()\n"
	"local file = io.open('ends', 'a')\n"
	"file:write(string.format('%.0f\\n', cpu_us())) file:close()\n"
	"os.exit(true)\n";

struct churn_times {
	int killed, told;
	double charged_us; /* to all of them, by the kernel */
	double killed_us;  /* the part of it charged to those that were killed */
	double told_us;    /* what the others had been charged just before their ends */
};

/* The number in the environment, or else the default. */
static int wanted(const char *variable, int by_default)
{
	const char *value = getenv(variable);
	int count = value ? atoi(value) : by_default;

	return count < TARGETS_MIN ? TARGETS_MIN : count;
}

/*
 * A session without a limit of overhead. On a busy machine, luaspy may look at processes too late.
 */
static struct child *start_system(struct stage *stage)
{
	struct child *spy = start(stage, "nice", "-n", "-20", luaspy_program(), "record",
				  "--system", "-v", "--max-overhead", "none", "--name",
				  accounts__own_name(), "--merge-by", "name", "-o", "profile.json");

	child__await_errors(stage, spy, "processes run an interpreter");
	return spy;
}

static int count_open_files(const struct child *spy)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "/proc/%d/fd", spy->pid);
	return count_files(folder);
}

static long resident_kib(const struct child *spy)
{
	char path[64], *text, *line;
	long kib;

	snprintf(path, sizeof(path), "/proc/%d/status", spy->pid);
	text = read_file(path, NULL);
	line = strstr(text, "VmRSS:");
	assert_non_null(line);
	kib = strtol(line + strlen("VmRSS:"), NULL, 10);
	free(text);
	return kib;
}

/* Once the end of a process was noticed, nothing stays open for it. */
static void await_open_files(struct stage *stage, const struct child *spy, int count)
{
	double end = now_seconds() + 10;

	while (count_open_files(spy) > count) {
		if (now_seconds() > end)
			fail_msg("%d files are open instead of %d: %s", count_open_files(spy),
				 count, child__errors(stage, spy));
		sleep_seconds(0.05);
	}
}

static void add_told(struct stage *stage, struct churn_times *times)
{
	char *text = read_file(in_folder(stage, "ends"), NULL), *at = text;

	while (*at) {
		times->told_us += (double)strtoll(at, &at, 10);
		times->told++;
		at += *at == '\n';
	}
	free(text);
	unlink(in_folder(stage, "ends"));
}

static void stir(struct stage *stage, int count, const char *seed, struct churn_times *times)
{
	unsigned long long us, killed_us;
	int begun, ended, killed;
	struct child *churn;
	char number[16];

	snprintf(number, sizeof(number), "%d", count);
	churn = start(stage, built_program("churn"), number, "6", MEAN_MS, seed,
		      in_folder(stage, accounts__own_name()), "targets.lua");
	if (child__wait(churn, PATIENCE) != 0)
		fail_msg("%s", child__errors(stage, churn));
	assert_string_equal(child__errors(stage, churn), "");
	print_message("%s", child__output(stage, churn));
	assert_int_equal(sscanf(child__output(stage, churn),
				"%d started, %d ended, %llu us; %d killed, %llu us", &begun, &ended,
				&us, &killed, &killed_us),
			 5);
	assert_int_equal(begun, count);
	times->killed += killed;
	times->charged_us += (double)us;
	times->killed_us += (double)killed_us;
	add_told(stage, times);
}

/*
 * The profile has all CPU time, including that of the processes' ends. Those that printed their
 * time just before give the mean time that an end takes.
 */
static void assert_has_all(const struct scriptprofile *profile, const struct churn_times *times)
{
	double brief_us = (double)accounts__category_us(profile, "(no interpreter)");
	double found_us = brief_us + (double)accounts__category_us(profile, accounts__own_name());
	double end_us = (times->charged_us - times->killed_us - times->told_us) / times->told;

	print_message("%d ended on their own, each in %.0f us; %d were killed\n", times->told,
		      end_us, times->killed);
	print_message("%.2f%% of what all were charged; %.2f%% of those that ended before their "
		      "programs were looked at\n",
		      100 * found_us / times->charged_us, 100 * brief_us / found_us);
	assert_true(found_us < 1.002 * times->charged_us);
	assert_true(found_us > 0.99 * times->charged_us);
}

static void loses_none_of_thousands_that_come_and_go(void **state)
{
	int count = wanted("LUASPY_TURMOIL", 2000), files;
	struct stage *stage = *state;
	struct churn_times times = {};
	struct scriptprofile *profile;
	long early_kib, late_kib;
	struct child *spy;
	double begin;

	need_to_record();
	write_text(stage, "targets.lua", targets);
	write_text(stage, "then.lua", second_program);
	setenv("PROGRAM", accounts__own_copy(stage, built_program("host-5.4")), 1);
	spy = start_system(stage);
	files = count_open_files(spy);
	begin = now_seconds();
	stir(stage, count / 5, "1", &times);
	/* Only the interpreters' files and Lua's walker stay open, nothing for a process. */
	await_open_files(stage, spy, files + 8 + WALKER_FILES);
	files = count_open_files(spy);
	early_kib = resident_kib(spy);
	stir(stage, count - count / 5, "2", &times);
	await_open_files(stage, spy, files);
	late_kib = resident_kib(spy);
	print_message("%.1f s; RSS %ld KiB after %d, %ld KiB after %d; %d files open\n",
		      now_seconds() - begin, early_kib, count / 5, late_kib, count, files);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	accounts__assert_whole(stage, spy, profile);
	assert_int_equal(accounts__category_us(profile, accounts__own_name()) +
				 accounts__category_us(profile, "(no interpreter)"),
			 profile->all_us);
	assert_has_all(profile, &times);
	assert_true(late_kib < early_kib + KIB_MORE);
}

/*
 * On a host without a processor to spare, luaspy comes too late to inspect most processes, a
 * program before it executes another, and a parent before it leaves its child behind.
 */
static void has_the_time_of_processes_it_came_too_late_for(void **state)
{
	static const char script[] = "while kill -STOP $1; do sleep 0.2; kill -CONT $1; "
				     "sleep 0.8; done 2>/dev/null\n";
	struct stage *stage = *state;
	struct churn_times times = {};
	struct scriptprofile *profile;
	struct child *spy;
	char number[16];

	need_to_record();
	write_text(stage, "targets.lua", targets);
	write_text(stage, "then.lua", second_program);
	write_text(stage, "stall.sh", script);
	setenv("PROGRAM", accounts__own_copy(stage, built_program("host-5.4")), 1);
	spy = start_system(stage);
	/* By then, the file that the first process mapped is known as Lua. */
	stir(stage, 10, "3", &times);
	snprintf(number, sizeof(number), "%d", spy->pid);
	start(stage, "sh", "stall.sh", number);
	stir(stage, wanted("LUASPY_TURMOIL", 2000) / 5, "4", &times);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	accounts__assert_whole(stage, spy, profile);
	assert_has_all(profile, &times);
	assert_true(scriptprofile__recorded(profile, "MissedProcesses") > 10);
}

/* What a shell's `times` prints for the children that it waited for; printed last. */
static double children_us(struct stage *stage, const struct child *shell)
{
	const char *line = strchr(child__output(stage, shell), '\n');
	double user_m, user_s, system_m, system_s;

	assert_non_null(line);
	assert_int_equal(
		sscanf(line + 1, "%lfm%lfs %lfm%lfs", &user_m, &user_s, &system_m, &system_s), 4);
	return 1e6 * (60 * (user_m + system_m) + user_s + system_s);
}

/* One process after the other runs a script each. */
static void records_a_thousand_scripts_of_fifty_milliseconds(void **state)
{
	int count = wanted("LUASPY_SCRIPTS", 200);
	double unsampled_us, hot_us, found_us, all_us, asked_us = 50000.0 * count;
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *shell;
	char number[16];

	need_lua();
	accounts__own_copy(stage, "/usr/bin/lua5.4");
	write_text(stage, "brief.lua",
		   LUA_SPIN "local function hot() spin(0.05) return 1 end hot()");
	write_text(stage, "run.sh",
		   "i=0; while [ $i -lt $2 ]; do $1 brief.lua; i=$((i+1)); done; times\n");
	spy = start_system(stage);
	snprintf(number, sizeof(number), "%d", count);
	shell = start(stage, "sh", "run.sh", in_folder(stage, accounts__own_name()), number);
	assert_int_equal(child__wait(shell, PATIENCE), 0);
	kill(spy->pid, SIGTERM);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	accounts__assert_whole(stage, spy, profile);
	all_us = children_us(stage, shell);
	found_us = (double)profile->all_us;
	hot_us = (double)scriptprofile__total_us(profile, "brief.lua", "hot", -1);
	print_message("%d scripts: %.2f%% of the %.2f s that they were charged, their function "
		      "%.2f%% of the %.2f s that it takes\n",
		      count, 100 * found_us / all_us, all_us / 1e6, 100 * hot_us / asked_us,
		      asked_us / 1e6);
	/* Until it executes Lua, each process is a copy of the shell. */
	assert_true(found_us > 0.98 * all_us && found_us < 1.002 * all_us);
	/* This includes the processes that luaspy could not inspect in time. */
	unsampled_us = (double)scriptprofile__total_us(profile, NULL, "(unsampled)", -1);
	assert_true(hot_us + unsampled_us > 0.96 * asked_us && hot_us < 1.04 * asked_us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(loses_none_of_thousands_that_come_and_go),
		staged(has_the_time_of_processes_it_came_too_late_for),
		staged(records_a_thousand_scripts_of_fifty_milliseconds),
	};

	return cmocka_run_group_tests_name("process churn", tests, NULL, NULL);
}
