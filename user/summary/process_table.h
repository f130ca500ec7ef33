/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes, or other categories, that took the most CPU time, as a table. */
#ifndef LS_PROCESS_TABLE_H
#define LS_PROCESS_TABLE_H

#include "profile/profile.h"
#include "profile/totals.h"
#include "summary/category_words.h"
#include "summary/printer.h"
#include "summary/row_choice.h"

/*
 * The ten categories with the most CPU time: their shares of all that was charged, their samples
 * where these have room, how much of their own time is script, and the function in each with the
 * most self time. Nothing unless process_table__tells(). Names are escaped, and shortened to fit.
 */
void process_table__print(const struct printer *printer, const struct ls_profile *profile,
			  const struct ls_totals *totals, const struct category_words *words);

/*
 * The same table of those that are chosen, even of one: by CPU time, or by name. Hidden ones are by
 * index. 0 or -ENOMEM: nothing was printed.
 */
int process_table__print_chosen(const struct printer *printer, const struct ls_profile *profile,
				const struct ls_totals *totals, const struct category_words *words,
				const struct row_choice *choice);

/*
 * Whether a table of the categories tells anything: there are several, and if they are threads,
 * more than one runs script, or those without take 1% of the CPU time or more.
 */
bool process_table__tells(const struct ls_profile *profile, const struct ls_totals *totals,
			  const struct category_words *words);

/* CPU time of a category with script on the stack, in microseconds. */
uint64_t process_table__script_us(const struct ls_profile *profile, const struct ls_totals *totals,
				  const struct ls_profile_category *category);

/*
 * Formats the name of a category, escaped, into at most `columns` columns. If it has no room as
 * "lua5.4 app.lua (pid 42)", the PID goes first, and the end is cut off. Returns `to`.
 */
char *process_table__fit_name(const char *name, unsigned columns, bool utf8, char *to, size_t size);

#endif
