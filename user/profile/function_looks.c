/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/function_looks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 16

static int compare_strings(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

int function_looks__compare(const struct ls_profile_function *a,
			    const struct ls_profile_function *b)
{
	int order = compare_strings(a->source, b->source);

	if (!order)
		order = compare_strings(a->name, b->name);
	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (!order)
		order = (a->flags > b->flags) - (a->flags < b->flags);
	return order;
}

/* "app.lua:12" is such a place, as is "src/app.lua:12" or that of any folder above. */
static bool is_at(const struct ls_profile_function *function, const char *place)
{
	const char *colon = strrchr(place, ':');
	char line[LINE_SIZE];
	size_t asked = colon ? (size_t)(colon - place) : 0, length;
	const char *end;

	if (!function->source)
		return false;
	length = strlen(function->source);
	snprintf(line, sizeof(line), "%" PRIu32, function->line);
	if (!asked || asked > length || strcmp(colon + 1, line))
		return false;
	end = function->source + length - asked;
	return !strncmp(end, place, asked) && (asked == length || end[-1] == '/');
}

/* "spawn (game+0x120e)" is also called "spawn". */
static bool is_called(const struct ls_profile_function *function, const char *wanted)
{
	const char *name = function->name && *function->name ? function->name : "<anonymous>";
	size_t length = strlen(wanted);
	bool is_c = function->source && !strcmp(function->source, "[C]");

	if (!strcmp(name, wanted))
		return true;
	return is_c && length && !strncmp(name, wanted, length) && !strncmp(name + length, " (", 2);
}

bool function_looks__fit(const struct ls_profile_function *function, const char *wanted)
{
	return !profile__is_pseudo(function) &&
	       (is_called(function, wanted) || is_at(function, wanted));
}
