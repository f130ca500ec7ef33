/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of commands that write what they make of recordings: '--output' and its like. */
#ifndef LS_OUTPUT_OPTIONS_H
#define LS_OUTPUT_OPTIONS_H

#include <sys/types.h>

#include "options/usage.h"

#define OUTPUT_OPTIONS_MODE 0x400

/* Entries of a table of usage_option. */
#define OUTPUT_OPTIONS                                                                             \
	{'o', "--output", OUTPUT_CHOICE_OUTPUT},                                                   \
		{'f', "--format", "a format's name, or help, which lists them"},                   \
	{                                                                                          \
		OUTPUT_OPTIONS_MODE, "--mode", USAGE_MODE                                          \
	}

/* The lines of help about them. */
#define OUTPUT_OPTIONS_HELP                                                                        \
	"  -o, --output=FILE      what to write; the ending of the name chooses the\n"             \
	"                         format (listed below), and - is stdout. May be given\n"          \
	"                         more than once\n" OUTPUT_CHOICE_HELP                             \
	"      --mode=OCTAL       the permissions of the files, such as 600 or 644\n"              \
	"                         (default: 640 less the umask, or those of a file that\n"         \
	"                         is replaced)\n"

/*
 * Takes one of these options, whose value is `value`. OPTIONS_RUN; OPTIONS_WRONG after reporting
 * why; OPTIONS_DONE or OPTIONS_FAILED: '--format help', the list was printed or not.
 */
enum options_verdict output_options__set(const struct usage_option *accepted, int letter,
					 const char *value, struct output_choice *outputs,
					 mode_t *mode);

/* Once all options are known: whether there is an output, and its format. */
enum options_verdict output_options__check(struct output_choice *outputs);

/*
 * Collects the words of a command line in front of it: argv[1] to argv[count]. Refuses a second
 * "-", which would find standard input at its end, and more words than `argc` leaves room for.
 */
enum options_verdict output_options__add_input(int argc, char **argv, size_t *count, char *word);

#endif
