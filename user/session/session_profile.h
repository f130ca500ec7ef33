/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a session has recorded, and about what. */
#ifndef LS_SESSION_PROFILE_H
#define LS_SESSION_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/profile.h"
#include "record.h"

struct session;

/* "lua5.4 app.lua (pid 42)", and the name alone. Valid until the session is closed. */
const char *session__target(const struct session *session);
const char *session__name(const struct session *session);

/* The first process that was asked for and exists. */
pid_t session__pid(const struct session *session);

/*
 * While the session runs: updates the totals that session__export() returns. The samples of
 * functions are complete, but their charged time lags, and so do names that only the targets'
 * tables contain, which take a while to read.
 */
void session__refresh(struct session *session);

/*
 * Calls `visit` for each process that has not ended, with its category in a profile by process, and
 * the CPU time that it was charged by the last session__refresh() but that the profile does not
 * contain yet. Skips a process without Lua if that time is 0. A nonzero return value of `visit`
 * ends the loop and is returned.
 */
typedef int session_visitor(void *context, const char *category, uint64_t late_ns);
int session__visit_living(const struct session *session, session_visitor *visit, void *context);

/* CPU time of the BPF programs since they were loaded; 0 if the kernel does not measure it. */
uint64_t session__bpf_ns(const struct session *session);

/* The profile since the last interval ended. Valid until the session is closed or goes on. */
void session__export(struct session *session, struct ls_profile *profile);

/* Whether sampling began, even if there was nothing to sample. */
bool session__has_begun(const struct session *session);

/* Whether a command through the FIFO ended it. */
bool session__was_stopped(const struct session *session);

/* Whether there was no Lua at all, but an interpreter that is not supported. */
bool session__is_unsupported(const struct session *session);

/* Whether no process has held an interpreter and no sample has script. */
bool session__is_without_interpreter(const struct session *session);

/* Whether processes were missed and the profile has CPU time, which may be theirs. */
bool session__has_missed_time(struct session *session);

/* Why no profile of the session has any script, in one sentence; NULL: one has. */
const char *session__why_empty(struct session *session);

/* Samples since the session's start; BPF counts dropped ones. For session*.c alone. */
uint64_t session_profile__class_samples(const struct session *session, enum ls_sample_class class);
uint64_t session_profile__script_samples(const struct session *session);

#endif
