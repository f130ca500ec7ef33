/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which of a host's processes are wanted. */
#ifndef LS_PROCESS_FILTER_H
#define LS_PROCESS_FILTER_H

#include <stdbool.h>
#include <sys/types.h>

struct process_filter;

/* One that takes all; NULL when out of memory. __free() takes NULL. */
struct process_filter *process_filter__new(void);
void process_filter__free(struct process_filter *filter);

/*
 * Each narrows it further. 0; -ENOMEM; -EINVAL: not what it should be.
 * name: an extended regular expression, found anywhere in the process's name (comm);
 * user: a name or a number, of the real user;
 * cgroup: a path such as "/system.slice/nginx.service", and what is below it.
 */
int process_filter__name(struct process_filter *filter, const char *expression);
int process_filter__user(struct process_filter *filter, const char *user);
int process_filter__cgroup(struct process_filter *filter, const char *path);

/* Whether it takes the process of that name. NULL takes all; one that is gone is not taken. */
bool process_filter__takes(const struct process_filter *filter, pid_t pid, const char *name);

#endif
