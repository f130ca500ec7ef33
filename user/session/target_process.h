/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One process of a session: what it is called, what it runs, and what BPF was told of it. */
#ifndef LS_TARGET_PROCESS_H
#define LS_TARGET_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "container.h"
#include "grouping.h"
#include "hash_table.h"
#include "identification.h"
#include "parts.h"
#include "recording.h"
#include "sampler.h"
#include "threads.h"

/* What the processes of a session share; all borrowed. */
struct target_setting {
	struct recording *recording;
	struct sampler *sampler; /* NULL: not loaded yet */
	struct lua_files *files;
	struct announced *announced;
	struct grouping *grouping; /* by which they are shown together; NULL: each alone */
	struct parts *parts;       /* that have profiles of their own; NULL: there is but one */
	const char *layout;        /* forced; NULL: what samples decide on */
	int waits;                 /* that there is no Lua yet is no error */
	int is_of_many;            /* there may be more than one */
	int is_system_wide; /* it is told when they map files, and those without Lua are none */
	int is_launched;    /* luaspy started the first */
};

struct target_process {
	const struct target_setting *setting;
	pid_t pid;
	int is_child; /* of one that was asked for */
	int pid_fd;   /* of one that was; owned, -1: none */
	char name[16];
	char title[CONTAINER_TITLE_SIZE];
	struct container container;
	char *group;         /* NULL: not known, or shown alone; owned */
	uint64_t grouped_ns; /* CLOCK_MONOTONIC: when that was read */
	struct part *part;   /* its own, or its group's, held; NULL: it has had none yet */
	struct threads threads;
	struct identification *identification;
	struct ls_target known; /* what BPF was told last */
	struct {
		uint32_t changes;
		uint16_t to_try, decided;
		int is_refused;
	} told;               /* and what of: most have not changed when they are looked at again */
	int is_known;         /* it was told something */
	uint64_t executed_ns; /* CLOCK_MONOTONIC: when it last became another program; 0: never */
	int has_executed;     /* it was not looked at since */
	int is_forked;        /* likewise: rounds of following since, from 1 on */
	int is_renewing;      /* BPF was told of a new edition */
	int has_news;         /* samples came of it */
	int has_mapped;       /* a Lua, perhaps another: to be looked for */
	int is_refused;       /* its Lua is not to be profiled */
	int is_given_up;      /* it runs another program, and that has no Lua: it was said so */
	int has_ended;
	int ended_rounds;      /* of target_process__follow() since */
	uint64_t named_ns;     /* CLOCK_MONOTONIC: when its tables were read for names; 0: never */
	uint64_t named_cpu_ns; /* CPU time so far then */
	int is_filed;          /* under its own name; else under that of those without Lua */
	int is_roused;         /* there is something to take in of it */
	struct target_process *prev, *next; /* of those */
	UT_hash_handle hh;
};

/*
 * A process that was asked for, whose name is read. 0; -ENOENT: there is none; other -errno, after
 * saying what is wrong. Free with target_process__free(), which takes NULL.
 */
int target_process__new(const struct target_setting *setting, pid_t pid,
			struct target_process **target);
void target_process__free(struct target_process *target);

/* A child of one, which may be gone already. 0 or -ENOMEM. */
int target_process__new_child(const struct target_setting *setting, pid_t pid, const char *name,
			      struct target_process **target);

/* It runs another program now. 0 or -ENOMEM. */
int target_process__executes(struct target_process *target, const struct ls_exec *exec);

/* It ran Lua, although nobody can look at it any more. 0 or -ENOMEM. */
int target_process__presume(struct target_process *target);

/* Looks for its interpreters. 0; -ENOENT: it is not to be profiled, it said why; other -errno. */
int target_process__look(struct target_process *target);

/* Tells its verdicts of them, and BPF. 0 or -errno. */
int target_process__begin(struct target_process *target);

/* `parent` has forked it, and BPF knows of it what it knows of that one. 0 or -ENOMEM. */
int target_process__inherit(struct target_process *target, const struct target_process *parent);

/* The category of the profile that it is in, by process. Good until something becomes of it. */
const char *target_process__category(const struct target_process *target);

/* Whether there is anything to take in. */
int target_process__has_news(const struct target_process *target);

/*
 * Takes in what samples, mappings and BPF have told of it, all that was sent having been drained.
 * 0; -ENOENT: the only one holds an unknown Lua, it said so; other -errno.
 */
int target_process__follow(struct target_process *target);

/* It was looked at since it became what it is, and has none. */
int target_process__is_without_lua(const struct target_process *target);

/* Its layout may be decided any moment, or it may load its Lua. */
int target_process__is_settling(const struct target_process *target, uint64_t start_ns,
				uint64_t now_ns);

#endif
