/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The container of a process in another PID namespace than luaspy's, and its id there. */
#ifndef LS_CONTAINER_H
#define LS_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#include "process/command_line.h"

#define CONTAINER_TITLE_SIZE (COMMAND_LINE_LABEL_SIZE + 48)

struct container {
	pid_t pid;   /* in the innermost namespace, as the process knows itself; 0: it is in ours */
	char id[13]; /* as docker ps shows it; "": its cgroups contain none */
};

/*
 * Parse a process's `status` and `cgroup` in /proc. An id is 64 hexadecimal digits at the place
 * where Docker, containerd, CRI-O and Podman put it in the names of their cgroups
 * ("docker-<id>.scope", "cri-containerd-<id>.scope", "libpod-<id>.scope/container",
 * "/docker/<id>"). The parent cgroup must be root's, because users name the cgroups in their own as
 * they like. The last of several ids counts, which is that of a container inside another.
 */
pid_t container__parse_pid(const char *status);
void container__parse_id(const char *cgroups, char id[13]);

/*
 * "lua5.4 app.lua (pid 42)" for the label "lua5.4 app.lua"; in a container "lua5.4 (pid 42, 7 in
 * 1a2b3c4d5e6f)" or, if no cgroup contains its id, "lua5.4 (pid 42, 7 inside)".
 */
void container__title(const struct container *container, const char *label, pid_t pid,
		      char title[CONTAINER_TITLE_SIZE]);

/*
 * Rewrites such a title for narrow columns, with what distinguishes processes first: "42 lua5.4",
 * and in a container "42 lua5.4, 7 in 1a2b3c4d5e6f". Copies any other text.
 */
void container__short_title(const char *title, char *to, size_t size);

#endif
