/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* No attack: a file that has become another program when it is run again. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "siege.h"
#include "spies.h"

#define PATIENCE     60
#define WORK_SECONDS "2.5"
#define SEEN_SECONDS 1.0 /* of its CPU time, until it is sampled */

static const char busy[] = "local stop = os.clock() + " WORK_SECONDS
			   " while os.clock() < stop do for i = 1, 10000 do end end";

/* Overwrites the file, in the same inode and with times as if it had never changed. */
static void write_over(const char *path, const char *from)
{
	static const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	size_t size;
	char *content = read_file(from, &size);

	write_file(path, content, size);
	free(content);
	assert_return_code(chmod(path, 0755), errno);
	assert_return_code(utimensat(AT_FDCWD, path, times, 0), errno);
}

static double charged(const struct child *child)
{
	const struct rusage *usage = &child->usage;

	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static void is_lua_from_then_on(void **state)
{
	struct siege *siege = *state;
	struct child *before, *app;
	const char *path = siege__field(siege, "app");
	double found, all;
	char called[80];

	need_lua();
	write_over(path, "/bin/true");
	siege__record(siege, "1h");
	before = start(siege->stage, path);
	assert_int_equal(child__wait(before, PATIENCE), 0);
	sleep_seconds(0.3);
	write_over(path, "/usr/bin/lua5.4");
	app = start(siege->stage, path, "-e", busy);
	assert_int_equal(child__wait(app, PATIENCE), 0);
	kill(siege->spy->pid, SIGTERM);
	/* 3: "no process ran an interpreter" */
	assert_in_range(child__wait(siege->spy, PATIENCE), 0, 3);
	/* Its command line is long. */
	snprintf(called, sizeof(called), "app -e %.54s...", busy);
	found = siege__time_us(siege, called, app->pid) / 1e6;
	all = charged(app);
	print_message("%.3f s of %.3f\n", found, all);
	if (found < all - SEEN_SECONDS || found > 1.02 * all)
		fail_msg("%.3f s of %.3f that it was charged", found, all);
}

static const struct attack rewriting = {.name = "is_lua_from_then_on"};

int main(void)
{
	const struct CMUnitTest tests[] = {
		{rewriting.name, is_lua_from_then_on, siege__open, siege__close,
		 (void *)&rewriting},
	};

	return cmocka_run_group_tests_name("rewritten", tests, NULL, NULL);
}
