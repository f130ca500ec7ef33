/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples luaspy itself like a target, to prove that this kernel lets BPF read stacks. */
#ifndef LS_SELF_SAMPLE_H
#define LS_SELF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "target.h"

/* The result for one thread, which ran no script. */
struct self_sample {
	uint64_t classes[LS_SAMPLE_CLASS_COUNT]; /* samples; LS_SAMPLE_HOST: the stack was read */
	enum ls_walk_error error;                /* of the last sample of another class */
	int attach_error;                        /* -errno of starting its timer, or of draining */
};

struct self_test {
	bool is_old;                  /* see sampler__is_old() */
	int walkers[LS_FAMILY_COUNT]; /* of each family: 0, or -errno of loading its walker */
	struct self_sample main_thread, other_thread;
};

/*
 * Loads and attaches the BPF programs, all walkers included, and samples the calling thread, which
 * must be the main one, and a thread that it creates; both work for a few milliseconds. 0, whatever
 * the samples show, if any walker can be loaded; or -errno. What cannot be loaded is logged, each
 * in one line.
 */
int self_sample__take(struct self_test *test);

#endif
