/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process that runs a script of target/. */
#ifndef TEST_WORKLOAD_H
#define TEST_WORKLOAD_H

#include <stdint.h>
#include <sys/types.h>

#include "interpreter/interpreters.h"

struct workload {
	pid_t pid;
	pid_t tid;              /* of the thread that runs script */
	uint64_t truth_address; /* of what it publishes */
};

/*
 * `program` runs the script with that argument, and finds the module below `modules`. Returns when
 * it has said where it publishes, and stops it until workload__continue(), so that it does not keep
 * a processor busy while BPF programs are loaded. 0 or -errno (-ECHILD: it ended before,
 * -ETIMEDOUT). workload__end() it after 0.
 */
int workload__start(const char *program, const char *modules, const char *script,
		    const char *argument, struct workload *workload);

/* What the product finds in its files; interpreters__free() it after 0. 0 or -errno. */
int workload__find(const struct workload *workload, struct interpreters *found);

/* Lets it go on. 0 or -errno. */
int workload__continue(const struct workload *workload);

/* Kills it. 0, or -ECHILD: it had ended by itself. */
int workload__end(struct workload *workload);

#endif
