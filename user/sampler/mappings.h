/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that processes of the whole host map: programs that they execute, libraries that they load.
 * The kernel reports each mapping (PERF_RECORD_MMAP2); most are of a few files that are already
 * known.
 */
#ifndef LS_MAPPINGS_H
#define LS_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's identity of a file. stat() may show other numbers, so this is only a key. */
struct mapped_file {
	uint64_t inode, generation; /* tells apart files that reuse an inode number */
	uint32_t device_major, device_minor;
};

struct mapped_code {
	pid_t pid;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t address; /* start of the mapping */
	uint64_t length;
	struct mapped_file file;
};

/* Called while mappings__drain() runs. Negative ends the drain. */
struct mappings_receiver {
	void *context;
	int (*mapping)(void *context, const struct mapped_code *code);
	int (*lost)(void *context); /* mappings were lost: any process may have mapped anything */
};

struct mappings;

/* Begins to watch mappings. 0 or -errno. __close() takes NULL. */
int mappings__open(const struct mappings_receiver *receiver, struct mappings **mappings);
void mappings__close(struct mappings *mappings);

/* Polls readable as soon as there is a mapping. */
int mappings__poll_fd(const struct mappings *mappings);

/* 0, or what a receiver returned, or -errno. */
int mappings__drain(struct mappings *mappings);

/*
 * Passes over mappings of that file for half a second. The file may be rewritten in place
 * meanwhile, so the last of these mappings is reported after that. 0 or -ENOMEM.
 */
int mappings__pass_over(struct mappings *mappings, const struct mapped_file *file);

/*
 * Notes that the file is or contains a Lua. This is then known even for a process that has ended. 0
 * or -ENOMEM.
 */
int mappings__note_lua(struct mappings *mappings, const struct mapped_file *file);
bool mappings__is_lua(const struct mappings *mappings, const struct mapped_file *file);

#endif
