/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Under limits of the shell (ulimit), luaspy names the limit that stops it and the remedy. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "accounts.h"

#define PATIENCE 60

/* A shell sets the limits, then becomes luaspy with these words. */
static struct child *start_limited(struct stage *stage, const char *limits, const char *words)
{
	char command[512];

	snprintf(command, sizeof(command), "%s; exec '%s' %s", limits, luaspy_program(), words);
	return start(stage, "sh", "-c", command);
}

static void assert_said(struct stage *stage, const struct child *spy, const char *text)
{
	if (!strstr(child__errors(stage, spy), text))
		fail_msg("no '%s' in: %s", text, child__errors(stage, spy));
}

/* The profile is larger than the 1 KiB that a file may have. */
static void a_profile_larger_than_the_file_limit_is_reported(void **state)
{
	struct child *target, *spy;
	char words[128];

	need_lua();
	target = start_busy(*state);
	snprintf(words, sizeof(words), "record -p %d -d 300ms -o x.json", target->pid);
	spy = start_limited(*state, "ulimit -f 1", words);
	assert_int_equal(child__wait(spy, PATIENCE), 1);
	assert_said(*state, spy,
		    "cannot write 'x.json': File too large (try a higher "
		    "'ulimit -f')\n");
	assert_int_equal(access(in_folder(*state, "x.json"), F_OK), -1);
}

static void a_dump_larger_than_the_file_limit_fails(void **state)
{
	struct child *target, *spy;
	char words[128];

	need_lua();
	target = start_busy(*state);
	snprintf(words, sizeof(words), "dump -p %d --json", target->pid);
	spy = start_limited(*state, "ulimit -f 0", words);
	/* The error message cannot be written either: standard error is a file, too. */
	assert_int_equal(child__wait(spy, PATIENCE), 1);
}

/* What did not fit into one interval's file is in the next file. */
static void an_interval_that_did_not_fit_is_in_the_next_file(void **state)
{
	struct child *target, *spy;
	char words[128], limit[64];
	struct scriptprofile *profile;

	need_lua();
	need_program("prlimit", "util-linux");
	target = start_busy(*state);
	snprintf(words, sizeof(words), "record -p %d --interval 1s -o x.json", target->pid);
	spy = start_limited(*state, "ulimit -S -f 1", words);
	child__await_errors(*state, spy, "File too large");
	snprintf(limit, sizeof(limit), "prlimit --pid %d --fsize=unlimited", spy->pid);
	assert_int_equal(child__wait(start(*state, "sh", "-c", limit), PATIENCE), 0);
	kill(spy->pid, SIGTERM);
	child__wait(spy, PATIENCE);
	assert_int_equal(child__wait(start(*state, "sh", "-c", "mv x-*.json x.json"), PATIENCE), 0);
	profile = spying__read(*state, in_folder(*state, "x.json"));
	/* The duration includes the first second, whose file could not be written. */
	assert_true(scriptprofile__recorded(profile, "WallDuration") > 1000000);
}

/* The command that luaspy starts has the same disposition of SIGXFSZ as without luaspy. */
static void a_command_keeps_its_disposition_of_the_signal(void **state)
{
	struct child *spy;

	need_lua();
	write_text(*state, "large.lua",
		   "local file = io.open('large', 'w')\n"
		   "for i = 1, 1e4 do file:write(('x'):rep(100)) end print('survived')\n");
	spy = start_limited(*state, "ulimit -f 64", "record -q -o - -- lua5.4 large.lua");
	assert_int_equal(child__wait(spy, PATIENCE), 128 + SIGXFSZ);
	assert_null(strstr(child__output(*state, spy), "survived"));
	spy = start_limited(*state, "trap '' XFSZ; ulimit -f 64",
			    "record -q -o - -- lua5.4 large.lua");
	child__wait(spy, PATIENCE);
	assert_non_null(strstr(child__output(*state, spy), "survived"));
}

/* The message must be the same for each command and at each place where open files run out. */
#define TOO_MANY_FILES "too many open files (try a higher 'ulimit -n')\n"

static void too_few_open_files_are_reported_with_the_remedy(void **state)
{
	static const char *const commands[] = {"record -d 200ms -q -o x.json -p", "dump -p",
					       "check -p"};
	struct child *target;

	need_lua();
	target = start_busy(*state);
	for (int files = 6; files <= 82; files += 4) {
		char limits[32], words[128];
		int command = files / 4 % 3, status;
		struct child *spy;

		snprintf(limits, sizeof(limits), "ulimit -n %d", files);
		snprintf(words, sizeof(words), "%s %d", commands[command], target->pid);
		spy = start_limited(*state, limits, words);
		status = child__wait(spy, PATIENCE);
		/* check reports a failure to sample in its output, not as an error. */
		if (status && !strstr(child__output(*state, spy), TOO_MANY_FILES))
			assert_said(*state, spy, TOO_MANY_FILES);
		assert_true(status <= 1);
		assert_null(strstr(child__errors(*state, spy), "libbpf"));
		assert_null(strstr(child__errors(*state, spy), "Linux"));
	}
}

/* Files that targets need in large numbers must leave enough of them for the session's output. */
static void many_threads_leave_enough_files_for_the_session(void **state)
{
	struct child *spy;
	char *said, words[128];

	need_lua();
	accounts__own_copy(*state, "/usr/bin/lua5.4");
	snprintf(words, sizeof(words), "record --system --name '^%s' -d 3 --interval 1s -o x.json",
		 accounts__own_name());
	for (int i = 0; i < 20; i++)
		start(*state, in_folder(*state, accounts__own_name()), "-e", "while true do end");
	spy = start_limited(*state, "ulimit -n 80", words);
	child__wait(spy, PATIENCE);
	said = child__errors(*state, spy);
	print_message("%s", said);
	assert_said(*state, spy,
		    ": too many open files (each thread takes some: try a higher "
		    "'ulimit -n')\n");
	assert_null(strstr(said, "cannot write"));
	assert_non_null(strstr(said, "wrote x-"));
	assert_non_null(strstr(said, " processes that could not be inspected or sampled"));
}

/* luaspy may raise its own soft limit. */
static void a_low_soft_limit_on_open_files_is_raised(void **state)
{
	struct child *target, *spy;
	char words[128];

	need_lua();
	target = start_busy(*state);
	snprintf(words, sizeof(words), "record -p %d -d 200ms -q -o x.json", target->pid);
	spy = start_limited(*state, "ulimit -S -n 12", words);
	spying__finish(*state, spy);
	snprintf(words, sizeof(words), "dump -p %d", target->pid);
	spy = start_limited(*state, "ulimit -S -n 12", words);
	spying__finish(*state, spy);
	spy = start_limited(*state, "ulimit -S -n 100", "record -q -o x.json -- sh -c 'ulimit -n'");
	child__wait(spy, PATIENCE);
	assert_string_equal(child__output(*state, spy), "100\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(a_profile_larger_than_the_file_limit_is_reported),
		staged(a_dump_larger_than_the_file_limit_fails),
		staged(an_interval_that_did_not_fit_is_in_the_next_file),
		staged(a_command_keeps_its_disposition_of_the_signal),
		staged(too_few_open_files_are_reported_with_the_remedy),
		staged(many_threads_leave_enough_files_for_the_session),
		staged(a_low_soft_limit_on_open_files_is_raised),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
