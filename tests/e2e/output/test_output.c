/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording writes, and where: the profile, the summary, the countdown. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "spying.h"

static void writes_to_standard_output_nothing_but_the_profile(void **state)
{
	struct child *target, *spy;
	char name[32];

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "500ms", "-o", "-");
	spying__finish(*state, spy);
	snprintf(name, sizeof(name), ".%d.out", spy->number);
	assert_true(scriptprofile__stack_us(spying__read(*state, in_folder(*state, name)), "work") >
		    0);
	assert_non_null(strstr(child__errors(*state, spy), "Hottest functions"));
}

static bool find_json(const struct stage *stage, char *name, size_t size)
{
	DIR *folder = opendir(stage->folder);
	bool is_found = false;

	assert_non_null(folder);
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (!strstr(entry->d_name, ".json"))
			continue;
		assert_false(is_found);
		snprintf(name, size, "%s", entry->d_name);
		is_found = true;
	}
	closedir(folder);
	return is_found;
}

static void chooses_a_file_name_and_reports_it(void **state)
{
	struct child *target, *spy;
	char name[256], said[300], date[32];
	int pid;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "300ms");
	spying__finish(*state, spy);
	assert_true(find_json(*state, name, sizeof(name)));
	assert_int_equal(sscanf(name, "lua5.4-%d-%31[0-9-].json", &pid, date), 2);
	assert_int_equal(pid, target->pid);
	assert_int_equal(strlen(date), strlen("20010203-040506"));
	snprintf(said, sizeof(said), "luaspy: wrote %s\n", name);
	assert_non_null(strstr(child__errors(*state, spy), said));
	assert_int_equal(child__output_size(*state, spy), 0);
	spying__read(*state, in_folder(*state, name));
}

/*
 * One recording, several files: each in its own format; those that need the order of samples have
 * it.
 */
static void writes_several_formats_at_once(void **state)
{
	struct child *target, *spy;
	struct scriptprofile *profile;
	char *text;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "500ms", "-o", "x.json", "-o", "x.svg", "-o",
			   "x.cpuprofile");
	spying__finish(*state, spy);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	assert_true(json_array_size(json_object_get(profile->document, "Samples")) > 0);
	text = stage__own(*state, read_file(in_folder(*state, "x.svg"), NULL), free);
	assert_non_null(strstr(text, "<svg "));
	text = stage__own(*state, read_file(in_folder(*state, "x.cpuprofile"), NULL), free);
	assert_non_null(strstr(text, "\"timeDeltas\""));
	assert_non_null(strstr(child__errors(*state, spy), "luaspy: wrote x.svg\n"));
	assert_non_null(strstr(child__errors(*state, spy), "any browser opens it"));
}

static void is_quiet_with_quiet(void **state)
{
	struct child *target, *spy;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "300ms", "-q", "-o", "x.json");
	spying__finish(*state, spy);
	assert_string_equal(child__errors(*state, spy), "");
	assert_int_equal(child__output_size(*state, spy), 0);
	spying__read(*state, in_folder(*state, "x.json"));
}

static void counts_down_on_a_terminal_only(void **state)
{
	struct child *target, *spy;
	char command[256];

	need_lua();
	need_program("script", "bsdutils");
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "1", "-o", "x.json");
	spying__finish(*state, spy);
	assert_null(strchr(child__errors(*state, spy), '\r'));
	assert_null(strchr(child__errors(*state, spy), '\33'));
	snprintf(command, sizeof(command), "%s record -p %d -d 1500ms -o y.json", luaspy_program(),
		 target->pid);
	spy = start(*state, "script", "-qefc", command, "/dev/null");
	spying__finish(*state, spy);
	/* The countdown stays on its line and is removed before the summary. */
	assert_non_null(strstr(child__output(*state, spy), "\r"));
	assert_non_null(strstr(child__output(*state, spy), " left  "));
	assert_non_null(strstr(child__output(*state, spy), "wrote y.json"));
	spying__read(*state, in_folder(*state, "y.json"));
}

static void counts_down_on_a_terminal_even_if_output_is_a_pipe(void **state)
{
	struct child *target, *spy;
	char command[256];

	need_lua();
	need_program("script", "bsdutils");
	target = start_busy(*state);
	snprintf(command, sizeof(command), "%s record -p %d -d 1 -o - | cat > y.json",
		 luaspy_program(), target->pid);
	spy = start(*state, "script", "-qefc", command, "/dev/null");
	spying__finish(*state, spy);
	assert_non_null(strstr(child__output(*state, spy), "Hottest functions"));
	spying__read(*state, in_folder(*state, "y.json"));
}

