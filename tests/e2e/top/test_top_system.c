/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy top of several processes, in a real terminal. */
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "watching.h"

/* No other program on the machine has such a name. */
#define ALPHA "top-alpha"
#define BETA  "top-beta"

/* Options for both programs: the default limit of overhead, or none. */
#define LIMITED "--system --name ^top-"
#define BOTH    LIMITED " --max-overhead none"

/*
 * Works in the function that it is told for as much CPU time as it is told, then waits for the next
 * line; 0 is without end.
 */
static const char script[] =
	"local name, limit = arg[1], tonumber(arg[2])\n"
	"local work = load('local function ' .. name .. '() local x = 0 for i = 1, 1e5 do x = x + i % 7'\n"
	"	.. ' end return x end local stop = ... while stop == 0 or os.clock() < stop do ' .. name\n"
	"	.. '() end', '@' .. name .. '.lua')\n"
	"local stop = limit\n"
	"repeat work(stop) stop = stop + limit until not io.read()\n";

/* The interpreter under such a name, and the script. */
static void prepare(struct stage *stage)
{
	struct child *copy = start(stage, "sh", "-c",
				   "cp \"$(readlink -f \"$(command -v lua5.4)\")\" " ALPHA
				   " && cp " ALPHA " " BETA);

	assert_int_equal(child__wait(copy, WATCHING_PATIENCE), 0);
	write_file(in_folder(stage, "app.lua"), script, sizeof(script) - 1);
}

static struct child *start_work(struct stage *stage, const char *program, const char *function,
				const char *seconds)
{
	return start(stage, in_folder(stage, program), "app.lua", function, seconds);
}

struct works {
	struct child *alpha, *beta;
};

/* Lets each work for this much CPU time, in the function of its name. */
static struct works start_works(struct stage *stage, const char *alpha_seconds,
				const char *beta_seconds)
{
	return (struct works){start_work(stage, ALPHA, "hot_alpha", alpha_seconds),
			      start_work(stage, BETA, "hot_beta", beta_seconds)};
}

/* Waits until top samples: it sees programs that start from now on from their beginnings. */
static void start_top(struct stage *stage, const char *options)
{
	watching__start(stage, options, "C.UTF-8", 80, 24);
	watching__await_seconds(stage, 1, WATCHING_PATIENCE);
}

/* Waits until the functions of both are shown. */
static void await_functions(struct stage *stage)
{
	pane__await(stage, "hot_alpha");
	pane__await(stage, "hot_beta");
}

/* Both work without end, and their functions are on the screen. */
static struct works watch_works(struct stage *stage)
{
	struct works works;

	prepare(stage);
	works = start_works(stage, "0", "0");
	start_top(stage, BOTH);
	await_functions(stage);
	return works;
}

/* Answers a prompt ('/' or 'f'). */
static void answer(struct stage *stage, const char *prompt, const char *text)
{
	pane__press(stage, prompt);
	pane__type(stage, text);
	pane__press(stage, "Enter");
}

/* "NAME app.lua (pid 42)" */
static const char *title_of(struct stage *stage, const char *name, const struct child *child)
{
	char *title;

	assert_true(asprintf(&title, "%s app.lua (pid %d)", name, child->pid) > 0);
	return stage__own(stage, title, free);
}

struct process_row {
	char cpu[16];
	double script, seconds;
	int at;
};

/* Its row in the view of processes; all 0 if it has none. */
static struct process_row read_process(struct stage *stage, const char *title)
{
	struct process_row row = {.at = -1};
	char share[16];
	const char *line = watching__line_with(stage, title, &row.at);

	if (sscanf(line, "%15s %15s %lfs", row.cpu, share, &row.seconds) != 3)
		return (struct process_row){.at = -1};
	row.script = watching__percent(share);
	return row;
}

/* Waits until the row shows this much CPU time and no more is added. */
static struct process_row await_rest(struct stage *stage, const char *title, double seconds)
{
	double end = now_seconds() + WATCHING_PATIENCE;
	struct process_row row;

	do {
		sleep_seconds(0.1);
		row = read_process(stage, title);
		if (now_seconds() > end)
			fail_msg("no rest of '%s' after %.2f s:\n%s", title, seconds,
				 pane__text(stage));
	} while (row.seconds < seconds || strcmp(row.cpu, "0.0%") != 0);
	return row;
}

/* Waits until the row shows some time. */
static void await_time(struct stage *stage, const char *title)
{
	double end = now_seconds() + WATCHING_PATIENCE;

	while (read_process(stage, title).seconds <= 0) {
		sleep_seconds(0.1);
		if (now_seconds() > end)
			fail_msg("no time of '%s':\n%s", title, pane__text(stage));
	}
}

/*
 * Compares with os.clock(), the kernel's figure and the interpreter's start. Returns the row of the
 * longer one.
 */
static struct process_row check_times(struct stage *stage, const char *options, int first_row)
{
	const char *alpha, *beta;
	struct works works;
	struct process_row row;

