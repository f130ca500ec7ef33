/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What /proc tells about one process. */
#ifndef LS_PROCESS_H
#define LS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "container.h"

/* One line of /proc/PID/maps that has a file behind it. */
struct process_mapping {
	uint64_t start, end, offset;
	uint64_t device, inode; /* as stat() has them in st_dev and st_ino */
	bool executable, writable;
	char *path; /* as the target sees it, unescaped, without " (deleted)"; owned by the list */
};

struct process_mappings {
	struct process_mapping *items;
	size_t count;
};

/* The thread's name (comm) into name[16]. 0 or -errno (-ESRCH: no such process). */
int process__name(pid_t pid, char name[16]);

/*
 * All file mappings, in order of address. 0 or -errno (-ESRCH: no such process). Free in every
 * case. A zombie and a kernel thread have none.
 */
int process__mappings(pid_t pid, struct process_mappings *mappings);
void process__mappings_free(struct process_mappings *mappings);

/*
 * The mapped file, to be looked at and opened again (O_PATH): by /proc/PID/map_files, so that it is
 * the very file that is mapped, deleted or in another mount namespace; else (without
 * CAP_CHECKPOINT_RESTORE) at its path below the root of the process, which no link there leads out
 * of, where another file may have taken its name since. The caller's descriptor, or -errno; -ENOENT
 * also once the process has ended; -EPERM: it has no path any more, and only that capability would
 * open it.
 */
int process__open_mapped_file(pid_t pid, const struct process_mapping *mapping);

/* Pages of address space: another number where something has been mapped. 0 or -errno. */
int process__mapped_pages(pid_t pid, uint64_t *pages);

/* Thread ids in ascending order; *tids is malloc()ed, NULL on error. The count, or -errno. */
ssize_t process__threads(pid_t pid, pid_t **tids);

/* All processes, likewise. */
ssize_t process__all(pid_t **pids);

/*
 * Where the stack of the program that it runs begins; 0: it is about to end. Each execution has
 * another. 0 or -errno.
 */
int process__stack_start(pid_t pid, uint64_t *address);

/* When it was born, CLOCK_MONOTONIC, no later than that and 10 ms sooner at most. 0 or -errno. */
int process__birth_ns(pid_t pid, uint64_t *birth_ns);

/* Its real user. 0 or -errno. */
int process__user(pid_t pid, uid_t *user);

/*
 * Its cgroup: of the unified hierarchy, else of the first of the others, "/" being luaspy's root.
 * *path is malloc()ed, NULL on error. 0 or -errno.
 */
int process__cgroup(pid_t pid, char **path);

/* Whether it lives in another PID namespace, and as what. 0 or -errno: as if it did not. */
int process__container(pid_t pid, struct container *container);

/*
 * Those that it created and that have not ended, likewise; 0 too where the kernel does not tell
 * (CONFIG_PROC_CHILDREN).
 */
ssize_t process__children(pid_t pid, pid_t **pids);

/*
 * The processes that descend from `pid`, without it, those that were born first mostly before
 * their children; *pids likewise. The count, or -errno.
 */
ssize_t process__descendants(pid_t pid, pid_t **pids);

/*
 * CPU time charged to one thread so far: by schedstat or, on kernels without it
 * (CONFIG_SCHED_INFO), by process__thread_ticks_ns(). 0 or -errno.
 */
int process__thread_runtime_ns(pid_t pid, pid_t tid, uint64_t *runtime_ns);

/* The same in whole clock ticks, of user and of system time: up to 20 ms too little. 0 or -errno.
 */
int process__thread_ticks_ns(pid_t pid, pid_t tid, uint64_t *runtime_ns);

/* CPU time charged to all threads of the process, those that exited included. 0 or -errno. */
int process__runtime_ns(pid_t pid, uint64_t *runtime_ns);

/* The state letter of /proc/PID/stat: 'R', 'S', 'T', 'Z' ...; 0 when it cannot be read. */
char process__state(pid_t pid);

#endif
