/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all commands have in common on the command line: how to read it, what is wrong. */
#ifndef LS_USAGE_H
#define LS_USAGE_H

#include <stdint.h>

#include "options.h"

#define USAGE_OPTIONS_MAX 64
#define USAGE_PID_LAST    4194304 /* PID_MAX_LIMIT, linux/threads.h */
#define USAGE_PID         "a process id, 1 to 4194304"

#define USAGE_EXIT_STATUS                                                                          \
	"\n"                                                                                       \
	"Exit status:\n"                                                                           \
	"  0  the profile was written\n"                                                           \
	"  1  it failed\n"                                                                         \
	"  2  the command line is wrong\n"                                                         \
	"  3  nothing to profile: no Lua found, or no script ran\n"

/* A table of these ends with one without a name. */
struct usage_option {
	int letter;        /* what usage__next() returns; from 256 on: it has no letter */
	const char *name;  /* with its dashes */
	const char *value; /* what is accepted, for messages; NULL: it takes no value */
};

/*
 * getopt_long() with this table: the next option, its value in optarg, -1 at the first argument
 * that is none, ':' or '?' for usage__refuse_option(). usage__begin() comes first.
 */
void usage__begin(void);
int usage__next(const struct usage_option *options, int argc, char **argv);

/* To standard output, flushed: OPTIONS_DONE or OPTIONS_FAILED. */
enum options_verdict usage__print(const char *text);

/* From 1 to `max`. 0, -EINVAL for no number, -ERANGE. */
int usage__parse_number(const char *text, uint32_t max, uint32_t *number);

/* Each says one line and returns OPTIONS_WRONG. `words` end with NULL, and may have been meant. */
enum options_verdict usage__unknown_command(const char *typed, const char *const *words);
enum options_verdict usage__stray(const char *argument, const char *after);

/* What usage__next() refused with `letter`; `word` is the argument that it stopped at. */
enum options_verdict usage__refuse_option(const struct usage_option *options, const char *command,
					  int letter, const char *word);

/* -ERANGE: there is no such; else it is not understood. */
enum options_verdict usage__refuse_value(const struct usage_option *options, int letter,
					 const char *value, int error);

/* What an option of the table accepts. */
const char *usage__accepted(const struct usage_option *options, int letter);

#endif
