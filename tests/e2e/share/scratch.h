/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A root file system with next to nothing in it, as an image made from scratch has: busybox, an
 * interpreter with musl's loader, /proc and /sys. To be included after cmocka.h.
 */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include "spying.h"

#define need_scratch()                                                                             \
	do {                                                                                       \
		need_root();                                                                       \
		need_program(SCRATCH_BUSYBOX, "busybox-static");                                   \
		need_program("musl-gcc", "musl-tools");                                            \
		need_host(built_program("host-musl"));                                             \
	} while (0)

#define SCRATCH_BUSYBOX "/bin/busybox"
#define SCRATCH_LUASPY  built_program("../../static/luaspy")

/*
 * The folder root of the stage, with /bin/busybox and its sh, id and sleep, /bin/lua and
 * /bin/luaspy, the static one, and the script /work.lua, busy in work() on its line 1 for good.
 */
void scratch__make(struct stage *stage);

/* A command whose root that is; the processes are those of the machine. */
struct child *scratch__start(struct stage *stage, const char *const *words);
#define start_in_scratch(stage, ...) scratch__start(stage, (const char *const[]){__VA_ARGS__, NULL})

/* The same in a shell, until it ends, which has to be with `status`; what it says. */
const char *scratch__told(struct stage *stage, int status, const char *script);

/* "/bin/lua /work.lua" in there, which has worked for a while. */
struct child *scratch__start_target(struct stage *stage);

/* What luaspy wrote into a file there: all in work(), and that of a process of `name`. */
void scratch__assert_profile(struct stage *stage, const char *path);

#endif
