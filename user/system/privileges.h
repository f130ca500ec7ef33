/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capabilities: those that luaspy needs, those that it has, and those that it gives up. */
#ifndef LS_PRIVILEGES_H
#define LS_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that luaspy needs. CAP_SYS_ADMIN replaces CAP_BPF, CAP_PERFMON, CAP_CHECKPOINT_RESTORE. */
struct privilege {
	const char *name; /* "CAP_BPF" */
	unsigned int capability;
	const char *purpose; /* "loads the BPF programs" */
	bool is_needed;      /* by every recording, not only of other users' processes */
};

#define PRIVILEGE_COUNT 5
extern const struct privilege privileges[PRIVILEGE_COUNT];

/* The effective capabilities (CapEff), one bit for each. 0 or -errno. */
int privileges__effective(uint64_t *capabilities);

/* Whether these capabilities suffice for the purpose of privileges[index]. */
bool privileges__has(uint64_t capabilities, size_t index);

/*
 * Whether the process is in a user namespace other than the initial one. Its capabilities count
 * only inside, but BPF and perf events require them in the initial namespace.
 */
bool privileges__are_namespaced(void);

/* The missing ones, as "CAP_BPF and CAP_PERFMON"; "" if none is missing. Returns `to`. */
char *privileges__missing(char *to, size_t size);

#define PRIVILEGES_REMEDY_SIZE 96

/*
 * What to do where the kernel has denied what that capability is for, to be put in parentheses:
 * "try sudo or CAP_PERFMON", unless this is root already. Returns `to`, of PRIVILEGES_REMEDY_SIZE
 * bytes.
 */
char *privileges__remedy(const char *capability, char *to);

/*
 * Permanently gives up what a session does not need once it samples: everything but reading the
 * target and writing files. 0, or -errno: the capabilities are unchanged.
 */
int privileges__reduce(void);

/*
 * Permanently gives up everything that reading other processes' memory and files does not need,
 * including root's user id. 0 or -errno.
 */
int privileges__keep_reading(void);

/*
 * Permanently gives up everything that loading BPF programs does not need. 0, or -errno: the
 * capabilities are unchanged.
 */
int privileges__keep_loading(void);

/*
 * Drops the calling thread's effective capabilities that override file permissions, until
 * privileges__give_back(). *aside are those that it had. 0, or -errno: nothing has changed.
 */
int privileges__set_aside_files(uint64_t *aside);
void privileges__give_back(uint64_t aside);

#endif
