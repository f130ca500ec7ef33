/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares how split.lua divided its time, by its own clock, with what luaspy found. To be included
 * after cmocka.h.
 */
#ifndef TEST_SPLIT_H
#define TEST_SPLIT_H

#include "watched.h"

/*
 * Fails unless the self time of part_1, part_2 ... divides as the script has measured, within the
 * 99.99% binomial interval and `slack`, which is how unsure the script is of its shares.
 */
void split__check(const struct watched *watched, double slack);

#endif
