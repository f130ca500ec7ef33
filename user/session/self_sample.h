/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples luaspy itself, as a target would be: the proof that this kernel lets stacks be read. */
#ifndef LS_SELF_SAMPLE_H
#define LS_SELF_SAMPLE_H

#include <stdint.h>

#include "target.h"

/* What came of one thread, which ran no script. */
struct self_sample {
	uint64_t classes[LS_SAMPLE_CLASS_COUNT]; /* samples; those of class `host` were read */
	enum ls_walk_error error;                /* of the last that was not */
	int attach_error;                        /* -errno: it could not be given a timer */
};

/*
 * Loads and attaches the BPF programs and takes samples of the calling thread, which is to be the
 * main one, and of one that it creates; both work for some milliseconds. 0, whatever came of the
 * samples; or -errno after saying in one line why there can be none.
 */
int self_sample__take(struct self_sample *main_thread, struct self_sample *other_thread);

#endif
