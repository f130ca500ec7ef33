/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a source text defines functions, and what each definition calls its function:
 *
 *	local function f            f
 *	function M.a.b:c            M.a.b:c
 *	M.run = function            M.run
 *	local x, y = 1, function    y
 *	local M = {get = function   M.get
 *	t["k"] = function           t.k
 *	x = x or function           x
 *
 * Arguments, returned functions and items of lists have no name. The text need not be trusted.
 */
#ifndef LS_DEFINITIONS_H
#define LS_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/definition_name.h"

struct definitions;

/*
 * 0 with *definitions; -EINVAL: the text is not Lua; -E2BIG: it has more functions or is nested
 * deeper than any that people write; -ENOMEM. Free with definitions__free(), which takes NULL.
 */
int definitions__find(const char *text, size_t size, struct definitions **definitions);
void definitions__free(struct definitions *definitions);

/*
 * The name of the only function that is defined from line `first` to line `last`; NULL: it has
 * none, or there is no such function, or several. Compilers do not agree on the first line, which
 * is that of "function" or of the parenthesis that opens the parameters.
 */
const char *definitions__name(const struct definitions *definitions, uint32_t first, uint32_t last);

/* Memory that they take, in bytes. */
size_t definitions__size(const struct definitions *definitions);

#endif
