/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Warnings that are repeated once the live view has given the terminal back. */
#ifndef LS_KEPT_WARNINGS_H
#define LS_KEPT_WARNINGS_H

#include <stdint.h>

#define KEPT_WARNINGS_MAX 8
#define KEPT_WARNING_SIZE 512

struct kept_warnings {
	char lines[KEPT_WARNINGS_MAX][KEPT_WARNING_SIZE]; /* the first ones */
	unsigned count;                                   /* of these */
	uint64_t all;                                     /* all that there were */
};

/* `line` is copied, and cut if it is too long. */
void kept_warnings__add(struct kept_warnings *warnings, const char *line);

/* Logs them again, and how many were not kept. */
void kept_warnings__repeat(const struct kept_warnings *warnings);

#endif
