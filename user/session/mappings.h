/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that processes map, all of the host: programs that they execute, libraries that they load.
 * The kernel tells of each (PERF_RECORD_MMAP2); most are of a few files that are known by then.
 */
#ifndef LS_MAPPINGS_H
#define LS_MAPPINGS_H

#include <stdint.h>
#include <sys/types.h>

/* What makes a file this one to the kernel; stat() may show others: only a key. */
struct mapped_file {
	uint64_t inode, generation; /* which tells apart files that have the same number in turn */
	uint32_t device_major, device_minor;
};

struct mapped_code {
	pid_t pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t address; /* where it begins */
	struct mapped_file file;
};

/* Called while mappings__drain() runs. Negative ends the drain. */
struct mappings_receiver {
	void *context;
	int (*mapping)(void *context, const struct mapped_code *code);
	int (*lost)(void *context); /* some were: any process may have mapped anything */
};

struct mappings;

/* From here on. 0 or -errno. __close() takes NULL. */
int mappings__open(const struct mappings_receiver *receiver, struct mappings **mappings);
void mappings__close(struct mappings *mappings);

/* Polls readable as soon as there is one. */
int mappings__poll_fd(const struct mappings *mappings);

/* 0, or what a receiver returned, or -errno. */
int mappings__drain(struct mappings *mappings);

/* That file is of no interest: nobody is told of it again. 0 or -ENOMEM. */
int mappings__pass_over(struct mappings *mappings, const struct mapped_file *file);

/* That file is a Lua, or holds one: it is known then even of a process that has ended. */
int mappings__note_lua(struct mappings *mappings, const struct mapped_file *file);
int mappings__is_lua(const struct mappings *mappings, const struct mapped_file *file);

#endif
