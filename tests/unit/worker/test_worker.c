/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "process/process.h"
#include "worker/service.h"
#include "worker/worker.h"

#define MS   UINT64_C(1000000)
#define MUCH (4U << 20) /* bytes: more than a socket takes at once */

enum job_request { ECHO, BLOCK, SPIN, CRASH, BE_SLOW, REST_OFTEN, TELL_PID, BREAK_OUT, TELL_MUCH };

static void rest(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};

	nanosleep(&time, NULL);
}

static void spin_until(uint64_t ns)
{
	while (clock_ns(CLOCK_MONOTONIC) < ns)
		;
}

/* Takes longer than a worker may be blocked, but rests and computes for less than is allowed. */
static void rest_often(void)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = now_ns + 1200 * MS;

	for (; now_ns < end_ns; now_ns = clock_ns(CLOCK_MONOTONIC)) {
		spin_until(now_ns + MS);
		rest(MS);
	}
}

static void *begin(void)
{
	static char state;

	return &state;
}

/* Tries what a target could do that has taken over the worker. 0: nothing worked. */
static int break_out(void)
{
	int file = open("/tmp/luaspy-broke-out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int connection = socket(AF_INET, SOCK_STREAM, 0);
	pid_t child = fork();

	if (!child)
		_exit(0);
	return (file >= 0) + 2 * (connection >= 0) + 4 * (child >= 0) +
	       8 * !kill(getppid(), SIGTERM) +
	       16 * !syscall(SYS_tgkill, getppid(), getppid(), SIGTERM) +
	       32 * !ioctl(0, FIONREAD, &child);
}

static void serve(void *state, struct message *request, struct message *answer)
{
	uint64_t asked = message__take_number(request, TELL_MUCH);

	(void)state;
	if (asked == BLOCK)
		rest(1000000 * MS);
	while (asked == SPIN)
		;
	/* Not by a bad pointer: the sanitizers' report of one reads symbols from the disk. */
	if (asked == CRASH)
		__builtin_trap();
	if (asked == BE_SLOW)
		rest(300 * MS);
	if (asked == REST_OFTEN)
		rest_often();
	if (asked == TELL_MUCH)
		memset(message__extend(answer, MUCH), 0, MUCH);
	message__put_number(answer, asked == TELL_PID    ? (uint64_t)getpid()
				    : asked == BREAK_OUT ? (uint64_t)break_out()
							 : asked);
}

static int start(void **state)
{
	static const struct worker_job job = {.begin = begin, .serve = serve};
	struct worker *worker;

	if (worker__start(&job, &worker))
		return -1;
	*state = worker;
	return 0;
}

static int end(void **state)
{
	worker__free(*state);
	return 0;
}

/* What it answers, or -errno. */
static int64_t ask(struct worker *worker, enum job_request asked, uint64_t *spent_ns)
{
	struct message request = {}, answer = {};
	int64_t number;
	int error;

	message__put_number(&request, asked);
	error = worker__call(worker, &request, &answer, spent_ns);
	number = error ? error : (int64_t)message__take_number(&answer, INT64_MAX);
	if (!error)
		assert_int_equal(message__end(&answer), 0);
	message__free(&request);
	message__free(&answer);
	return number;
}

static void answers_what_it_is_asked(void **state)
{
	uint64_t spent_ns;

	assert_int_equal(ask(*state, ECHO, &spent_ns), ECHO);
	assert_int_equal(ask(*state, BE_SLOW, &spent_ns), BE_SLOW);
	assert_in_range(spent_ns, 1, 100 * MS);
	assert_in_range(worker__cpu_ns(*state), spent_ns, 1000 * MS);
}

static void await_death(pid_t pid)
{
	char state = process__state(pid);

	for (int i = 0; i < 5000 && state && state != 'Z' && state != 'X'; i++) {
		rest(MS);
		state = process__state(pid);
	}
	assert_true(!state || state == 'Z' || state == 'X');
}

static void is_abandoned_when_it_is_blocked(void **state)
{
	uint64_t spent_ns, begin_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t former = ask(*state, TELL_PID, &spent_ns);

	assert_int_equal(ask(*state, BLOCK, &spent_ns), -ETIMEDOUT);
	assert_in_range(clock_ns(CLOCK_MONOTONIC) - begin_ns, 1000 * MS, 10000 * MS);
	assert_int_not_equal(ask(*state, TELL_PID, &spent_ns), former);
	await_death((pid_t)former);
}

static void is_not_abandoned_for_a_moment_of_rest(void **state)
{
	uint64_t spent_ns;

	assert_int_equal(ask(*state, REST_OFTEN, &spent_ns), REST_OFTEN);
}

static int find_nothing(void *context, int fd, int timeout_ms)
{
	(void)context;
	(void)fd;
	rest((uint64_t)timeout_ms * MS);
	return 0;
}

/* The answer seems to come between the wait and the check: this wait never finds it. */
static void is_not_abandoned_with_its_answer_unread(void **state)
{
	uint64_t spent_ns;

	assert_int_equal(ask(*state, ECHO, &spent_ns), ECHO);
	worker__set_waiter(*state, &(struct worker_waiter){NULL, find_nothing});
	assert_int_equal(ask(*state, ECHO, &spent_ns), ECHO);
}

static void is_ended_when_it_takes_too_much_cpu_time(void **state)
{
	uint64_t spent_ns;

	/*
	 * The kernel counts CPU time in ticks and charges each tick to
	 * whatever it interrupts, so on a busy machine it may charge up to half too much.
	 */
	assert_int_equal(ask(*state, SPIN, &spent_ns), -EIO);
	assert_in_range(spent_ns, service__cpu_ns() / 8 * 5, service__cpu_ns() * 5);
	assert_int_equal(ask(*state, ECHO, &spent_ns), ECHO);
}

static void is_replaced_when_it_crashes(void **state)
{
	uint64_t spent_ns;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(ask(*state, CRASH, &spent_ns), -EIO);
		assert_int_equal(ask(*state, ECHO, &spent_ns), ECHO);
	}
}

