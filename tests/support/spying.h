/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs luaspy as a process of the stage. Include it after cmocka.h. */
#ifndef TEST_SPYING_H
#define TEST_SPYING_H

#include "scriptprofile.h"
#include "skip.h"
#include "stage.h"

/* Lua source: spin(seconds) uses that much CPU time. */
#define LUA_SPIN                                                                                   \
	"local function spin(seconds)\n"                                                           \
	"	local stop = os.clock() + seconds\n"                                                     \
	"	while os.clock() < stop do for i = 1, 1000 do end end\n"                                 \
	"end\n"

/* Starts "luaspy record -p PID" with these words added. */
struct child *spying__start(struct stage *stage, pid_t pid, const char *const *words);
#define start_record(stage, pid, ...)                                                              \
	spying__start(stage, pid, (const char *const[]){__VA_ARGS__, NULL})

/* Waits until its timers run on the target's threads: from then on, nothing is missed. */
void spying__await_timers(struct stage *stage, const struct child *spy);

/*
 * Runs "luaspy record -p PID -o profile.json" with these words added until it ends. Returns what it
 * wrote, which the stage owns.
 */
struct scriptprofile *spying__record(struct stage *stage, pid_t pid, const char *const *words);
#define record(stage, pid, ...) spying__record(stage, pid, (const char *const[]){__VA_ARGS__, NULL})

/* The same, for tests that compare shares of work: all samples weigh alike. */
#define record_shares(stage, pid, ...)                                                             \
	({                                                                                         \
		struct scriptprofile *alike = record(stage, pid, __VA_ARGS__);                     \
                                                                                                   \
		scriptprofile__weigh_alike(alike);                                                 \
		alike;                                                                             \
	})

/* Reads a profile; the stage owns it. */
struct scriptprofile *spying__read(struct stage *stage, const char *path);

/* Waits until it ends; any exit status but 0 fails the test. */
void spying__finish(struct stage *stage, struct child *spy);

/* The path of luaspy. */
const char *luaspy_program(void);

/* Starts a target: lua5.4 with that script. Returns once it has used some CPU time. */
struct child *start_lua(struct stage *stage, const char *script);

/* The same with a script that works forever in a function "work" on its first line. */
struct child *start_busy(struct stage *stage);

/* Starts a target without Lua, "cat". Returns once it runs. */
struct child *start_other(struct stage *stage);

#define need_to_record()                                                                           \
	do {                                                                                       \
		need_root();                                                                       \
		if (access(luaspy_program(), X_OK))                                                \
			fail_msg("cannot run '%s'", luaspy_program());                             \
	} while (0)

#define need_lua()                                                                                 \
	do {                                                                                       \
		need_to_record();                                                                  \
		need_program("lua5.4", "lua5.4");                                                  \
	} while (0)

#endif
