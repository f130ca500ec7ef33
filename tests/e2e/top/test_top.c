/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy top in a real terminal. */
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

/* Nine tenths are in hot_part(), which calls nothing; the script prints what it measured itself. */
static const char script[] =
	"local function hot_part(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end\n"
	"local function cold_part(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end\n"
	"local function outer() local x = hot_part(90000) x = x + cold_part(10000) return x end\n"
	"while true do outer() end\n";

static struct child *start_target(struct stage *stage)
{
	struct child *target;

	write_file(in_folder(stage, "app.lua"), script, sizeof(script) - 1);
	target = start(stage, "lua5.4", "app.lua");
	while (child__cpu_seconds(target) < 0.05)
		sleep_seconds(0.01);
	return target;
}

/* Starts top in a terminal of this size and waits for its functions and a second of samples. */
static void start_top(struct stage *stage, pid_t pid, const char *locale, int width, int height)
{
	char options[32];

	snprintf(options, sizeof(options), "-p %d", pid);
	watching__start(stage, options, locale, width, height);
	watching__await_seconds(stage, 2, WATCHING_PATIENCE);
	pane__await(stage, "hot_part");
}

static void shows_the_hot_function_on_top(void **state)
{
	struct child *target;
	double hot[4], cold[4], outer[4];
	int at = -1;

	need_to_watch();
	target = start_target(*state);
	start_top(*state, target->pid, "C.UTF-8", 80, 24);
	/* All three lines come from one refresh, after more than a few samples. */
	watching__await_seconds(*state, 4, WATCHING_PATIENCE);
	pane__press(*state, "p");
	pane__await(*state, "[paused]");
	watching__line_with(*state, "hot_part", &at);
	assert_int_equal(at, 7);
	watching__read_row(*state, "hot_part", hot);
	watching__read_row(*state, "cold_part", cold);
	watching__read_row(*state, " outer ", outer);
	/* 90 to 10 holds for all samples since the start, whatever else the machine does. */
	assert_in_range(1000 * hot[2] / (hot[2] + cold[2]), 870, 930);
	assert_in_range(1000 * hot[0] / (hot[0] + cold[0]), 840, 960);
	assert_in_range(1000 * hot[3] / outer[3], 870, 930);
	assert_true(strstr(pane__line(*state, 1), "Lua 5.4") != NULL);
	assert_true(strstr(pane__line(*state, 2), "layout 5.4") != NULL);
	assert_true(strstr(pane__line(*state, 4), "lost  dropped 0, unreadable ") != NULL);
	assert_true(strstr(pane__line(*state, 5), "cost  luaspy ") != NULL);
	assert_true(strstr(pane__line(*state, 6), ">self%") != NULL);
	assert_true(strstr(watching__line_with(*state, "hot_part", NULL), "app.lua:1") != NULL);
}

/* The share behind a word of the screen. */
static int share_of(struct stage *stage, const char *word)
{
	return (int)watching__percent(strstr(pane__await(stage, word), word) + strlen(word));
}

static void shows_how_scripts_ran_where_they_are_compiled(void **state)
{
	struct stage *stage = *state;
	struct child *target;

	need_to_watch();
	need_program("luajit", "luajit");
	write_file(in_folder(stage, "app.lua"), script, sizeof(script) - 1);
	target = start(stage, "luajit", "app.lua");
	child__let_work(target, 0.2);
	start_top(stage, target->pid, "C.UTF-8", 80, 24);
	watching__await_seconds(stage, 4, WATCHING_PATIENCE);
	assert_in_range(share_of(stage, "interpreted "), 0, 20);
	assert_in_range(share_of(stage, "compiled "), 60, 100);
	assert_true(strstr(pane__line(stage, 3), "now   CPU ") != NULL);
	assert_true(strstr(pane__line(stage, 4), "interpreted ") != NULL);
	assert_true(strstr(pane__line(stage, 5), "lost  dropped ") != NULL);
}

