/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes of a session: those that were asked for, with their present and future children if
 * wanted; or all processes of the host that hold Lua. Keeps what is known of each, what BPF was
 * told about it, and its CPU time.
 */
#ifndef LS_TARGETS_H
#define LS_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "record.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "targets/targets_options.h"

struct targets;

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
int targets__inspect(struct targets *targets);

/* Tells BPF about them. `sampler` is borrowed. 0 or -errno. */
int targets__begin(struct targets *targets, struct sampler *sampler);

/* Starts timers on all their threads. 0, or -errno after logging why it cannot. */
int targets__attach(struct targets *targets);

/* Whether the only process runs another program, without Lua; that was logged. */
bool targets__are_given_up(const struct targets *targets);

/*
 * targets__poll_fd() polls readable when a process that was asked for has ended or, system-wide,
 * one has mapped a file; targets__have_ended() says whether all that were asked for have ended.
 */
int targets__poll_fd(const struct targets *targets);
bool targets__have_ended(struct targets *targets);

/* Whether there is an interpreter, and the layouts of all are decided. */
bool targets__are_decided(const struct targets *targets);

/*
 * targets__pause() stops recording, after all timers were switched off and everything was drained;
 * targets__resume() resumes it and switches the timers on. 0 or -errno.
 */
int targets__pause(struct targets *targets);
int targets__resume(struct targets *targets);
bool targets__are_paused(const struct targets *targets);
void targets__switch(struct targets *targets, int on);

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

/* The name of the first, and a title for all: "lua5.4 app.lua (pid 42)". */
const char *targets__name(const struct targets *targets);
const char *targets__title(const struct targets *targets);

/* The first process that was asked for. */
pid_t targets__pid(const struct targets *targets);

/* Whether any has held Lua so far. */
bool targets__have_lua(const struct targets *targets);

/* As unsupported__text(); NULL: there was no such process. Valid until the next call. */
const char *targets__unsupported(const struct targets *targets);

/* As session__visit_living(). */
int targets__visit_living(const struct targets *targets,
			  int (*visit)(void *context, const char *category, uint64_t late_ns),
			  void *context);

/* Fills in the recorder's data about them. Valid until the next call. */
void targets__export(struct targets *targets, struct ls_profile_recorder *recorder);

/*
 * The same for the processes of one subprofile, except their CPU time. Valid until the next call of
 * either.
 */
void targets__export_subprofile(struct targets *targets, const struct subprofile *subprofile,
				struct ls_profile_recorder *recorder);

#endif
