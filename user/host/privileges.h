/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What luaspy may do: the capabilities that it needs, those that it has, those it gives up. */
#ifndef LS_PRIVILEGES_H
#define LS_PRIVILEGES_H

#include <stddef.h>
#include <stdint.h>

/* All that luaspy ever needs; with CAP_SYS_ADMIN, the first two are not asked for. */
struct privilege {
	const char *name; /* "CAP_BPF" */
	unsigned int capability;
	const char *purpose; /* "loads the BPF programs" */
	int is_needed;       /* for any recording, not only for processes of others */
};

#define PRIVILEGE_COUNT 5
extern const struct privilege privileges[PRIVILEGE_COUNT];

/* Bit per capability that is effective now (CapEff). 0 or -errno. */
int privileges__effective(uint64_t *capabilities);

/* Whether the kernel would grant what privileges[index] is for. */
int privileges__has(uint64_t capabilities, size_t index);

/*
 * Whether the process is in a user namespace: its capabilities count inside, those that BPF and
 * timers ask for are the host's.
 */
int privileges__are_namespaced(void);

/*
 * The names of those that are missing, as "CAP_BPF and CAP_PERFMON"; "" where none is. Returns
 * `to`.
 */
char *privileges__missing(char *to, size_t size);

/*
 * Gives up, for good, what a session does not need once it samples: all but reading the target and
 * writing files. 0 or -errno: then they are as they were.
 */
int privileges__reduce(void);

#endif
