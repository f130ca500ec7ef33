/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/process.h"

#define ID    "1a2b3c4d5e6f7890123456789012345678901234567890123456789012345678"
#define OTHER "ffffffffffff7890123456789012345678901234567890123456789012345678"

static void takes_the_innermost_id(void **state)
{
	(void)state;
	assert_int_equal(container__parse_pid("Name:\tlua\nNSpid:\t4242\t7\nNSpgid:\t4242\t1\n"),
			 7);
	assert_int_equal(container__parse_pid("Name:\tlua\nNSpid:\t4242\t31\t1\nNSpgid:\t1\n"), 1);
	assert_int_equal(container__parse_pid("Name:\tlua\nNSpid:\t7\t7\n"), 7);
}

static void knows_who_is_in_our_namespace(void **state)
{
	(void)state;
	assert_int_equal(container__parse_pid("Name:\tlua\nNSpid:\t4242\nNSpgid:\t1\t2\n"), 0);
	assert_int_equal(container__parse_pid("Name:\tlua\nNSpid:\t4242\t\n12\n"), 0);
	/* A kernel without PID namespaces. */
	assert_int_equal(container__parse_pid("Name:\tlua\nPid:\t4242\n"), 0);
	/* The kernel escapes the newline in a process's name. */
	assert_int_equal(container__parse_pid("Name:\ta\\nNSpid:\t1\t2\nNSpid:\t9\n"), 0);
	assert_int_equal(container__parse_pid("Name:\tlua\nNSpid:\t1\t99999999999999999999\n"), 0);
	assert_int_equal(container__parse_pid("Name:\tlua\nNSpid:\t1\t-2\n"), 0);
	assert_int_equal(container__parse_pid(""), 0);
}

static void assert_id(const char *cgroups, const char *expected)
{
	char id[13] = "?";

	container__parse_id(cgroups, id);
	assert_string_equal(id, expected);
}

static void finds_the_id_of_known_runtimes(void **state)
{
	(void)state;
	assert_id("0::/system.slice/docker-" ID ".scope\n", "1a2b3c4d5e6f");
	assert_id("0::/docker/" ID "\n", "1a2b3c4d5e6f");
	assert_id("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0b7c3a52_"
		  "9d1e_4b1f_8a55_c1d7ecb7a0f1.slice/cri-containerd-" ID ".scope\n",
		  "1a2b3c4d5e6f");
	assert_id("0::/machine.slice/libpod-" ID ".scope/container\n", "1a2b3c4d5e6f");
	assert_id("0::/../crio-" ID, "1a2b3c4d5e6f");
	/* On a host of both kinds, only the old hierarchies may tell. */
	assert_id("12:memory:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/\n",
		  "1a2b3c4d5e6f");
	assert_id("0::/docker/" OTHER "/docker/" ID "/init.scope\n", "1a2b3c4d5e6f");
	assert_id("0::/kubepods/burstable/pod0b7c3a52-9d1e-4b1f-8a55-c1d7ecb7a0f1/" ID "\n",
		  "1a2b3c4d5e6f");
	assert_id("0::/../../kubepods/besteffort/pod1/" ID "\n", "1a2b3c4d5e6f");
	assert_id("4:cpu:/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" ID
		  "\n",
		  "1a2b3c4d5e6f");
	assert_id("0::/ecs/0123/" ID "\n", "1a2b3c4d5e6f");
}

static void takes_nothing_else_for_one(void **state)
{
	(void)state;
	assert_id("0::/system.slice/nginx.service\n", "");
	assert_id("0::/docker/" ID "0\n", "");
	assert_id("0::/deadbeef\n", "");
	assert_id("0::/docker/1A2B3C4D5E6F7890123456789012345678901234567890123456789012345678\n",
		  "");
	assert_id("0::/docker/1a2b3c4d5e6f789012345678901234567890123456789012345678901234567\n",
		  "");
	assert_id("0::/docker\n", "");
	assert_id("0::\n", "");
	assert_id("", "");
}

/* Folders are often named by a hash. */
static void takes_no_cgroup_of_another_program_for_one(void **state)
{
	(void)state;
	assert_id("0::/" ID "\n", "");
	assert_id("0::/builds/" ID "\n", "");
	assert_id("0::/builds/" ID ".scope\n", "");
	assert_id("0::/notdocker-" ID ".scope\n", "");
	assert_id("0::/docker-" ID ".service\n", "");
	assert_id("0::/docker-" ID "-x.scope\n", "");
	assert_id("0::/dockers/" ID "\n", "");
	assert_id("0::/docker/x-" ID "\n", "");
	assert_id("0::/crio-conmon-" ID ".scope\n", "");
}

