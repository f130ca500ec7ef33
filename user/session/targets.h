/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of a session: those that were asked for, and where that is wanted the children that
 * they have and get; or all of the host that hold Lua. What is known of each, what BPF is told of
 * it, and its CPU time.
 */
#ifndef LS_TARGETS_H
#define LS_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "grouping.h"
#include "process_filter.h"
#include "profile.h"
#include "record.h"
#include "recording.h"
#include "sampler.h"

struct targets;

struct targets_options {
	const pid_t *pids; /* borrowed */
	size_t count;
	int is_system_wide;       /* all that hold Lua, and no `pids` */
	struct process_wish wish; /* which of those */
	const char *layout;       /* forced; NULL: what samples decide on */
	int waits;                /* that there is no Lua yet is no error */
	int follows_children;
	enum grouping_kind merge_by; /* of several: which are one category, or one part */
	struct parts *parts;         /* that have profiles of their own; borrowed, NULL: none */
	int is_launched;             /* luaspy started it: it is about to become another program */
	int has_run;                 /* by the time of targets__attach(): it may have children */
	int is_paused;               /* at first */
};

/*
 * Finds the processes that were asked for. Says what is wrong with those that it cannot follow. 0;
 * -ENOENT: there are none; other -errno. `recording` is borrowed.
 */
int targets__open(const struct targets_options *options, struct recording *recording,
		  struct targets **targets);
void targets__close(struct targets *targets);

/*
 * Looks for their interpreters, and says what it found or why it gives up on one. 0; -ENOENT: no
 * process is left; other -errno.
 */
int targets__look(struct targets *targets);

/* Tells BPF of them. `sampler` is borrowed. 0 or -errno. */
int targets__begin(struct targets *targets, struct sampler *sampler);

/* Starts timers on all their threads. 0, or -errno after saying why it cannot. */
int targets__attach(struct targets *targets);

/* What BPF tells of them. 0 or -ENOMEM. */
void targets__sample(struct targets *targets, const struct ls_sample *sample);
int targets__exec(struct targets *targets, const struct ls_exec *exec);
int targets__fork(struct targets *targets, const struct ls_fork *fork);
void targets__exit(struct targets *targets, const struct ls_thread_exit *exit);

/*
 * Takes in what samples, mappings and BPF have told of them; to be called after each drain. 0;
 * -ENOENT: the only one is not to be profiled, it said why; other -errno.
 */
int targets__follow(struct targets *targets);

/* The only one runs another program, in which there is no Lua: it was said so. */
int targets__are_given_up(const struct targets *targets);

/* Polls readable when a process that was asked for has ended; whether all have. */
int targets__poll_fd(const struct targets *targets);
int targets__have_ended(struct targets *targets);

/* A layout may be decided any moment, or a program may load its Lua: look often. */
int targets__are_settling(const struct targets *targets, uint64_t now_ns);

/* Whether the layouts of all interpreters are decided, of at least one. */
int targets__are_decided(const struct targets *targets);

/*
 * Nothing is recorded from here on, with all timers switched off and everything drained before; or
 * it is again, and switches them on. 0 or -errno.
 */
int targets__pause(struct targets *targets);
int targets__resume(struct targets *targets);
int targets__are_paused(const struct targets *targets);
void targets__switch(struct targets *targets, int on);

/*
 * Gives threads that inherited their timers others, which can be changed: of the sampler's present
 * period. `drain` takes in all that BPF has sent. 0 or -errno.
 */
int targets__renew_timers(struct targets *targets, int (*drain)(void *context), void *context);

/*
 * What they were charged so far is known then, and nothing handed over. Now and then also names of
 * functions that only a process's tables tell, of no more processes than can be read in a moment.
 */
void targets__tell_so_far(struct targets *targets);

/*
 * For a profile while the session goes on: all that threads were charged is handed over; with
 * everything drained after it, targets__complete().
 */
void targets__settle(struct targets *targets);
void targets__complete(struct targets *targets);

/*
 * No more samples come, timers are stopped, everything is drained: what is not decided stays so,
 * and living threads tell what they were charged. 0; -ENOENT: the only one held an unknown Lua, it
 * said so.
 */
int targets__end(struct targets *targets);

/* The name of the first, and what to call them all: "lua5.4 (pid 42)". */
const char *targets__name(const struct targets *targets);
const char *targets__title(const struct targets *targets);

/* The first that was asked for. */
pid_t targets__pid(const struct targets *targets);

/* Whether any held Lua so far. */
int targets__have_lua(const struct targets *targets);

/* As session__visit_living(). */
int targets__visit_living(const struct targets *targets,
			  int (*visit)(void *context, const char *category, uint64_t late_ns),
			  void *context);

/* Fills in what the recorder says of them. Valid until the next call. */
void targets__export(struct targets *targets, struct ls_profile_recorder *recorder);

/* The same of those of one part, but for their CPU time. Valid until the next call of either. */
void targets__export_part(struct targets *targets, const struct part *part,
			  struct ls_profile_recorder *recorder);

#endif
