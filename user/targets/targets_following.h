/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Follows what the processes of a session do. */
#ifndef LS_TARGETS_FOLLOWING_H
#define LS_TARGETS_FOLLOWING_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

struct targets;

/* Take in records from BPF. 0 or -ENOMEM. */
void targets__sample(struct targets *targets, const struct ls_sample *sample);
int targets__exec(struct targets *targets, const struct ls_exec *exec);
void targets__exit(struct targets *targets, const struct ls_thread_exit *exit);
void targets__rest(struct targets *targets, const struct ls_thread_exit *rest);

/* Whether the thread's CPU time was charged when luaspy found that its process had ended. */
bool targets__have_charged(const struct targets *targets, const struct ls_thread_exit *exit);

/* Whether any LS_RECORD_THREAD_REST of ended processes will come soon. */
int targets__await_rests(struct targets *targets);

/*
 * Handles what samples, mappings and BPF have reported; to be called after each drain. 0; -ENOENT:
 * the only process cannot be profiled, and the reason was logged; other -errno.
 */
int targets__follow(struct targets *targets);

/*
 * Logs which children with an interpreter, or not inspected yet, run on, if the session ends
 * because all processes that were asked for have ended: a command may have started a daemon.
 */
void targets__tell_of_survivors(const struct targets *targets);

/* Whether one of them cannot be sampled any more; the reason was logged. */
bool targets__have_lost_timers(const struct targets *targets);

/* Whether the files of one have still to be searched for interpreters: its search was put off. */
bool targets__have_unsearched(const struct targets *targets);

/* Whether a layout may be decided, or a program may load its Lua, any moment: drain often. */
bool targets__are_settling(const struct targets *targets, uint64_t now_ns);

#endif
