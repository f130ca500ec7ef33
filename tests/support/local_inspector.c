/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "local_inspector.h"

#include <stdlib.h>

static struct inspector *inspector;

static void end(void)
{
	inspector__free(inspector);
}

struct inspector *local_inspector(void)
{
	if (inspector)
		return inspector;
	inspector = inspector__new_local(&inspection_job);
	atexit(end);
	return inspector;
}
