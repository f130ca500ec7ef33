/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is the garbage collector's time right? Programs that embed Lua, static and stripped, publish
 * whether their collector runs (target/collector.h), and every sample is compared with what was
 * published at that very instant. Publishing does not change how the collector is found.
 *
 * ORACLE_SAMPLES: how many of each run (6000). ORACLE_RUNS: which, as a pattern ("5.4* tables").
 */
#ifndef TEST_COLLECTOR_RUNS_H
#define TEST_COLLECTOR_RUNS_H

#include "target.h"

/*
 * Runs each program that the build made and whose name fits the pattern in each of the ways that
 * target/collector.lua knows, of which the last is NULL. The status for main().
 */
int collector_runs__check(const char *names, enum ls_family family, const char *const *ways);

#endif
