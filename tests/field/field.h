/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all programs of others have in common here: the same work, and what its profile must say. */
#ifndef TEST_FIELD_H
#define TEST_FIELD_H

#include <stdbool.h>

#include "spying.h"

/*
 * The first three lines of every script: one loop, which hot() takes three times as long as warm().
 */
#define FIELD_WORK                                                                                 \
	"local function hot() local x = 0 for i = 1, 3000 do x = x + i % 7 end return x end\n"     \
	"local function warm() local x = 0 for i = 1, 1000 do x = x + i % 7 end return x end\n"    \
	"local function work() hot() warm() return string.rep('x', 999):byte(1, 99) end\n"

/* In a script, once it is loaded: makes a file to be waited for. */
#define FIELD_UP "io.open('up', 'w'):close()\n"

/* A script for those that just run one: it never ends. */
#define FIELD_SCRIPT FIELD_WORK FIELD_UP "while true do work() end\n"

/* A file in the stage's folder. Returns its path, good until the next four calls of in_folder(). */
const char *field__write(struct stage *stage, const char *name, const char *text);

/*
 * The program at 10 kHz, for as long as it takes to see enough. All CPU time is there, nearly all
 * stacks are whole, hot() and warm() are found where they are defined, in `source` (a pattern),
 * called by work() alone, and share time as they should; else the test fails. The script should
 * work() for more than 100 us at a time: who sleeps as often as that is sampled too often when it
 * wakes (user/share/doc/troubleshooting.md, known limits).
 */
struct scriptprofile *field__record(struct stage *stage, const struct child *program,
				    const char *source);

/* Prints the profile and fails unless `condition`. */
void field__require(const struct scriptprofile *profile, bool condition, const char *what);
#define require_of(profile, condition) field__require(profile, condition, #condition)

/* Time below stacks, as scriptprofile__stack_us() takes them; of C functions of that name. */
bool field__has_stack(const struct scriptprofile *profile, const char *stack);
bool field__has_c_function(const struct scriptprofile *profile, const char *name);

/* A share of all CPU time, in percent, that no script took. */
int field__host_percent(const struct scriptprofile *profile);

/*
 * Asks for `path` over HTTP again and again, through a socket in the stage's folder. Returns after
 * the first answer.
 */
struct child *field__ask(struct stage *stage, const char *socket, const char *path);

/* For programs that tests/install_dependencies.sh installs in CI only, for their size. */
#define want_program(program, package, size)                                                       \
	do {                                                                                       \
		if (!has_program(program)) {                                                       \
			print_message("'%s' takes %s; 'tests/install_dependencies.sh extra'\n",    \
				      package, size);                                              \
			lacks_package(package);                                                    \
		}                                                                                  \
	} while (0)

#endif
