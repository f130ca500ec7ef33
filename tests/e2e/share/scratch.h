/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A root file system that is almost empty, like an image made from scratch: busybox, an interpreter
 * with musl's loader, /proc and /sys. To be included after cmocka.h.
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
 * Makes the folder root of the stage, with /bin/busybox and its sh, id and sleep, /bin/lua, the
 * static /bin/luaspy, and the script /work.lua, which works in work() on its line 1 without end.
 */
void scratch__make(struct stage *stage);

/* Starts a command with this root; it sees the processes of the machine. */
struct child *scratch__start(struct stage *stage, const char *const *words);
#define start_in_scratch(stage, ...) scratch__start(stage, (const char *const[]){__VA_ARGS__, NULL})

/* Runs a shell in it until it ends, which must be with `status`; returns its output. */
const char *scratch__told(struct stage *stage, int status, const char *script);

/* Starts "/bin/lua /work.lua" in it and waits until it has worked for a while. */
struct child *scratch__start_target(struct stage *stage);

/* Checks a file that luaspy wrote there: all time is in work(), in a process with `name`. */
void scratch__assert_profile(struct stage *stage, const char *path);

#endif
