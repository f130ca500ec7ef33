/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selects processes of the host by name, user and cgroup. */
#ifndef LS_PROCESS_FILTER_H
#define LS_PROCESS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* NULL: any. */
struct process_criteria {
	const char *name;   /* an extended regular expression, found anywhere in its name (comm) */
	const char *user;   /* name or number of its real user */
	const char *cgroup; /* a path such as "/system.slice/nginx.service"; or below it */
};

/* "'--name ^redis' and '--user 0'", for messages. Returns `to`. */
char *process_criteria__describe(const struct process_criteria *criteria, char *to, size_t size);

struct process_filter;

/* 0; -ENOMEM; -EINVAL: a criterion is invalid. Free with __free(), which takes NULL. */
int process_filter__new(const struct process_criteria *criteria, struct process_filter **filter);
void process_filter__free(struct process_filter *filter);

/*
 * Whether the filter accepts process `pid`, called `name`. If user or cgroup matters, a process
 * that is gone is not accepted.
 */
bool process_filter__takes(const struct process_filter *filter, pid_t pid, const char *name);

#endif
