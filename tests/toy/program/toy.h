/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An interpreter that is no more than what a profiler sees of one: states, calls, functions with
 * bytecode. An instruction is a character:
 *
 *	0 to 9    calls that function of the program
 *	w         works, for a moment
 *	n         works likewise, while it passes for machine code
 *	h         calls the host's function
 */
#ifndef TOY_H
#define TOY_H

#include "offsets_toy.h"

struct toy_function {
	struct ls_toy_function known;
	const char *code;
};

#define TOY_FUNCTION(of_name, at_line, of_code)                                                    \
	{                                                                                          \
		.known = {.name = (__u64)(of_name),                                                \
			  .source = (__u64)("@program.toy"),                                       \
			  .line = (at_line),                                                       \
			  .last_line = (at_line) + 1},                                             \
		.code = (of_code)                                                                  \
	}

/* Runs functions[0] of a program until it returns. `host` may be NULL. 0, or -1 if it fails. */
int toy_run(const struct toy_function *functions, void (*host)(void));

#endif
