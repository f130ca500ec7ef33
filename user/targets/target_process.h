/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process of a session: the program it runs, and what BPF was told about it. */
#ifndef LS_TARGET_PROCESS_H
#define LS_TARGET_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "targets/target_process_state.h"

/*
 * Creates a target for a process that was asked for, and reads its name. 0; -ENOENT: there is none;
 * other -errno, after logging what is wrong. Free with target_process__free(), which takes NULL.
 */
int target_process__new(const struct target_setting *setting, pid_t pid,
			struct target_process **target);
void target_process__free(struct target_process *target);

/*
 * The same for a process that nobody asked for by pid, and which may be gone already. 0 or -ENOMEM.
 */
int target_process__new_child(const struct target_setting *setting, pid_t pid, const char *name,
			      struct target_process **target);

/* The process runs another program now. 0 or -ENOMEM. */
int target_process__executes(struct target_process *target, const struct ls_exec *exec);

/* Takes the process for one with Lua, although it cannot be inspected any more. 0 or -ENOMEM. */
int target_process__presume(struct target_process *target);

/*
 * Looks for its interpreters. 0; -ENOENT: it cannot be profiled, and the reason was logged; other
 * -errno.
 */
int target_process__inspect(struct target_process *target);

/* Tells its layout votes and BPF about them. 0 or -errno. */
int target_process__begin(struct target_process *target);

/* `parent` forked it: copies what is known of the parent, as BPF does. 0 or -ENOMEM. */
int target_process__inherit(struct target_process *target, const struct target_process *parent);

/* Whether target_process__follow() has anything to do. */
bool target_process__has_news(const struct target_process *target);

/*
 * Handles what samples, mappings and BPF have reported, once everything sent has been drained. 0;
 * -ENOENT: the only process holds an unknown Lua, which was logged; other -errno.
 */
int target_process__follow(struct target_process *target);

/*
 * For a process that has ended: whether BPF will soon report what its threads ran since they
 * exited. What a zombie ran is read now.
 */
int target_process__awaits_rest(struct target_process *target);

/* Whether it was inspected since it last changed and has no Lua. */
bool target_process__is_without_lua(const struct target_process *target);

/* Whether its layout may be decided, or its Lua loaded, any moment. */
bool target_process__is_settling(const struct target_process *target, uint64_t start_ns,
				 uint64_t now_ns);

#endif
