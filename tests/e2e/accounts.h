/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether a profile has all that there was, and programs that no other test's luaspy takes in. */
#ifndef TEST_ACCOUNTS_H
#define TEST_ACCOUNTS_H

#include "spying.h"

/* A name that only this test program has. */
const char *accounts__own_name(void);

/* A copy of `program` under that name, in the stage's folder: its path. */
const char *accounts__own_copy(struct stage *stage, const char *program);

/* As BPF counted them, which knows of no files; of a luaspy with -v that has ended. */
int64_t accounts__ticks(struct stage *stage, const struct child *spy);

/*
 * Prints how many samples are of each class, and what was lost; every tick that BPF counted is in
 * one (of a luaspy with -v), and all CPU time in a category.
 */
void accounts__assert_whole(struct stage *stage, const struct child *spy,
			    const struct scriptprofile *profile);

/* The time of a category; 0: there is none. */
int64_t accounts__category_us(const struct scriptprofile *profile, const char *name);

/* What a child that was waited for was charged, and those for which it waited. */
double accounts__charged_us(const struct child *child);

/* Prints both, as seconds; `found` is so near to `expected`. */
void accounts__assert_near(const char *what, double found_us, double expected_us, double tolerance);

#endif
