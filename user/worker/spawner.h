/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that forks workers. Luaspy forks it at the start, before it loads BPF programs or
 * opens profiles, so that workers inherit nothing. It never touches a target, so it never blocks.
 */
#ifndef LS_SPAWNER_H
#define LS_SPAWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "worker/worker.h"

struct spawner {
	pid_t pid;
	int fd;        /* polls readable when there is a reply */
	bool is_asked; /* a request is pending */
};

/* Forks the spawner, which ends when luaspy does or calls spawner__stop(). 0 or -errno. */
int spawner__start(const struct worker_job *job, struct spawner *spawner);
void spawner__stop(struct spawner *spawner);

/* Requests a new worker, unless a request is pending; the former one is killed. 0 or -errno. */
int spawner__ask(struct spawner *spawner);

/*
 * Takes the reply; call this once `fd` is readable. 0 with the worker's id and its socket, which
 * the caller closes; -EBUSY: too many killed workers have not died; other -errno.
 */
int spawner__take(struct spawner *spawner, pid_t *pid, int *fd);

#endif
