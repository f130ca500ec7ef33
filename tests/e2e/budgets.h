/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples that are dear, and limits that lie between what these and cheap ones cost. */
#ifndef TEST_BUDGETS_H
#define TEST_BUDGETS_H

#include "spying.h"

/*
 * Lua: samples that are dear, for the stack is deep, and then cheap ones. It goes on when files of
 * these names are there, to two seconds of CPU time at either frequency.
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

/* Of a profile; "Overhead" has the key. */
const json_t *budgets__recorder(const struct scriptprofile *profile);
int64_t budgets__overhead(const struct scriptprofile *profile, const char *key);

/*
 * What samples of a shallow stack cost here, in millionths of the CPU time at 1 kHz, but for
 * luaspy's own time.
 */
double budgets__shallow_ppm(struct stage *stage);

/* "--max-overhead" of so much; the stage's. */
const char *budgets__option(struct stage *stage, double ppm);

#endif
