/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turns the frames of one process into functions with names, whatever the family of its VMs. */
#ifndef LS_SYMBOLIZER_H
#define LS_SYMBOLIZER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/inspection.h"
#include "profile/functions.h"
#include "record.h"

struct symbolizer;

/* NULL when out of memory. `functions` and `inspector` are the caller's and must outlive it. */
struct symbolizer *symbolizer__new(pid_t pid, struct functions *functions,
				   struct inspector *inspector);
void symbolizer__free(struct symbolizer *symbolizer);

/* While the process lives: reads what naming machine code needs later. */
void symbolizer__prepare(struct symbolizer *symbolizer);

/* BPF saw this prototype for the first time. 0 or -ENOMEM. */
int symbolizer__define(struct symbolizer *symbolizer, const struct ls_function *function);

/*
 * Reads what naming the first `fresh` of these frames needs in one request, if it is more than one
 * item: symbolizer__function() is about to be called for each of them, root first. 0 or -ENOMEM.
 */
int symbolizer__look_ahead(struct symbolizer *symbolizer, const struct ls_sample *sample,
			   const struct ls_frame *frames, uint32_t count, uint32_t fresh);

struct symbol_quality {
	bool is_known;   /* 0: "(collected)", a prototype that BPF could not define */
	bool has_line;   /* 0: no line table of this function could be read so far */
	bool keeps_line; /* 0: the VM does not store where in the function it is */
};

/*
 * The function of a sample's frames[0], at its current line if that is known; frames[1], if
 * count > 1, is its caller. 0 when out of memory. quality->has_line is 1 even for a chunk that was
 * stripped of its lines.
 */
uint32_t symbolizer__function(struct symbolizer *symbolizer, const struct ls_sample *sample,
			      const struct ls_frame *frames, uint32_t count,
			      struct symbol_quality *quality);

/*
 * The name by which the caller of frames[0] calls it, as debug.getinfo would report it; NULL: none.
 * Valid until the next call.
 */
const char *symbolizer__called(struct symbolizer *symbolizer, const struct layout *layout,
			       const struct ls_frame *frames, uint32_t count);

/*
 * Suggests the names that were never proven: call_names__suggest(). Call it once more at the end,
 * before the process is freed.
 */
void symbolizer__suggest_names(struct symbolizer *symbolizer);

/* Tries once more to name C functions and script functions, now that all modules are loaded. */
void symbolizer__finish(struct symbolizer *symbolizer, const struct layout *layout, uint64_t state);

/*
 * A cache keeps the prototypes that BPF defined. When it is full, have BPF send all definitions
 * again, take in what it sent before it got that request, and age the cache: prototypes that have
 * not been seen for long are dropped, and no sample still to come has them.
 */
bool symbolizer__is_full(const struct symbolizer *symbolizer);
void symbolizer__age(struct symbolizer *symbolizer);

/* Sets used[id] of the functions that it may return without creating them again. */
void symbolizer__mark(struct symbolizer *symbolizer, uint8_t *used);

/* The number of call sites that were never read successfully. */
uint64_t symbolizer__unnamed_calls(const struct symbolizer *symbolizer);

#endif
