/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "summary/script_split.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

enum part { INTERPRETED, COMPILED, IN_C, COMPILER, TRACE_EXIT, PART_COUNT };

/* The last ones are also the names of the functions that the VM's own time goes to. */
static const char *const names[PART_COUNT] = {"interpreted", "compiled", "C", "JIT compiler",
					      "trace exit"};

/* Which part a function's own time belongs to; PART_COUNT: none. */
static enum part part_of(const struct ls_profile_function *function)
{
	const char *source = function->source;

	if (!source || profile__is_gc(function))
		return PART_COUNT;
	if (function->flags & LS_FUNCTION_NATIVE)
		return COMPILED;
	for (enum part part = COMPILER; part < PART_COUNT; part++)
		if (!strcmp(source, names[part]) && function->name &&
		    !strcmp(function->name, names[part]) && !function->line)
			return part;
	return strcmp(source, "[C]") ? INTERPRETED : IN_C;
}

void script_split__describe(const struct ls_profile *profile, const struct ls_totals *totals,
			    char *text, size_t size)
{
	uint64_t us[PART_COUNT] = {0};
	size_t length = 0;

	*text = '\0';
	for (uint32_t id = 1; id <= profile->function_count; id++) {
		enum part part = part_of(&profile->functions[id]);

		if (part < PART_COUNT)
			us[part] += totals->function_self_us[id];
	}
	if (!us[COMPILED] && !us[COMPILER])
		return;
	for (enum part part = 0; part < PART_COUNT && length < size; part++) {
		char share[UNITS_SIZE];

		/* Only a VM that traces has these. */
		if (part >= COMPILER && !us[part])
			continue;
		units__format_share(us[part], totals->all_us, share, sizeof(share));
		length += (size_t)snprintf(text + length, size - length, "%s%s %s",
					   part ? ", " : "", names[part], share);
	}
}
