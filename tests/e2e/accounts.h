/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that a profile accounts for all CPU time, and programs under names that no other test
 * uses.
 */
#ifndef TEST_ACCOUNTS_H
#define TEST_ACCOUNTS_H

#include "spying.h"

/* A program name that only this test program uses. */
const char *accounts__own_name(void);

/* Copies `program` under that name into the stage's folder and returns the copy's path. */
const char *accounts__own_copy(struct stage *stage, const char *program);

/* The ticks that BPF counted, independently of any file; for a luaspy with -v that has ended. */
int64_t accounts__ticks(struct stage *stage, const struct child *spy);

/*
 * Prints the samples of each class and the losses. Checks that each tick that BPF counted is in a
 * class (luaspy must have run with -v) and that all CPU time is in a category.
 */
void accounts__assert_whole(struct stage *stage, const struct child *spy,
			    const struct scriptprofile *profile);

/* The time of a category; 0 if it does not exist. */
int64_t accounts__category_us(const struct scriptprofile *profile, const char *name);

/*
 * The CPU time charged to a child that was waited for, and to those that it waited for itself; less
 * what it had used when luaspy began to count.
 */
double accounts__charged_us(const struct child *child);

/* Prints both in seconds and checks that `found` is within `tolerance` of `expected`. */
void accounts__assert_near(const char *what, double found_us, double expected_us, double tolerance);

#endif
