/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands that the README, the other pages and the manual tell users to type work as
 * described.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "spying.h"

#define PATIENCE 580

static void every_documented_command_runs(void **state)
{
	struct stage *stage = *state;
	char sources[PATH_MAX];
	struct child *child;
	int status;

	need_lua();
	need_program("python3", "python3");
	need_program("redis-server", "redis-server");
	need_program("redis-cli", "redis-tools");
	need_program("pidof", "sysvinit-utils");
	need_program("man", "man-db");
	need_program("unshare", "util-linux");
	assert_non_null(getcwd(sources, sizeof(sources)));
	child = start(stage, "env", "-C", sources, "unshare", "--pid", "--fork", "--kill-child",
		      "--mount", "--mount-proc", "python3", "tests/e2e/documented_commands.py",
		      luaspy_program(), stage->folder);
	status = child__wait(child, PATIENCE);
	/* cmocka's messages cannot hold more. */
	fputs(child__output(stage, child), stdout);
	fputs(child__errors(stage, child), stdout);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(every_documented_command_runs),
	};

	return cmocka_run_group_tests_name("documented_commands", tests, NULL, NULL);
}
