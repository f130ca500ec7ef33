/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What attackers share: using CPU time, so that luaspy looks at them, changing the user, and
 * failing.
 */
#ifndef ATTACKS_BURNING_H
#define ATTACKS_BURNING_H

#include <sys/types.h>

/* Uses `percent` of one processor for `seconds`, or forever if that is 0. */
void burn(int percent, double seconds);

/* Writes `what` and what errno says to standard error, and exits with 1. */
void __attribute__((noreturn)) give_up(const char *what);

/* Prints a line to standard output, for the program that started this one. */
void say(const char *line);

/* If root, becomes `user`, after setting up what users get from setuid programs and settings. */
void become_user(uid_t user);

/* Exit status if this machine does not allow the attack; standard error says why. */
#define BURNING_CANNOT 77

#endif
