/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "process/process.h"
#include "process/time_budget.h"
#include "system/processor_speed.h"
#include "worker/allowance.h"
#include "captured.h"
#include "skip.h"

#define OTHER_USER 12345
#define PROCESSES  4

/* Processes of another user than the test's. */
struct fixture {
	struct allowances *allowances;
	pid_t pids[PROCESSES];
};

static pid_t start_process(void)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setuid(OTHER_USER))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (1)
		pause();
}

/* Its first look at it is what the allowances go by. */
static void await_user(pid_t pid)
{
	uid_t user = 0;

	while (!geteuid() && !process__user(pid, &user) && user != OTHER_USER)
		usleep(1000);
}

static int start(void **state)
{
	static struct fixture fixture;

	*state = &fixture;
	fixture.allowances = allowances__new();
	for (int i = 0; i < PROCESSES; i++)
		fixture.pids[i] = start_process();
	for (int i = 0; i < PROCESSES; i++)
		await_user(fixture.pids[i]);
	return fixture.allowances ? 0 : -1;
}

static int end(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < PROCESSES; i++) {
		kill(fixture->pids[i], SIGKILL);
		waitpid(fixture->pids[i], NULL, 0);
	}
	allowances__free(fixture->allowances);
	return 0;
}

static void memory_of_a_process_has_a_budget_of_its_own(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], true), 0);
	allowances__spend(fixture->allowances, fixture->pids[0], true,
			  processor_speed__scale(TIME_BUDGET_PROCESS_NS) + 100000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], true), -EDQUOT);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), 0);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[1], true), 0);
}

static void what_a_process_has_mapped_has_one_too(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), 0);
	allowances__spend(fixture->allowances, fixture->pids[0], false,
			  processor_speed__scale(TIME_BUDGET_MAPPED_NS) + 100000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), -EDQUOT);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], true), 0);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[1], false), 0);
}

static void what_a_process_has_mapped_may_use_it_up_at_once(void **state)
{
	struct fixture *fixture = *state;

	allowances__use_up_mapped(fixture->allowances, fixture->pids[0]);
	/* A twentieth of the time since then is allowed again. */
	allowances__spend(fixture->allowances, fixture->pids[0], false, 100000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), -EDQUOT);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], true), 0);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[1], false), 0);
}

static void a_user_has_one_for_all_processes(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), 0);
	allowances__spend(fixture->allowances, fixture->pids[0], false,
			  processor_speed__scale(TIME_BUDGET_USER_NS) + 1000000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[1], false), -EDQUOT);
	assert_int_equal(allowances__check(fixture->allowances, getpid(), false), 0);
}

/* For a command that reads one process and ends. */
static void a_larger_grant_holds_for_each_budget(void **state)
{
	const uint64_t grant_ns = 2 * TIME_BUDGET_USER_NS;
	struct fixture *fixture = *state;

	allowances__set_grant(fixture->allowances, grant_ns);
	for (int is_of_memory = 0; is_of_memory < 2; is_of_memory++) {
		pid_t pid = fixture->pids[is_of_memory];

		assert_int_equal(allowances__check(fixture->allowances, pid, is_of_memory), 0);
		allowances__spend(fixture->allowances, pid, is_of_memory, grant_ns / 2 - 1);
		assert_int_equal(allowances__check(fixture->allowances, pid, is_of_memory), 0);
	}
	allowances__spend(fixture->allowances, fixture->pids[0], true, 100000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[1], true), -EDQUOT);
}

/* For a session of certain processes: what lies in their memory is read at any time of it. */
static void a_larger_grant_for_mapped_files_holds_for_them_alone(void **state)
{
	const uint64_t grant_ns = 2 * TIME_BUDGET_USER_NS;
	struct fixture *fixture = *state;

	allowances__set_mapped_grant(fixture->allowances, grant_ns);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), 0);
	allowances__spend(fixture->allowances, fixture->pids[0], false, grant_ns - 100000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), 0);
	allowances__spend(fixture->allowances, fixture->pids[0], false, 300000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], false), -EDQUOT);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[1], true), 0);
	allowances__spend(fixture->allowances, fixture->pids[1], true,
			  processor_speed__scale(TIME_BUDGET_PROCESS_NS) + 100000000);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[1], true), -EDQUOT);
}

