/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that the code of sampled prototypes gives to the functions it defines, kept beyond the
 * life of those prototypes. Each is read once. As with the names of calls (call_names.h), what the
 * fingerprint does not cover counts from the first sample taken after it was read: the definer runs
 * in that sample, so it was alive in between.
 */
#ifndef LS_NESTED_NAMES_H
#define LS_NESTED_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "interpreter/inspection.h"
#include "symbols/c_function_names.h"

struct nested_names;

/* What is known of a prototype; zeroed: nothing. */
struct nested_state {
	bool is_read; /* what its code defines, successfully or not: not to be tried again */
	bool is_proven;
	uint64_t read_ns; /* CLOCK_MONOTONIC */
	uint32_t edition; /* of all names, when this prototype was looked up in them */
};

/* NULL when out of memory. `inspector` is borrowed and must outlive it. */
struct nested_names *nested_names__new(pid_t pid, struct inspector *inspector);
void nested_names__free(struct nested_names *names);

/*
 * The prototype of `key` runs in a sample taken at `time_ns`: reads what its code defines, or
 * proves what was read before. 0 or -ENOMEM.
 */
int nested_names__meet(struct nested_names *names, const struct layout *layout,
		       const struct prototype_key *key, struct nested_state *state,
		       uint64_t time_ns);

/*
 * Takes in the answer to an inquiry about `state`'s prototype, and frees what it owns. A function
 * that several definers name differently has no name. 0 or -ENOMEM.
 */
int nested_names__learn(struct nested_names *names, struct nested_state *state,
			struct prototype_inquiry *inquiry);

/*
 * Reads the names that kept functions, such as the scripts of Redis, give to the functions they
 * define. A script that ends in a tail call is in no sample. 0 or -ENOMEM.
 */
int nested_names__read_kept(struct nested_names *names, const struct layout *layout,
			    const struct c_function_names *kept);

/* Names that are never proven count as well, from now on. */
void nested_names__prove_all(struct nested_names *names);

/*
 * The proven name of a prototype; NULL: none, or none since it was asked for last. Valid until the
 * next call that learns.
 */
const char *nested_names__find(struct nested_names *names, const struct prototype_key *key,
			       struct nested_state *state);

#endif
