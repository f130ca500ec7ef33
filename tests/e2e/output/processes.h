/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that run a script which works when it is told to, and the files that luaspy writes of
 * them with --output-dir. To be included after cmocka.h.
 */
#ifndef TEST_PROCESSES_H
#define TEST_PROCESSES_H

#include "accounts.h"

#define PROCESSES_PATIENCE 60

/* Sums over files. */
struct processes_sums {
	int files;
	double cpu_us, categories_us;
	int64_t samples, timed;
};

/* Sums over the files in the stage's folder whose paths match; each must add up by itself. */
struct processes_sums processes__read_all(struct stage *stage, const char *pattern);

/* Sums over the files of one process. */
struct processes_sums processes__read_process(struct stage *stage, pid_t pid);

/* Returns the only file whose path matches. */
struct scriptprofile *processes__read_one(struct stage *stage, const char *pattern);

/* Each part of the session is in exactly one file. */
void processes__assert_whole(struct stage *stage, const struct child *spy,
			     const struct processes_sums *sums, double cpu);

/*
 * Starts an interpreter that names itself `name`, unless NULL, and takes that many seconds of CPU
 * time once it is told to.
 */
struct child *processes__start_worker(struct stage *stage, const char *lua, const char *seconds,
				      const char *name);

/* Copies the interpreter under a name that no other program on the machine has. */
const char *processes__own_lua(struct stage *stage, const char *name);

/* Starts "record -v -p PIDS --output-dir out" with more words, and waits until its timers run. */
struct child *processes__spy_on(struct stage *stage, struct child *const *workers, int count,
				const char *const *more);

/* Lets all of them work, now that luaspy counts, and returns their CPU time from then on. */
double processes__let_work(struct child *const *workers, int count);

#endif
