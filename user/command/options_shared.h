/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parsers of several commands' options have in common; for options*.c alone. */
#ifndef LS_OPTIONS_SHARED_H
#define LS_OPTIONS_SHARED_H

#include <stdint.h>

#include "options.h"

#define PID_LAST 4194304 /* PID_MAX_LIMIT, linux/threads.h */

/* The first of what has no letter. */
enum { OPTION_LAYOUT = 256 };

/* What an option takes, for messages; `value` is NULL: nothing. A list ends with no name. */
struct option_accepted {
	int letter;
	const char *name, *value;
};

enum options_verdict options__print(const char *text);
enum options_verdict options__print_layouts(void);

/* What getopt_long() refused with `letter`; `word` is the argument that it stopped at. */
enum options_verdict options__refuse(const struct option_accepted *accepted, const char *command,
				     int letter, const char *word);
enum options_verdict options__refuse_value(const struct option_accepted *accepted, int letter,
					   const char *value, int err);
enum options_verdict options__stray(const char *argument, const char *after);

/* 1 to `max`. 0, -EINVAL or -ERANGE. */
int options__parse_number(const char *text, uint32_t max, uint32_t *number);

extern const char dump_help[];
enum options_verdict options__parse_dump(int argc, char **argv, struct dump_command_options *dump);

#endif
