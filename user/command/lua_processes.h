/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes of this host that hold an interpreter, as they are at one moment. */
#ifndef LS_LUA_PROCESSES_H
#define LS_LUA_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/inspection.h"
#include "process/process_filter.h"

#define LUA_PROCESS_USER_SIZE         33
#define LUA_PROCESS_INTERPRETERS_SIZE 128

struct lua_process {
	pid_t pid;
	char name[16];
	char user[LUA_PROCESS_USER_SIZE]; /* a name, or a number; "": unknown */
	uint64_t cpu_ns, age_ns;          /* since its start; age 0: unknown */
	struct interpreters found;        /* at least one */
	struct command_line command;      /* empty: not to be read */
	bool fits;                        /* the filter accepts its name or its label */
};

struct lua_processes {
	struct lua_process *items; /* by pid */
	size_t count;
	size_t supported; /* how many of them hold one that is profiled */
	size_t seen;      /* of all processes */
	size_t unread;    /* of these, not looked into */
	pid_t unread_pid; /* one of them */
	int unread_error; /* why */
	size_t fitting;   /* processes that the filter takes but that hold no interpreter */
	pid_t fitting_pid;
	char fitting_name[16];
};

/*
 * Looks into all processes but luaspy. `filter` may be NULL: all fit. 0 or -errno; free with
 * lua_processes__free() in every case.
 */
int lua_processes__find(struct inspector *inspector, const struct process_filter *filter,
			struct lua_processes *processes);
void lua_processes__free(struct lua_processes *processes);

bool lua_process__is_supported(const struct lua_process *process);

/* "Lua 5.4.4, NAME (not supported)". Returns `to`. */
char *lua_process__interpreters(const struct lua_process *process,
				char to[LUA_PROCESS_INTERPRETERS_SIZE]);

#endif
