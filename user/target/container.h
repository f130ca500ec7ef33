/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a process lives that is in another PID namespace than luaspy, and its id there. */
#ifndef LS_CONTAINER_H
#define LS_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_TITLE_SIZE 64

struct container {
	pid_t pid;   /* in the innermost namespace, as the process knows itself; 0: it is in ours */
	char id[13]; /* as docker ps shows it; "": its cgroups tell none */
};

/*
 * What a process's `status` and `cgroup` in /proc say. An id is taken to be 64 hexadecimal digits
 * in a row, as Docker, containerd, CRI-O and Podman have it in the names of their cgroups
 * ("docker-<id>.scope", "cri-containerd-<id>.scope", "libpod-<id>.scope/container",
 * "/docker/<id>"); of several the last, which is that of a container inside another.
 */
pid_t container__parse_pid(const char *status);
void container__parse_id(const char *cgroups, char id[13]);

/*
 * "lua5.4 (pid 42)"; of one in a container "lua5.4 (pid 42, 7 in 1a2b3c4d5e6f)", or where no cgroup
 * tells which, "lua5.4 (pid 42, 7 inside)".
 */
void container__title(const struct container *container, const char *name, pid_t pid,
		      char title[CONTAINER_TITLE_SIZE]);

/*
 * Such a title with what tells processes apart first, for narrow columns: "42 lua5.4", and in a
 * container "42 lua5.4, 7 in 1a2b3c4d5e6f". Other text is copied.
 */
void container__short_title(const char *title, char *to, size_t size);

#endif
