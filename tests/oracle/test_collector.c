/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The collectors of 5.1 to 5.3. */
#include <stddef.h>

#include "collector_runs.h"

int main(void)
{
	static const char *const ways[] = {"nothing", "tables",     "strings",         "calls",
					   "full",    "finalizers", "finalizers_in_c", NULL};

	return collector_runs__check("5.[123].*", LS_FAMILY_PUC, ways);
}
