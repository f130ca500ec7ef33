/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs in the form that the running kernel accepts: those for Linux 6.1 and later or,
 * if the kernel refuses these, those for older kernels (bpf/repeat.bpf.h). The core, which all
 * samples need, is loaded first. Each family's walker is a BPF object of its own, loaded when the
 * first process needs it; it works with the core's maps.
 */
#ifndef LS_PROGRAMS_H
#define LS_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "target.h"

struct luaspy_bpf;
struct sampler_options;

/* File descriptors that keep a walker loaded. */
struct walker_files {
	int program;
	int layouts; /* its map of layouts */
};

void walker_files__close(const struct walker_files *walker);

struct loaded_walker {
	bool is_loaded;
	struct walker_files files;
	uint32_t layouts; /* how many its map has */
};

struct programs {
	struct luaspy_bpf *core;
	struct loaded_walker walkers[LS_FAMILY_COUNT];
	bool are_old;
};

/*
 * Loads the core and makes it ready to sample, but does not attach it. 0, and the caller frees it
 * with programs__free(); or -errno, which load_failure__explain() explains.
 */
int programs__load(const struct sampler_options *options, struct programs *programs);

/* Likewise, but loads the form that `are_old` names and tries no other. */
int programs__load_as(const struct sampler_options *options, bool are_old,
		      struct programs *programs);

/*
 * Loads the walker of a family, unless it is loaded, and gives it those layouts of the family that
 * it does not have yet. 0 or -errno, likewise.
 */
int programs__load_walker(struct programs *programs, uint32_t family);

/*
 * The two halves of programs__load_walker(). The first loads the walker, which needs privileges;
 * the caller closes its files, or passes them to the second, which puts it to use and takes them
 * over even if it fails. Another process may do the first half. 0 or -errno, likewise.
 */
int programs__open_walker(const struct programs *programs, uint32_t family,
			  struct walker_files *walker);
int programs__add_walker(struct programs *programs, uint32_t family,
			 const struct walker_files *walker);

/* Returns the time that the programs ran, in ns; 0 unless the kernel counts it (BPF statistics). */
uint64_t programs__runtime_ns(const struct programs *programs);

/* Unloads and frees the programs, and zeroes the struct; a zeroed struct is left as it is. */
void programs__free(struct programs *programs);

#endif
