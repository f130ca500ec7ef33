/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Luau's. */
#include <stddef.h>

#include "collector_runs.h"

int main(void)
{
	static const char *const ways[] = {"nothing", "tables",      "strings", "calls",
					   "full",    "destructors", NULL};

	return collector_runs__check("luau_*", LS_FAMILY_LUAU, ways);
}
