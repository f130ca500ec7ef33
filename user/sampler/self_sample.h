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
	bool is_old;                             /* see sampler__is_old() */
};

/*
 * Loads and attaches the BPF programs and samples the calling thread, which must be the main one,
 * and a thread that it creates; both work for a few milliseconds. 0, whatever the samples show; or
 * -errno after logging in one line why there can be none.
 */
int self_sample__take(struct self_sample *main_thread, struct self_sample *other_thread);

#endif
