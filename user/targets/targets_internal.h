/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by targets.c and targets_*.c only. */
#ifndef LS_TARGETS_INTERNAL_H
#define LS_TARGETS_INTERNAL_H

#include "base/generations.h"
#include "interpreter/findings.h"
#include "targets/mappings.h"
#include "targets/target_process.h"
#include "targets/targets.h"

/* A process that ran when the session began, and its CPU time then. */
struct unreached {
	pid_t pid;
	uint64_t runtime_ns;
};

struct targets {
	struct targets_options options;
	struct target_setting setting;
	struct target_process *items;
	struct target_process *roused; /* list of those to follow */
	struct announced announced;
	struct unsupported *unsupported;
	struct text_list shown_rejected;
	struct text_list rejected;     /* processes with Lua that the filter does not take */
	struct findings findings;      /* of children that have ended */
	struct findings shown;         /* of all targets, for the recorder */
	int poll_fd;                   /* epoll: pidfds of those asked for, and mappings */
	struct mappings *mappings;     /* NULL: not system-wide */
	struct process_filter *filter; /* of processes that nobody named */
	int has_to_search;             /* some mappings were lost, or could not be inspected */
	uint64_t searched_ns;          /* CLOCK_MONOTONIC: the last search of all processes */
	pid_t search_from;             /* pid where an interrupted search goes on; 0: none */
	size_t asked_for;              /* how many of those asked for are still there */
	uint64_t missed;               /* processes that could not be inspected or sampled */
	size_t denied;    /* not inspected for lack of privileges, at the last search */
	pid_t denied_pid; /* one of them */
	struct generations *missed_pids; /* those that `missed` has counted */
	struct unreached *unreached;     /* not reached by the first search; sorted by pid; owned */
	size_t unreached_count;
	int is_paused;
	uint64_t start_ns; /* CLOCK_MONOTONIC: when the timers started */
	pid_t first;
	pid_t named; /* the last process whose tables were read for names */
	char name[16];
	char title[128];
};

/* Returns NULL if the process is no target. */
struct target_process *targets__find(const struct targets *targets, pid_t pid);

/* Takes ownership of `target`, also on error. 0 or -ENOMEM. */
int targets__add(struct targets *targets, struct target_process *target);

/* Removes a target, and frees it. */
void targets__drop(struct targets *targets, struct target_process *target);

/* Adds a target to the list of those to follow, or removes it from there. */
void targets__rouse(struct targets *targets, struct target_process *target);
void targets__lull(struct targets *targets, struct target_process *target);

/* Updates the title of all, after a name or the number of those asked for has changed. */
void targets__set_title(struct targets *targets);

/* Adds what was found out about `target` to `findings`. */
void targets__add_findings(const struct targets *targets, const struct target_process *target,
			   struct findings *findings);

/*
 * Adds the descendants that the processes asked for have now, and starts their timers. 0 or -errno;
 * what is wrong with one of them was logged.
 */
int targets__add_children(struct targets *targets);

/* The same for all processes of the host that hold Lua, and begins to watch for others. */
int targets__watch_host(struct targets *targets);

/* Adds processes that have loaded Lua since. 0 or -errno. */
int targets__add_new(struct targets *targets);

/* From when on a process's CPU time is that of a target. */
struct beginning {
	bool is_birth;
	uint64_t runtime_ns; /* if not from birth: CPU time then; 0: unknown, from now on */
	uint64_t mapped_ns;  /* CLOCK_MONOTONIC: when it mapped Lua; 0: unknown */
};

/* For a process that holds Lua, mapped at `mapped_ns` (CLOCK_MONOTONIC); 0: unknown when. */
struct beginning targets__beginning_of(const struct targets *targets, pid_t pid,
				       uint64_t mapped_ns);

/* Adds a process that holds Lua. 1; 0: it is not to be sampled, or has ended; -ENOMEM. */
int targets__admit(struct targets *targets, pid_t pid, struct beginning beginning);

/*
 * Adds a process that holds Lua, mapped at `mapped_ns`, with the descendants that it had before BPF
 * followed them, which map nothing and so would never be noticed. How many were added, or -ENOMEM.
 */
int targets__admit_family(struct targets *targets, pid_t pid, uint64_t mapped_ns);

/*
 * Counts a process with Lua that ended before it was inspected, and adds its CPU time to the
 * profile without a sample, and the descendants that it left. 0, also if nothing is known of its
 * end; or -ENOMEM.
 */
int targets__add_missed(struct targets *targets, pid_t pid);

/* The same for a program with Lua that the process has replaced, execution->previous. */
int targets__add_missed_program(struct targets *targets, pid_t pid,
				const struct ls_execution *execution);

#endif
