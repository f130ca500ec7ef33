/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "worker/inspector.h"

#define MS UINT64_C(1000000)

enum job_request { ECHO, BE_SLOW };

static void *begin(void)
{
	static char state;

	return &state;
}

static void serve(void *state, struct message *request, struct message *answer)
{
	const struct timespec time = {.tv_nsec = 300 * MS};
	uint64_t asked = message__take_number(request, BE_SLOW);

	(void)state;
	if (asked == BE_SLOW)
		nanosleep(&time, NULL);
	message__put_number(answer, asked);
}

static int ask(struct inspector *inspector, enum job_request asked)
{
	struct message *answer;

	inspector__request(inspector, INSPECTOR_FILES, asked, getpid());
	return inspector__ask(inspector, &answer);
}

static int count_waits(void *context, int fd, int timeout_ms)
{
	struct pollfd answer = {.fd = fd, .events = POLLIN};

	++*(int *)context;
	return poll(&answer, 1, timeout_ms) > 0;
}

/* Thousands of samples may each ask about hundreds of functions before the next deadline. */
static void looks_no_more_for_answers_after_the_deadline(void **state)
{
	static const struct worker_job job = {.begin = begin, .serve = serve};
	struct inspector *inspector;
	int waits = 0, before;

	(void)state;
	assert_return_code(inspector__start(&job, &inspector), -errno);
	inspector__set_waiter(inspector, &(struct worker_waiter){&waits, count_waits});
	assert_int_equal(ask(inspector, ECHO), 0);
	inspector__set_deadline(inspector, clock_ns(CLOCK_MONOTONIC) + 50 * MS);
	assert_int_equal(ask(inspector, BE_SLOW), -EAGAIN);
	before = waits;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(ask(inspector, BE_SLOW), -EAGAIN);
		assert_int_equal(ask(inspector, ECHO), -EAGAIN);
	}
	assert_int_equal(waits, before);

	inspector__set_deadline(inspector, UINT64_MAX);
	assert_int_equal(ask(inspector, ECHO), 0);
	assert_int_equal(ask(inspector, BE_SLOW), 0);
	inspector__free(inspector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_no_more_for_answers_after_the_deadline),
	};

	return cmocka_run_group_tests_name("inspector", tests, NULL, NULL);
}
