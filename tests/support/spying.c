/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spying.h"

#define WORDS_MAX     32
#define PATIENCE      20 /* seconds after which a session of a few seconds counts as hung */
#define SETTLE_SECOND 0.1
#define BEGUN_SECOND  0.05 /* of CPU time; starting takes a few milliseconds */

static const char busy_script[] = "function work() local x = 0 for i = 1, 1e5 do x = x + i end "
				  "return x end\n"
				  "while true do work() end\n";

const char *luaspy_program(void)
{
	static char program[PATH_MAX];
	const char *given = getenv("LUASPY");

	return realpath(given ? given : "./luaspy", program) ? program : "./luaspy";
}

struct child *spying__start(struct stage *stage, pid_t pid, const char *const *words)
{
	const char *all[WORDS_MAX] = {luaspy_program(), "record", "-p", NULL};
	char number[16];
	int count = 3;

	snprintf(number, sizeof(number), "%d", pid);
	all[count++] = number;
	while (*words && count < WORDS_MAX - 1)
		all[count++] = *words++;
	return stage__start(stage, all);
}

static int count_timers(pid_t pid)
{
	char folder[32], path[512], target[64];
	struct dirent *entry;
	int count = 0;
	DIR *stream;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", pid);
	stream = opendir(folder);
	while (stream && (entry = readdir(stream))) {
		ssize_t length;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		count += strstr(target, "[perf_event]") != NULL;
	}
	if (stream)
		closedir(stream);
	return count;
}

void spying__await_timers(struct stage *stage, const struct child *spy)
{
	double end = now_seconds() + PATIENCE;

	while (!count_timers(spy->pid)) {
		if (now_seconds() > end)
			fail_msg("luaspy starts no timer: %s", child__errors(stage, spy));
		sleep_seconds(0.005);
	}
	/* Each thread gets a timer; the last ones follow within microseconds, then luaspy waits. */
	sleep_seconds(SETTLE_SECOND);
	child__await_state(stage, spy, 'S');
}

void spying__finish(struct stage *stage, struct child *spy)
{
	if (child__wait(spy, PATIENCE) != 0)
		fail_msg("exit status %d: %s", spy->status, child__errors(stage, spy));
}

static void free_profile(void *profile)
{
	scriptprofile__free(profile);
}

struct scriptprofile *spying__read(struct stage *stage, const char *path)
{
	return stage__own(stage, scriptprofile__read(path), free_profile);
}

struct scriptprofile *spying__record(struct stage *stage, pid_t pid, const char *const *words)
{
	const char *all[WORDS_MAX] = {"-o", "profile.json", NULL};
	struct child *spy;
	int count = 2;

	while (*words && count < WORDS_MAX - 1)
		all[count++] = *words++;
	spy = spying__start(stage, pid, all);
	spying__finish(stage, spy);
	return spying__read(stage, in_folder(stage, "profile.json"));
}

struct child *start_lua(struct stage *stage, const char *script)
{
	struct child *target = start(stage, "lua5.4", "-e", script);

	child__let_work(target, BEGUN_SECOND);
	return target;
}

struct child *start_other(struct stage *stage)
{
	struct child *target = start(stage, "cat");

	child__tell(target, "up");
	child__await_output(stage, target, "up");
	return target;
}

struct child *start_busy(struct stage *stage)
{
	return start_lua(stage, busy_script);
}