/* These do not exist here, so the path decides. */
static void takes_no_cgroup_of_a_user_for_one(void **state)
{
	(void)state;
	assert_id("0::/user.slice/user-1000.slice/user@1000.service/docker-" ID ".scope\n", "");
	assert_id("0::/user.slice/user-1000.slice/session-2.scope/docker/" ID "\n", "");
	/* Root owns the container, but not what is in it. */
	assert_id("0::/docker/" ID "/user@7.service/docker-" OTHER ".scope\n", "1a2b3c4d5e6f");
}

static void assert_title(struct container container, const char *expected)
{
	char title[CONTAINER_TITLE_SIZE];

	container__title(&container, "lua5.4", 4242, title);
	assert_string_equal(title, expected);
}

static void is_in_the_title(void **state)
{
	char title[CONTAINER_TITLE_SIZE], label[COMMAND_LINE_LABEL_SIZE + 10];
	struct container largest = {4194304, "1a2b3c4d5e6f"};

	(void)state;
	assert_title((struct container){0, ""}, "lua5.4 (pid 4242)");
	assert_title((struct container){7, ""}, "lua5.4 (pid 4242, 7 inside)");
	assert_title((struct container){7, "1a2b3c4d5e6f"}, "lua5.4 (pid 4242, 7 in 1a2b3c4d5e6f)");
	container__title(&largest, "fifteen bytes..", 4194304, title);
	assert_string_equal(title, "fifteen bytes.. (pid 4194304, 4194304 in 1a2b3c4d5e6f)");
	memset(label, 'x', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	container__title(&largest, label, 4194304, title);
	assert_int_equal(strspn(title, "x"), COMMAND_LINE_LABEL_SIZE - 1);
	assert_string_equal(title + COMMAND_LINE_LABEL_SIZE - 1,
			    " (pid 4194304, 4194304 in 1a2b3c4d5e6f)");
}

static void assert_short(const char *title, const char *expected)
{
	char text[CONTAINER_TITLE_SIZE];

	container__short_title(title, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void has_a_short_title(void **state)
{
	(void)state;
	assert_short("lua5.4 (pid 4242)", "4242 lua5.4");
	assert_short("lua5.4 (pid 4242, 7 inside)", "4242 lua5.4, 7 inside");
	assert_short("lua5.4 (pid 42, 7 in 1a2b3c4d5e6f)", "42 lua5.4, 7 in 1a2b3c4d5e6f");
	assert_short("lua5.4 server.lua (pid 42)", "42 lua5.4 server.lua");
	assert_short("nginx: worker process (pid 42, 7 inside)",
		     "42 nginx: worker process, 7 inside");
	/* Whatever a process calls itself. */
	assert_short("a (pid 1) (pid 42)", "42 a (pid 1)");
	assert_short(" (pid 1, x) (pid 42, 7 inside)", "42  (pid 1, x), 7 inside");
	assert_short("(other)", "(other)");
	assert_short("", "");
	assert_short("nginx: I am not (pid 1), am I (pid 42)", "42 nginx: I am not (pid 1), am I");
	assert_short("lua (pid )", "lua (pid )");
	assert_short("lua (pid 42", "lua (pid 42");
	assert_short("/system.slice/app (pid 4)", "/system.slice/app (pid 4)");
}

static void is_none_for_a_process_like_us(void **state)
{
	struct container container = {1, "?"};

	(void)state;
	assert_int_equal(process__container(getpid(), &container), 0);
	assert_int_equal(container.pid, 0);
	assert_string_equal(container.id, "");
	container.pid = 1;
	assert_true(process__container(2000000000, &container) < 0);
	assert_int_equal(container.pid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_innermost_id),
		cmocka_unit_test(knows_who_is_in_our_namespace),
		cmocka_unit_test(finds_the_id_of_known_runtimes),
		cmocka_unit_test(takes_nothing_else_for_one),
		cmocka_unit_test(takes_no_cgroup_of_another_program_for_one),
		cmocka_unit_test(takes_no_cgroup_of_a_user_for_one),
		cmocka_unit_test(is_in_the_title),
		cmocka_unit_test(has_a_short_title),
		cmocka_unit_test(is_none_for_a_process_like_us),
	};

	return cmocka_run_group_tests_name("container", tests, NULL, NULL);
}
