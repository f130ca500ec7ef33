/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Too little time, memory or buffer space: losses are counted, and CPU time stays complete. */
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "accounts.h"

#define PATIENCE 300
#define LUA      "/usr/bin/lua5.4"
#define DEEP_WORK                                                                                  \
	LUA_SPIN                                                                                   \
	"local function early() return spin(0.8) or 0 end\n"                                       \
	"local function middle() return spin(0.8) or 0 end\n"                                      \
	"local function late() return spin(0.8) or 0 end\n"                                        \
	"local function deep(n, f)\n"                                                              \
	"	if n > 0 then return 0 + deep(n - 1, f) end\n"                                           \
	"	return 0 + f()\n"                                                                        \
	"end\n"                                                                                    \
	"local function say(what) print(what) io.stdout:flush() end\n"                             \
	"say('up') io.read()\n"                                                                    \
	"say('early') deep(100, early)\n"                                                          \
	"say('middle') deep(100, middle)\n"                                                        \
	"say('late') deep(100, late)\n"

#define LONG_WORK                                                                                  \
	LUA_SPIN                                                                                   \
	"local function before() spin(1) return 1 end\n"                                           \
	"local function during() spin(5) return 1 end\n"                                           \
	"local function after() spin(1) return 1 end\n"                                            \
	"print('up') io.stdout:flush() io.read()\n"                                                \
	"before() print('during') io.stdout:flush() during() io.read() after()\n"

/* The worker waits to be told to begin. */
static struct child *start_deep(struct stage *stage)
{
	struct child *worker;

	write_text(stage, "deep.lua", DEEP_WORK);
	worker = start(stage, in_folder(stage, accounts__own_name()), "deep.lua");
	child__await_output(stage, worker, "up");
	return worker;
}

static struct child *start_system(struct stage *stage, const char *frequency)
{
	struct child *spy = start(stage, luaspy_program(), "record", "--system", "--max-overhead",
				  "none", "-v", "-F", frequency, "--name", accounts__own_name(),
				  "--merge-by", "name", "-o", "profile.json");

	child__await_errors(stage, spy, "processes run an interpreter");
	return spy;
}

static struct scriptprofile *end_system(struct stage *stage, struct child *spy)
{
	kill(spy->pid, SIGTERM);
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("%s", child__errors(stage, spy));
	return spying__read(stage, in_folder(stage, "profile.json"));
}

static int count_open_files(const struct child *spy)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "/proc/%d/fd", spy->pid);
	return count_files(folder);
}

static void assert_ended(struct child *child)
{
	assert_int_equal(child__wait(child, PATIENCE), 0);
}

/* The time of the function on the line of deep.lua that begins with this text. */
static int64_t of_function(const struct scriptprofile *profile, const char *begin)
{
	int line = 1;

	for (const char *at = DEEP_WORK; at < strstr(DEEP_WORK, begin); at++)
		line += *at == '\n';
	return scriptprofile__total_us(profile, "deep.lua", NULL, line);
}

/*
 * The ring buffer fills up with samples of two processes while luaspy is stopped. The end of the
 * third process does not fit into it, but must be noticed.
 */
