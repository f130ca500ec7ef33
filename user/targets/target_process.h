/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process of a session: its names, the program it runs, and what BPF was told about it. */
#ifndef LS_TARGET_PROCESS_H
#define LS_TARGET_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash_table.h"
#include "interpreter/detection.h"
#include "process/container.h"
#include "recording/subprofiles.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "targets/grouping.h"
#include "targets/threads.h"
#include "targets/unsupported.h"

/* What the processes of a session share; all borrowed. */
struct target_setting {
	struct recording *recording;
	struct sampler *sampler; /* NULL: not loaded yet */
	struct inspector *inspector;
	struct announced *announced;
	struct unsupported *unsupported;
	struct grouping *grouping;       /* how they are shown together; NULL: each alone */
	struct subprofiles *subprofiles; /* with profiles of their own; NULL: one profile */
	const char *layout;              /* forced; NULL: samples decide */
	bool waits;                      /* a process without Lua yet is not an error */
	bool is_of_many;                 /* there may be more than one process */
	bool is_system_wide; /* mappings are reported; processes without Lua are not targets */
	bool is_launched;    /* luaspy started the first process */
};

struct target_process {
	const struct target_setting *setting;
	pid_t pid;
	bool is_child; /* nobody asked for it by pid */
	int pid_fd;    /* if it was asked for; owned; -1: none */
	char name[16];
	char label[COMMAND_LINE_LABEL_SIZE]; /* of its command line, see there; "": `name` */
	bool is_labelled;                    /* that was read, or cannot be */
	char title[CONTAINER_TITLE_SIZE];
	struct container container;
	char *group;                   /* NULL: unknown, or shown alone; owned */
	uint64_t grouped_ns;           /* CLOCK_MONOTONIC: when `group` was read */
	struct subprofile *subprofile; /* its own or its group's, as a user of it; NULL: none yet */
	struct threads threads;
	struct detection *detection;
	struct ls_image known; /* what BPF was last told */
	struct {
		uint32_t changes; /* detection__changes() */
		struct ls_candidates candidates[LS_FAMILY_COUNT];
		bool is_refused;
	} told;               /* what `known` was made from: usually unchanged at the next look */
	bool is_known;        /* BPF was told something */
	uint64_t executed_ns; /* CLOCK_MONOTONIC: last execution, or when found; 0: neither */
	bool has_executed;    /* it executed a program and was not inspected since */
	int fork_rounds;      /* 0, or likewise forked: 1, plus the rounds of following since */
	bool is_renewing;     /* BPF was told of a new edition */
	bool has_lost_timers; /* the kernel removed them, and does not let us start others */
	bool has_news;        /* samples of it arrived */
	bool has_mapped;      /* it may have mapped a Lua, to be looked for */
	bool is_refused;      /* its Lua is not to be profiled */
	bool is_given_up;     /* it runs another program, without Lua; that was logged */
	bool has_ended;
	uint64_t ended_ns;         /* CLOCK_MONOTONIC: when it ended */
	uint64_t looked_ns;        /* likewise: when it was last checked for being a zombie */
	uint32_t awaited_rests;    /* of threads that exited: see LS_RECORD_THREAD_REST */
	struct ls_thread_exit end; /* of the first thread; its tid is 0: it has not exited */
	int ended_rounds;          /* rounds of targets__follow() since */
	uint64_t named_ns;     /* CLOCK_MONOTONIC: when its tables were read for names; 0: never */
	uint64_t named_cpu_ns; /* its CPU time then */
	bool is_filed;         /* shown under its own name; else with those without Lua */
	bool is_dirty;         /* in the list of targets to follow */
	struct target_process *prev, *next; /* in that list */
	UT_hash_handle hh;
};

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

/* Its category in a profile by process. Valid until the target changes. */
const char *target_process__category(const struct target_process *target);

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
