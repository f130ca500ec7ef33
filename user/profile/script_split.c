/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/script_split.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* A function that stands for a part of the virtual machine has the same name and source. */
static bool is_called(const struct ls_profile_function *function, const char *name)
{
	return function->name && !strcmp(function->source, name) && !strcmp(function->name, name) &&
	       !function->line;
}

enum script_part script_split__part(const struct ls_profile_function *function)
{
	if (!function->source)
		return SCRIPT_PARTS;
	if (profile__is_gc(function))
		return SCRIPT_GC;
	if (function->flags & LS_FUNCTION_NATIVE)
		return SCRIPT_COMPILED;
	if (is_called(function, PROFILE_COMPILER))
		return SCRIPT_COMPILER;
	if (is_called(function, PROFILE_TRACE_EXIT))
		return SCRIPT_TRACE_EXIT;
	return strcmp(function->source, "[C]") ? SCRIPT_INTERPRETED : SCRIPT_C;
}

struct script_split script_split__of(const struct ls_profile *profile,
				     const struct ls_totals *totals)
{
	struct script_split split = {};

	for (uint32_t id = 1; id <= profile->function_count; id++) {
		enum script_part part = script_split__part(&profile->functions[id]);

		if (part < SCRIPT_PARTS)
			split.time[part] += totals->function_self_us[id];
	}
	return split;
}

bool script_split__has_compiled(const struct script_split *split)
{
	return split->time[SCRIPT_COMPILED] || split->time[SCRIPT_COMPILER];
}

void script_split__add(struct script_split *to, const struct script_split *more)
{
	for (enum script_part part = 0; part < SCRIPT_PARTS; part++)
		to->time[part] += more->time[part];
}

struct script_split script_split__since(const struct script_split *now,
					const struct script_split *before)
{
	struct script_split split = {};

	for (enum script_part part = 0; part < SCRIPT_PARTS; part++)
		if (now->time[part] > before->time[part])
			split.time[part] = now->time[part] - before->time[part];
	return split;
}

/* A part whose name is NULL is left out. */
static void describe(const struct script_split *split, uint64_t whole,
		     const char *const names[SCRIPT_PARTS], const char *separator, char *text,
		     size_t size)
{
	size_t length = 0;

	*text = '\0';
	for (enum script_part part = 0; part < SCRIPT_PARTS; part++) {
		char share[UNITS_SIZE], one[SCRIPT_SPLIT_SIZE];
		size_t more;

		/* Not every virtual machine that compiles has what comes after the collector. */
		if (!names[part] || (part > SCRIPT_GC && !split->time[part]))
			continue;
		units__format_share(split->time[part], whole, share, sizeof(share));
		more = (size_t)snprintf(one, sizeof(one), "%s%s %s", length ? separator : "",
					names[part], share);
		if (length + more >= size)
			return;
		memcpy(text + length, one, more + 1);
		length += more;
	}
}

void script_split__describe(const struct script_split *split, uint64_t whole, char *text,
			    size_t size)
{
	/* The last ones are also the names of the functions that have that time. */
	static const char *const names[SCRIPT_PARTS] = {
		[SCRIPT_INTERPRETED] = "interpreted",
		[SCRIPT_COMPILED] = "compiled",
		[SCRIPT_C] = "C",
		[SCRIPT_COMPILER] = PROFILE_COMPILER,
		[SCRIPT_TRACE_EXIT] = PROFILE_TRACE_EXIT,
	};

	describe(split, whole, names, ", ", text, size);
}

void script_split__describe_briefly(const struct script_split *split, uint64_t whole, char *text,
				    size_t size)
{
	static const char *const names[SCRIPT_PARTS] = {
		[SCRIPT_INTERPRETED] = "interpreted",
		[SCRIPT_COMPILED] = "compiled",
		[SCRIPT_C] = "C",
		[SCRIPT_COMPILER] = "compiler",
		[SCRIPT_TRACE_EXIT] = "exit",
	};

	describe(split, whole, names, " ", text, size);
}
