/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All processes of the host that run Lua, including those that start during the session. */
#include <dirent.h>
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

#include "accounts.h"

#define PATIENCE  60
#define PATH_SIZE 256

/* The part of a name of start_busy()'s process that is shown. */
#define BUSY_LABEL "lua5.4 -e function work() local x = 0 for i = 1, 1e5 do x = x..."

#define need_luas()                                                                                \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("lua5.1", "lua5.1");                                                  \
		need_program("lua5.4", "lua5.4");                                                  \
	} while (0)

/* The time of "lua5.4 hot.lua (pid 42)"; 0 if it does not exist. */
static int64_t process_us(const struct scriptprofile *profile, const char *name, pid_t pid)
{
	json_t *categories = json_object_get(profile->document, "Categories"), *category;
	char title[128];
	size_t i;

	snprintf(title, sizeof(title), "%s (pid %d)", name, pid);
	json_array_foreach(categories, i,
			   category) if (!strcmp(title,
						 json_string_value(json_object_get(
							 category, "Name")))) return profile
		->node_total_us[json_integer_value(json_object_get(category, "NodeId"))];
	return 0;
}

/*
 * Copies a program, which may run Lua, under a name that no other program has: "u1234lua5.4". The
 * stage owns the name.
 */
static char *own_copy(struct stage *stage, const char *program)
{
	const char *name = strrchr(program, '/') + 1;
	char *path = malloc(PATH_SIZE), *content;
	size_t size;

	assert_non_null(path);
	stage__own(stage, path, free);
	snprintf(path, PATH_SIZE, "%s/u%d%s", stage->folder, getpid(), name);
	content = read_file(program, &size);
	write_file(path, content, size);
	free(content);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

/* A --name that fits only this test's copies. */
static const char *own_names(void)
{
	static char expression[32];

	snprintf(expression, sizeof(expression), "^u%d", getpid());
	return expression;
}

/* Waits until luaspy samples and has inspected all processes that already ran. */
static struct child *start_system(struct stage *stage, const char *filter, const char *value)
{
	struct child *spy = start(stage, luaspy_program(), "record", "--system", "--max-overhead",
				  "none", "-o", "profile.json", filter, value);

	child__await_errors(stage, spy, "processes run an interpreter");
	return spy;
}

static struct scriptprofile *end_system(struct stage *stage, struct child *spy)
{
	kill(spy->pid, SIGINT);
	assert_int_equal(child__wait(spy, PATIENCE), 0);
	return spying__read(stage, in_folder(stage, "profile.json"));
}

/*
 * On a busy machine, luaspy may come too late for some time. That counts as found if the profile
 * reports it: as time without a sample, or as a missed process that took `each_us`.
 */
static void assert_sampled(const char *what, const struct scriptprofile *profile, double found_us,
			   double expected_us, double tolerance, double each_us)
{
	double late_us = (double)scriptprofile__total_us(profile, NULL, "(unsampled)", -1) +
			 each_us * (double)scriptprofile__recorded(profile, "MissedProcesses");

	print_message("%s: %.3f s of %.3f (%.2f%%); late for %.3f s\n", what, found_us / 1e6,
		      expected_us / 1e6, 100 * found_us / expected_us, late_us / 1e6);
	assert_true(found_us <= (1 + tolerance) * expected_us);
	assert_true(found_us + late_us >= (1 - tolerance) * expected_us);
	assert_true(found_us >= 0.8 * expected_us);
}

/* The same for a function and its callees. */
static void assert_has_function(const struct scriptprofile *profile, const char *file,
				const char *name, double expected_us, double each_us)
{
	assert_sampled(name, profile, (double)scriptprofile__total_us(profile, file, name, -1),
		       expected_us, 0.05, each_us);
}

static void records_running_lua_and_nothing_else(void **state)
{
	struct stage *stage = *state;
	struct child *busy, *other, *spy;
	struct scriptprofile *profile;

	need_luas();
	busy = start_busy(stage);
	other = start(stage, "sh", "-c", "while :; do :; done");
	spy = start_system(stage, NULL, NULL);
	child__let_work(busy, 0.5);
	child__let_work(other, 0.1);
	profile = end_system(stage, spy);
	assert_true(process_us(profile, BUSY_LABEL, busy->pid) > 400000);
	assert_int_equal(process_us(profile, "sh -c while :; do :; done", other->pid), 0);
	assert_true(scriptprofile__total_us(profile, NULL, "work", -1) > 400000);
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

/* All its CPU time is recorded from the moment when its Lua was mapped. */
static void records_processes_that_start_later(void **state)
{
	struct stage *stage = *state;
	struct child *early, *late, *spy;
	struct scriptprofile *profile;

	need_luas();
	write_text(stage, "hot.lua", LUA_SPIN "local function hot() spin(0.4) return 1 end hot()");
	spy = start_system(stage, NULL, NULL);
	early = start(stage, "lua5.4", "hot.lua");
	late = start(stage, "lua5.1", "hot.lua");
	assert_int_equal(child__wait(early, PATIENCE), 0);
	assert_int_equal(child__wait(late, PATIENCE), 0);
	profile = end_system(stage, spy);
	accounts__assert_near("lua5.4", (double)process_us(profile, "lua5.4 hot.lua", early->pid),
			      accounts__charged_us(early), 0.02);
	accounts__assert_near("lua5.1", (double)process_us(profile, "lua5.1 hot.lua", late->pid),
			      accounts__charged_us(late), 0.02);
	assert_has_function(profile, "hot.lua", "hot", 800000, 0);
}

/* The number of perf events, such as timers, that luaspy has open. */
static int count_events(const struct child *spy)
{
	char folder[64], path[PATH_SIZE], target[64];
	struct dirent *entry;
	int count = 0;
	DIR *files;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", spy->pid);
	files = opendir(folder);
	assert_non_null(files);
	while ((entry = readdir(files))) {
		ssize_t length;

		snprintf(path, sizeof(path), "%s/%.20s", folder, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		count += strcmp(target, "anon_inode:[perf_event]") == 0;
	}
	closedir(files);
	return count;
}

/* The number of C functions that are known only by their addresses. */
static int nameless_c_functions(const struct scriptprofile *profile)
{
	json_t *functions = json_object_get(profile->document, "Functions"), *function;
	const char *name;
	int count = 0;
	size_t i;

	json_array_foreach(functions, i, function)
	{
		name = json_string_value(json_object_get(function, "Name"));
		count += name && !strncmp(name, "0x", 2);
	}
	return count;
}

static void records_scripts_of_fifty_milliseconds(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *shell;
	int64_t hot_us;
	int events;

	need_luas();
	write_text(stage, "brief.lua",
		   LUA_SPIN "local function hot() spin(0.05) return 1 end hot()");
	write_text(stage, "run.sh",
		   "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do\n"
		   "$1 brief.lua; done\n");
	spy = start_system(stage, "--name", own_names());
	events = count_events(spy);
	shell = start(stage, "sh", "run.sh", own_copy(stage, "/usr/bin/lua5.4"));
	assert_int_equal(child__wait(shell, PATIENCE), 0);
	/* Nothing stays open for processes that have ended. */
	for (double end = now_seconds() + PATIENCE; now_seconds() < end;) {
		if (count_events(spy) == events)
			break;
		sleep_seconds(0.1);
	}
	assert_int_equal(count_events(spy), events);
	profile = end_system(stage, spy);
	hot_us = scriptprofile__total_us(profile, "brief.lua", "hot", -1);
	/*
	 * Each process ended before its samples were read and was loaded at another address, and
	 * still they share one main().
	 */
	assert_int_equal(nameless_c_functions(profile), 0);
	assert_sampled("20 scripts of 50 ms", profile, (double)hot_us, 1000000, 0.1, 50000);
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

/*
 * After a process ends, the next one with the same pid is another process with another Lua.
 * (Another process that starts in between may get the pid; then there is one less.)
 */
static void tells_a_process_from_the_last_one_with_its_pid(void **state)
{
	static const char script[] = "id=20000; while [ -e /proc/$id ]; do id=$((id+1)); done\n"
				     "last=/proc/sys/kernel/ns_last_pid; i=0\n"
				     "while [ $i -lt 10 ]; do\n"
				     "	echo $((id-1)) >$last\n"
				     "	$1 four.lua & [ $! = $id ] && echo reused\n"
				     "	wait $!; echo $((id-1)) >$last\n"
				     "	$2 one.lua & [ $! = $id ] && echo reused\n"
				     "	wait $!; i=$((i+1))\n"
				     "done\n";
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *shell;
	const char *told;
	int reused = 0;

	need_luas();
	if (access("/proc/sys/kernel/ns_last_pid", W_OK))
		skip_because("the kernel does not let the next process id be chosen");
	write_text(stage, "four.lua",
		   LUA_SPIN "local function four() spin(0.1) return 1 end four()");
	write_text(stage, "one.lua", LUA_SPIN "local function one() spin(0.1) return 1 end one()");
	write_text(stage, "run.sh", script);
	spy = start_system(stage, "--name", own_names());
	shell = start(stage, "sh", "run.sh", own_copy(stage, "/usr/bin/lua5.4"),
		      own_copy(stage, "/usr/bin/lua5.1"));
	assert_int_equal(child__wait(shell, PATIENCE), 0);
	profile = end_system(stage, spy);
	for (told = child__output(stage, shell); (told = strstr(told, "reused")); told++)
		reused++;
	print_message("%d of 20 processes had one id\n", reused);
	assert_in_range(reused, 10, 20);
	assert_has_function(profile, "four.lua", "four", 1000000, 100000);
	assert_has_function(profile, "one.lua", "one", 1000000, 100000);
	assert_int_equal(scriptprofile__recorded(profile, "LostRecords"), 0);
}

static void records_forked_processes(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *forks;

	need_to_record();
	write_text(stage, "forks.lua",
		   "local function shared(us) local stop = cpu_us() + us\n"
		   "while cpu_us() < stop do for i = 1, 1000 do end end return 1 end\n"
		   "local function child() shared(4e5) return 1 end\n"
		   "local function parent() shared(2e5) return 1 end\n"
		   "for i = 1, 3 do if fork() == 0 then child() os.exit(0) end end\n"
		   "parent() join()\n");
	spy = start_system(stage, "--name", own_names());
	forks = start(stage, own_copy(stage, built_program("host-5.4")), "forks.lua");
	assert_int_equal(child__wait(forks, PATIENCE), 0);
	profile = end_system(stage, spy);
	assert_sampled("parent", profile,
		       (double)scriptprofile__stack_us(profile, "main chunk > parent"), 200000, 0.1,
		       0);
	assert_sampled("children", profile,
		       (double)scriptprofile__stack_us(profile, "main chunk > child > shared"),
		       1200000, 0.05, 0);
	/* This includes the time of the children that it waited for. */
	accounts__assert_near("all", (double)profile->all_us, accounts__charged_us(forks), 0.02);
}

/* A process that runs for a millisecond has often ended when luaspy first looks at it. */
static void writes_a_profile_of_what_it_missed(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	const char *said = NULL;

	need_luas();
	for (int i = 0; i < 60 && !said; i++) {
		struct child *spy = start_system(stage, "--name", own_names());
		struct child *brief = start(stage, own_copy(stage, "/usr/bin/lua5.4"), "-e", "");

		assert_int_equal(child__wait(brief, PATIENCE), 0);
		sleep_seconds(0.3);
		kill(spy->pid, SIGINT);
		child__wait(spy, PATIENCE);
		said = strstr(child__errors(stage, spy), "ended before it could be sampled");
	}
	assert_non_null(said);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	assert_int_equal(scriptprofile__samples(profile, "total"), 0);
	assert_true(scriptprofile__recorded(profile, "MissedProcesses") > 0);
	assert_true(scriptprofile__total_us(profile, NULL, "(unsampled)", -1) > 0);
}

static void records_a_library_that_is_loaded_later(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *host;

	need_to_record();
	host = start(stage, built_program("loader"), "plugin", "liblua5.3.so.0",
		     "function late() local s = 0 for i = 1, 1e5 do s = s + i end return 1 end "
		     "return late() + 1");
	spy = start_system(stage, NULL, NULL);
	child__let_work(host, 2.0);
	profile = end_system(stage, spy);
	assert_true(scriptprofile__total_us(profile, NULL, "late", -1) > 300000);
}

static void records_only_processes_that_the_filter_accepts(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *wanted, *other;

	need_luas();
	write_text(stage, "hot.lua", LUA_SPIN "local function hot() spin(0.3) return 1 end hot()");
	spy = start_system(stage, "--name", "^lua5\\.[14]$");
	wanted = start(stage, "lua5.4", "hot.lua");
	other = start(stage, "lua5.3", "hot.lua");
	assert_int_equal(child__wait(wanted, PATIENCE), 0);
	assert_int_equal(child__wait(other, PATIENCE), 0);
	profile = end_system(stage, spy);
	assert_true(process_us(profile, "lua5.4 hot.lua", wanted->pid) > 250000);
	assert_int_equal(process_us(profile, "lua5.3 hot.lua", other->pid), 0);
}

/* The process executes a shell, which has no Lua and so is no target, and then Lua again. */
static void follows_a_process_that_executes_other_programs(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *spy, *changing;

	need_luas();
	write_text(stage, "hot.lua", LUA_SPIN "local function hot() spin(0.3) return 1 end hot()");
	write_text(stage, "first.lua",
		   LUA_SPIN "local function first() spin(0.3) return 1 end first() "
			    "become('sh', 'then.sh')");
	write_text(stage, "then.sh",
		   "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exec ./*lua5.1 hot.lua");
	own_copy(stage, "/usr/bin/lua5.1");
	spy = start_system(stage, "--name", own_names());
	changing = start(stage, own_copy(stage, built_program("host-5.4")), "first.lua");
	assert_int_equal(child__wait(changing, PATIENCE), 0);
	profile = end_system(stage, spy);
	assert_has_function(profile, "first.lua", "first", 300000, 0);
	assert_has_function(profile, "hot.lua", "hot", 300000, 0);
	accounts__assert_near("without the shell", (double)profile->all_us, 600000, 0.1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		staged(records_running_lua_and_nothing_else),
		staged(records_processes_that_start_later),
		staged(records_scripts_of_fifty_milliseconds),
		staged(tells_a_process_from_the_last_one_with_its_pid),
		staged(records_forked_processes),
		staged(writes_a_profile_of_what_it_missed),
		staged(records_a_library_that_is_loaded_later),
		staged(records_only_processes_that_the_filter_accepts),
		staged(follows_a_process_that_executes_other_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
