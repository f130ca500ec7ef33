/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Those of 5.4 and 5.5, which may collect by generations. */
#include <stddef.h>

#include "collector_runs.h"

int main(void)
{
	static const char *const ways[] = {"nothing",         "tables",       "strings",
					   "calls",           "full",         "finalizers",
					   "finalizers_in_c", "generational", NULL};

	return collector_runs__check("5.[45].*", LS_FAMILY_PUC, ways);
}
