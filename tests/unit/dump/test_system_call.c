/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/standing_thread.h"
#include "dump/system_call.h"

static void knows_the_machine_s_own_numbers(void **state)
{
	(void)state;
	assert_string_equal(system_call__name(SYS_read), "read");
	assert_string_equal(system_call__name(SYS_futex), "futex");
	assert_string_equal(system_call__name(SYS_wait4), "wait4");
	assert_string_equal(system_call__name(SYS_epoll_pwait), "epoll_pwait");
}

static void has_no_name_for_what_is_no_call(void **state)
{
	(void)state;
	assert_null(system_call__name(-1));
	assert_null(system_call__name(100000));
}

/* Who looks at itself is just reading. */
static void sees_the_call_that_a_thread_is_in(void **state)
{
	struct standing_thread look;

	(void)state;
	assert_int_equal(standing_thread__read(getpid(), getpid(), &look), 0);
	assert_int_equal(look.system_call, SYS_read);
	assert_string_equal(system_call__name(look.system_call), "read");
	assert_true(standing_thread__stood(&look, &look));
}

static void a_stack_is_the_thread_s_own(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct thread_stack stack;

	(void)state;
	assert_int_equal(standing_thread__stack(getpid(), getpid(), here, &stack), 0);
	assert_true(stack.is_own);
	assert_in_range(here, stack.low, stack.high - 1);
	assert_int_equal(standing_thread__stack(getpid(), getpid(), 8, &stack), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_machine_s_own_numbers),
		cmocka_unit_test(has_no_name_for_what_is_no_call),
		cmocka_unit_test(sees_the_call_that_a_thread_is_in),
		cmocka_unit_test(a_stack_is_the_thread_s_own),
	};

	return cmocka_run_group_tests_name("system_call", tests, NULL, NULL);
}