static void counts_records_that_did_not_fit_into_the_ring(void **state)
{
	struct stage *stage = *state;
	struct child *one, *two, *brief, *spy;
	struct scriptprofile *profile;
	int64_t early_us, late_us, unsampled_us;
	int files;

	need_lua();
	accounts__own_copy(stage, LUA);
	one = start_deep(stage);
	two = start_deep(stage);
	spy = start_system(stage, "10khz");
	files = count_open_files(spy);
	brief = start(stage, in_folder(stage, accounts__own_name()), "-e",
		      LUA_SPIN "local function brief() return spin(1.2) or 0 end brief()");
	child__let_work(brief, 0.3);
	child__tell(one, "go");
	child__tell(two, "go");
	child__let_work(one, 0.3);
	child__let_work(two, 0.3);
	kill(spy->pid, SIGSTOP);
	assert_ended(brief);
	child__await_output(stage, one, "late");
	child__await_output(stage, two, "late");
	kill(spy->pid, SIGCONT);
	assert_ended(one);
	assert_ended(two);
	for (double end = now_seconds() + 10; count_open_files(spy) > files - 8;)
		if (now_seconds() > end)
			fail_msg("%d files are open, %d were", count_open_files(spy), files);
	profile = end_system(stage, spy);
	accounts__assert_whole(stage, spy, profile);
	assert_true(scriptprofile__samples(profile, "dropped") > 1000);
	accounts__assert_near("CPU time", (double)profile->all_us,
			      accounts__charged_us(one) + accounts__charged_us(two) +
				      accounts__charged_us(brief),
			      0.01);
	early_us = of_function(profile, "local function early");
	late_us = of_function(profile, "local function late");
	unsampled_us = scriptprofile__total_us(profile, NULL, "(unsampled)", -1);
	print_message("%.3f s early, %.3f s late, %.3f s unsampled\n", (double)early_us / 1e6,
		      (double)late_us / 1e6, (double)unsampled_us / 1e6);
	/* Time of one function must not move to the other, nor to time without samples. */
	assert_in_range(early_us, 550000, 1650000);
	assert_in_range(late_us, 300000, 1650000);
	assert_in_range(unsampled_us, 500000, 3500000);
}

