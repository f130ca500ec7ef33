/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What /proc tells about one process. */
#ifndef LS_PROCESS_H
#define LS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/container.h"

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
	bool is_cut; /* incomplete: the process has too many mappings */
};

/* The thread's name (comm) into name[16]. 0 or -errno (-ESRCH: no such process). */
int process__name(pid_t pid, char name[16]);

/*
 * Reads all file mappings, in order of address. 0 or -errno (-ESRCH: no such process). Free them in
 * every case. Zombies and kernel threads have none.
 */
int process__mappings(pid_t pid, struct process_mappings *mappings);
void process__mappings_free(struct process_mappings *mappings);

/*
 * Opens the mapped file with O_PATH, for fstat() and for being opened again. Uses
 * /proc/PID/map_files, which leads to the very file that is mapped, even if it was deleted or is in
 * another mount namespace. Without CAP_CHECKPOINT_RESTORE, uses its path below the root of the
 * process, which no link there leads out of, but where another file may have taken its name since.
 * Returns the caller's descriptor, or -errno; -ENOENT also once the process has ended; -EPERM: the
 * file has no path any more, and only that capability would open it.
 */
int process__open_mapped_file(pid_t pid, const struct process_mapping *mapping);

/*
 * The same for code that was mapped there a moment ago; only `start` and `end` need be set. If
 * map_files cannot be used, it queries that mapping alone or, on kernels that lack the query, reads
 * all.
 */
int process__open_code(pid_t pid, const struct process_mapping *mapping);

/*
 * Opens `path` with O_PATH, and with these flags of open(2), as the process would: from its root,
 * which no link there leads out of. Returns the caller's descriptor, or -errno.
 */
int process__open_in_root(pid_t pid, const char *path, int flags);

/*
 * Its working directory as such a path, into to[size]. 0; -errno; -ENAMETOOLONG; -ENOENT: it has no
 * path there any more.
 */
int process__working_directory(pid_t pid, char *to, size_t size);

/*
 * The absolute path with which the process executed its program, into to[size]: where links lead to
 * one file from several names, the name that was used, as `redis-server` is a link to
 * `redis-check-rdb`. -ENOENT: it was not absolute, or does not lead to the program (any more), as
 * that of a script that names an interpreter does not. 0 or -errno.
 */
int process__executed_path(pid_t pid, char *to, size_t size);

/*
 * The mapping that contains `address`, of a file or not; sets only its start, end and path, which
 * the caller frees, and which is "[heap]" for the heap. 0; -ENOENT: nothing is mapped there;
 * -ENOTTY: the kernel lacks PROCMAP_QUERY (Linux 6.11); other -errno.
 */
int process__query_mapping(pid_t pid, uint64_t address, struct process_mapping *mapping);

/* Pages of address space. A different number shows that mappings have changed. 0 or -errno. */
int process__mapped_pages(pid_t pid, uint64_t *pages);

/* Thread ids in ascending order; *tids is malloc()ed, NULL on error. The count, or -errno. */
ssize_t process__threads(pid_t pid, pid_t **tids);

/* The ids of all processes; *pids is malloc()ed, NULL on error. The count, or -errno. */
ssize_t process__all(pid_t **pids);

/*
 * The address at which the stack of the program that it runs begins, which differs after each
 * execve(); 0: the process is about to end. 0 or -errno.
 */
int process__stack_start(pid_t pid, uint64_t *address);

/*
 * Whether it is inside execve(): the kernel has given it the memory of the new program, but has not
 * noted yet where that program's code starts and its command line is. False if luaspy may not know.
 */
bool process__is_executing(pid_t pid);

/* Its start time (CLOCK_MONOTONIC), at most 10 ms too early and never too late. 0 or -errno. */
int process__birth_ns(pid_t pid, uint64_t *birth_ns);

/*
 * When the first process began that may have executed the program that this one runs: of its
 * ancestors, as far as they never executed another, the oldest. Units and errors are the same.
 */
int process__program_birth_ns(pid_t pid, uint64_t *birth_ns);

/* The process that the thread belongs to, whose id is that of its first thread. 0: unknown. */
pid_t process__of_thread(pid_t tid);

/* Its real user id. 0 or -errno. */
int process__user(pid_t pid, uid_t *user);

/*
 * Its cgroup in the unified hierarchy, else in the first of the others; "/" is luaspy's cgroup
 * root. *path is malloc()ed, NULL on error. 0 or -errno.
 */
int process__cgroup(pid_t pid, char **path);

/* Its container, if it is in another PID namespace. 0 or -errno; what could not be read is zero. */
int process__container(pid_t pid, struct container *container);

/*
 * Its children that have not ended, likewise; also 0 if the kernel does not list them
 * (CONFIG_PROC_CHILDREN).
 */
ssize_t process__children(pid_t pid, pid_t **pids);

/*
 * All descendants of `pid`, without itself, parents before their children; *pids likewise. Returns
 * the count, or -errno.
 */
ssize_t process__descendants(pid_t pid, pid_t **pids);

/*
 * CPU time charged to one thread so far: from schedstat or, on kernels without it
 * (CONFIG_SCHED_INFO), from process__thread_ticks_ns(). 0 or -errno.
 */
int process__thread_runtime_ns(pid_t pid, pid_t tid, uint64_t *runtime_ns);

/* The same from user and system time in whole clock ticks: up to 20 ms too little. 0 or -errno. */
int process__thread_ticks_ns(pid_t pid, pid_t tid, uint64_t *runtime_ns);

/* CPU time charged to all threads of the process, including those that exited. 0 or -errno. */
int process__runtime_ns(pid_t pid, uint64_t *runtime_ns);

/*
 * The state letter of a thread: 'R', 'S', 'T', 'Z' ...; 0 if it cannot be read. 'Z' does not mean
 * that its process has ended.
 */
char process__state(pid_t pid);

/* Whether no thread is left, though the parent may not have waited for the process yet. */
bool process__has_ended(pid_t pid);

/*
 * The id by which a process's memory, folders and program can be read: `pid`, or that of another
 * thread if the first one has ended, as after pthread_exit() in main(). The kernel shows none of
 * them for a thread that has ended.
 */
pid_t process__memory_id(pid_t pid);

#endif
