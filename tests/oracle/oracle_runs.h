/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All runs of test_oracle: each available interpreter, at several paces. */
#ifndef TEST_ORACLE_RUNS_H
#define TEST_ORACLE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target.h"

#define ORACLE_RUNS_MAX 192

/* test_oracle.c explains the paces. */
enum pace { STEADY, CUT, HASTY, RETURNING, GROWING, BLIND, OLD };

struct oracle_pace {
	const char *name;
	const char *argument;               /* of the workload */
	const char *slow_machines_argument; /* NULL: the same */
	uint32_t max_depth;
	uint64_t samples;
};

extern const struct oracle_pace oracle_paces[]; /* by enum pace */

struct target {
	char name[32];
	char program[256];
	char modules[256];
	enum pace pace;
	enum ls_family family;
	bool is_built; /* from sources of that release */
};

/* Returns the array of runs, ORACLE_RUNS_MAX at most; it is never freed. */
const struct target *oracle_runs__all(size_t *count);

#endif
