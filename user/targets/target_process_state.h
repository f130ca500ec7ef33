/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of one process of a session; for target*.c alone. */
#ifndef LS_TARGET_PROCESS_STATE_H
#define LS_TARGET_PROCESS_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash_table.h"
#include "interpreter/detection.h"
#include "process/container.h"
#include "recording/grouping.h"
#include "recording/recording.h"
#include "recording/subprofiles.h"
#include "sampler/sampler.h"
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

#endif
