/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A member of Luau's Proto is found where what functions have at an offset fits it in all of them.
 */
#ifndef LS_DERIVATION_LUAU_H
#define LS_DERIVATION_LUAU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "luau/specimens_luau.h"
#include "offsets_luau.h"

#define FIRST_MEMBER 8 /* after CommonHeader and the small numbers that follow it */

struct derivation {
	struct specimens *specimens;
	struct ls_luau_layout layout;
	const char *missing; /* which member was not found */
	unsigned int pairs;  /* of tables so far whose distance is a number of instructions */
};

/* What a function says about a member at some offset. */
enum verdict { CONTRADICTS, SAYS_NOTHING, CONFIRMS };

typedef enum verdict judge(const struct derivation *derivation, const struct proto_specimen *proto,
			   size_t offset);

/* Whether at least `needed` functions confirm that member at `offset` and few contradict. */
bool derivation_luau__holds(const struct derivation *derivation, judge *judge, size_t offset,
			    size_t needed);

/*
 * Returns the offset of a member of `size` bytes: `expected` if it holds, else the only offset that
 * does; 0: none does, or more than one.
 */
size_t derivation_luau__find(const struct derivation *derivation, judge *judge, size_t expected,
			     size_t size, size_t needed);

/* Returns -ENODATA, after noting what is missing: a sentence without a full stop, static. */
int derivation_luau__give_up(struct derivation *derivation, const char *missing);

/* The word at that address of the process; 0 if it cannot be read. */
uint64_t derivation_luau__word(const struct derivation *derivation, uint64_t address);

#endif
