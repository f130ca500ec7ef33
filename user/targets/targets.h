/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of a session: those that were asked for, with their present and future children if
 * wanted; or all processes of the host that hold Lua. Keeps what is known of each, what BPF was
 * told about it, and its CPU time.
 */
#ifndef LS_TARGETS_H
#define LS_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "record.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "targets/grouping.h"
#include "targets/process_filter.h"

struct targets;

struct targets_options {
	struct inspector *inspector; /* borrowed */
	const pid_t *pids;           /* borrowed */
	size_t count;
	int is_system_wide;       /* all processes that hold Lua, and no `pids` */
	struct process_wish wish; /* which of those */
	const char *layout;       /* forced; NULL: samples decide */
	int waits;                /* a process without Lua yet is not an error */
	int follows_children;
	enum grouping_kind merge_by; /* which processes share a category, or a part */
	struct parts *parts;         /* with profiles of their own; borrowed; NULL: none */
	int is_launched;             /* luaspy started it: it is about to execute its program */
	int has_run;                 /* before targets__attach(): it may have children */
	int is_paused;               /* initially */
};

/*
 * Finds the processes that were asked for. Logs what is wrong with those that it cannot follow. 0;
 * -ENOENT: there are none; other -errno. `recording` is borrowed.
 */
int targets__open(const struct targets_options *options, struct recording *recording,
		  struct targets **targets);
void targets__close(struct targets *targets);

/*
 * Looks for their interpreters, and logs what it found or why it gives up on one. 0; -ENOENT: no
 * process is left; other -errno.
 */
int targets__look(struct targets *targets);

/* Tells BPF about them. `sampler` is borrowed. 0 or -errno. */
int targets__begin(struct targets *targets, struct sampler *sampler);

/* Starts timers on all their threads. 0, or -errno after logging why it cannot. */
int targets__attach(struct targets *targets);

/* Take in records from BPF. 0 or -ENOMEM. */
void targets__sample(struct targets *targets, const struct ls_sample *sample);
int targets__exec(struct targets *targets, const struct ls_exec *exec);
int targets__fork(struct targets *targets, const struct ls_fork *fork);
void targets__exit(struct targets *targets, const struct ls_thread_exit *exit);
void targets__rest(struct targets *targets, const struct ls_thread_exit *rest);

/* Whether any LS_RECORD_THREAD_REST of ended processes will come soon. */
int targets__await_rests(struct targets *targets);

/*
 * Handles what samples, mappings and BPF have reported; to be called after each drain. 0; -ENOENT:
 * the only process cannot be profiled, and the reason was logged; other -errno.
 */
int targets__follow(struct targets *targets);

/* Whether one of them cannot be sampled any more; the reason was logged. */
int targets__have_lost_timers(const struct targets *targets);

/* Whether the only process runs another program, without Lua; that was logged. */
int targets__are_given_up(const struct targets *targets);

/*
 * targets__poll_fd() polls readable when a process that was asked for has ended or, system-wide,
 * one has mapped a file; targets__have_ended() says whether all that were asked for have ended.
 */
int targets__poll_fd(const struct targets *targets);
int targets__have_ended(struct targets *targets);

/* Whether a layout may be decided, or a program may load its Lua, any moment: drain often. */
int targets__are_settling(const struct targets *targets, uint64_t now_ns);

/* Whether there is an interpreter, and the layouts of all are decided. */
int targets__are_decided(const struct targets *targets);

/*
 * targets__pause() stops recording, after all timers were switched off and everything was drained;
 * targets__resume() resumes it and switches the timers on. 0 or -errno.
 */
int targets__pause(struct targets *targets);
int targets__resume(struct targets *targets);
int targets__are_paused(const struct targets *targets);
void targets__switch(struct targets *targets, int on);

/*
 * Replaces inherited timers by new ones with the sampler's present period, which can be changed
 * later. `drain` takes in all that BPF has sent. 0 or -errno.
 */
int targets__renew_timers(struct targets *targets, int (*drain)(void *context), void *context);

/*
 * Updates the CPU time that they were charged so far, without handing it over. Now and then also
 * reads names of functions that only a process's tables contain, for as many processes as it can in
 * a moment.
 */
void targets__tell_so_far(struct targets *targets);

/*
 * For a profile while the session goes on: hands over all CPU time that threads were charged. Then
 * drain, and call targets__complete().
 */
void targets__settle(struct targets *targets);
void targets__complete(struct targets *targets);

/*
 * To be called after timers were stopped and everything was drained: what is undecided stays so,
 * and the CPU time of living threads is recorded. 0; -ENOENT: the only process held an unknown Lua,
 * which was logged.
 */
int targets__end(struct targets *targets);

/* The name of the first, and a title for all: "lua5.4 (pid 42)". */
const char *targets__name(const struct targets *targets);
const char *targets__title(const struct targets *targets);

/* The first process that was asked for. */
pid_t targets__pid(const struct targets *targets);

/* Whether any has held Lua so far. */
int targets__have_lua(const struct targets *targets);

/* As unsupported__text(); NULL: there was no such process. Valid until the next call. */
const char *targets__unsupported(const struct targets *targets);

/*
 * The processes with Lua that fit no name, user or cgroup that was asked for: "lua5.4 (pid 42);
 * ..." NULL: none. Valid until the next call.
 */
const char *targets__rejected(struct targets *targets);

/* As session__visit_living(). */
int targets__visit_living(const struct targets *targets,
			  int (*visit)(void *context, const char *category, uint64_t late_ns),
			  void *context);

/* Fills in the recorder's data about them. Valid until the next call. */
void targets__export(struct targets *targets, struct ls_profile_recorder *recorder);

/*
 * The same for the processes of one part, except their CPU time. Valid until the next call of
 * either.
 */
void targets__export_part(struct targets *targets, const struct part *part,
			  struct ls_profile_recorder *recorder);

#endif
