/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What virtual machines did in the time of scripts, where they compile some of them. */
#ifndef LS_SCRIPT_SPLIT_H
#define LS_SCRIPT_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/totals.h"

enum script_part {
	SCRIPT_INTERPRETED,
	SCRIPT_COMPILED, /* it ran as machine code generated from script */
	SCRIPT_C,        /* in C functions */
	SCRIPT_GC,
	SCRIPT_COMPILER,
	SCRIPT_TRACE_EXIT,
	SCRIPT_PARTS, /* how many there are; of a function: it is in none */
};

/* The self time of all functions of each part, in the unit of whoever adds it up. */
struct script_split {
	uint64_t time[SCRIPT_PARTS];
};

/* The part that a function's self time belongs to. SCRIPT_PARTS: it is no script, "(host)" say. */
enum script_part script_split__part(const struct ls_profile_function *function);

/* Splits the charged CPU time, in microseconds: what totals->function_self_us adds up to. */
struct script_split script_split__of(const struct ls_profile *profile,
				     const struct ls_totals *totals);

/* Whether machine code ran, or was made. If not, a split says nothing that is worth showing. */
bool script_split__has_compiled(const struct script_split *split);

/* Adds `more`, of the same unit. */
void script_split__add(struct script_split *to, const struct script_split *more);

/* What was added between two states. A part that has become less, as others did not see, is 0. */
struct script_split script_split__since(const struct script_split *now,
					const struct script_split *before);

/*
 * Writes "interpreted 3.1%, compiled 90.2%, C 4.0%, JIT compiler 0.6%, trace exit 0.2%": shares of
 * `whole`, in the split's unit, without the collector's, which is known without a compiler, too.
 * The last two are left out if they are 0.
 *
 * describe_briefly() writes "interpreted 3.1% compiled 90.2% C 4.0% compiler 0.6% exit 0.2%".
 *
 * The first part that `size`, at least 1, has no room for is left out, with all that follow it.
 * SCRIPT_SPLIT_SIZE is enough for all.
 */
#define SCRIPT_SPLIT_SIZE 256
void script_split__describe(const struct script_split *split, uint64_t whole, char *text,
			    size_t size);
void script_split__describe_briefly(const struct script_split *split, uint64_t whole, char *text,
				    size_t size);

#endif
