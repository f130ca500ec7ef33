/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Takes in processes that hold Lua, for targets*.c alone. */
#ifndef LS_TARGETS_ADMISSION_H
#define LS_TARGETS_ADMISSION_H

#include "targets/targets_state.h"

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