static void goes_on_after_the_deadline_for_who_asks_again(void **state)
{
	uint64_t spent_ns, begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct worker *worker = *state;

	worker__set_deadline(worker, begin_ns + 50 * MS);
	assert_int_equal(ask(worker, BE_SLOW, &spent_ns), -EAGAIN);
	assert_in_range(clock_ns(CLOCK_MONOTONIC) - begin_ns, 50 * MS, 250 * MS);
	assert_true(worker__is_busy(worker));
	assert_int_equal(ask(worker, ECHO, &spent_ns), -EBUSY);
	worker__set_deadline(worker, UINT64_MAX);
	assert_int_equal(ask(worker, BE_SLOW, &spent_ns), BE_SLOW);
	assert_false(worker__is_busy(worker));
	assert_int_equal(ask(worker, ECHO, &spent_ns), ECHO);
}

static int find_something_more_urgent(void *context, int fd, int timeout_ms)
{
	(void)fd;
	(void)timeout_ms;
	++*(int *)context;
	return -EINTR;
}

static void is_left_for_what_is_more_urgent(void **state)
{
	struct message nothing = {};
	uint64_t spent_ns;
	int calls = 0;

	assert_int_equal(ask(*state, ECHO, &spent_ns), ECHO);
	worker__set_waiter(*state, &(struct worker_waiter){&calls, find_something_more_urgent});
	assert_int_equal(ask(*state, BE_SLOW, &spent_ns), -EAGAIN);
	assert_int_equal(calls, 1);
	assert_int_equal(worker__finish(*state, &nothing, &spent_ns), -EAGAIN);
	message__free(&nothing);
}

/* Stops the worker once its answer has begun. */
static int stop_worker(void *context, int fd, int timeout_ms)
{
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	pid_t *pid = context;
	int found = poll(&answer, 1, timeout_ms) > 0;

	if (found && *pid) {
		kill(*pid, SIGSTOP);
		*pid = 0;
	}
	return found;
}

static void is_waited_for_without_cpu_time_when_it_stops_in_its_answer(void **state)
{
	uint64_t spent_ns, cpu_ns;
	pid_t pid = (pid_t)ask(*state, TELL_PID, &spent_ns);

	worker__set_waiter(*state, &(struct worker_waiter){&pid, stop_worker});
	worker__set_deadline(*state, clock_ns(CLOCK_MONOTONIC) + 500 * MS);
	cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	assert_int_equal(ask(*state, TELL_MUCH, &spent_ns), -ETIMEDOUT);
	assert_int_equal(pid, 0);
	assert_in_range(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns, 0, 100 * MS);
}

static void cannot_write_connect_start_or_signal(void **state)
{
	uint64_t spent_ns;

	assert_int_equal(ask(*state, BREAK_OUT, &spent_ns), 0);
}

static void ends_with_luaspy(void **state)
{
	uint64_t spent_ns;
	pid_t pid = (pid_t)ask(*state, TELL_PID, &spent_ns);

	worker__free(*state);
	*state = NULL;
	await_death(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_what_it_is_asked, start, end),
		cmocka_unit_test_setup_teardown(is_abandoned_when_it_is_blocked, start, end),
		cmocka_unit_test_setup_teardown(is_not_abandoned_for_a_moment_of_rest, start, end),
		cmocka_unit_test_setup_teardown(is_not_abandoned_with_its_answer_unread, start,
						end),
		cmocka_unit_test_setup_teardown(is_ended_when_it_takes_too_much_cpu_time, start,
						end),
		cmocka_unit_test_setup_teardown(is_replaced_when_it_crashes, start, end),
		cmocka_unit_test_setup_teardown(goes_on_after_the_deadline_for_who_asks_again,
						start, end),
		cmocka_unit_test_setup_teardown(is_left_for_what_is_more_urgent, start, end),
		cmocka_unit_test_setup_teardown(
			is_waited_for_without_cpu_time_when_it_stops_in_its_answer, start, end),
		cmocka_unit_test_setup_teardown(cannot_write_connect_start_or_signal, start, end),
		cmocka_unit_test_setup_teardown(ends_with_luaspy, start, end),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