static void who_does_it_again_and_again_is_left_alone(void **state)
{
	struct fixture *fixture = *state;

	need_root();
	for (int i = 0; i < PROCESSES - 1; i++) {
		assert_int_equal(allowances__check(fixture->allowances, fixture->pids[i], true), 0);
		allowances__ban(fixture->allowances, fixture->pids[i], "blocked a test");
		assert_int_equal(allowances__check(fixture->allowances, fixture->pids[i], true),
				 -EOWNERDEAD);
	}
	assert_int_equal(
		allowances__check(fixture->allowances, fixture->pids[PROCESSES - 1], false),
		-EOWNERDEAD);
	assert_int_equal(allowances__check(fixture->allowances, getpid(), false), 0);
}

/* For example, a process whose script is on a file server that is down. */
static void a_command_line_may_be_left_alone_by_itself(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid = fixture->pids[0];

	need_root();
	assert_true(allowances__takes_command(fixture->allowances, pid));
	allowances__ban_command(fixture->allowances, pid, "blocked a test");
	assert_false(allowances__takes_command(fixture->allowances, pid));
	assert_true(allowances__takes_command(fixture->allowances, fixture->pids[1]));
	assert_int_equal(allowances__check(fixture->allowances, pid, true), 0);
	assert_int_equal(allowances__check(fixture->allowances, pid, false), 0);
	for (int i = 1; i < PROCESSES - 1; i++)
		allowances__ban_command(fixture->allowances, fixture->pids[i], "blocked a test");
	assert_int_equal(allowances__check(fixture->allowances, pid, false), -EOWNERDEAD);
}

static void another_process_of_that_id_is_not(void **state)
{
	struct fixture *fixture = *state;

	allowances__ban(fixture->allowances, fixture->pids[0], "blocked a test");
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], true),
			 -EOWNERDEAD);
	allowances__forget(fixture->allowances, fixture->pids[0]);
	assert_int_equal(allowances__check(fixture->allowances, fixture->pids[0], true), 0);
}

static void the_time_that_each_process_took_is_logged(void **state)
{
	struct fixture *fixture = *state;
	struct captured captured;
	char expected[128], *logged;

	allowances__spend(fixture->allowances, fixture->pids[0], false, 20000000);
	allowances__spend(fixture->allowances, fixture->pids[0], true, 3000000);
	allowances__use_up_mapped(fixture->allowances, fixture->pids[0]);
	allowances__spend(fixture->allowances, fixture->pids[1], true, 900000);
	captured__start(&captured, STDERR_FILENO);
	log__set_level(LOG_DEBUG);
	for (int i = 0; i < 2; i++)
		allowances__forget(fixture->allowances, fixture->pids[i]);
	log__set_level(LOG_INFO);
	logged = captured__end(&captured);
	snprintf(
		expected, sizeof(expected),
		"luaspy: debug: reading pid %d took 20.0 ms of CPU time for its mapped files, 3.0 ms "
		"for its memory\n",
		fixture->pids[0]);
	assert_string_equal(logged, expected);
	free(logged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_of_a_process_has_a_budget_of_its_own, start,
						end),
		cmocka_unit_test_setup_teardown(what_a_process_has_mapped_has_one_too, start, end),
		cmocka_unit_test_setup_teardown(what_a_process_has_mapped_may_use_it_up_at_once,
						start, end),
		cmocka_unit_test_setup_teardown(a_user_has_one_for_all_processes, start, end),
		cmocka_unit_test_setup_teardown(a_larger_grant_holds_for_each_budget, start, end),
		cmocka_unit_test_setup_teardown(
			a_larger_grant_for_mapped_files_holds_for_them_alone, start, end),
		cmocka_unit_test_setup_teardown(who_does_it_again_and_again_is_left_alone, start,
						end),
		cmocka_unit_test_setup_teardown(a_command_line_may_be_left_alone_by_itself, start,
						end),
		cmocka_unit_test_setup_teardown(another_process_of_that_id_is_not, start, end),
		cmocka_unit_test_setup_teardown(the_time_that_each_process_took_is_logged, start,
						end),
	};

	return cmocka_run_group_tests_name("allowance", tests, NULL, NULL);
}
