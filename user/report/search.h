/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a search leaves: functions whose name, or "source:line", contains a text; and of a tree what
 * matches, what leads there, and what that calls. A text in lower case ignores case.
 */
#ifndef LS_SEARCH_H
#define LS_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

bool search__matches(const char *text, const struct ls_profile_function *function);
bool search__matches_name(const char *text, const char *name);

/*
 * Which functions, nodes or categories are hidden, malloc()ed, for row_choice.h: by id, categories
 * by index. NULL when out of memory.
 */
uint8_t *search__hide_functions(const char *text, const struct ls_profile *profile);
uint8_t *search__hide_nodes(const char *text, const struct ls_profile *profile);
uint8_t *search__hide_categories(const char *text, const struct ls_profile *profile);

#endif