/*
 * A file that luaspy opens would get the closed descriptor's number. luaspy must refuse at once,
 * not after the recording.
 */
static void refuses_closed_standard_streams(void **state)
{
	static const char *const closed[] = {"1>&-", "0<&- 1>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"};
	struct child *target, *spy;
	char command[320];

	need_lua();
	target = start_busy(*state);
	for (size_t i = 0; i < 4; i++) {
		snprintf(command, sizeof(command),
			 "exec '%s' record -p %d "
			 "--until-samples 20 -o - %s",
			 luaspy_program(), target->pid, closed[i]);
		spy = start(*state, "sh", "-c", command);
		assert_int_equal(child__wait(spy, 30), 1);
		assert_null(strstr(child__errors(*state, spy), "Hottest"));
	}
	snprintf(command, sizeof(command),
		 "exec '%s' record --control fifo -p %d --until-samples 20 -o x.json "
		 "0<&- 1>&- 2>&-",
		 luaspy_program(), target->pid);
	spying__finish(*state, start(*state, "sh", "-c", command));
	spying__read(*state, in_folder(*state, "x.json"));
}

static void replaces_a_file_atomically(void **state)
{
	struct child *target;
	struct scriptprofile *profile;
	struct stat status;
	char filler[65536];

	need_lua();
	target = start_busy(*state);
	memset(filler, 'x', sizeof(filler));
	write_file(in_folder(*state, "profile.json"), filler, sizeof(filler));
	chmod(in_folder(*state, "profile.json"), 0600);
	profile = record(*state, target->pid, "-d", "300ms", "-q");
	assert_true(scriptprofile__stack_us(profile, "main chunk > work") > 0);
	assert_int_equal(stat(in_folder(*state, "profile.json"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void prints_the_figures_of_the_file_in_the_summary(void **state)
{
	struct child *target, *spy;
	struct scriptprofile *profile;
	const char *errors;
	long long complete;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "900ms", "-o", "x.json", "-F", "1khz", "-v");
	spying__finish(*state, spy);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	errors = child__errors(*state, spy);
	assert_non_null(strstr(errors, "  complete"));
	assert_int_equal(sscanf(strstr(errors, "  complete"), "  complete %lld", &complete), 1);
	assert_int_equal(complete, scriptprofile__samples(profile, "complete"));
	assert_non_null(strstr(errors, "Lua 5.4"));
	assert_non_null(strstr(errors, "layout "));
	assert_non_null(strstr(errors, " of CPU time in 9"));
	assert_int_equal(scriptprofile__recorded(profile, "Frequency"), 1000);
}

/* The answer comes first; where all is well, accounting is left out. */
static void prints_the_answer_first(void **state)
{
	static const char *const in_order[] = {
		": Lua 5.4",      "layout ",        " of CPU time in ", "\n\nHottest functions, ",
		"   1  ",         "work  ",         "Hottest path",     "work  ",
		" samples whole", "wrote x.json\n", "ScriptProfiler"};
	struct child *target, *spy;
	const char *rest;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "500ms", "-o", "x.json");
	spying__finish(*state, spy);
	rest = child__errors(*state, spy);
	for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++) {
		rest = strstr(rest, in_order[i]);
		if (!rest)
			fail_msg("no '%s' in its place: %s", in_order[i],
				 child__errors(*state, spy));
	}
	assert_null(strstr(child__errors(*state, spy), "complete"));
}

static void shows_the_call_tree_and_callers_on_request(void **state)
{
	struct child *target, *spy;
	const char *errors;

	need_lua();
	target = start_busy(*state);
	spy = start_record(*state, target->pid, "-d", "500ms", "-o", "x.json", "--tree=2",
			   "--callers", "work");
	spying__finish(*state, spy);
	errors = child__errors(*state, spy);
	assert_non_null(strstr(errors, "\nCall tree, by total time\n   total    self  function\n"));
	assert_non_null(strstr(errors, "\nCallers of work, by share of its total time\n"
				       "  100.0%  work  "));
	assert_non_null(strstr(errors, "    main chunk  "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(writes_to_standard_output_nothing_but_the_profile),
		staged(chooses_a_file_name_and_reports_it),
		staged(writes_several_formats_at_once),
		staged(is_quiet_with_quiet),
		staged(counts_down_on_a_terminal_only),
		staged(counts_down_on_a_terminal_even_if_output_is_a_pipe),
		staged(refuses_closed_standard_streams),
		staged(replaces_a_file_atomically),
		staged(prints_the_figures_of_the_file_in_the_summary),
		staged(prints_the_answer_first),
		staged(shows_the_call_tree_and_callers_on_request),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