/* Two luaspys are stopped for ten seconds; one of them writes a file each second. */
static void survives_being_stopped_for_ten_seconds(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *worker, *spy, *rolling;
	int64_t before_us, after_us;
	glob_t found;
	double sum_us = 0, wall_us = 0;

	need_lua();
	write_text(stage, "long.lua", LONG_WORK);
	worker = start(stage, "lua5.4", "long.lua");
	child__await_output(stage, worker, "up");
	spy = start_record(stage, worker->pid, "-v", "-F", "1khz", "-o", "profile.json");
	rolling = start_record(stage, worker->pid, "-v", "-F", "1khz", "--interval", "1s", "-o",
			       "rolled.json");
	spying__await_timers(stage, spy);
	spying__await_timers(stage, rolling);
	child__tell(worker, "go");
	child__await_output(stage, worker, "during");
	child__let_work(worker, 0.2);
	kill(spy->pid, SIGSTOP);
	kill(rolling->pid, SIGSTOP);
	sleep_seconds(10);
	kill(spy->pid, SIGCONT);
	kill(rolling->pid, SIGCONT);
	child__tell(worker, "go on");
	assert_ended(worker);
	assert_ended(spy);
	assert_ended(rolling);
	profile = spying__read(stage, in_folder(stage, "profile.json"));
	accounts__assert_whole(stage, spy, profile);
	accounts__assert_near("one file", (double)profile->all_us, accounts__charged_us(worker),
			      0.01);
	before_us = scriptprofile__stack_us(profile, "main chunk > before");
	after_us = scriptprofile__stack_us(profile, "main chunk > after");
	accounts__assert_near("before", (double)before_us, 1e6, 0.05);
	accounts__assert_near("after", (double)after_us, 1e6, 0.05);
	assert_int_equal(glob(in_folder(stage, "rolled-*.json"), 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		profile = spying__read(stage, found.gl_pathv[i]);
		print_message("%lld samples in %.3f s\n",
			      (long long)scriptprofile__samples(profile, "total"),
			      (double)scriptprofile__recorded(profile, "WallDuration") / 1e6);
		sum_us += (double)profile->all_us;
		wall_us += (double)scriptprofile__recorded(profile, "WallDuration");
	}
	print_message("%zu files\n", found.gl_pathc);
	/* One file has the ten seconds, all others have one second each. */
	assert_in_range(found.gl_pathc, 3, (uint64_t)(wall_us / 1e6) - 10 + 4);
	globfree(&found);
	accounts__assert_near("all files", sum_us, accounts__charged_us(worker), 0.01);
}

/* It may be late only by the time for which it was stopped at the end. */
static void ends_in_time_although_stopped(void **state)
{
	struct stage *stage = *state;
	struct child *busy, *spy, *late;
	int64_t wall_us;

	need_lua();
	busy = start_busy(stage);
	spy = start_record(stage, busy->pid, "-d", "4s", "-o", "x.json");
	late = start_record(stage, busy->pid, "-d", "1s", "-o", "y.json");
	spying__await_timers(stage, spy);
	spying__await_timers(stage, late);
	kill(spy->pid, SIGSTOP);
	kill(late->pid, SIGSTOP);
	sleep_seconds(2);
	kill(spy->pid, SIGCONT);
	kill(late->pid, SIGCONT);
	assert_ended(late);
	assert_ended(spy);
	wall_us = scriptprofile__recorded(spying__read(stage, in_folder(stage, "x.json")),
					  "WallDuration");
	print_message("%.3f s of 4\n", (double)wall_us / 1e6);
	assert_in_range(wall_us, 4000000, 4500000);
	wall_us = scriptprofile__recorded(spying__read(stage, in_folder(stage, "y.json")),
					  "WallDuration");
	print_message("%.3f s of 1\n", (double)wall_us / 1e6);
	assert_in_range(wall_us, 2000000, 3500000);
}

static void sessions_do_not_disturb_one_another(void **state)
{
	static const char *const files[] = {"1.json", "2.json", "3.json", "4.json"};
	struct stage *stage = *state;
	struct child *worker, *spies[4];
	char what[32];

	need_lua();
	accounts__own_copy(stage, LUA);
	worker = start_deep(stage);
	for (int i = 0; i < 2; i++) {
		spies[i] = start_record(stage, worker->pid, "-v", "-o", files[i]);
		spies[i + 2] =
			start(stage, luaspy_program(), "record", "--system", "--max-overhead",
			      "none", "-v", "--name", accounts__own_name(), "-o", files[i + 2]);
	}
	for (int i = 0; i < 4; i++)
		spying__await_timers(stage, spies[i]);
	child__tell(worker, "go");
	assert_ended(worker);
	for (int i = 0; i < 4; i++) {
		struct scriptprofile *profile;

		if (i >= 2)
			kill(spies[i]->pid, SIGTERM);
		assert_ended(spies[i]);
		profile = spying__read(stage, in_folder(stage, files[i]));
		accounts__assert_whole(stage, spies[i], profile);
		snprintf(what, sizeof(what), "%d of 4", i + 1);
		accounts__assert_near(what, (double)profile->all_us, accounts__charged_us(worker),
				      0.01);
		accounts__assert_near("early", (double)of_function(profile, "local function early"),
				      8e5, 0.05);
	}
}

/* Other processes keep the processors busy, and luaspy has the lowest priority. */
static void survives_with_hardly_any_processor_time(void **state)
{
	struct stage *stage = *state;
	struct child *one, *two, *spy;
	struct scriptprofile *profile;

	need_lua();
	accounts__own_copy(stage, LUA);
	one = start_deep(stage);
	two = start_deep(stage);
	spy = start(stage, "nice", "-n", "19", luaspy_program(), "record", "--system",
		    "--max-overhead", "none", "-v", "-F", "10khz", "--name", accounts__own_name(),
		    "--merge-by", "name", "-o", "profile.json");
	child__await_errors(stage, spy, "processes run an interpreter");
	for (int i = 0; i < 6; i++)
		start(stage, "sh", "-c", "while :; do :; done");
	child__tell(one, "go");
	child__tell(two, "go");
	assert_ended(one);
	assert_ended(two);
	profile = end_system(stage, spy);
	accounts__assert_whole(stage, spy, profile);
	accounts__assert_near("CPU time", (double)profile->all_us,
			      accounts__charged_us(one) + accounts__charged_us(two), 0.01);
	print_message("%.1f%% unsampled\n",
		      100 * (double)scriptprofile__total_us(profile, NULL, "(unsampled)", -1) /
			      (double)profile->all_us);
}

/*
 * Waits for a recording that may run out of memory, and returns whether it succeeded. Fails the
 * test unless it succeeded and wrote its file, or reported that it was out of memory and left a
 * complete file or none.
 */
static bool ended_well(struct stage *stage, struct child *spy)
{
	int status = child__wait(spy, PATIENCE);
	const char *errors = child__errors(stage, spy);
	bool is_there = !access(in_folder(stage, "profile.json"), F_OK);

	if (status > 1 || is_there < !status || (status && !strstr(errors, "out of memory")))
		fail_msg("status %d, %s file: %s", status, is_there ? "a" : "no", errors);
	if (status && is_there && !strstr(errors, "the recording ends here"))
		fail_msg("a file of a recording that failed: %s", errors);
	assert_int_equal(count_files(stage->folder) - 2 * stage->count, 1 + is_there);
	if (is_there)
		spying__read(stage, in_folder(stage, "profile.json"));
	unlink(in_folder(stage, "profile.json"));
	return !status;
}

/*
 * Returns how much memory, in KiB, the dynamic linker needs to load luaspy: below that, luaspy
 * cannot report anything.
 */
static int least_kib(struct stage *stage)
{
	int kib = 4000;

	for (;; kib += 500) {
		struct child *version;
		char limit[32];

		assert_in_range(kib, 4000, 20000);
		snprintf(limit, sizeof(limit), "--as=%d", kib * 1024);
		version = start(stage, "prlimit", limit, luaspy_program(), "--version");
		if (!child__wait(version, PATIENCE))
			return kib;
	}
}

/* The limits go from just enough memory to load the program to enough for two recordings. */
static void reports_too_little_memory_at_the_start(void **state)
{
	struct stage *stage = *state;
	struct child *busy;
	int well = 0, badly = 0, least;
	char pid[16], limit[32];

	need_lua();
	write_text(stage, "empty", "");
	least = least_kib(stage);
	busy = start_busy(stage);
	snprintf(pid, sizeof(pid), "%d", busy->pid);
	for (int kib = least; well < 2; kib += 2500) {
		struct child *spy;

		assert_in_range(kib, least, 65000);
		snprintf(limit, sizeof(limit), "--as=%d", kib * 1024);
		spy = start(stage, "prlimit", limit, luaspy_program(), "record", "-p", pid, "-d",
			    "200ms", "-o", "profile.json");
		if (ended_well(stage, spy))
			well++;
		else
			badly++;
	}
	print_message("%d recordings were out of memory, %d not\n", badly, well);
	assert_int_not_equal(badly, 0);
}

static long mapped_bytes(const struct child *spy)
{
	char path[64], *text;
	long pages;

	snprintf(path, sizeof(path), "/proc/%d/statm", spy->pid);
	text = read_file(path, NULL);
	pages = strtol(text, NULL, 10);
	free(text);
	return pages * sysconf(_SC_PAGESIZE);
}

/* The target adds a function every millisecond, until no memory is left. */
static void runs_out_of_memory_while_it_records(void **state)
{
	static const long more[] = {0, 1L << 17, 1L << 20, 1L << 26};
	struct stage *stage = *state;
	int well = 0, badly = 0;

	need_lua();
	write_text(stage, "growing.lua",
		   "local all, i, stop = {}, 0, os.clock() + 3\n"
		   "while os.clock() < stop do\n"
		   "	i = i + 1\n"
		   "	local text = 'for i = 1, 20000 do end return ' .. i\n"
		   "	all[i] = load('local function f' .. i .. '() ' .. text .. ' end f' .. i .. "
		   "'()', 'chunk' .. i)\n"
		   "	all[i]()\n"
		   "end\n");
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		struct child *target = start(stage, "lua5.4", "growing.lua"), *spy;
		struct rlimit limit;

		child__let_work(target, 0.1);
		spy = start_record(stage, target->pid, "-F", "10khz", "-o", "profile.json");
		spying__await_timers(stage, spy);
		limit.rlim_cur = limit.rlim_max = (rlim_t)(mapped_bytes(spy) + more[i]);
		assert_int_equal(prlimit(spy->pid, RLIMIT_AS, &limit, NULL), 0);
		if (ended_well(stage, spy))
			well++;
		else
			badly++;
		/* The target must not be affected. */
		assert_ended(target);
	}
	print_message("%d recordings ran out of memory, %d did not\n", badly, well);
	assert_in_range(well, 1, 3);
	assert_in_range(badly, 1, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(counts_records_that_did_not_fit_into_the_ring),
		staged(survives_being_stopped_for_ten_seconds),
		staged(ends_in_time_although_stopped),
		staged(sessions_do_not_disturb_one_another),
		staged(survives_with_hardly_any_processor_time),
		staged(reports_too_little_memory_at_the_start),
		staged(runs_out_of_memory_while_it_records),
	};

	return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
