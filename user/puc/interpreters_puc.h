/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds every PUC Lua in a process: by what its files contain, never by their names. That only
 * orders the candidates; samples of the running program decide on the layouts.
 */
#ifndef LS_INTERPRETERS_PUC_H
#define LS_INTERPRETERS_PUC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lua_files.h"
#include "target.h"

/* More in one process have not been seen; what is left out is counted. */
#define INTERPRETERS_MAX 8

struct interpreter_puc {
	struct lua_file file;
	char *path;                           /* of the file, as the target sees it; owned */
	struct ls_range code[LS_CODE_RANGES]; /* of that file, and of the program itself */
	struct collector_puc collector;       /* at the process's addresses */
};

/* A Lua of another kind. */
struct other_lua {
	const char *name; /* "LuaJIT" */
	char *path;       /* owned */
};

struct interpreters_puc {
	struct interpreter_puc *items; /* in order of address; of most processes one, if any */
	size_t count;
	struct other_lua others[INTERPRETERS_MAX];
	size_t other_count;
	size_t left_out;
};

/*
 * 0, with none too; -ENOTSUP: the process is not a 64-bit one of this machine; -ESRCH and other
 * -errno. Free with interpreters_puc__free() in every case.
 */
int interpreters_puc__find(struct lua_files *files, pid_t pid, struct interpreters_puc *found);

/* How long a process that was asked for has to become Lua, if it is none yet. */
#define INTERPRETERS_PATIENCE_NS UINT64_C(1000000000)

/*
 * A process that was started a moment ago may still be the shell that is about to execute a Lua, or
 * not have loaded its library yet. Waits until it holds a Lua of any kind, it has ended, it cannot
 * be looked into, or CLOCK_MONOTONIC comes to `until_ns`; looks once at least. Says nothing:
 * interpreters_puc__find() then tells what there is.
 */
void interpreters_puc__await(struct lua_files *files, pid_t pid, uint64_t until_ns);

/* Whether nothing was loaded or unloaded in between. */
bool interpreters_puc__are_equal(const struct interpreters_puc *one,
				 const struct interpreters_puc *other);

/* For a Lua that no layout of its release fits: every layout that a walk can tell from others. */
uint16_t interpreters_puc__all_layouts(void);
void interpreters_puc__free(struct interpreters_puc *found);

#endif
