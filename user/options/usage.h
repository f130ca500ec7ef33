/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsing of command lines and messages about their errors, for all commands. */
#ifndef LS_USAGE_H
#define LS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "options/options.h"

#define USAGE_OPTIONS_MAX 64
#define USAGE_LISTS_ALL   "list shows all processes; 'luaspy check -p PID' tells about one"
#define USAGE_PID_LAST    4194304 /* PID_MAX_LIMIT, linux/threads.h */
#define USAGE_PID         "a process id, 1 to 4194304"

#define USAGE_EXIT_STATUS                                                                          \
	"\n"                                                                                       \
	"Exit status:\n"                                                                           \
	"  0  the profile was written\n"                                                           \
	"  1  luaspy failed\n"                                                                     \
	"  2  the command line is wrong, or several processes fit '--name'\n"                      \
	"  3  nothing to profile: no interpreter found, or no script ran\n"

/* Part of the letter of an option without a short form whose value may be left out: "--tree=8". */
#define USAGE_VALUE_OPTIONAL 0x10000

/* A table of these ends with an entry without a name. */
struct usage_option {
	int letter;        /* what usage__next() returns; from 256 on: no short option */
	const char *name;  /* with its dashes */
	const char *value; /* what is accepted, for messages; NULL: it takes no value */
};

/*
 * getopt_long() with this table. Returns the next option, with its value in optarg; -1 at the first
 * argument that is not an option; ':' or '?', to be passed to usage__refuse_option(). Call
 * usage__begin() first.
 */
void usage__begin(void);
int usage__next(const struct usage_option *options, int argc, char **argv);

/*
 * The same, but a word that is a number is a process id, wherever it is before "--": returns
 * USAGE_WORD with that word in optarg.
 */
#define USAGE_WORD 0x2000
int usage__next_or_pid(const struct usage_option *options, int argc, char **argv);

/*
 * The same for a command that takes words of any kind, in front of options or behind them. What
 * follows "--" is a word, whatever it looks like: argv[optind - 2] is that "--" then.
 */
int usage__next_or_word(const struct usage_option *options, int argc, char **argv);

/* Prints to standard output and flushes it. Returns OPTIONS_DONE or OPTIONS_FAILED. */
enum options_verdict usage__print(const char *text);

/*
 * Parses the mode of output files in octal, which "USAGE_MODE" describes. 0; -EINVAL: not a number;
 * -ERANGE: a bit outside OUTPUT_FILE_MODE_MOST (output_file.h), or not readable by its owner.
 */
#define USAGE_MODE "an octal number such as 600, 640 or 664"
int usage__parse_mode(const char *text, mode_t *mode);

/* Parses a number from 1 to `max`. 0; -EINVAL: not a number; -ERANGE. */
int usage__parse_number(const char *text, uint32_t max, uint32_t *number);

/*
 * Each of these reports the error in one line and returns OPTIONS_WRONG. `words` are candidates for
 * a suggestion, NULL-terminated.
 */
enum options_verdict usage__unknown_command(const char *typed, const char *const *words);
enum options_verdict usage__stray(const char *argument, const char *after);

/* `command` takes one process, and has it already. */
enum options_verdict usage__second_process(const char *value, const char *command);

/* The same for a command that takes processes, and "-- COMMAND" if `takes_command`. */
enum options_verdict usage__stray_word(const char *argument, bool takes_command);

/* Reports that `value` is no process id; if it may be a name, says which option finds it. */
enum options_verdict usage__refuse_pid(const char *value, int error);

/* Reports what usage__next() refused with `letter`; `word` is the argument that it stopped at. */
enum options_verdict usage__refuse_option(const struct usage_option *options, const char *command,
					  int letter, const char *word);

/*
 * Reports a bad value: out of range if `error` is -ERANGE, otherwise not understood. For
 * -ENOMEM, it reports that memory ran out, and returns OPTIONS_FAILED.
 */
enum options_verdict usage__refuse_value(const struct usage_option *options, int letter,
					 const char *value, int error);

/* The values that an option of the table accepts, for messages. */
const char *usage__accepted(const struct usage_option *options, int letter);

#endif
