/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of a host's processes are wanted. */
#ifndef LS_PROCESS_FILTER_H
#define LS_PROCESS_FILTER_H

#include <stdbool.h>
#include <sys/types.h>

/* NULL: any. */
struct process_wish {
	const char *name;   /* an extended regular expression, found anywhere in its name (comm) */
	const char *user;   /* a name or a number, of its real user */
	const char *cgroup; /* a path such as "/system.slice/nginx.service"; or below it */
};

struct process_filter;

/* 0; -ENOMEM; -EINVAL: one is not what it should be. Free with __free(), which takes NULL. */
int process_filter__new(const struct process_wish *wish, struct process_filter **filter);
void process_filter__free(struct process_filter *filter);

/* Whether it takes the process of that name; one that is gone it does not. */
bool process_filter__takes(const struct process_filter *filter, pid_t pid, const char *name);

#endif
