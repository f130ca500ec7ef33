/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "top/kept_warnings.h"

#include <stdio.h>

#include "base/log.h"

void kept_warnings__add(struct kept_warnings *warnings, const char *line)
{
	warnings->all++;
	if (warnings->count < KEPT_WARNINGS_MAX)
		snprintf(warnings->lines[warnings->count++], KEPT_WARNING_SIZE, "%s", line);
}

void kept_warnings__repeat(const struct kept_warnings *warnings)
{
	uint64_t more = warnings->all - warnings->count;

	for (unsigned i = 0; i < warnings->count; i++)
		log_warn("%s", warnings->lines[i]);
	if (more)
		log_warn("%llu more warning%s", (unsigned long long)more, more == 1 ? "" : "s");
}
