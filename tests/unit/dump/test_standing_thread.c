/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/standing_thread.h"

#define ROUNDS 100

/* Waits for a byte in a loop, always at the same place. */
struct waiter {
	pid_t pid;
	int wake, reply;
};

static void wait_for_bytes(int wake, int reply)
{
	char byte;

	while (read(wake, &byte, 1) == 1)
		if (write(reply, &byte, 1) != 1)
			break;
	_exit(0);
}

static int start_waiter(void **state)
{
	static struct waiter waiter;
	int wake[2], reply[2];

	if (pipe(wake) || pipe(reply))
		return -1;
	waiter.pid = fork();
	if (waiter.pid < 0)
		return -1;
	if (!waiter.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(wake[1]);
		wait_for_bytes(wake[0], reply[1]);
	}
	close(wake[0]);
	close(reply[1]);
	waiter.wake = wake[1];
	waiter.reply = reply[0];
	*state = &waiter;
	return 0;
}

static int stop_waiter(void **state)
{
	struct waiter *waiter = *state;

	if (waiter->pid) {
		kill(waiter->pid, SIGKILL);
		waitpid(waiter->pid, NULL, 0);
	}
	close(waiter->wake);
	close(waiter->reply);
	return 0;
}

/* Once it stands in its read(). */
static void look_at(const struct waiter *waiter, struct standing_thread *look)
{
	int error;

	do {
		error = standing_thread__read(waiter->pid, waiter->pid, look);
		if (error)
			assert_int_equal(error, -EAGAIN);
	} while (error || look->system_call != SYS_read);
}

static void stands_as_long_as_it_does_not_run(void **state)
{
	struct standing_thread before, after;

	/* It reports its read() a moment before it sleeps there. */
	do {
		look_at(*state, &before);
		usleep(1000);
		look_at(*state, &after);
	} while (!standing_thread__stood(&before, &after));
	before = after;
	for (int i = 0; i < ROUNDS; i++) {
		look_at(*state, &after);
		assert_true(standing_thread__stood(&before, &after));
	}
}

/* The next look finds it at the same place; only the count of context switches differs. */
static void has_not_stood_where_it_ran_and_came_back(void **state)
{
	const struct waiter *waiter = *state;
	struct standing_thread before, after;
	char byte = 0;

	look_at(waiter, &before);
	for (int i = 0; i < ROUNDS; i++) {
		assert_int_equal(write(waiter->wake, &byte, 1), 1);
		assert_int_equal(read(waiter->reply, &byte, 1), 1);
		look_at(waiter, &after);
		assert_int_equal(after.sp, before.sp);
		assert_int_equal(after.pc, before.pc);
		assert_false(standing_thread__stood(&before, &after));
		before = after;
	}
}

static void knows_a_process_that_is_gone(void **state)
{
	struct waiter *waiter = *state;
	struct standing_thread look;
	pid_t pid = waiter->pid;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	waiter->pid = 0;
	assert_int_equal(standing_thread__read(pid, pid, &look), -ESRCH);
}

#define with_waiter(test) cmocka_unit_test_setup_teardown(test, start_waiter, stop_waiter)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_waiter(stands_as_long_as_it_does_not_run),
		with_waiter(has_not_stood_where_it_ran_and_came_back),
		with_waiter(knows_a_process_that_is_gone),
	};

	return cmocka_run_group_tests_name("standing_thread", tests, NULL, NULL);
}
