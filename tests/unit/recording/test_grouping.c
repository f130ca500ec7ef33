/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/process.h"
#include "recording/grouping.h"
#include "skip.h"

/* Above 4,194,304 (PID_MAX_LIMIT), so there is no such process. */
#define NO_PID 2000000000

static void assert_group(struct grouping *grouping, pid_t pid, const char *expected)
{
	char *group;

	assert_int_equal(grouping__of(grouping, pid, "lua5.4", &group), 0);
	assert_string_equal(group, expected);
	free(group);
}

static void knows_the_words(void **state)
{
	(void)state;
	assert_int_equal(grouping__parse("name"), GROUPING_NAME);
	assert_int_equal(grouping__parse("cgroup"), GROUPING_CGROUP);
	assert_int_equal(grouping__parse("user"), GROUPING_USER);
	assert_int_equal(grouping__parse("names"), -EINVAL);
	assert_int_equal(grouping__parse(""), -EINVAL);
}

static void is_by_name(void **state)
{
	struct grouping *grouping = grouping__new(GROUPING_NAME);

	(void)state;
	assert_non_null(grouping);
	assert_group(grouping, getpid(), "lua5.4");
	assert_group(grouping, NO_PID, "lua5.4");
	grouping__free(grouping);
}

static void is_by_cgroup(void **state)
{
	struct grouping *grouping = grouping__new(GROUPING_CGROUP);
	char *cgroup;

	(void)state;
	assert_non_null(grouping);
	assert_int_equal(process__cgroup(getpid(), &cgroup), 0);
	assert_int_equal(*cgroup, '/');
	assert_group(grouping, getpid(), cgroup);
	free(cgroup);
	assert_int_equal(grouping__of(grouping, NO_PID, "lua5.4", &cgroup), -ESRCH);
	assert_null(cgroup);
	assert_string_equal(grouping__unknown(grouping), "(unknown cgroup)");
	grouping__free(grouping);
}

/* A child that lives until its pipe is closed, as that user. */
static pid_t start_as(uid_t user, int *hold)
{
	int wait_for[2], told[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(wait_for), 0);
	assert_int_equal(pipe(told), 0);
	child = fork();
	if (!child) {
		close(wait_for[1]);
		close(told[0]);
		if (setuid(user) || write(told[1], "", 1) != 1)
			_exit(1);
		_exit(read(wait_for[0], &byte, 1) != 0);
	}
	close(wait_for[0]);
	close(told[1]);
	assert_int_equal(read(told[0], &byte, 1), 1);
	close(told[0]);
	*hold = wait_for[1];
	return child;
}

static void end(pid_t child, int hold)
{
	close(hold);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void is_by_user(void **state)
{
	struct grouping *grouping = grouping__new(GROUPING_USER);
	int holds[2];
	pid_t children[2];
	char *group;

	(void)state;
	need_root();
	assert_non_null(grouping);
	/* Both in one place of what is kept. */
	children[0] = start_as(4242, &holds[0]);
	children[1] = start_as(4242 + 64, &holds[1]);
	for (int i = 0; i < 2; i++) {
		assert_group(grouping, getpid(), getpwuid(getuid())->pw_name);
		assert_group(grouping, children[0], "4242");
		assert_group(grouping, children[1], "4306");
	}
	end(children[0], holds[0]);
	end(children[1], holds[1]);
	assert_int_equal(grouping__of(grouping, NO_PID, "lua5.4", &group), -ESRCH);
	assert_null(group);
	assert_string_equal(grouping__unknown(grouping), "(unknown user)");
	grouping__free(grouping);
}

static void of_a_long_path_keeps_both_ends(void **state)
{
	char path[GROUPING_NAME_MAX + 101], *end = path + sizeof(path) - 1;

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	*end = '\0';
	memcpy(path, "/begin", 6);
	memcpy(end - 4, "/end", 4);
	grouping__shorten(path);
	assert_int_equal(strlen(path), GROUPING_NAME_MAX);
	assert_memory_equal(path, "/begin", 6);
	assert_non_null(strstr(path, "xx...xx"));
	assert_string_equal(path + GROUPING_NAME_MAX - 4, "/end");
	grouping__shorten(path);
	assert_int_equal(strlen(path), GROUPING_NAME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_words),
		cmocka_unit_test(is_by_name),
		cmocka_unit_test(is_by_cgroup),
		cmocka_unit_test(is_by_user),
		cmocka_unit_test(of_a_long_path_keeps_both_ends),
	};

	return cmocka_run_group_tests_name("grouping", tests, NULL, NULL);
}
