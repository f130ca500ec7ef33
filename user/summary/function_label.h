/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a function is called and where it is, as text that is made to fit. */
#ifndef LS_FUNCTION_LABEL_H
#define LS_FUNCTION_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"
#include "profile/profile.h"
#include "profile/totals.h"
#include "summary/printer.h"

#define FUNCTION_LABEL_SIZE (2 * PRINTER_TEXT_SIZE + 8 * UNITS_SIZE)

struct function_label {
	char name[PRINTER_TEXT_SIZE]; /* escaped, like the source */
	char source[PRINTER_TEXT_SIZE];
	char line[UNITS_SIZE]; /* ":12", or "" */
	char hot_line[2 *
		      UNITS_SIZE]; /* " ->:14 91%": the line with most of its self time, or "" */
};

/* Leaves the hot line out. */
void function_label__make(const struct ls_profile_function *function, struct function_label *label);

/* Adds the hot line, if lines are known. */
void function_label__add_hot_line(const struct ls_profile *profile, const struct ls_totals *totals,
				  uint32_t function, bool utf8, struct function_label *label);

/*
 * Formats "name  source:line hot-line" into at most `room` columns, the name padded to
 * `name_columns` where the rest still fits. If that is too long, the source is shortened at a '/'
 * to its last component, then the name, which keeps 2/5 of the room (3/5 if `name_columns` is 0).
 * The lines stay whole; the hot line is left out if not even the lines have room. Returns `to`.
 */
char *function_label__fit(const struct function_label *label, unsigned room, unsigned name_columns,
			  bool utf8, char *to, size_t size);

/* The columns of what follows the name, at full length. */
unsigned function_label__place_width(const struct function_label *label);

#endif