static void sorts_searches_and_helps(void **state)
{
	struct child *target;
	int at = -1;

	need_to_watch();
	target = start_target(*state);
	start_top(*state, target->pid, "C.UTF-8", 80, 24);
	pane__press(*state, "2");
	pane__await(*state, ">total%");
	pane__await(*state, "by total% of the last second");
	watching__line_with(*state, "hot_part", &at);
	assert_in_range(at, 8, 23);
	pane__press(*state, "i");
	pane__await(*state, "<total%");
	pane__press(*state, "/");
	pane__type(*state, "cold");
	pane__await(*state, "/cold_");
	pane__press(*state, "Enter");
	pane__await(*state, "search cold");
	pane__press(*state, "/");
	pane__type(*state, "yyy");
	pane__press(*state, "Enter");
	pane__await(*state, "nothing matches 'yyy'");
	pane__press(*state, "p");
	pane__await(*state, "[paused]");
	pane__press(*state, "n");
	pane__await(*state, "nothing matches 'yyy'");
	pane__press(*state, "p");
	pane__await(*state, "search yyy: no match");
	pane__press(*state, "f");
	pane__type(*state, "outer");
	pane__press(*state, "Enter");
	pane__await_without(*state, "hot_part");
	pane__await(*state, "1-1 of 1");
	pane__press(*state, "Escape");
	pane__await(*state, "hot_part");
	pane__press(*state, "h");
	pane__await(*state, "freeze the picture");
	pane__press(*state, "h");
	pane__await_without(*state, "freeze the picture");
}

static void freezes_the_view(void **state)
{
	struct child *target;
	const char *before;

	need_to_watch();
	target = start_target(*state);
	start_top(*state, target->pid, "C.UTF-8", 80, 24);
	pane__press(*state, "p");
	before = stage__own(*state, strdup(pane__await(*state, "[paused]")), free);
	assert_non_null(strstr(before, "paused: it is still sampled"));
	sleep_seconds(2.5);
	assert_string_equal(pane__text(*state), before);
	pane__press(*state, "p");
	pane__await_without(*state, "[paused]");
	/* Samples taken during the freeze are shown now. */
	pane__await(*state, " s  CPU");
	pane__await(*state, "now   CPU");
}

static void counts_from_zero(void **state)
{
	struct child *target;
	double hot[4];

	need_to_watch();
	target = start_target(*state);
	start_top(*state, target->pid, "C.UTF-8", 80, 24);
	watching__await_seconds(*state, 5, WATCHING_PATIENCE);
	pane__press(*state, "r");
	watching__await_seconds(*state, 1, 3);
	watching__read_row(*state, "hot_part", hot);
	assert_in_range(100 * hot[2], 1, 100 * 4);
}

static void writes_what_it_has(void **state)
{
	struct stage *stage = *state;
	struct scriptprofile *profile;
	struct child *target;
	glob_t files;
	char name[64], pattern[128];

	need_to_watch();
	target = start_target(stage);
	start_top(stage, target->pid, "C.UTF-8", 80, 24);
	pane__press(stage, "w");
	snprintf(name, sizeof(name), "wrote lua5.4-%d-", target->pid);
	pane__await(stage, name);
	snprintf(pattern, sizeof(pattern), "%s/lua5.4-%d-*.json", stage->folder, target->pid);
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, 1);
	profile = spying__read(stage, files.gl_pathv[0]);
	globfree(&files);
	assert_true(scriptprofile__self_us(profile, NULL, "hot_part", 1) >
		    profile->all_us * 6 / 10);
	/* top continues, and the file stays. */
	pane__await_without(stage, name);
	pane__press(stage, "q");
	watching__await_end(stage, 0);
	assert_int_equal(glob(pattern, 0, NULL, &files), 0);
	globfree(&files);
}

static void follows_the_size_of_the_terminal(void **state)
{
	struct child *target;

	need_to_watch();
	target = start_target(*state);
	start_top(*state, target->pid, "C.UTF-8", 80, 24);
	pane__resize(*state, 120, 40);
	pane__await(*state, "function                           source");
	assert_memory_equal(pane__line(*state, 39), "q:quit h:help", 13);
	pane__resize(*state, 40, 10);
	pane__await(*state, "drop 0 unread ");
	assert_memory_equal(pane__line(*state, 9), "q:quit h:help", 13);
	assert_non_null(strstr(pane__line(*state, 3), "luaspy "));
	assert_non_null(strstr(pane__line(*state, 5), "hot_part"));
	pane__press(*state, "h");
	pane__await(*state, "help: 1-3 of ");
	pane__press(*state, "Down");
	pane__await(*state, "help: 2-4 of ");
	pane__press(*state, "h");
	pane__await(*state, "hot_part");
	pane__resize(*state, 2, 1);
	sleep_seconds(0.5);
	pane__resize(*state, 300, 90);
	pane__await(*state, "w:write r:reset");
	pane__await(*state, "hot_part");
}