	need_to_watch();
	prepare(stage);
	start_top(stage, options);
	works = start_works(stage, "1.5", "0.5");
	alpha = title_of(stage, ALPHA, works.alpha);
	beta = title_of(stage, BETA, works.beta);
	pane__press(stage, "v");
	pane__press(stage, "3");
	pane__await(stage, ">time");
	pane__await(stage, ": 2 processes");
	row = await_rest(stage, beta, 0.45);
	assert_in_range(1000 * row.seconds, 470, 540);
	row = await_rest(stage, alpha, 1.4);
	assert_in_range(1000 * row.seconds, 1460, 1560);
	assert_int_equal(row.at, first_row);
	assert_int_equal(read_process(stage, beta).at, first_row + 1);
	assert_non_null(strstr(pane__line(stage, 4), "lost  dropped 0, unreadable "));
	assert_non_null(strstr(pane__line(stage, 5), "cost  luaspy "));
	return row;
}

static void shows_the_time_of_each_process(void **state)
{
	struct process_row row = check_times(*state, BOTH, 7);

	assert_true(row.script > 90);
	assert_null(strstr(pane__text(*state), "limit "));
}

static void keeps_to_one_percent_by_default(void **state)
{
	struct process_row row = check_times(*state, LIMITED, 8);

	assert_true(row.script > 90);
	assert_memory_equal(pane__line(*state, 6), "limit 1% of targets' CPU: ", 26);
	/* For an idle process, no frequency is right; the total is known. */
	assert_non_null(strstr(pane__line(*state, 6), "- now, "));
	assert_non_null(strstr(pane__line(*state, 6), "% in all; at "));
}

static void keeps_the_time_right_at_a_low_frequency(void **state)
{
	check_times(*state, LIMITED " --max-overhead 0.01%", 8);
	assert_memory_equal(pane__line(*state, 6), "limit 0.01% of targets' CPU: ", 29);
	assert_non_null(strstr(pane__line(*state, 6), " Hz, not 1,000 Hz"));
	/* Small screens show it, too. */
	pane__resize(*state, 40, 6);
	pane__await(*state, " of 0.01%, all ");
	assert_non_null(strstr(pane__text(*state), "drop 0 unread "));
}

static void shows_the_process_of_each_function(void **state)
{
	struct works works;
	char expected[64];

	need_to_watch();
	works = watch_works(*state);
	snprintf(expected, sizeof(expected), "%d " ALPHA, works.alpha->pid);
	assert_non_null(strstr(watching__line_with(*state, "hot_alpha", NULL), expected));
	snprintf(expected, sizeof(expected), "%d " BETA, works.beta->pid);
	assert_non_null(strstr(watching__line_with(*state, "hot_beta", NULL), expected));
	answer(*state, "f", "beta app.lua (");
	pane__await_without(*state, "hot_alpha");
	pane__await(*state, "hot_beta");
	/* Small screens show all of it, too. */
	pane__press(*state, "Escape");
	pane__resize(*state, 40, 10);
	pane__await(*state, "drop 0 unread ");
	assert_non_null(strstr(pane__line(*state, 3), "luaspy "));
	pane__press(*state, "v");
	pane__await(*state, ALPHA " app.");
	assert_non_null(strstr(pane__text(*state), "drop 0 unread "));
	pane__resize(*state, 120, 30);
	pane__await(*state, "samples  process");
	pane__press(*state, "q");
	watching__await_end(*state, 0);
}

static void enters_a_process_and_goes_back(void **state)
{
	const char *alpha, *beta;
	struct works works;

	need_to_watch();
	works = watch_works(*state);
	alpha = title_of(*state, ALPHA, works.alpha);
	beta = title_of(*state, BETA, works.beta);
	pane__press(*state, "v");
	pane__await(*state, alpha);
	answer(*state, "/", "beta");
	pane__await(*state, "search beta");
	/* The cursor stays at the top while processes come and go, else with its process. */
	answer(*state, "f", "beta");
	pane__await(*state, "1-1 of 1");
	pane__press(*state, "Enter");
	pane__await(*state, "hot_beta");
	pane__await_without(*state, "hot_alpha");
	assert_non_null(strstr(pane__line(*state, 0), beta));
	pane__press(*state, "Escape");
	pane__await(*state, "1-1 of 1");
	pane__press(*state, "Escape");
	pane__await(*state, alpha);
	pane__press(*state, "v");
	pane__await(*state, "hot_alpha");
}

static void keeps_the_totals_of_ended_processes(void **state)
{
	struct process_row before, after;
	struct works works;
	const char *title;

	need_to_watch();
	prepare(*state);
	start_top(*state, BOTH);
	works = start_works(*state, "0", "0.4");
	title = title_of(*state, BETA, works.beta);
	pane__press(*state, "v");
	before = await_rest(*state, title, 0.3);
	child__kill(works.beta);
	pane__await(*state, ": 1 process, 1 ended");
	pane__await(*state, "  ended ");
	after = read_process(*state, title);
	assert_string_equal(after.cpu, "ended");
	assert_in_range(1000 * after.seconds, 1000 * before.seconds - 10,
			1000 * before.seconds + 60);
	await_time(*state, title_of(*state, ALPHA, works.alpha));
	/* The functions of the ended process are kept, too. */
	answer(*state, "f", "beta");
	pane__press(*state, "Enter");
	pane__await(*state, "hot_beta");
	assert_non_null(strstr(pane__line(*state, 0), ", ended, of the system"));
}

