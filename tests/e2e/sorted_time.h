/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time by whether samples show what they must: the names of functions say which thread, or which
 * coroutine in C, they belong to ("t3_inner"), and the category of a sample says which one ran.
 */
#ifndef TEST_SORTED_TIME_H
#define TEST_SORTED_TIME_H

#include <stddef.h>

#include "scriptprofile.h"

/* CPU time in us, by what the samples of one kind of category show. */
struct sorted_time {
	int64_t right;    /* only functions of its own, from a main chunk or from C on */
	int64_t foreign;  /* a function of another coroutine or thread */
	int64_t rootless; /* none of another, but the outermost function is not the one asked for */
	int64_t host, unreadable;
};

/* The length of "t3" in "t3_inner", for the letter 't'; 0 if the name belongs to nobody. */
size_t sorted_time__owner_length(const char *name, char letter);

/*
 * Sums all categories "f0", "f1" .. if `letter` is 'f', or the category "idle" for 'i'. A name that
 * was read while the target wrote it fits neither.
 * `root`: the outermost function that all have; NULL: any.
 */
struct sorted_time sorted_time__of(const struct scriptprofile *profile, char letter,
				   const char *root);

/* Prints it to the test's output, after `what`. */
void sorted_time__print(const char *what, const struct sorted_time *sorted);

#endif
