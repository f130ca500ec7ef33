/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of the targets; for targets*.c alone. */
#ifndef LS_TARGETS_STATE_H
#define LS_TARGETS_STATE_H

#include <stdbool.h>

#include "base/generations.h"
#include "interpreter/findings.h"
#include "sampler/mappings.h"
#include "targets/target_process.h"
#include "targets/targets_options.h"

/* A process that ran when the session began, and its CPU time then. */
struct unreached {
	pid_t pid;
	uint64_t runtime_ns;
};

struct targets {
	struct targets_options options;
	struct target_setting setting;
	struct target_process *items;
	struct target_process *dirty; /* list of those to follow */
	struct announced announced;
	struct unsupported *unsupported;
	struct text_list shown_rejected;
	struct text_list rejected;     /* processes with Lua that the filter does not take */
	struct findings findings;      /* of children that have ended */
	struct findings shown;         /* of all targets, for the recorder */
	int poll_fd;                   /* epoll: pidfds of those asked for, and mappings */
	struct mappings *mappings;     /* NULL: not system-wide */
	struct process_filter *filter; /* of processes that nobody named */
	bool has_to_search;            /* some mappings were lost, or could not be inspected */
	uint64_t searched_ns;          /* CLOCK_MONOTONIC: the last search of all processes */
	pid_t search_from;             /* pid where an interrupted search goes on; 0: none */
	size_t asked_for;              /* how many of those asked for are still there */
	uint64_t missed;               /* processes that could not be inspected or sampled */
	size_t denied;    /* not inspected for lack of privileges, at the last search */
	pid_t denied_pid; /* one of them */
	struct generations *missed_pids; /* those that `missed` has counted */
	struct generations *charged;     /* pid to CLOCK_MONOTONIC: charged without a sample */
	struct unreached *unreached;     /* not reached by the first search; sorted by pid; owned */
	size_t unreached_count;
	bool is_paused;
	uint64_t start_ns;    /* CLOCK_MONOTONIC: when the timers started */
	uint64_t starting_ns; /* time that is left in this round for starting timers */
	pid_t first;
	pid_t named; /* the last process whose tables were read for names */
	char name[16];
	char title[CONTAINER_TITLE_SIZE + 32];
};

#endif