static void merges_processes_of_one_name(void **state)
{
	double end = now_seconds() + WATCHING_PATIENCE;
	struct child *first, *second;
	double seconds = 0;
	int living = 0;

	need_to_watch();
	prepare(*state);
	start_top(*state, BOTH " --merge-by name");
	first = start_work(*state, ALPHA, "hot_alpha", "0.5");
	second = start_work(*state, ALPHA, "hot_alpha", "0.7");
	pane__press(*state, "v");
	pane__await(*state, "procs");
	while (seconds < 1.1 || living != 2) {
		if (now_seconds() > end)
			fail_msg("not 1.2 s of two in one row:\n%s", pane__text(*state));
		sleep_seconds(0.1);
		sscanf(watching__line_with(*state, "  " ALPHA, NULL), "%d %*s %*s %lfs", &living,
		       &seconds);
	}
	/* A message may show one of them for a while. */
	pane__await_without(*state, "(pid");
	pane__press(*state, "v");
	pane__await(*state, "hot_alpha");
	pane__await(*state, ": 2 processes");
	child__kill(first);
	child__kill(second);
	pane__await(*state, ": 1 ended");
}

static void watches_a_list_until_all_have_ended(void **state)
{
	struct works works;
	char options[64];

	need_to_watch();
	prepare(*state);
	works = start_works(*state, "0", "0");
	snprintf(options, sizeof(options), "-p %d,%d", works.alpha->pid, works.beta->pid);
	start_top(*state, options);
	await_functions(*state);
	child__kill(works.alpha);
	pane__await(*state, ": 1 process, 1 ended");
	assert_null(strstr(pane__text(*state), "[ended]"));
	child__kill(works.beta);
	pane__await(*state, "[ended]");
	pane__await(*state, ": 2 ended");
	pane__await(*state, "hot_alpha");
	pane__press(*state, "q");
	watching__await_end(*state, 0);
}

static void follows_children(void **state)
{
	struct child *shell;
	char options[64];

	need_to_watch();
	prepare(*state);
	shell = start(*state, "sh", "-c",
		      "read go; ./" ALPHA " app.lua hot_alpha 20 & ./" BETA
		      " app.lua hot_beta 20 & wait");
	snprintf(options, sizeof(options), "--children -p %d", shell->pid);
	start_top(*state, options);
	child__tell(shell, "go");
	await_functions(*state);
	pane__press(*state, "v");
	pane__await(*state, ALPHA " app.lua (pid ");
	pane__await(*state, BETA " app.lua (pid ");
	pane__press(*state, "q");
	watching__await_end(*state, 0);
	/* The shell's children would continue for a while. */
	child__wait(start(*state, "pkill", "-P", stage__own(*state, strdup(options + 14), free)),
		    WATCHING_PATIENCE);
}

static void writes_all_processes(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct works works;
	const char *pattern;
	glob_t files;
	int64_t alpha_us, beta_us;

	need_to_watch();
	prepare(stage);
	start_top(stage, BOTH);
	works = start_works(stage, "0.6", "0.6");
	pane__press(stage, "v");
	await_rest(stage, title_of(stage, ALPHA, works.alpha), 0.5);
	await_rest(stage, title_of(stage, BETA, works.beta), 0.5);
	pane__press(stage, "p");
	pane__await(stage, "[paused]");
	pane__press(stage, "w");
	pane__await(stage, "wrote system-");
	pattern = in_folder(stage, "system-*.json");
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, 1);
	profile = spying__read(stage, files.gl_pathv[0]);
	globfree(&files);
	alpha_us = scriptprofile__self_us(profile, NULL, "hot_alpha", 1);
	beta_us = scriptprofile__self_us(profile, NULL, "hot_beta", 1);
	print_message("%.3f s and %.3f s of 0.6 each\n", (double)alpha_us / 1e6,
		      (double)beta_us / 1e6);
	assert_in_range(alpha_us, 560000, 640000);
	assert_in_range(beta_us, 560000, 640000);
	assert_int_equal(json_array_size(json_object_get(profile->document, "Categories")), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_the_time_of_each_process),
		staged(keeps_to_one_percent_by_default),
		staged(keeps_the_time_right_at_a_low_frequency),
		staged(shows_the_process_of_each_function),
		staged(enters_a_process_and_goes_back),
		staged(keeps_the_totals_of_ended_processes),
		staged(merges_processes_of_one_name),
		staged(watches_a_list_until_all_have_ended),
		staged(follows_children),
		staged(writes_all_processes),
	};

	return cmocka_run_group_tests_name("top of several processes", tests, NULL, NULL);
}
