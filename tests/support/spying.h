/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* luaspy at work, as a process of the stage. To be included after cmocka.h. */
#ifndef TEST_SPYING_H
#define TEST_SPYING_H

#include "scriptprofile.h"
#include "skip.h"
#include "stage.h"

/* Lua: spin(seconds) takes so much CPU time. */
#define LUA_SPIN                                                                                   \
	"local function spin(seconds)\n"                                                           \
	"	local stop = os.clock() + seconds\n"                                                     \
	"	while os.clock() < stop do for i = 1, 1000 do end end\n"                                 \
	"end\n"

/* "luaspy record -p PID" and these words. */
struct child *spying__start(struct stage *stage, pid_t pid, const char *const *words);
#define start_record(stage, pid, ...)                                                              \
	spying__start(stage, pid, (const char *const[]){__VA_ARGS__, NULL})

/* Until its timers run on the target's threads: from here on, nothing is missed. */
void spying__await_timers(struct stage *stage, const struct child *spy);

/*
 * "luaspy record -p PID -o profile.json" and these words, until it ends: what it wrote, the
 * stage's.
 */
struct scriptprofile *spying__record(struct stage *stage, pid_t pid, const char *const *words);
#define record(stage, pid, ...) spying__record(stage, pid, (const char *const[]){__VA_ARGS__, NULL})

/* What a file holds; the stage owns it. */
struct scriptprofile *spying__read(struct stage *stage, const char *path);

/* Until it ends, which has to be well. */
void spying__finish(struct stage *stage, struct child *spy);

/* The path of the program. */
const char *luaspy_program(void);

/* A target: lua5.4 with that script, which has worked for a while. */
struct child *start_lua(struct stage *stage, const char *script);

/* The same that works in a function "work" on its first line for good. */
struct child *start_busy(struct stage *stage);

/* One without Lua, "cat"; it runs. */
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
