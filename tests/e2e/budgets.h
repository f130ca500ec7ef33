/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A target with expensive and cheap samples, and limits between their costs. */
#ifndef TEST_BUDGETS_H
#define TEST_BUDGETS_H

#include "spying.h"

/*
 * Lua: samples that are expensive because the stack is deep, then cheap ones. The script takes two
 * seconds of CPU time in each phase, once the files 'lowered' and 'raised' exist.
 */
#define BUDGETS_PHASES                                                                             \
	"local function is_there(name) local f = io.open(name)\n"                                  \
	"	if f then f:close() end return f end\n"                                                  \
	"local function work() for i = 1, 20000 do end end\n"                                      \
	"local function await(name) while not is_there(name) do work() end return 1 end\n"         \
	"local function low() local stop = cpu_us() + 2e6\n"                                       \
	"	while cpu_us() < stop do for i = 1, 50000 do end end return 1 end\n"                     \
	"local function high() local stop = cpu_us() + 2e6\n"                                      \
	"	while cpu_us() < stop do for i = 1, 50000 do end end return 1 end\n"                     \
	"local function descend(n)\n"                                                              \
	"	if n > 0 then return 1 + descend(n - 1) end\n"                                           \
	"	return await('lowered') + low() end\n"                                                   \
	"descend(4000) await('raised') high()\n"

#define BUDGETS_READY "print('ready') io.stdout:flush() io.read()\n"

/* The profile's Recorder object, and the number under `key` in its "Overhead". */
const json_t *budgets__recorder(const struct scriptprofile *profile);
int64_t budgets__overhead(const struct scriptprofile *profile, const char *key);

/*
 * The cost of samples of a shallow stack on this machine, in millionths of the CPU time at 1 kHz,
 * without luaspy's own time.
 */
double budgets__shallow_ppm(struct stage *stage);

/* The option "--max-overhead" with this value; the stage owns it. */
const char *budgets__option(struct stage *stage, double ppm);

#endif