static void gives_the_terminal_back(void **state)
{
	struct child *target;
	const char *shown;

	need_to_watch();
	target = start_target(*state);
	pane__open(*state, "C.UTF-8", 120, 24);
	pane__type(*state, "stty -g > before; echo still here");
	pane__press(*state, "Enter");
	for (int i = 0; i < 2; i++) {
		char command[512];

		snprintf(command, sizeof(command), "%s top -p %d; echo status $?; stty -g > after",
			 luaspy_program(), target->pid);
		pane__type(*state, command);
		pane__press(*state, "Enter");
		pane__await(*state, "hot_part");
		pane__press(*state, i ? "C-c" : "q");
		shown = watching__await_end(*state, 0);
		/* The shell's screen is back, with one line more. */
		assert_non_null(strstr(shown, "still here"));
		assert_non_null(strstr(shown, "luaspy: saw "));
		assert_non_null(strstr(shown, " lost"));
		assert_null(strstr(shown, "self%"));
		assert_string_equal(
			stage__own(*state, read_file(in_folder(*state, "before"), NULL), free),
			stage__own(*state, read_file(in_folder(*state, "after"), NULL), free));
		pane__type(*state, "clear; echo still here");
		pane__press(*state, "Enter");
		pane__await_without(*state, "status");
	}
}

static void keeps_the_last_view_of_an_ended_target(void **state)
{
	struct child *target;

	need_to_watch();
	target = start_target(*state);
	start_top(*state, target->pid, "C.UTF-8", 80, 24);
	child__kill(target);
	pane__await(*state, "[ended]");
	pane__await(*state, "ended: this is the last picture, q quits");
	pane__await(*state, "hot_part");
	/* The view can still be used and written. */
	pane__press(*state, "4");
	pane__await(*state, ">total ");
	pane__press(*state, "w");
	pane__await(*state, "wrote lua5.4-");
	/* There will be no other picture. */
	pane__press(*state, "r");
	pane__await(*state,
		    "the target has ended: there is nothing new to count, so the counts stay");
	pane__await(*state, "hot_part");
	pane__resize(*state, 100, 30);
	pane__await(*state, "[ended]");
	pane__press(*state, "C-c");
	watching__await_end(*state, 0);
}

static void keeps_names_from_the_terminal(void **state)
{
	static const char hostile[] =
		"local f = load('local function hot_part() local x = 0 for i = 1, 1e5 do x = x + i end "
		"return x end while true do local x = hot_part() end', "
		"'@\\27[2J\\27]0;owned\\7caf\\195\\169.lua')\n"
		"f()\n";
	struct child *target;
	const char *shown;

	need_to_watch();
	write_file(in_folder(*state, "hostile.lua"), hostile, sizeof(hostile) - 1);
	target = start(*state, "lua5.4", "hostile.lua");
	start_top(*state, target->pid, "C.UTF-8", 120, 24);
	shown = pane__await(*state, "\\x1b[2J\\x1b]0;owned\\x07caf\u00e9.lua:1");
	assert_memory_equal(shown, "luaspy top: ", 12);
	pane__press(*state, "q");
	watching__await_end(*state, 0);
}

static void uses_ascii_in_an_ascii_locale(void **state)
{
	static const char names[] =
		"local f = load('local function hot_part() local x = 0 for i = 1, 1e5 do x = x + i end "
		"return x end while true do local x = hot_part() end', '@caf\\195\\169.lua')\n"
		"f()\n";
	struct child *target;

	need_to_watch();
	write_file(in_folder(*state, "names.lua"), names, sizeof(names) - 1);
	target = start(*state, "lua5.4", "names.lua");
	start_top(*state, target->pid, "C", 80, 24);
	pane__await(*state, "caf\\xc3\\xa9.lua:1");
}

static void needs_a_terminal(void **state)
{
	struct child *target, *spy;
	char pid[16];

	need_to_watch();
	target = start_target(*state);
	snprintf(pid, sizeof(pid), "%d", target->pid);
	spy = start(*state, luaspy_program(), "top", "-p", pid);
	assert_int_equal(child__wait(spy, 20), 2);
	assert_string_equal(
		child__errors(*state, spy),
		"luaspy: cannot show the live view: standard input and output are not a terminal "
		"('luaspy record' and 'luaspy dump' need none)\n");
	pane__open(*state, "C.UTF-8", 80, 24);
	pane__type(*state, "TERM=no-such-terminal ");
	pane__type(*state, luaspy_program());
	pane__type(*state, " top -p ");
	pane__type(*state, pid);
	pane__type(*state, "; echo status $?");
	pane__press(*state, "Enter");
	assert_non_null(strstr(watching__await_end(*state, 1), "no-such-terminal"));
}

