/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "skip.h"
#include "source/path_context.h"

/* Starts a process in /usr, whose root is `root`, and waits until it is there. */
static pid_t start_in(const char *root)
{
	int pipe_ends[2];
	char byte;
	pid_t child;

	assert_int_equal(pipe(pipe_ends), 0);
	child = fork();
	if (child == 0) {
		if (chroot(root) || chdir("/usr") || write(pipe_ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipe_ends[1]);
	assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
	close(pipe_ends[0]);
	return child;
}

static void stop(pid_t child, bool leaves_zombie)
{
	siginfo_t info;

	kill(child, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | (leaves_zombie ? WNOWAIT : 0)),
			 0);
}

static void is_known_after_the_process_has_ended(void **state)
{
	struct path_context context = {};
	uint64_t birth_ns;
	pid_t child;

	(void)state;
	need_root();
	child = start_in("/");
	assert_int_equal(path_context__read(child, false, &context), 0);
	assert_null(context.folder);
	assert_int_equal(path_context__read(child, true, &context), 0);
	assert_int_equal(context.pid, child);
	assert_true(context.is_shared);
	assert_string_equal(context.folder, "/usr");
	birth_ns = context.birth_ns;
	for (int i = 0; i < 2; i++) {
		stop(child, i == 0);
		assert_int_equal(path_context__read(child, true, &context), 0);
		assert_int_equal(context.pid, getpid());
		assert_string_equal(context.folder, "/usr");
		assert_true(context.birth_ns == birth_ns);
	}
	path_context__free(&context);
}

/* Its paths would lead to other files in luaspy's root. */
static void is_gone_with_a_process_that_had_a_root_of_its_own(void **state)
{
	char root[] = "/tmp/luaspy-root-XXXXXX", folder[sizeof(root) + 4];
	struct path_context context = {};
	pid_t child;

	(void)state;
	need_root();
	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/usr", root);
	assert_int_equal(mkdir(folder, 0755), 0);
	child = start_in(root);
	assert_int_equal(path_context__read(child, true, &context), 0);
	assert_false(context.is_shared);
	assert_string_equal(context.folder, "/usr");
	stop(child, false);
	assert_int_equal(path_context__read(child, true, &context), -ENOENT);
	path_context__free(&context);
	rmdir(folder);
	rmdir(root);
}

static void is_not_known_of_a_process_never_seen(void **state)
{
	struct path_context context = {};
	pid_t child;

	(void)state;
	need_root();
	child = start_in("/");
	stop(child, false);
	assert_int_equal(path_context__read(child, true, &context), -ENOENT);
	path_context__free(&context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_known_after_the_process_has_ended),
		cmocka_unit_test(is_gone_with_a_process_that_had_a_root_of_its_own),
		cmocka_unit_test(is_not_known_of_a_process_never_seen),
	};

	return cmocka_run_group_tests_name("path_context", tests, NULL, NULL);
}
