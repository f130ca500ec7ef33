/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>

#include "processes.h"

/* Names itself arg[2] if given, and takes arg[1] seconds of CPU time once it is told to. */
#define WORKER                                                                                     \
	LUA_SPIN                                                                                   \
	"if arg[2] then\n"                                                                         \
	"	local file = io.open('/proc/self/comm', 'w')\n"                                          \
	"	file:write(arg[2]) file:close()\n"                                                       \
	"end\n"                                                                                    \
	"print('ready') io.stdout:flush() io.read()\n"                                             \
	"spin(tonumber(arg[1]))\n"

static void add(struct processes_sums *sums, const struct scriptprofile *profile)
{
	static const char *const classes[] = {"dropped", "unreadable", "host",
					      "torn",    "truncated",  "complete"};
	int64_t total = scriptprofile__samples(profile, "total"), sum = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		sum += scriptprofile__samples(profile, classes[i]);
	assert_int_equal(sum, total);
	sums->files++;
	sums->samples += total;
	sums->cpu_us += (double)scriptprofile__recorded(profile, "CpuDuration");
	sums->categories_us += (double)profile->all_us;
	sums->timed += (int64_t)json_array_size(json_object_get(profile->document, "Samples"));
}

struct processes_sums processes__read_all(struct stage *stage, const char *pattern)
{
	struct processes_sums sums = {};
	glob_t found;

	if (!glob(in_folder(stage, pattern), 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			add(&sums, spying__read(stage, found.gl_pathv[i]));
	globfree(&found);
	return sums;
}

struct processes_sums processes__read_process(struct stage *stage, pid_t pid)
{
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "out/*-%d-*.json", pid);
	return processes__read_all(stage, pattern);
}

struct scriptprofile *processes__read_one(struct stage *stage, const char *pattern)
{
	struct scriptprofile *profile;
	glob_t found;

	assert_int_equal(glob(in_folder(stage, pattern), 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	profile = spying__read(stage, found.gl_pathv[0]);
	globfree(&found);
	return profile;
}

void processes__assert_whole(struct stage *stage, const struct child *spy,
			     const struct processes_sums *sums, double cpu)
{
	accounts__assert_near("CPU time of all files", sums->cpu_us, cpu, 0.01);
	accounts__assert_near("their categories", sums->categories_us, cpu, 0.01);
	assert_int_equal(sums->samples, accounts__ticks(stage, spy));
	if (sums->timed)
		assert_int_equal(sums->timed, sums->samples);
}

struct child *processes__start_worker(struct stage *stage, const char *lua, const char *seconds,
				      const char *name)
{
	struct child *worker;

	write_text(stage, "worker.lua", WORKER);
	worker = start(stage, lua, "worker.lua", seconds, name);
	child__await_output(stage, worker, "ready");
	return worker;
}

const char *processes__own_lua(struct stage *stage, const char *name)
{
	char command[96];

	snprintf(command, sizeof(command), "cp \"$(readlink -f \"$(command -v lua5.4)\")\" %s",
		 name);
	assert_int_equal(child__wait(start(stage, "sh", "-c", command), PROCESSES_PATIENCE), 0);
	return in_folder(stage, name);
}

struct child *processes__spy_on(struct stage *stage, struct child *const *workers, int count,
				const char *const *more)
{
	const char *words[24] = {luaspy_program(), "record", "-v", "--output-dir", "out", "-p"};
	struct child *spy;
	char pids[256];
	int length = 0;

	for (int i = 0; i < count; i++)
		length += snprintf(pids + length, sizeof(pids) - (size_t)length, "%s%d",
				   i ? "," : "", workers[i]->pid);
	words[6] = pids;
	for (int i = 0; more && more[i]; i++)
		words[7 + i] = more[i];
	spy = stage__start(stage, words);
	spying__await_timers(stage, spy);
	return spy;
}

double processes__let_work(struct child *const *workers, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++) {
		workers[i]->begun_us = 1e6 * child__cpu_seconds(workers[i]);
		child__tell(workers[i], "go");
	}
	for (int i = 0; i < count; i++) {
		assert_int_equal(child__wait(workers[i], PROCESSES_PATIENCE), 0);
		sum += accounts__charged_us(workers[i]);
	}
	return sum;
}