/* A user who closes the window ends top. */
static void ends_with_its_terminal(void **state)
{
	struct child *target, *finder;
	char command[128];

	need_to_watch();
	target = start_target(*state);
	start_top(*state, target->pid, "C.UTF-8", 80, 24);
	child__kill(&((struct stage *)*state)->children[1]);
	snprintf(command, sizeof(command),
		 "while pgrep -f '^%s top -p %d' >/dev/null; do sleep 0.1; done", luaspy_program(),
		 target->pid);
	finder = start(*state, "bash", "-c", command);
	assert_int_equal(child__wait(finder, 20), 0);
}

/* The target prints text that would show on the screen if luaspy let it through. */
static const char talking_script[] =
	"io.stderr:write('disturbing\\n') print('disturbing', io.read())\n"
	"local function hot_part(n) local x = 0 for i = 1, n do x = x + i % 7 end return x end\n"
	"while not arg[1] or os.clock() < 3 do hot_part(90000) end os.exit(7)\n";

static void start_command(struct stage *stage, const char *options)
{
	need_to_watch();
	write_file(in_folder(stage, "app.lua"), talking_script, sizeof(talking_script) - 1);
	watching__start(stage, options, "C.UTF-8", 80, 24);
	watching__await_seconds(stage, 2, WATCHING_PATIENCE);
	pane__await(stage, "hot_part");
	assert_null(strstr(pane__text(stage), "disturbing"));
}

/* Whether it runs: other programs on this machine have other paths. */
static bool is_running(struct stage *stage, const char *path)
{
	char pattern[256];

	snprintf(pattern, sizeof(pattern), "^lua5.4 %s$", path);
	return !child__wait(start(stage, "pgrep", "-f", pattern), 20);
}

static void starts_a_command_and_ends_it(void **state)
{
	const char *path = in_folder(*state, "app.lua");
	char options[256];

	snprintf(options, sizeof(options), "-- lua5.4 %s", path);
	start_command(*state, options);
	assert_true(is_running(*state, path));
	pane__press(*state, "q");
	watching__await_end(*state, 0);
	assert_null(strstr(pane__text(*state), "disturbing"));
	assert_false(is_running(*state, path));
}

/* luaspy alone has the terminal, and Ctrl-C ends luaspy. */
static void keeps_a_command_out_of_reach_of_the_terminal(void **state)
{
	start_command(*state, "-- lua5.4 app.lua 2>errors");
	pane__press(*state, "C-c");
	watching__await_end(*state, 0);
	assert_int_equal(child__wait(start(*state, "grep", "-q", "^disturbing$", "errors"), 20), 0);
}

static void has_the_status_of_a_command_that_ended(void **state)
{
	start_command(*state, "-- lua5.4 app.lua briefly");
	pane__await(*state, "ended");
	pane__press(*state, "q");
	watching__await_end(*state, 7);
}

static void reports_that_there_is_no_such_command(void **state)
{
	need_to_watch();
	watching__start(*state, "-- no-such-command", "C.UTF-8", 80, 24);
	watching__await_end(*state, 127);
	assert_non_null(
		strstr(pane__text(*state), "cannot run 'no-such-command': no such command"));
}

static void reports_an_unsupported_interpreter(void **state)
{
	need_to_watch();
	char command[600];

	snprintf(command, sizeof(command), "-- %s", built_program("oldjit"));
	watching__start(*state, command, "C.UTF-8", 120, 24);
	watching__await_seconds(*state, 1, WATCHING_PATIENCE);
	pane__press(*state, "q");
	watching__await_end(*state, 3);
	assert_non_null(strstr(pane__text(*state), "LuaJIT, which is not supported"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_the_hot_function_on_top),
		staged(shows_how_scripts_ran_where_they_are_compiled),
		staged(sorts_searches_and_helps),
		staged(freezes_the_view),
		staged(counts_from_zero),
		staged(writes_what_it_has),
		staged(follows_the_size_of_the_terminal),
		staged(gives_the_terminal_back),
		staged(keeps_the_last_view_of_an_ended_target),
		staged(keeps_names_from_the_terminal),
		staged(uses_ascii_in_an_ascii_locale),
		staged(needs_a_terminal),
		staged(ends_with_its_terminal),
		staged(starts_a_command_and_ends_it),
		staged(keeps_a_command_out_of_reach_of_the_terminal),
		staged(has_the_status_of_a_command_that_ended),
		staged(reports_that_there_is_no_such_command),
		staged(reports_an_unsupported_interpreter),
	};

	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
