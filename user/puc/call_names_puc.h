/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What callers call their callees. A call site is read once, when a sample has it for the first
 * time, and its caller may be dead by then. The fingerprint proves what it covers; the rest of a
 * dead caller may still stand, too, but the one string that names the call be another's. Such a
 * name counts from the first sample on that was taken after it was read: that has the caller
 * running, so it lived in between.
 */
#ifndef LS_CALL_NAMES_PUC_H
#define LS_CALL_NAMES_PUC_H

#include <stdint.h>

#include "functions.h"
#include "layout.h"
#include "record.h"
#include "target_memory.h"
#include "time_budget.h"

struct call_names_puc;

/* NULL when out of memory. What is passed is the caller's and must outlive it. */
struct call_names_puc *call_names_puc__new(const struct target_memory *memory,
					   struct time_budget *budget, struct functions *functions);
void call_names_puc__free(struct call_names_puc *names);

/*
 * What debug.getinfo would call frames[0], which frames[1] called where count > 1; NULL: nothing,
 * or nothing that can be read. Not proven. Good until the next call.
 */
const char *call_names_puc__name(struct call_names_puc *names, const struct ls_puc_layout *layout,
				 const struct ls_frame *frames, uint32_t count);

/*
 * A sample taken at `time_ns` (CLOCK_MONOTONIC) has these frames, the first of `function`: a vote
 * for its name, if that is proven. 0 or -ENOMEM.
 */
int call_names_puc__vote(struct call_names_puc *names, const struct ls_puc_layout *layout,
			 const struct ls_frame *frames, uint32_t count, uint64_t time_ns,
			 uint32_t function);

/*
 * Names that were never proven are suggested to the functions which have no other: what ran for
 * one sample only. Not in a program whose functions are seen to come and go.
 */
void call_names_puc__suggest(struct call_names_puc *names);

/* Prototypes come and go, or ids of functions do: nothing is suggested any more. */
void call_names_puc__require_proof(struct call_names_puc *names);

/* Call sites that could not be read, for good. */
uint64_t call_names_puc__unread(const struct call_names_puc *names);

#endif
